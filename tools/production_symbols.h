/* SPDX-License-Identifier: GPL-2.0-only */
/* Where the functions are that productions name. */
#ifndef HWPROF_PRODUCTION_SYMBOLS_H
#define HWPROF_PRODUCTION_SYMBOLS_H

#include <sys/types.h>

#include "live/filter.h"
#include "production.h"

/*
 * Finds the functions of all symbols in their files. Returns -1, or the exit
 * status after it has said which is missing.
 */
int production_symbols_find(const struct productions *productions,
			    const char *program,
			    struct filter_function *functions);

/*
 * Returns the address of a function in process @pid; 0: its file is not mapped
 * there.
 */
uint64_t production_symbol_address(const struct filter_function *function,
				   pid_t pid);

/* Prints the text, a caret below the column, and what is wrong there. */
void production_tell(const struct production_error *error);

#endif /* HWPROF_PRODUCTION_SYMBOLS_H */
