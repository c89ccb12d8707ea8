/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Finds where procedures begin from the table that programs have for unwinding,
 * also without symbols: .eh_frame_hdr (LSB core, section 10.6).
 */
#ifndef HWPROF_EH_FRAME_H
#define HWPROF_EH_FRAME_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/byte_reader.h"

/*
 * Sets *@begin to the last beginning at or before @address. Returns false if
 * there is none, or no table.
 */
bool eh_frame_begin(Elf *elf, uint64_t address, uint64_t *begin);

/**
 * struct eh_frame - All procedures, and descriptions of their frames
 * @entries: of the table; see eh_frame_entry().
 * @count: of those.
 * @base: the address that they count from.
 * @frames: the bytes of .eh_frame, as dwarf_next_cfi() takes them.
 * @address: where those are.
 */
struct eh_frame {
	struct byte_reader entries;
	uint32_t count;
	uint64_t base;
	Elf_Data frames;
	uint64_t address;
};

/*
 * Finds the table. It is valid as long as @elf. Only the bytes that are needed
 * are read if @elf was opened by ELF_C_READ. Returns 0; -ENOENT if there is
 * none; -E2BIG if it has more procedures or bytes than any program needs.
 */
int eh_frame_open(struct eh_frame *table, Elf *elf);

/*
 * Returns where procedure @index begins, and the offset of its description in
 * the frames. A hostile table is not sorted, and has any offsets.
 */
uint64_t eh_frame_entry(const struct eh_frame *table, uint32_t index,
			uint64_t *frame);

#endif /* HWPROF_EH_FRAME_H */
