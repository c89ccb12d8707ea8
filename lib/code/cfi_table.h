/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Converts an object's .eh_frame to rows of the module's table for unwinding.
 * Rules that rows cannot express are marked unknown. A signal frame is
 * outermost, because handlers are roots.
 */
#ifndef HWPROF_CFI_TABLE_H
#define HWPROF_CFI_TABLE_H

#include <libelf.h>
#include <linux/hwprof.h>
#include <stdint.h>

struct cfi_table {
	uint64_t base;		/* address in the object that rows count from */
	struct hwprof_unwind_row *rows;		/* freed by the caller */
	uint32_t count;
};

/*
 * Makes the rows of @elf. Returns 0; -ENOENT if it has no such section, or is
 * for another machine than x86-64; -E2BIG if there are too many; -ENOMEM.
 */
int cfi_table_make(struct cfi_table *table, Elf *elf);

#endif /* HWPROF_CFI_TABLE_H */
