// SPDX-License-Identifier: GPL-2.0-only
/*
 * many edges|cct N OBJECT OUT: writes a recording of N different edges or
 * calling contexts at 20,000 places of a program's code, to measure exports by.
 * OBJECT is an absolute path.
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

enum {
	PID = 100, BASE = 0x10000000, PAGE = 4096,
	DEPTH = 30, PLACES = 20000, SITES = 4,
};

static uint64_t seed = 1, start, size;

static _Noreturn void die(const char *what)
{
	perror(what);
	exit(1);
}

/* Returns one of PLACES addresses. */
static uint64_t any_code(void)
{
	uint64_t place = random_below(&seed, PLACES);

	return BASE + start + place * 0x9e3779b1 % size;
}

/* Maps the object's executable segment as a process does. */
static void add_map(struct fixture *fixture, const char *path)
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

		if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
			continue;
		start = header.p_vaddr;
		size = header.p_memsz;
		fixture_map(fixture, 2, PID, BASE + start - skew, size + skew,
			    header.p_offset - skew, path, &id);
	}
	elf_end(elf);
	close(file);
}

static void add_edge(struct fixture *fixture)
{
	const struct hwprof_row_edge row = {
		.row.type = HWPROF_ROW_EDGE, .row.size = sizeof(row),
		.row.session = 1, .row.space = PID, .row.pid = PID,
		.from = any_code(), .to = any_code(), .end = any_code(),
		.count = 1 + random_below(&seed, 1000),
		.kind = HWPROF_BRANCH_COND, .basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 10, row.from, row.to, row.count, &row.row);
}

/*
 * Contexts are chains of DEPTH calls, one behind the other. Each is called from
 * one of a few places of its caller.
 */
static void add_context(struct fixture *fixture, uint64_t id)
{
	static uint64_t caller;
	const struct hwprof_row_context row = {
		.row.type = HWPROF_ROW_CONTEXT,
		.row.size = offsetof(struct hwprof_row_context, metric_count),
		.row.session = 1, .row.space = PID, .row.pid = PID,
		.id = id, .parent = id % DEPTH == 1 ? 0 : id - 1,
		.callee = any_code(),
		.site = id % DEPTH == 1 ? 0 :
			caller + random_below(&seed, SITES),
		.calls = 1,
		.branches = 1 + random_below(&seed, 1000),
		.kind = id % DEPTH == 1 ? HWPROF_CONTEXT_ROOT :
					  HWPROF_CONTEXT_CALL,
		.basis = HWPROF_BASIS_EXACT,
	};

	caller = row.callee;
	fixture_row(fixture, 10, row.callee, row.site, row.calls, &row.row);
}

int main(int argc, char **argv)
{
	struct fixture fixture;
	uint64_t count, i;
	bool edges;

	if (argc != 5)
		return 2;
	edges = !strcmp(argv[1], "edges");
	count = strtoull(argv[2], NULL, 10);
	fixture_begin(&fixture, edges ? "edges,step,rows" : "cct,step,rows");
	fixture_comm(&fixture, 1, PID, "many", true);
	add_map(&fixture, argv[3]);
	for (i = 1; i <= count; i++) {
		if (edges)
			add_edge(&fixture);
		else
			add_context(&fixture, i);
	}
	fixture_add_totals(&fixture, 30, 1, count);
	fixture_end(&fixture);
	if (rename(fixture.path, argv[4]))
		die(argv[4]);
	return 0;
}
