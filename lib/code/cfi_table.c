// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <gelf.h>
#include <stdbool.h>
#include <stdlib.h>

#include "eh_frame.h"
#include "cfi_table.h"

/* Numbers of registers in the psABI for x86-64 (figure 3.36). */
enum { REGISTER_BP = 6, REGISTER_SP = 7, REGISTER_RETURN = 16 };

enum {
	WORD = 8,
	PAGE = 4096,
	OPS_MAX = 3,		/* room that dwarf_frame_register() needs */
};

/* --- a row ---------------------------------------------------------------- */

/*
 * Splits @op into a register and an @offset. Returns false for another
 * operation.
 */
static bool is_register(const Dwarf_Op *op, unsigned int *number,
			int64_t *offset)
{
	if (op->atom == DW_OP_bregx) {
		*number = op->number;
		*offset = op->number2;
		return true;
	}
	*number = op->atom - DW_OP_breg0;
	*offset = op->number;
	return op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31;
}

static bool set_cfa(struct hwprof_unwind_row *row, Dwarf_Frame *frame)
{
	unsigned int number;
	int64_t offset;
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) || count != 1 ||
	    !is_register(ops, &number, &offset) ||
	    (number != REGISTER_SP && number != REGISTER_BP) ||
	    offset <= 0 || offset % WORD || offset / WORD > UINT16_MAX)
		return false;
	row->kind = number == REGISTER_SP ? HWPROF_UNWIND_SP :
					    HWPROF_UNWIND_BP;
	row->cfa = offset / WORD;
	return true;
}

enum rule { RULE_UNDEFINED, RULE_SAME, RULE_SAVED, RULE_OTHER };

/*
 * Returns where the caller's register is. If it was saved, it is @bytes below
 * the CFA.
 */
static enum rule rule_of(Dwarf_Frame *frame, int number, int64_t *bytes)
{
	Dwarf_Op memory[OPS_MAX], *ops;
	size_t count;

	if (dwarf_frame_register(frame, number, memory, &ops, &count))
		return RULE_OTHER;
	if (!count)
		return ops ? RULE_UNDEFINED : RULE_SAME;
	if (count != 2 || ops[0].atom != DW_OP_call_frame_cfa ||
	    ops[1].atom != DW_OP_plus_uconst)
		return RULE_OTHER;
	*bytes = -(int64_t)ops[1].number;
	return RULE_SAVED;
}

static bool set_bp(struct hwprof_unwind_row *row, Dwarf_Frame *frame)
{
	int64_t bytes;

	switch (rule_of(frame, REGISTER_BP, &bytes)) {
	case RULE_UNDEFINED:
	case RULE_SAME:
		return true;
	case RULE_SAVED:
		row->bp = bytes / WORD;
		return bytes > 0 && bytes % WORD == 0 &&
		       bytes / WORD <= UINT8_MAX;
	case RULE_OTHER:
		break;
	}
	return false;
}

/* Returns the row of @frame, which begins at @start. */
static struct hwprof_unwind_row row_of(Dwarf_Frame *frame, uint32_t start)
{
	struct hwprof_unwind_row row = { .start = start };
	Dwarf_Addr begin, end;
	int64_t bytes;
	enum rule rule;
	bool signal;

	rule = rule_of(frame, REGISTER_RETURN, &bytes);
	if (dwarf_frame_info(frame, &begin, &end, &signal) == REGISTER_RETURN &&
	    (signal || rule == RULE_UNDEFINED)) {
		row.kind = HWPROF_UNWIND_OUTERMOST;
		return row;
	}
	if (rule != RULE_SAVED || bytes != WORD || !set_cfa(&row, frame) ||
	    !set_bp(&row, frame))
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

/* Adds the rows of the code at @address, up to @limit or an earlier gap. */
static int add_procedure(struct cfi_table *table, Dwarf_CFI *cfi,
			 uint64_t address, uint64_t limit)
{
	int error = 0;

	while (!error && address < limit) {
		uint32_t start = address - table->base;
		Dwarf_Addr begin, end;
		Dwarf_Frame *frame;
		bool signal;

		if (address - table->base > UINT32_MAX)
			return -E2BIG;
		if (dwarf_cfi_addrframe(cfi, address, &frame))
			return add_row(table, (struct hwprof_unwind_row){
						      .start = start,
					      });
		error = add_row(table, row_of(frame, start));
		dwarf_frame_info(frame, &begin, &end, &signal);
		free(frame);
		if (end <= address)
			break;
		address = end;
	}
	return error;
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

static int add_procedures(struct cfi_table *table, Dwarf_CFI *cfi,
			  const uint64_t *begins, uint32_t count)
{
	int error = 0;
	uint32_t i;

	for (i = 0; i < count && !error; i++)
		error = add_procedure(table, cfi, begins[i], i + 1 < count ?
						begins[i + 1] : UINT64_MAX);
	return error;
}

int cfi_table_make(struct cfi_table *table, Elf *elf)
{
	GElf_Ehdr header;
	uint64_t *begins;
	uint32_t count;
	Dwarf_CFI *cfi;
	int error;

	*table = (struct cfi_table){ .base = base_of(elf) };
	if (!gelf_getehdr(elf, &header) || header.e_machine != EM_X86_64 ||
	    header.e_ident[EI_CLASS] != ELFCLASS64)
		return -ENOENT;
	begins = eh_frame_begins(elf, &count);
	if (!begins)
		return -ENOENT;
	cfi = dwarf_getcfi_elf(elf);
	if (count && begins[0] < table->base)
		error = -ENOENT;
	else
		error = cfi ? add_procedures(table, cfi, begins, count) :
			      -ENOENT;
	if (!error && !table->count)
		error = -ENOENT;
	dwarf_cfi_end(cfi);
	free(begins);
	if (error)
		free(table->rows);
	return error;
}
