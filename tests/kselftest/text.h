/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files of sysfs and procfs, in one read or write each. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/*
 * Reads the first line of a file, without its end, into @size bytes. Returns 0,
 * or a negative errno, which leaves @text unchanged.
 */
int text_read(const char *path, char *text, size_t size);

/*
 * Writes to an existing file. Returns 0, or a negative errno: that of open(2),
 * that by which the file refuses the text, or EIO if it takes only a part.
 */
int text_write(const char *path, const char *text);

/* The same for one of the module's limits, by its name in sysfs. */
int limit_read(const char *name, char *text, size_t size);
int limit_write(const char *name, const char *text);

/* Writes a number to a file of /proc/sys/kernel/. */
int sysctl_write(const char *name, int number);

/*
 * Sets how many samples a second perf allows. Perf no longer lowers this number
 * by itself where interrupts take long, as on a slow machine.
 */
int sample_rate_write(int rate);

#endif /* TEXT_H */
