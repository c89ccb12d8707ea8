/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of tests. */
#ifndef TORTURE_TAP_H
#define TORTURE_TAP_H

#include <stdbool.h>

/* Prints the result of one test, which @format names. */
__attribute__((format(printf, 2, 3)))
bool tap_test(bool good, const char *format, ...);

__attribute__((format(printf, 2, 3)))
void tap_skip(const char *why, const char *format, ...);

/* Adds a note about the last test. */
__attribute__((format(printf, 1, 2)))
void tap_note(const char *format, ...);

/* Prints that nothing can be tested, and exits. */
__attribute__((format(printf, 1, 2), noreturn))
void tap_bail(const char *format, ...);

/* Prints the plan and returns the program's exit status. */
int tap_end(void);

#endif /* TORTURE_TAP_H */
