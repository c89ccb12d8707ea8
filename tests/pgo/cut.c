// SPDX-License-Identifier: GPL-2.0-only
/*
 * cut BINARY INSTRUCTIONS SEED OUT:LENGTH:BRANCHES... < TRACE
 *
 * Makes recordings of a program's branches, as jumps.so traces them: OUT has
 * the edges of windows of LENGTH branches, so many that there are BRANCHES in
 * all. They begin at random times, of which the trace has INSTRUCTIONS. LENGTH
 * 0: all branches. BINARY runs at its own addresses; other code is of no
 * object.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "code/objects.h"
#include "fixture.h"
#include "tests/engine/random.h"
#include "trace.h"

enum { PID = 100, SPECS = 32, PAGE = 4096 };

struct edge {
	uint64_t from, to, end, count;
	uint32_t kind;
};

struct output {
	const char *path;
	uint64_t length, wanted;	/* branches */
	double gap;			/* instructions between windows */
	double next;			/* when the next one begins */
	uint64_t left;			/* branches of the present window */
	struct pgo_branch last;		/* the window's last branch */
	bool has_last;
	struct edge *edges;		/* a hash table */
	size_t room, count;
};

static uint64_t seed;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- edges ---------------------------------------------------------------- */

static struct edge *slot_of(const struct output *output, uint64_t from,
			    uint64_t to, uint64_t end)
{
	uint64_t mixed = (from * 31 + to) * 31 + end;
	size_t at = mixed * 0x9e3779b97f4a7c15ULL >> 20;
	struct edge *edge;

	for (;; at++) {
		edge = &output->edges[at % output->room];
		if (!edge->count || (edge->from == from && edge->to == to &&
				     edge->end == end))
			return edge;
	}
}

static void grow(struct output *output)
{
	struct edge *old = output->edges;
	size_t room = output->room, i;

	output->room = room ? 2 * room : 1 << 12;
	output->edges = calloc(output->room, sizeof(*old));
	if (!output->edges)
		die("memory");
	for (i = 0; i < room; i++)
		if (old[i].count)
			*slot_of(output, old[i].from, old[i].to, old[i].end) =
				old[i];
	free(old);
}

static void add_edge(struct output *output, uint64_t end)
{
	const struct pgo_branch *last = &output->last;
	struct edge *edge;

	if (2 * output->count >= output->room)
		grow(output);
	edge = slot_of(output, last->from, last->to, end);
	output->count += !edge->count;
	edge->from = last->from;
	edge->to = last->to;
	edge->end = end;
	edge->kind = last->kind;
	edge->count++;
}

/* --- windows -------------------------------------------------------------- */

/* Begins a window with the next branch, and chooses the time of another. */
static void begin_window(struct output *output, double now)
{
	output->left = output->length;
	output->has_last = false;
	/* Half to one and a half of the gap, as hwprof has it. */
	output->next = now + output->gap *
			     (0.5 + random_below(&seed, 1000) / 1000.0);
}

static void see(struct output *output, const struct pgo_branch *branch,
		double now)
{
	if (output->length && !output->left) {
		if (now < output->next)
			return;
		begin_window(output, now);
	}
	if (output->has_last)
		add_edge(output, branch->from);
	output->last = *branch;
	output->has_last = true;
	if (output->length && !--output->left)
		add_edge(output, 0);
}

static void read_trace(struct output *outputs, size_t count)
{
	static struct pgo_branch branches[4096];
	double now = 0;
	size_t got, i, j;

	while ((got = fread(branches, sizeof(*branches), 4096, stdin)))
		for (i = 0; i < got; i++) {
			now += branches[i].instructions;
			for (j = 0; j < count; j++)
				see(&outputs[j], &branches[i], now);
		}
}

/* --- recordings ----------------------------------------------------------- */

static void add_maps(struct fixture *fixture, const char *path)
{
	int file = open(path, O_RDONLY);
	struct build_id id;
	size_t count, i;
	GElf_Phdr header;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(file, ELF_C_READ, NULL);
	if (!elf || elf_getphdrnum(elf, &count) ||
	    !object_read_build_id(path, &id))
		die(path);
	for (i = 0; i < count && gelf_getphdr(elf, i, &header); i++) {
		uint64_t skew = header.p_vaddr % PAGE;

		if (header.p_type == PT_LOAD && header.p_flags & PF_X)
			fixture_map(fixture, 2, PID, header.p_vaddr - skew,
				    (header.p_memsz + skew + PAGE - 1) / PAGE *
				    PAGE, header.p_offset - skew, path, &id);
	}
	elf_end(elf);
	close(file);
}

static void write_recording(const struct output *output, const char *binary)
{
	struct fixture fixture;
	uint64_t all = 0;
	size_t i;

	fixture_begin(&fixture, "edges,step,rows");
	fixture_comm(&fixture, 1, PID, "prog", true);
	add_maps(&fixture, binary);
	for (i = 0; i < output->room; i++) {
		const struct edge *edge = &output->edges[i];
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
		fixture_row(&fixture, 10, row.from, row.to,
			    row.end ? row.count : 0, &row.row);
		all += row.end ? row.count : 0;
	}
	fixture_add_totals(&fixture, 30, 1, all);
	fixture_end(&fixture);
	if (rename(fixture.path, output->path))
		die(output->path);
	printf("%s %llu\n", output->path, (unsigned long long)all);
}

static bool parse(struct output *output, char *text, double instructions)
{
	unsigned long long length, branches;
	char *colon = strchr(text, ':');

	if (!colon || sscanf(colon, ":%llu:%llu", &length, &branches) != 2)
		return false;
	*colon = 0;
	output->path = text;
	output->length = length;
	output->wanted = branches;
	if (!length)
		return true;
	output->gap = instructions * length / branches;
	output->next = output->gap * (0.5 + random_below(&seed, 1000) / 1000.0);
	return true;
}

int main(int argc, char **argv)
{
	struct output outputs[SPECS] = { { .path = NULL } };
	int count = argc - 4, i;

	if (count < 1 || count > SPECS)
		return 2;
	seed = strtoull(argv[3], NULL, 10);
	for (i = 0; i < count; i++)
		if (!parse(&outputs[i], argv[i + 4], strtod(argv[2], NULL)))
			return 2;
	read_trace(outputs, count);
	for (i = 0; i < count; i++)
		write_recording(&outputs[i], argv[1]);
	return 0;
}
