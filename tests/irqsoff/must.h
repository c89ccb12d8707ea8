/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that must succeed: the program exits with 2 if one fails. */
#ifndef IRQSOFF_MUST_H
#define IRQSOFF_MUST_H

/* Exit, saying what failed, and errno. */
void __attribute__((format(printf, 1, 2), noreturn))
die(const char *format, ...);

/* die() if @result is -1, with errno, or if it is a negative errno. */
void must(long result, const char *what);

/* Write @text to an existing file. */
void put(const char *path, const char *text);

#endif /* IRQSOFF_MUST_H */
