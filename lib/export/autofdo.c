// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The text that create_llvm_prof and create_gcov --profiler=text read: three
 * lists, each behind its length. Ranges of code have a count of how often they
 * ran. Addresses, which are not needed beside ranges, are an empty list.
 * Branches have a count of how often they led there.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "code.h"

/* Version 0.20 of AutoFDO and newer ones want offsets in the file. */
static uint64_t convert(const struct hwprof_export *export,
			const struct part *part, uint64_t address)
{
	if (address == CODE_OUTSIDE)
		return 0;
	if (!strcmp(export->version, "0.20"))
		return binary_offset(&part->binary, address);
	return address - part->binary.first;
}

static void put_lines(const struct hwprof_export *export,
		      const struct part *part, FILE *out,
		      const struct code_profile *code)
{
	size_t i;

	fprintf(out, "%zu\n", code->line_count);
	for (i = 0; i < code->line_count; i++) {
		const struct code_line *line = &code->lines[i];

		fprintf(out, "%" PRIx64 "-%" PRIx64 ":%" PRIu64 "\n",
			convert(export, part, line->first),
			convert(export, part, line->last), line->count);
	}
}

static void put_branches(const struct hwprof_export *export,
			 const struct part *part, FILE *out,
			 const struct code_profile *code)
{
	size_t i;

	fprintf(out, "%zu\n", code_count_led(code));
	for (i = 0; i < code->branch_count; i++) {
		const struct code_branch *branch = &code->branches[i];

		if (branch->to != CODE_OUTSIDE)
			fprintf(out, "%" PRIx64 "->%" PRIx64 ":%" PRIu64 "\n",
				convert(export, part, branch->from),
				convert(export, part, branch->to),
				branch->count);
	}
}

int autofdo_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct code_profile code;
	int error = code_collect(&code, export, part);

	if (error)
		return error;
	code_merge_lines(&code);
	put_lines(export, part, out, &code);
	fputs("0\n", out);
	put_branches(export, part, out, &code);
	code_free(&code);
	return 0;
}

int autofdo_check(struct hwprof_export *export, struct part *part)
{
	const struct binary *binary = &part->binary;

	if (binary_has_section(binary, ".pseudo_probe"))
		return warnings_add(&export->warnings,
				    "%s has pseudo-probes, which AutoFDO does not read: use --format llvm-profgen",
				    part->about.object);
	if (!binary_has_section(binary, ".debug_line"))
		return warnings_add(&export->warnings,
				    "%s has no debug information: build it with -g -fdebug-info-for-profiling, or create_llvm_prof writes an empty profile",
				    part->about.object);
	if (!strcmp(export->version, "0.19") &&
	    binary_has_section(binary, ".debug_line_str"))
		return warnings_add(&export->warnings,
				    "%s has debug information of DWARF 5, of which AutoFDO 0.19 makes an empty profile: build it with -gdwarf-4",
				    part->about.object);
	return 0;
}
