/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads of the current program's memory where nothing can be faulted in. */
#ifndef HWPROF_MEMORY_H
#define HWPROF_MEMORY_H

#include <linux/types.h>

/**
 * memory_read() - Read a few bytes of current's memory
 * @to: where to store them.
 * @size: number of bytes, at most 8.
 * @address: address in the program.
 *
 * A read of a device's registers (VM_IO, VM_PFNMAP) may change what the device
 * does, so only memory is read.
 *
 * Context: any, with interrupts off.
 * Return: true if all bytes were read; false if a page is not mapped or is no
 *	memory.
 */
bool memory_read(void *to, size_t size, u64 address);

/* Wait until no page is held any more. Nothing reads meanwhile. */
void memory_settle(void);

#endif /* HWPROF_MEMORY_H */
