// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dwarf.h>
#include <elfutils/libdw.h>

#include "frame.h"

/* Numbers of registers in the psABI for x86-64 (figure 3.36). */
enum { REGISTER_BP = 6, REGISTER_IP = 16 };

static const unsigned char ident[EI_NIDENT] = {
	ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT,
};

/* --- instructions --------------------------------------------------------- */

static void set_rule(struct frame_rules *rules, uint64_t number,
		     struct frame_rule rule)
{
	if (number == REGISTER_BP)
		rules->bp = rule;
	else if (number == REGISTER_IP)
		rules->ip = rule;
}

/* Returns @number * @factor, without overflow that C leaves undefined. */
static int64_t scaled(uint64_t number, int64_t factor)
{
	return (int64_t)(number * (uint64_t)factor);
}

static bool set_offset(struct frame *frame, uint64_t number, bool has_sign,
		       int64_t factor)
{
	uint64_t offset;

	if (!reader_leb(&frame->code, has_sign, &offset))
		return false;
	set_rule(&frame->rules, number, (struct frame_rule){
		FRAME_SAVED, scaled(offset, factor),
	});
	return true;
}

/* Sets the register of the CFA, its offset, or both. */
static bool set_cfa(struct frame *frame, bool number, bool offset,
		    bool has_sign)
{
	int64_t factor = has_sign ? frame->common.data_factor : 1;
	uint64_t value;

	if (number && !reader_uleb(&frame->code, &frame->rules.cfa))
		return false;
	if (offset && !reader_leb(&frame->code, has_sign, &value))
		return false;
	if (offset)
		frame->rules.offset = scaled(value, factor);
	/* An expression has no register that could stay. */
	frame->rules.has_cfa |= number && offset;
	return true;
}

static bool skip_block(struct frame *frame)
{
	uint64_t size;

	return reader_uleb(&frame->code, &size) &&
	       reader_skip(&frame->code, size);
}

static void restore(struct frame *frame, uint64_t number)
{
	const struct frame_rules *first = &frame->common.rules;

	set_rule(&frame->rules, number, number == REGISTER_BP ? first->bp :
								first->ip);
}

static bool remember(struct frame *frame)
{
	if (frame->depth == FRAME_STATES_MAX)
		return false;
	frame->states[frame->depth++] = frame->rules;
	return true;
}

static bool recall(struct frame *frame)
{
	if (!frame->depth)
		return false;
	frame->rules = frame->states[--frame->depth];
	return true;
}

/* Runs an instruction about one register, whose number comes first. */
static bool run_register(struct frame *frame, uint8_t code)
{
	const struct frame_rule other = { .kind = FRAME_OTHER };
	const int64_t factor = frame->common.data_factor;
	uint64_t number, operand;

	if (!reader_uleb(&frame->code, &number))
		return false;
	switch (code) {
	case DW_CFA_offset_extended:
		return set_offset(frame, number, false, factor);
	case DW_CFA_offset_extended_sf:
		return set_offset(frame, number, true, factor);
	case DW_CFA_GNU_negative_offset_extended:
		return set_offset(frame, number, false, -(uint64_t)factor);
	case DW_CFA_restore_extended:
		restore(frame, number);
		return true;
	case DW_CFA_undefined:
	case DW_CFA_same_value:
		set_rule(&frame->rules, number, (struct frame_rule){
			.kind = code == DW_CFA_undefined ? FRAME_UNDEFINED :
							   FRAME_SAME,
		});
		return true;
	case DW_CFA_register:
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		set_rule(&frame->rules, number, other);
		return reader_uleb(&frame->code, &operand);
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		set_rule(&frame->rules, number, other);
		return skip_block(frame);
	}
	return false;
}

/* Runs an instruction that is about no register, or the CFA's. */
static bool run_other(struct frame *frame, uint8_t code)
{
	uint64_t size;

	switch (code) {
	case DW_CFA_nop:
		return true;
	case DW_CFA_remember_state:
		return remember(frame);
	case DW_CFA_restore_state:
		return recall(frame);
	case DW_CFA_def_cfa:
		return set_cfa(frame, true, true, false);
	case DW_CFA_def_cfa_sf:
		return set_cfa(frame, true, true, true);
	case DW_CFA_def_cfa_register:
		return set_cfa(frame, true, false, false);
	case DW_CFA_def_cfa_offset:
		return set_cfa(frame, false, true, false);
	case DW_CFA_def_cfa_offset_sf:
		return set_cfa(frame, false, true, true);
	case DW_CFA_def_cfa_expression:
		frame->rules.has_cfa = false;
		return skip_block(frame);
	case DW_CFA_GNU_args_size:
		return reader_uleb(&frame->code, &size);
	}
	return run_register(frame, code);
}

static bool read_advance(struct frame *frame, size_t size, uint64_t *count)
{
	*count = 0;
	return reader_copy(&frame->code, count, size);
}

/* Runs an instruction. Returns false if it makes no sense. */
static bool run(struct frame *frame, uint64_t *count)
{
	uint8_t code;

	*count = 0;
	if (!reader_copy(&frame->code, &code, 1))
		return false;
	switch (code & 0xc0) {
	case DW_CFA_advance_loc:
		*count = code & 0x3f;
		return true;
	case DW_CFA_offset:
		return set_offset(frame, code & 0x3f, false,
				  frame->common.data_factor);
	case DW_CFA_restore:
		restore(frame, code & 0x3f);
		return true;
	}
	switch (code) {
	case DW_CFA_advance_loc1:
		return read_advance(frame, 1, count);
	case DW_CFA_advance_loc2:
		return read_advance(frame, 2, count);
	case DW_CFA_advance_loc4:
		return read_advance(frame, 4, count);
	}
	return run_other(frame, code);
}

uint64_t frame_next(struct frame *frame)
{
	uint64_t count = 0;

	while (reader_left(&frame->code) && !count) {
		if (run(frame, &count))
			continue;
		frame->rules = (struct frame_rules){ .has_cfa = false };
		frame->code = reader_of(NULL, 0);
	}
	count *= frame->common.code_factor;
	if (!count || frame->end - frame->at < count)
		count = frame->end - frame->at;
	frame->at += count;
	return frame->at;
}

/* --- descriptions --------------------------------------------------------- */

/*
 * Reads an address of the @table, or a number, as @encoding says. Returns false
 * also for an encoding that needs more than the table.
 */
static bool read_encoded(struct byte_reader *reader,
			 const struct eh_frame *table, uint8_t encoding,
			 uint64_t *value)
{
	const uint8_t *start = reader->at;
	size_t size;

	switch (encoding & 7) {
	case DW_EH_PE_udata2:
		size = 2;
		break;
	case DW_EH_PE_udata4:
		size = 4;
		break;
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
		size = 8;
		break;
	default:
		return false;
	}
	*value = 0;
	if (!reader_copy(reader, value, size))
		return false;
	if (encoding & DW_EH_PE_signed && size < 8 && *value >> (size * 8 - 1))
		*value |= -1ULL << size * 8;
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		*value += table->address +
			  (start - (const uint8_t *)table->frames.d_buf);
	return !(encoding & 0x70) || (encoding & 0x70) == DW_EH_PE_pcrel;
}

/* Reads the data of the letter @letter. */
static bool read_letter(struct frame_common *common, char letter,
			struct byte_reader *data, const struct eh_frame *table)
{
	uint64_t address;
	uint8_t encoding;

	if (letter == 'S') {
		common->signal = true;
		return true;
	}
	if (!reader_copy(data, &encoding, 1))
		return false;
	switch (letter) {
	case 'P':	/* of a function */
		return read_encoded(data, table, encoding & 0xf, &address);
	case 'R':
		common->encoding = encoding;
		return true;
	}
	return letter == 'L';
}

static bool read_augmentation(struct frame_common *common, const Dwarf_CIE *cie,
			      const struct eh_frame *table)
{
	struct byte_reader data = { NULL };
	const char *at = cie->augmentation;

	common->encoding = DW_EH_PE_absptr;
	common->sized = *at == 'z';
	if (*at && !common->sized)
		return false;
	if (common->sized)
		data = reader_of(cie->augmentation_data,
				 cie->augmentation_data_size);
	for (at += common->sized; *at; at++)
		if (!read_letter(common, *at, &data, table))
			return false;
	return true;
}

/* Runs the instructions of @code from its beginning. */
static bool run_first(struct frame *frame, const uint8_t *code,
		      const uint8_t *end)
{
	uint64_t count;

	frame->code = reader_of(code, end - code);
	frame->rules = (struct frame_rules){ .has_cfa = false };
	frame->depth = 0;
	while (reader_left(&frame->code))
		if (!run(frame, &count) || count)
			return false;
	return true;
}

/* Reads what is common to descriptions, unless it was the last time. */
static bool read_common(struct frame *frame, const struct eh_frame *table,
			uint64_t offset)
{
	struct frame_common *common = &frame->common;
	Elf_Data bytes = table->frames;
	Dwarf_CFI_Entry entry;
	Dwarf_Off next;

	if (common->known && common->offset == offset)
		return true;
	*common = (struct frame_common){ .offset = offset };
	if (offset >= bytes.d_size ||
	    dwarf_next_cfi(ident, &bytes, true, offset, &next, &entry) ||
	    !dwarf_cfi_cie_p(&entry))
		return false;
	frame->work += next - offset;
	common->code_factor = entry.cie.code_alignment_factor;
	common->data_factor = entry.cie.data_alignment_factor;
	if (entry.cie.return_address_register != REGISTER_IP ||
	    !read_augmentation(common, &entry.cie, table) ||
	    !run_first(frame, entry.cie.initial_instructions,
		       entry.cie.initial_instructions_end))
		return false;
	common->rules = frame->rules;
	common->known = true;
	return true;
}

bool frame_begin(struct frame *frame, const struct eh_frame *table,
		 uint64_t offset)
{
	Elf_Data bytes = table->frames;
	Dwarf_CFI_Entry entry;
	uint64_t size, extra;
	Dwarf_Off next;

	if (offset >= bytes.d_size ||
	    dwarf_next_cfi(ident, &bytes, true, offset, &next, &entry) ||
	    dwarf_cfi_cie_p(&entry))
		return false;
	frame->work += next - offset;
	if (!read_common(frame, table, entry.fde.CIE_pointer))
		return false;
	frame->code = reader_of(entry.fde.start, entry.fde.end -
						 entry.fde.start);
	if (!read_encoded(&frame->code, table, frame->common.encoding,
			  &frame->begin) ||
	    !read_encoded(&frame->code, table, frame->common.encoding & 0xf,
			  &size) ||
	    size > UINT64_MAX - frame->begin)
		return false;
	if (frame->common.sized && (!reader_uleb(&frame->code, &extra) ||
				    !reader_skip(&frame->code, extra)))
		return false;
	frame->at = frame->begin;
	frame->end = frame->begin + size;
	frame->rules = frame->common.rules;
	frame->depth = 0;
	return true;
}
