/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of the entries of a procedure linkage table, which have no symbols: calls
 * to other objects lead there.
 */
#ifndef HWPROF_PLT_H
#define HWPROF_PLT_H

#include <libelf.h>
#include <stdint.h>

/*
 * The entry at @address (x86-64), "free@plt". The caller frees it. NULL: there is
 * none, or out of memory.
 */
char *plt_name(Elf *elf, uint64_t address);

#endif /* HWPROF_PLT_H */
