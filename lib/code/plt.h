/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names the entries of a procedure linkage table, which have no symbols. Calls
 * to other objects lead there.
 */
#ifndef HWPROF_PLT_H
#define HWPROF_PLT_H

#include <libelf.h>
#include <stdint.h>

/*
 * Returns the name of the entry at @address (x86-64), such as "free@plt". The
 * caller frees it. Returns NULL if there is none, or if out of memory.
 */
char *plt_name(Elf *elf, uint64_t address);

#endif /* HWPROF_PLT_H */
