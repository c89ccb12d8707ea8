// SPDX-License-Identifier: GPL-2.0-only
/*
 * fixtures FOLDER: writes recordings that pages are tested with. many.data has
 * 100,000 contexts; cold.data and hot.data have few, which differ. Names in
 * hostile.data would be markup, or mislead, if they were not handled as text.
 * pairs.data has hot ranges of pairs, and loops.data loops with histograms.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"

enum {
	BASE = 0x400000, PID = 100, CONTEXTS = 100000, WIDE = 7, LOOPS = 40,
	LONG_NAME = 3000,
};

static void finish(struct fixture *fixture, const char *folder,
		   const char *name)
{
	char *path;

	fixture_end(fixture);
	if (asprintf(&path, "%s/%s", folder, name) < 0 ||
	    rename(fixture->path, path)) {
		perror(name);
		exit(1);
	}
	free(path);
}

static struct hwprof_row head_of(unsigned int type, size_t size, uint32_t pid)
{
	return (struct hwprof_row){
		.type = type, .size = size, .space = pid, .session = 1,
		.pid = pid,
	};
}

static void begin(struct fixture *fixture, const char *event)
{
	fixture_begin(fixture, event);
	fixture_comm(fixture, 1, PID, "prog", true);
	fixture_map(fixture, 2, PID, BASE, 0x10000000, 0, "/no/prog", NULL);
}

/* --- contexts ------------------------------------------------------------ */

static uint64_t add_context(struct fixture *fixture, uint32_t pid, uint64_t id,
			    uint64_t parent, uint64_t branches)
{
	struct hwprof_row_context row = {
		.row = head_of(HWPROF_ROW_CONTEXT, sizeof(row), pid),
		.id = id, .parent = parent,
		.kind = parent ? HWPROF_CONTEXT_CALL : HWPROF_CONTEXT_ROOT,
		.branches = branches, .basis = HWPROF_BASIS_EXACT,
	};

	if (parent) {
		row.callee = BASE + 0x40 * id;
		row.site = BASE + 0x40 * parent + 8;
		row.calls = id % 100 + 1;
	}
	fixture_row(fixture, 10, row.callee, row.site, row.calls, &row.row);
	return row.calls;
}

/* Chains of WIDE calls each: context n was called by context n / WIDE. */
static void write_many(const char *folder)
{
	struct fixture fixture;
	uint64_t calls = 0, id;

	begin(&fixture, "cct,step,rows");
	for (id = 1; id <= CONTEXTS; id++)
		calls += add_context(&fixture, PID, id,
				     id == 1 ? 0 : (id - 2) / WIDE + 1,
				     CONTEXTS / id + id % 13);
	fixture_add_totals(&fixture, 30, 1, calls);
	finish(&fixture, folder, "many.data");
}

/* A small exact tree, in which the last context has @hot branches. */
static void write_tree(const char *folder, const char *name, uint64_t hot)
{
	struct fixture fixture;
	uint64_t calls = 0, id;

	begin(&fixture, "cct,step,rows");
	for (id = 1; id <= 5; id++)
		calls += add_context(&fixture, PID, id, id / 2,
				     id == 5 ? hot : 100);
	fixture_add_totals(&fixture, 30, 1, calls);
	finish(&fixture, folder, name);
}

/* --- names --------------------------------------------------------------- */

static const char *const hostile[] = {
	"/bin/</script><script>window.pwned=1</script>",
	"/bin/<img src=x onerror=\"window.pwned=2\">",
	"/bin/\"'`${window.pwned=3}\\u003c/title>",
	"/bin/--><!-- <!--<script>",
	"/bin/__proto__",
	"/bin/\001\033[31mred\007\177",
	"/bin/\xe2\x80\xae" "exe.gnp\xe2\x80\xa8\xef\xbb\xbf",
	"/bin/\xff\xfe\xc0\x80 bytes",
	"/bin/&lt;b&gt; &amp;",
};

static void write_hostile(const char *folder)
{
	static const char *const comms[] = {
		"</script><b>", "__proto__", "\001\002\033[2J", "<!--", "&amp;",
	};
	char name[LONG_NAME + 1];
	struct fixture fixture;
	uint64_t calls = 0;
	uint32_t pid, i;

	memset(name, 'x', LONG_NAME);
	memcpy(name, "/bin/", 5);
	name[LONG_NAME] = 0;
	fixture_begin(&fixture, "cct,step,rows");
	for (i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		pid = PID + i;
		fixture_comm(&fixture, 1, pid, comms[i % 5], true);
		fixture_map(&fixture, 2, pid, BASE, 0x10000, 0, hostile[i],
			    NULL);
		add_context(&fixture, pid, 2 * i + 1, 0, 5);
		calls += add_context(&fixture, pid, 2 * i + 2, 2 * i + 1,
				     10 + i);
	}
	fixture_comm(&fixture, 1, PID + i, "long", true);
	fixture_map(&fixture, 2, PID + i, BASE, 0x10000, 0, name, NULL);
	add_context(&fixture, PID + i, 2 * i + 1, 0, 5);
	calls += add_context(&fixture, PID + i, 2 * i + 2, 2 * i + 1, 9);
	fixture_add_totals(&fixture, 30, 1, calls);
	finish(&fixture, folder, "hostile.data");
}

/* --- ranges of pairs ----------------------------------------------------- */

static uint64_t add_box(struct fixture *fixture, uint64_t code, uint64_t low,
			unsigned int bits, uint64_t count)
{
	const struct hwprof_row_box row = {
		.row = head_of(HWPROF_ROW_BOX, sizeof(row), PID),
		.code = code, .low = low, .count = count, .bits = bits,
		.basis = HWPROF_BASIS_EXACT,
		.of = HWPROF_RANGE_IP_LOAD_ADDRESS,
	};

	fixture_row(fixture, 10, code, low, count, &row.row);
	return count;
}

static void write_pairs(const char *folder)
{
	struct fixture fixture;
	uint64_t all = 0;

	begin(&fixture, "ranges,of=ip-load-address,step,rows");
	all += add_box(&fixture, BASE + 0x100, 0x7ffe0000, 12, 400);
	all += add_box(&fixture, BASE + 0x100, 0x55550000, 12, 250);
	all += add_box(&fixture, BASE + 0x180, 0x7ffe0000, 12, 200);
	all += add_box(&fixture, BASE + 0x240, 0x66660000, 8, 150);
	fixture_add_totals(&fixture, 30, 1, all);
	finish(&fixture, folder, "pairs.data");
}

/* --- loops --------------------------------------------------------------- */

static void write_loops(const char *folder)
{
	struct fixture fixture;
	uint64_t all = 0, i, bucket;

	begin(&fixture, "loops,step,rows");
	for (i = 0; i < LOOPS; i++) {
		struct hwprof_row_loop row =
			fixture_loop(PID, PID, BASE + 0x100 * i,
				     BASE + 0x100 * i + 0x40,
				     1000 * (LOOPS - i), 100);

		row.trip_min = 2;
		row.trip_max = 1 << (i % 12 + 2);
		for (bucket = 1; bucket < i % 12 + 2; bucket++)
			row.trips[bucket] = 10 * bucket + i;
		fixture_add_loop(&fixture, 10, &row);
		all += row.back_edges;
	}
	fixture_add_totals(&fixture, 30, 1, all);
	finish(&fixture, folder, "loops.data");
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	write_many(argv[1]);
	write_tree(argv[1], "cold.data", 100);
	write_tree(argv[1], "hot.data", 600);
	write_hostile(argv[1]);
	write_pairs(argv[1]);
	write_loops(argv[1]);
	return 0;
}
