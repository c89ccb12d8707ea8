// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "arch.h"
#include "callers.h"
#include "../unwind.h"
#include "../../uapi/linux/hwprof.h"

/* As many frames as we follow, of the largest size that a row has. */
#define REACH		((u64)CALLERS_MAX * SZ_512K)

/* Registers, as they are or were when the frame was the innermost one. */
struct frame {
	u64 ip;			/* of callers: behind the call */
	u64 sp;
	u64 bp;
};

/* Page faults are disabled, and may_read() has said that there is a program. */
static bool read_word(u64 *word, u64 at)
{
	u64 __user *from = (u64 __user *)at;

	return access_ok(from, sizeof(*word)) && !__get_user(*word, from);
}

/*
 * Is the memory of current's program there? An NMI may come while the kernel changes
 * from one to another, which copy_from_user_nofault() looks at. That stays as it is
 * until the interrupt is over, so once is enough.
 */
static bool may_read(u64 at)
{
	u64 word;

	return !copy_from_user_nofault(&word, (void __user *)at, sizeof(word));
}

/*
 * The caller's frame, by what a table says, which is not to be trusted: the step
 * leads up the stack, and no farther than @end.
 */
static bool step_by_row(struct frame *frame,
			const struct hwprof_unwind_row *row, u64 end)
{
	u64 from = row->kind == HWPROF_UNWIND_BP ? frame->bp : frame->sp;
	u64 cfa = from + sizeof(u64) * row->cfa;
	u64 ip, bp = frame->bp;

	if (from < frame->sp || cfa <= from || cfa > end ||
	    cfa & (sizeof(u64) - 1) ||
	    !read_word(&ip, cfa - sizeof(u64)) ||
	    (row->bp && !read_word(&bp, cfa - sizeof(u64) * row->bp)))
		return false;
	*frame = (struct frame){ .ip = ip, .sp = cfa, .bp = bp };
	return true;
}

/*
 * The same by its frame pointer, on x86-64 and on arm64. Stacks grow down: what
 * leads back would go round.
 */
static bool step_by_pointer(struct frame *frame)
{
	u64 at = frame->bp, ip, bp;

	if (!at || at & (sizeof(u64) - 1) || at < frame->sp ||
	    !read_word(&bp, at) || !read_word(&ip, at + sizeof(bp)))
		return false;
	*frame = (struct frame){
		.ip = ip, .sp = at + 2 * sizeof(u64), .bp = bp,
	};
	return true;
}

/* @image: what tables say of the program, or NULL. */
static u32 walk(u64 *sites, struct frame frame, const struct unwind_image *image,
		u32 *unwound)
{
	const u64 end = frame.sp + REACH;
	const struct hwprof_unwind_row *row;
	u32 count = 0;

	while (count < CALLERS_MAX) {
		/* Behind a call that does not return may be what comes next. */
		row = image ? unwind_row(image, frame.ip - !!count) : NULL;
		if (row && row->kind == HWPROF_UNWIND_OUTERMOST)
			break;
		if (!(row ? step_by_row(&frame, row, end) :
			    step_by_pointer(&frame)))
			break;
		/* No call instruction is at the begin of memory. */
		if (frame.ip < PAGE_SIZE || frame.ip >> 63)
			break;
		sites[count++] = frame.ip - 1;
		*unwound += !!row;
	}
	return count;
}

u32 callers_of_user(u64 *sites, struct pt_regs *regs,
		    const struct unwind *unwind, u32 *unwound)
{
	const struct frame frame = {
		.ip = instruction_pointer(regs),
		.sp = user_stack_pointer(regs),
		.bp = frame_pointer(regs),
	};
	u32 count;

	if (!arch_is_64bit(regs) || !may_read(frame.sp))
		return 0;
	pagefault_disable();
	count = walk(sites, frame, unwind ? unwind_image(unwind) : NULL, unwound);
	pagefault_enable();
	return count;
}
