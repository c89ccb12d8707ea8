/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads of instructions where nothing can be faulted in: in #DB and NMI. */
#ifndef HWPROF_CODE_H
#define HWPROF_CODE_H

#include <linux/types.h>

/**
 * code_read_user() - Read code of current's program
 * @bytes: where to store it.
 * @size: number of bytes.
 * @ip: address of the code.
 *
 * Return: number of bytes read: @size, or those up to the end of the page if
 *	the next page cannot be read; 0 if nothing can be read.
 */
unsigned int code_read_user(u8 *bytes, unsigned int size, u64 ip);

/**
 * code_read_kernel() - Read code of the kernel
 * @bytes: where to store it.
 * @size: number of bytes.
 * @ip: address of the code.
 *
 * A program can make branch records say that it jumped anywhere, so only pages
 * that are executable are read.
 *
 * Return: @size, or 0 if not all bytes can be read.
 */
unsigned int code_read_kernel(u8 *bytes, unsigned int size, u64 ip);

#endif /* HWPROF_CODE_H */
