// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The files that llvm-profgen reads. An unsymbolized profile has ranges and
 * branches, each list behind its length, at offsets from the first executable
 * page. A perf script has mappings, and records of branches, the newest first:
 * here each branch with the one that ends its line, behind a line with their
 * count.
 */
#include <errno.h>
#include <inttypes.h>

#include "code.h"

/* A branch from elsewhere becomes one from the last address there is. */
static uint64_t convert(const struct hwprof_export *export,
			const struct part *part, uint64_t address)
{
	return address - part->binary.code;
}

int profgen_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	const struct code_text text = { export, part, convert, out };
	struct code_profile code;
	int error = code_collect(&code, export, part);

	if (error)
		return error;
	code_merge_lines(&code);
	code_put_lines(&code, &text);
	code_put_branches(&code, &text);
	code_free(&code);
	return 0;
}

int profgen_check(struct hwprof_export *export, struct part *part)
{
	const struct binary *binary = &part->binary;

	if (binary_has_section(binary, ".pseudo_probe") ||
	    binary_has_section(binary, ".debug_line"))
		return 0;
	return warnings_add(&export->warnings,
			    "%s has neither debug information nor pseudo-probes: build it with -g -fdebug-info-for-profiling, or llvm-profgen writes an empty profile",
			    part->about.object);
}

/* --- perf script -------------------------------------------------------- */

/* Position-independent code is shown as Linux maps it without randomness. */
static uint64_t bias_of(const struct part *part)
{
	return part->binary.position_independent ? 0x555555554000 : 0;
}

static void put_record(FILE *out, uint64_t from, uint64_t to)
{
	fprintf(out, " 0x%" PRIx64 "/0x%" PRIx64 "/P/-/-/0", from, to);
}

static uint64_t shown(uint64_t address, uint64_t bias)
{
	return address == CODE_OUTSIDE ? 0 : address + bias;
}

/*
 * The newer record is the branch at the end of the line, which leads nowhere
 * here: it is counted where it is the older one.
 */
static void put_edge(const struct part *part, FILE *out,
		     const struct edge_entry *edge)
{
	uint64_t bias = bias_of(part);
	uint64_t from = code_address(part, &edge->from, edge->from.address);
	uint64_t to = code_address(part, &edge->to, edge->to.address);
	uint64_t end = edge_has_line(edge) ?
		       code_address(part, &edge->to, edge->end) : CODE_OUTSIDE;

	if (to == CODE_OUTSIDE)
		return;
	fprintf(out, "%" PRIu64 "\n", edge->count);
	if (end != CODE_OUTSIDE)
		put_record(out, shown(end, bias), 0);
	put_record(out, shown(from, bias), shown(to, bias));
	putc('\n', out);
}

int perfscript_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	const struct binary *binary = &part->binary;
	const struct hwprof_edges *edges = (const void *)export->profile;
	size_t i;

	fprintf(out, "PERF_RECORD_MMAP2 1/1: [0x%" PRIx64 "(0x%" PRIx64
		") @ 0x%" PRIx64 " 00:00 0 0]: r-xp %s\n",
		binary->code + bias_of(part), binary->code_size,
		binary->code_offset,
		export->binary ? export->binary : part->about.object);
	for (i = 0; i < edges->edge_count; i++)
		put_edge(part, out, &edges->edges[i]);
	return 0;
}
