// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cfi_table.h"
#include "frame.h"

/* Numbers of registers in the psABI for x86-64 (figure 3.36). */
enum { REGISTER_BP = 6, REGISTER_SP = 7 };

enum {
	WORD = 8,
	PAGE = 4096,
	WORK_MAX = 256 << 20,	/* bytes of descriptions that are looked at */
};

/* --- a row ---------------------------------------------------------------- */

static bool set_cfa(struct hwprof_unwind_row *row,
		    const struct frame_rules *rules)
{
	int64_t offset = rules->offset;

	if (!rules->has_cfa ||
	    (rules->cfa != REGISTER_SP && rules->cfa != REGISTER_BP) ||
	    offset <= 0 || offset % WORD || offset / WORD > UINT16_MAX)
		return false;
	row->kind = rules->cfa == REGISTER_SP ? HWPROF_UNWIND_SP :
						HWPROF_UNWIND_BP;
	row->cfa = offset / WORD;
	return true;
}

static bool set_bp(struct hwprof_unwind_row *row,
		   const struct frame_rules *rules)
{
	int64_t offset = rules->bp.offset;

	switch (rules->bp.kind) {
	case FRAME_UNDEFINED:
	case FRAME_SAME:
		return true;
	case FRAME_SAVED:
		if (offset >= 0 || offset % WORD ||
		    offset / WORD < -UINT8_MAX)
			return false;
		row->bp = -offset / WORD;
		return true;
	case FRAME_OTHER:
		break;
	}
	return false;
}

/* Returns the row of the frame's present line, which begins at @start. */
static struct hwprof_unwind_row row_of(const struct frame *frame,
				       uint32_t start)
{
	struct hwprof_unwind_row row = { .start = start };
	const struct frame_rules *rules = &frame->rules;

	if (frame->common.signal || rules->ip.kind == FRAME_UNDEFINED) {
		row.kind = HWPROF_UNWIND_OUTERMOST;
		return row;
	}
	if (rules->ip.kind != FRAME_SAVED || rules->ip.offset != -WORD ||
	    !set_cfa(&row, rules) || !set_bp(&row, rules))
		row = (struct hwprof_unwind_row){ .start = start };
	return row;
}

/* --- all of them ---------------------------------------------------------- */

static bool is_same(const struct hwprof_unwind_row *a,
		    const struct hwprof_unwind_row *b)
{
	return a->kind == b->kind && a->cfa == b->cfa && a->bp == b->bp;
}

/* Adds a row. The room doubles at powers of two. */
static int add_row(struct cfi_table *table, struct hwprof_unwind_row row)
{
	uint32_t count = table->count;

	if (count && is_same(&table->rows[count - 1], &row))
		return 0;
	if (count == HWPROF_UNWIND_ROWS_MAX)
		return -E2BIG;
	if (!(count & (count - 1))) {
		struct hwprof_unwind_row *all =
			reallocarray(table->rows, count ? count * 2 : 1,
				     sizeof(*all));

		if (!all)
			return -ENOMEM;
		table->rows = all;
	}
	table->rows[table->count++] = row;
	return 0;
}

static int add_unknown(struct cfi_table *table, uint64_t address)
{
	if (address - table->base > UINT32_MAX)
		return -E2BIG;
	return add_row(table, (struct hwprof_unwind_row){
				      .start = address - table->base,
			      });
}

/* Adds the rows of the procedure at @address, which ends before @limit. */
static int add_procedure(struct cfi_table *table, struct frame *frame,
			 uint64_t address, uint64_t limit)
{
	uint64_t end = frame->end < limit ? frame->end : limit;
	int error = 0;

	while (!error && address < end) {
		uint64_t next = frame_next(frame);

		if (address - table->base > UINT32_MAX)
			return -E2BIG;
		error = add_row(table, row_of(frame, address - table->base));
		address = next;
	}
	return error || address >= limit ? error : add_unknown(table, address);
}

/* Returns the page at which the object begins. */
static uint64_t base_of(Elf *elf)
{
	uint64_t base = UINT64_MAX;
	GElf_Phdr segment;
	size_t count, i;

	if (elf_getphdrnum(elf, &count))
		return 0;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &segment) &&
		    segment.p_type == PT_LOAD && segment.p_vaddr < base)
			base = segment.p_vaddr - segment.p_vaddr % PAGE;
	return base;
}

/* Returns true if a description is that of the code at @begin. */
static bool covers(struct frame *frame, const struct eh_frame *procedures,
		   uint64_t begin, uint64_t offset)
{
	return frame_begin(frame, procedures, offset) &&
	       frame->begin == begin && frame->end > begin;
}

/*
 * A table that is not sorted is not searched by anybody, either. Of procedures
 * with the same beginning all but one are empty.
 */
static int add_procedures(struct cfi_table *table,
			  const struct eh_frame *procedures)
{
	struct frame frame = { .work = 0 };
	uint64_t begin, limit, offset, next = 0;
	int error = 0;
	uint32_t i;

	begin = eh_frame_entry(procedures, 0, &offset);
	if (begin < table->base)
		return -ENOENT;
	for (i = 0; i < procedures->count && !error; i++) {
		limit = i + 1 == procedures->count ? UINT64_MAX :
			eh_frame_entry(procedures, i + 1, &next);
		if (limit < begin)
			return -ENOENT;
		if (frame.work > WORK_MAX)
			return -E2BIG;
		if (!covers(&frame, procedures, begin, offset))
			error = limit > begin ? add_unknown(table, begin) : 0;
		else if (limit > begin)
			error = add_procedure(table, &frame, begin, limit);
		else
			next = offset;
		begin = limit;
		offset = next;
	}
	return error;
}

int cfi_table_make(struct cfi_table *table, Elf *elf)
{
	struct eh_frame procedures;
	GElf_Ehdr header;
	int error;

	*table = (struct cfi_table){ .base = base_of(elf) };
	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    header.e_ident[EI_DATA] != ELFDATA2LSB)
		return -ENOENT;
	error = eh_frame_open(&procedures, elf);
	if (!error)
		error = add_procedures(table, &procedures);
	if (!error && !table->count)
		error = -ENOENT;
	if (error)
		free(table->rows);
	return error;
}
