// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel_text_address() is not exported: it is looked up once. Without it,
 * nothing is known to be code.
 */
#include <linux/kprobes.h>
#include <linux/static_call.h>

#include "kernel_text.h"

static int no_text(unsigned long address)
{
	return 0;
}

DEFINE_STATIC_CALL(text_address, no_text);

void kernel_text_find(void)
{
	struct kprobe probe = { .symbol_name = "kernel_text_address" };

	if (register_kprobe(&probe))
		return;
	static_call_update(text_address, (typeof(&no_text))probe.addr);
	unregister_kprobe(&probe);
}

bool in_kernel_text(u64 address)
{
	return static_call(text_address)(address);
}
