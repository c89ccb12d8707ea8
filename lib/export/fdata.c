// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The lines that llvm-bolt --data reads: one for each branch, with both ends as
 * functions and offsets. A conditional jump that lines ran over is a branch to
 * what follows it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "code.h"
#include "code/decode.h"
#include "base/array.h"

/* --- jumps that were passed --------------------------------------------- */

struct passed {
	uint64_t address, next;
};

struct walk {
	const struct part *part;
	const struct code_profile *code;
	struct decoder *decoder;
	/* Where lines begin and end, sorted, and the counts up to each. */
	uint64_t *firsts, *lasts;
	uint64_t *first_sums, *last_sums;
	struct passed *passed;
	size_t count, room;
};

static int compare_lasts(const void *a, const void *b)
{
	const struct code_line *x = a, *y = b;

	return compare_u64(x->last, y->last);
}

/* Sums counts by beginnings and by ends. Returns 0 or -ENOMEM. */
static int sum_lines(struct walk *walk)
{
	size_t count = walk->code->line_count, i;
	struct code_line *by_last = calloc(count + 1, sizeof(*by_last));
	uint64_t firsts = 0, lasts = 0;

	walk->firsts = calloc(count + 1, sizeof(*walk->firsts));
	walk->lasts = calloc(count + 1, sizeof(*walk->lasts));
	walk->first_sums = calloc(count + 1, sizeof(*walk->first_sums));
	walk->last_sums = calloc(count + 1, sizeof(*walk->last_sums));
	if (!by_last || !walk->firsts || !walk->lasts || !walk->first_sums ||
	    !walk->last_sums) {
		free(by_last);
		return -ENOMEM;
	}
	for (i = 0; i < count; i++)
		by_last[i] = walk->code->lines[i];
	qsort(by_last, count, sizeof(*by_last), compare_lasts);
	for (i = 0; i < count; i++) {
		firsts += walk->code->lines[i].count;
		lasts += by_last[i].count;
		walk->first_sums[i + 1] = firsts;
		walk->last_sums[i + 1] = lasts;
		walk->firsts[i] = walk->code->lines[i].first;
		walk->lasts[i] = by_last[i].last;
	}
	free(by_last);
	return 0;
}

/* Returns how many of the sorted addresses are not above @address. */
static size_t count_until(const uint64_t *addresses, size_t count,
			  uint64_t address)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (addresses[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Lines that run over the instruction at @address, and do not end there. */
static uint64_t count_over(const struct walk *walk, uint64_t address)
{
	size_t count = walk->code->line_count;
	size_t begun = count_until(walk->firsts, count, address);
	size_t ended = count_until(walk->lasts, count, address);

	return walk->first_sums[begun] - walk->last_sums[ended];
}

static int add_passed(struct walk *walk, const struct instruction *jump)
{
	struct passed *passed = array_grow(walk->passed, &walk->room,
					   walk->count + 1, sizeof(*passed));

	if (!passed)
		return -ENOMEM;
	walk->passed = passed;
	passed[walk->count++] = (struct passed){
		jump->address, jump->address + jump->length,
	};
	return 0;
}

/* Decodes from @first up to @last, and notes conditional jumps before it. */
static int decode_line(struct walk *walk, uint64_t first, uint64_t last)
{
	const struct binary *binary = &walk->part->binary;
	struct instruction instruction;
	struct code code;
	size_t size;
	const uint8_t *bytes = binary_code(binary, first, &size);
	int error = 0;

	if (!bytes || code_of_bytes(&code, walk->decoder, binary->machine,
				    bytes, size, first))
		return 0;
	while (!error && code_next(&code, &instruction) &&
	       instruction.address < last)
		if (instruction.ending == ENDING_COND)
			error = add_passed(walk, &instruction);
	return error;
}

/*
 * Decodes all lines, each instruction about once: where lines overlap, only
 * what lies behind the end of those before. Lines are by their beginnings.
 */
static int decode_lines(struct walk *walk)
{
	const struct code_line *lines = walk->code->lines;
	size_t i, from;
	int error = 0;

	for (i = 0; !error && i < walk->code->line_count; i = from) {
		uint64_t last = lines[i].last;

		/* All that begin in what is decoded, and reach farther. */
		for (from = i + 1; from < walk->code->line_count &&
		     lines[from].first <= last; from++)
			if (lines[from].last > last)
				last = lines[from].last;
		error = decode_line(walk, lines[i].first, last);
	}
	return error;
}

static void walk_free(struct walk *walk)
{
	decoder_free(walk->decoder);
	free(walk->firsts);
	free(walk->lasts);
	free(walk->first_sums);
	free(walk->last_sums);
	free(walk->passed);
}

/* --- writing ------------------------------------------------------------ */

/* BOLT's name of a local function has its number; blanks are escaped. */
static void put_name(FILE *out, const struct binary_symbol *symbol)
{
	const char *at;

	for (at = symbol->name; *at; at++) {
		if (*at == ' ' || *at == '\\')
			putc('\\', out);
		putc(*at, out);
	}
	if (symbol->number)
		fprintf(out, "/%u", symbol->number);
}

static void put_end(FILE *out, const struct binary_symbol *symbol,
		    uint64_t address)
{
	if (!symbol) {
		fputs("0 [unknown] 0 ", out);
		return;
	}
	fputs("1 ", out);
	put_name(out, symbol);
	fprintf(out, " %" PRIx64 " ", address - symbol->address);
}

/* Code without a symbol, such as a PLT's, is as unknown as other objects'. */
static void put_branch(FILE *out, const struct binary *binary,
		       const struct code_branch *branch)
{
	const struct binary_symbol *from = binary_symbol(binary, branch->from);
	const struct binary_symbol *to = binary_symbol(binary, branch->to);

	if (!from && !to)
		return;
	put_end(out, from, branch->from);
	put_end(out, to, branch->to);
	fprintf(out, "%" PRIu64 " %" PRIu64 "\n", branch->mispredicted,
		branch->count);
}

static void put_passed(FILE *out, const struct walk *walk)
{
	size_t i;

	for (i = 0; i < walk->count; i++) {
		const struct passed *passed = &walk->passed[i];
		const struct code_branch branch = {
			.from = passed->address, .to = passed->next,
			.count = count_over(walk, passed->address),
		};

		if (branch.count)
			put_branch(out, &walk->part->binary, &branch);
	}
}

static int write_all(struct walk *walk, const struct code_profile *code,
		     FILE *out)
{
	size_t i;
	int error = walk->decoder ? sum_lines(walk) : -ENOMEM;

	if (!error)
		error = decode_lines(walk);
	if (error)
		return error;
	for (i = 0; i < code->branch_count; i++)
		put_branch(out, &walk->part->binary, &code->branches[i]);
	put_passed(out, walk);
	return 0;
}

int fdata_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct walk walk = { .part = part };
	struct code_profile code;
	int error = code_collect(&code, export, part);

	if (error)
		return error;
	code_merge_lines(&code);
	walk.code = &code;
	walk.decoder = decoder_new();
	error = write_all(&walk, &code, out);
	walk_free(&walk);
	code_free(&code);
	return error;
}

int fdata_check(struct hwprof_export *export, struct part *part)
{
	int error = binary_read_symbols(&part->binary);

	if (!error && !part->binary.symbol_count)
		return export_fail(export, -ENOEXEC,
				   "%s: it has no symbol table, and fdata names functions; give a binary that is not stripped, or use --format bolt",
				   part->about.object);
	return error ? error : bolt_check(export, part);
}
