// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lines that perf2bolt -pa and llvm-bolt -pa read: "B from to count
 * mispredictions" for branches, "F first last count" for straight lines. An "f"
 * line was entered from another function, so that BOLT counts the call before a
 * return's target.
 */
#include <errno.h>
#include <inttypes.h>

#include "code.h"

/* BOLT takes position-independent code to be at 0. */
static uint64_t base_of(const struct part *part)
{
	return part->binary.position_independent ? part->binary.first : 0;
}

static void put_address(FILE *out, uint64_t address, uint64_t base)
{
	if (address == CODE_OUTSIDE)
		fputs(" X:0", out);
	else
		fprintf(out, " %" PRIx64, address - base);
}

static void put_branches(FILE *out, const struct code_profile *code,
			 uint64_t base)
{
	size_t i;

	for (i = 0; i < code->branch_count; i++) {
		const struct code_branch *branch = &code->branches[i];

		putc('B', out);
		put_address(out, branch->from, base);
		put_address(out, branch->to, base);
		fprintf(out, " %" PRIu64 " %" PRIu64 "\n", branch->count,
			branch->mispredicted);
	}
}

static void put_lines(FILE *out, const struct code_profile *code, uint64_t base)
{
	size_t i;

	for (i = 0; i < code->line_count; i++) {
		const struct code_line *line = &code->lines[i];

		fprintf(out, "%c %" PRIx64 " %" PRIx64 " %" PRIu64 "\n",
			line->entered ? 'f' : 'F', line->first - base,
			line->last - base, line->count);
	}
}

int bolt_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct code_profile code;
	int error = code_collect(&code, export, part);

	if (error)
		return error;
	put_branches(out, &code, base_of(part));
	put_lines(out, &code, base_of(part));
	code_free(&code);
	return 0;
}

int bolt_check(struct hwprof_export *export, struct part *part)
{
	unsigned int machine = part->binary.machine;

	if (machine != EM_X86_64 && machine != EM_AARCH64)
		return export_fail(export, -ENOEXEC,
				   "%s: it is no program of x86-64 or arm64, which BOLT needs",
				   part->about.object);
	if (!binary_has_section(&part->binary, ".rela.text"))
		return warnings_add(&export->warnings,
				    "%s has no relocations: link it with -Wl,--emit-relocs, or BOLT cannot move its functions",
				    part->about.object);
	return 0;
}
