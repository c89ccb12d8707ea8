/* SPDX-License-Identifier: GPL-2.0-only */
/* What a test says. */
#ifndef TORTURE_TAP_H
#define TORTURE_TAP_H

#include <stdbool.h>

/* One test: @format says which. */
__attribute__((format(printf, 2, 3)))
bool tap_test(bool good, const char *format, ...);

__attribute__((format(printf, 2, 3)))
void tap_skip(const char *why, const char *format, ...);

/* More about the test before. */
__attribute__((format(printf, 1, 2)))
void tap_note(const char *format, ...);

/* Nothing can be tested. */
__attribute__((format(printf, 1, 2), noreturn))
void tap_bail(const char *format, ...);

/* The plan; the exit status of the program. */
int tap_end(void);

#endif /* TORTURE_TAP_H */
