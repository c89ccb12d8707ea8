/* SPDX-License-Identifier: GPL-2.0-only */
/* A program of one file of assembler, in a temporary folder of its own. */
#ifndef HWPROF_TEST_ASSEMBLED_H
#define HWPROF_TEST_ASSEMBLED_H

#include <stdint.h>

extern char assembled[64];		/* its path */

/*
 * Makes the program from @source, with further options of gcc. Returns gcc's
 * exit status.
 */
int assembled_make(const char *source, const char *options);
/* Removes the program and its folder: a teardown of cmocka. */
int assembled_remove(void **state);
/*
 * Returns the address of a symbol in the file, which is its offset, too; 0 if
 * there is none.
 */
uint64_t assembled_at(const char *symbol);

#endif /* HWPROF_TEST_ASSEMBLED_H */
