// SPDX-License-Identifier: GPL-2.0-only
/*
 * stepper OUT PROGRAM [ARG...]: runs a program by single steps of ptrace, and
 * writes its edges as a recording of hwprof. All branches from the program's
 * entry on are in it, so that exports can be tested without the module.
 */
#include <stdio.h>

#include "check.h"
#include "code/objects.h"
#include "fixture.h"
#include "stepping.h"

enum { TABLE = 1 << 18, PID = 100 };

struct edge {
	uint64_t from, to, end, count;
	unsigned int kind;
};

static struct edge edges[TABLE];

static size_t hash(uint64_t a, uint64_t b, uint64_t c)
{
	return ((a * 31 + b) * 0x9e3779b97f4a7c15ULL + c * 40503) >> 40 &
	       (TABLE - 1);
}

static void count(uint64_t from, uint64_t to, uint64_t end, unsigned int kind)
{
	size_t slot = hash(from, to, end);

	while (edges[slot].count &&
	       (edges[slot].from != from || edges[slot].to != to ||
		edges[slot].end != end))
		slot = (slot + 1) % TABLE;
	edges[slot] = (struct edge){ from, to, end, edges[slot].count + 1,
				     kind };
}

/* The last branch, whose line is not ended yet. */
static uint64_t from, to;
static unsigned int kind;

static void see(void *context, uint64_t now, uint64_t target,
		unsigned int its_kind)
{
	if (to)
		count(from, to, now, kind);
	from = now;
	to = target;
	kind = its_kind;
}

static void add_maps(void *context, pid_t pid)
{
	struct stepping_map map;
	struct build_id id;
	char path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	if (!maps)
		stepping_die(path);
	while (stepping_next_map(maps, &map))
		fixture_map(context, 2, PID, map.begin, map.end - map.begin,
			    map.offset, map.name,
			    object_read_build_id(map.name, &id) ? &id : NULL);
	fclose(maps);
}

static uint64_t add_rows(struct fixture *fixture)
{
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < TABLE; i++) {
		const struct edge *edge = &edges[i];
		const struct hwprof_row_edge row = {
			.row.type = HWPROF_ROW_EDGE,
			.row.size = sizeof(row), .row.session = 1,
			.row.space = PID, .row.pid = PID,
			.from = edge->from, .to = edge->to, .end = edge->end,
			.count = edge->count, .kind = edge->kind,
			.basis = HWPROF_BASIS_EXACT,
		};

		if (!edge->count)
			continue;
		fixture_row(fixture, 10, row.from, row.to, row.count, &row.row);
		all += edge->count;
	}
	return all;
}

int main(int argc, char **argv)
{
	struct fixture fixture;
	const struct stepping stepping = { see, add_maps, &fixture };

	if (argc < 3)
		return 2;
	fixture_begin(&fixture, "edges,step,rows");
	fixture_comm(&fixture, 1, PID, "prog", true);
	stepping_run(&stepping, argv + 2);
	fixture_add_totals(&fixture, 30, 1, add_rows(&fixture));
	fixture_end(&fixture);
	if (rename(fixture.path, argv[1]))
		stepping_die(argv[1]);
	return 0;
}
