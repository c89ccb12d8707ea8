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

/*
 * Sets *@begin to the last beginning at or before @address. Returns false if
 * there is none, or no table.
 */
bool eh_frame_begin(Elf *elf, uint64_t address, uint64_t *begin);

/*
 * Returns all beginnings, sorted; the caller frees the array. Returns NULL if
 * there are none, or if out of memory.
 */
uint64_t *eh_frame_begins(Elf *elf, uint32_t *count);

#endif /* HWPROF_EH_FRAME_H */
