// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mm.h>
#include <linux/pgtable.h>
#include <linux/uaccess.h>

#include "code.h"

/*
 * Return true if the kernel's page at @address is executable. Executable pages
 * are the code of the kernel, of modules, of probes and of BPF programs, and
 * nothing else. Perf walks the same tables in NMIs with interrupts off, for
 * PERF_SAMPLE_CODE_PAGE_SIZE.
 */
static bool code_is_executable(u64 address)
{
	unsigned int level;
	pte_t *entry = lookup_address(address, &level);

	return entry && pte_present(*entry) && pte_exec(*entry);
}

unsigned int code_read_user(u8 *bytes, unsigned int size, u64 ip)
{
	unsigned int left = PAGE_SIZE - offset_in_page(ip);

	if (!copy_from_user_nofault(bytes, (void __user *)ip, size))
		return size;
	/* The next page may be missing. */
	if (left >= size ||
	    copy_from_user_nofault(bytes, (void __user *)ip, left))
		return 0;
	return left;
}

unsigned int code_read_kernel(u8 *bytes, unsigned int size, u64 ip)
{
	if (!code_is_executable(ip) || !code_is_executable(ip + size - 1) ||
	    copy_from_kernel_nofault(bytes, (void *)ip, size))
		return 0;
	return size;
}
