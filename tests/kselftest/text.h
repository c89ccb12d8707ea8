/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files of sysfs and procfs, in one read or write each. */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/*
 * The first line of what is in the file, without its end, as far as @size bytes
 * have room for it. 0, or a negative errno: @text is as it was.
 */
int text_read(const char *path, char *text, size_t size);

/*
 * Into a file that exists. 0, or a negative errno: that of open(2), the one by
 * which the file refuses the text, or EIO where it takes only a part of it.
 */
int text_write(const char *path, const char *text);

/* The same of one of the module's limits, by its name in sysfs. */
int limit_read(const char *name, char *text, size_t size);
int limit_write(const char *name, const char *text);

/* The same of one of /proc/sys/kernel/, which is a number. */
int sysctl_write(const char *name, int number);

#endif /* TEXT_H */
