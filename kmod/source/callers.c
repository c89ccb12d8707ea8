// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "arch.h"
#include "callers.h"

/* Where a frame pointer leads, on x86-64 and on arm64. */
struct user_frame {
	u64 next;
	u64 back;		/* return address */
};

u32 callers_of_user(u64 *sites, struct pt_regs *regs)
{
	u64 at = frame_pointer(regs);
	struct user_frame frame;
	u32 count = 0;

	if (!arch_is_64bit(regs))
		return 0;
	while (count < CALLERS_MAX && at && !(at & (sizeof(u64) - 1)) &&
	       !copy_from_user_nofault(&frame, (void __user *)at,
				       sizeof(frame))) {
		/* No call instruction is at the begin of memory. */
		if (frame.back < PAGE_SIZE || frame.back >> 63)
			break;
		sites[count++] = frame.back - 1;
		/* Stacks grow down: what leads back would go round. */
		if (frame.next <= at)
			break;
		at = frame.next;
	}
	return count;
}
