/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where procedures begin, by the table that programs have for unwinding, also
 * without symbols: .eh_frame_hdr (LSB core, section 10.6).
 */
#ifndef HWPROF_EH_FRAME_H
#define HWPROF_EH_FRAME_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

/* The table's last begin at or before @address. False: it has none, or no table. */
bool eh_frame_begin(Elf *elf, uint64_t address, uint64_t *begin);

/* All begins in the table, sorted, to be freed. NULL: none, or out of memory. */
uint64_t *eh_frame_begins(Elf *elf, uint32_t *count);

#endif /* HWPROF_EH_FRAME_H */
