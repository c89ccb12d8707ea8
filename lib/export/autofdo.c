// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The text that create_llvm_prof and create_gcov --profiler=text read: three
 * lists, each behind its length. Ranges of code have a count of how often they
 * ran. Addresses, which are not needed beside ranges, are an empty list.
 * Branches have a count of how often they led there.
 */
#include <errno.h>
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

int autofdo_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	const struct code_text text = { export, part, convert, out };
	struct code_profile code;
	int error = code_collect(&code, export, part);

	if (error)
		return error;
	code_merge_lines(&code);
	code_put_lines(&code, &text);
	fputs("0\n", out);
	code_put_branches(&code, &text);
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
