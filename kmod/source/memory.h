/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory of the program that runs, where nothing may be faulted in. */
#ifndef HWPROF_MEMORY_H
#define HWPROF_MEMORY_H

#include <linux/types.h>

/*
 * Reads @size bytes, at most 8, of current's memory. Interrupts are off. Returns
 * false and reads nothing where a page is not mapped, or is no memory: a read of
 * a device's registers (VM_IO, VM_PFNMAP) may change what the device does.
 */
bool memory_read(void *to, size_t size, u64 address);

/* Waits until no page is held any more. Nothing reads. */
void memory_settle(void);

#endif /* HWPROF_MEMORY_H */
