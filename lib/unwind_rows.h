/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What an object has for unwinding, .eh_frame, as rows of a table for the module.
 * What these cannot say is marked as unknown; a signal's frame is an outermost
 * one, because handlers are roots.
 */
#ifndef HWPROF_UNWIND_ROWS_H
#define HWPROF_UNWIND_ROWS_H

#include <libelf.h>
#include <linux/hwprof.h>
#include <stdint.h>

struct unwind_rows {
	uint64_t base;		/* address in the object that rows count from */
	struct hwprof_unwind_row *rows;		/* free() them */
	uint32_t count;
};

/*
 * Makes those of @elf. -ENOENT: it has nothing for that, or is of another machine
 * than x86-64; -E2BIG: they would be too many; -ENOMEM.
 */
int unwind_rows_make(struct unwind_rows *rows, Elf *elf);

#endif /* HWPROF_UNWIND_ROWS_H */
