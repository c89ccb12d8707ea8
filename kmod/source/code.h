/* SPDX-License-Identifier: GPL-2.0-only */
/* Bytes of instructions, where nothing may fault: in #DB and NMI. */
#ifndef HWPROF_CODE_H
#define HWPROF_CODE_H

#include <linux/types.h>

/*
 * Reads @size bytes of current's program at @ip or, if the next page cannot
 * be read, those before it. How many; 0: none can be read.
 */
unsigned int code_read_user(u8 *bytes, unsigned int size, u64 ip);

/*
 * The same of the kernel, all or nothing. A program can make branch records say
 * that it jumped anywhere, so nothing but the kernel's code is read.
 */
unsigned int code_read_kernel(u8 *bytes, unsigned int size, u64 ip);

#endif /* HWPROF_CODE_H */
