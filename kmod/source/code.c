// SPDX-License-Identifier: GPL-2.0-only
#include <linux/kprobes.h>
#include <linux/static_call.h>
#include <linux/uaccess.h>

#include "code.h"

/*
 * kernel_text_address() is not exported: it is looked up once. Without it,
 * nothing is known to be code.
 */
static int no_text(unsigned long address)
{
	return 0;
}

DEFINE_STATIC_CALL(text_address, no_text);

void code_init(void)
{
	struct kprobe probe = { .symbol_name = "kernel_text_address" };

	if (register_kprobe(&probe))
		return;
	static_call_update(text_address, (typeof(&no_text))probe.addr);
	unregister_kprobe(&probe);
}

unsigned int code_read_user(u8 *bytes, unsigned int size, u64 ip)
{
	unsigned int left = PAGE_SIZE - offset_in_page(ip);

	if (!copy_from_user_nofault(bytes, (void __user *)ip, size))
		return size;
	/* The next page need not be there. */
	if (left >= size ||
	    copy_from_user_nofault(bytes, (void __user *)ip, left))
		return 0;
	return left;
}

unsigned int code_read_kernel(u8 *bytes, unsigned int size, u64 ip)
{
	if (!static_call(text_address)(ip) ||
	    copy_from_kernel_nofault(bytes, (void *)ip, size))
		return 0;
	return size;
}
