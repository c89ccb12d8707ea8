/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HWPROF_KERNEL_TEXT_H
#define HWPROF_KERNEL_TEXT_H

#include <linux/types.h>

/* When the module is loaded. */
void kernel_text_find(void);

/*
 * Is there code of the kernel? A program can make branch records say that it
 * jumped anywhere, so nothing else of the kernel may be read. Also in NMI.
 */
bool in_kernel_text(u64 address);

#endif /* HWPROF_KERNEL_TEXT_H */
