// SPDX-License-Identifier: GPL-2.0-only
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sizes.h>
#include <linux/uaccess.h>

#include "arch.h"
#include "callers.h"
#include "../unwind.h"
#include "../../uapi/linux/hwprof.h"

/*
 * How far up a stack may reach: as many frames as are followed, of the largest
 * size that a table can say.
 */
#define REACH		((u64)CALLERS_MAX * SZ_512K)

/* The registers when a frame was or is the innermost one. */
struct frame {
	u64 ip;			/* callers: behind the call */
	u64 sp;
	u64 bp;
};

/*
 * Read a word of the program. Page faults are disabled, and
 * callers_may_read() was true.
 */
static bool callers_read_word(u64 *word, u64 at)
{
	u64 __user *from = (u64 __user *)at;

	return access_ok(from, sizeof(*word)) && !__get_user(*word, from);
}

/*
 * Return true if the current program's memory can be read. An NMI may come
 * while the kernel switches from one program to another, which
 * copy_from_user_nofault() checks. That state does not change during an
 * interrupt, so one check is enough.
 */
static bool callers_may_read(u64 at)
{
	u64 word;

	return !copy_from_user_nofault(&word, (void __user *)at, sizeof(word));
}

/*
 * Go to the caller's frame as a table's row says. Tables are not trusted: a
 * step must lead up the stack, no farther than @end.
 */
static bool callers_step_by_row(struct frame *frame,
				const struct hwprof_unwind_row *row, u64 end)
{
	u64 from = row->kind == HWPROF_UNWIND_BP ? frame->bp : frame->sp;
	u64 cfa = from + sizeof(u64) * row->cfa;
	u64 ip, bp = frame->bp;

	if (from < frame->sp || cfa <= from || cfa > end ||
	    cfa & (sizeof(u64) - 1) ||
	    !callers_read_word(&ip, cfa - sizeof(u64)) ||
	    (row->bp && !callers_read_word(&bp, cfa - sizeof(u64) * row->bp)))
		return false;
	*frame = (struct frame){ .ip = ip, .sp = cfa, .bp = bp };
	return true;
}

/*
 * Go to the caller's frame by the frame pointer, on x86-64 or arm64. Stacks
 * grow down; a step down could lead into a circle.
 */
static bool callers_step_by_pointer(struct frame *frame)
{
	u64 at = frame->bp, ip, bp;

	if (!at || at & (sizeof(u64) - 1) || at < frame->sp ||
	    !callers_read_word(&bp, at) ||
	    !callers_read_word(&ip, at + sizeof(bp)))
		return false;
	*frame = (struct frame){
		.ip = ip, .sp = at + 2 * sizeof(u64), .bp = bp,
	};
	return true;
}

/* Walk up the stack. @image has the tables of the program, or is NULL. */
static u32 callers_walk(u64 *sites, struct frame frame,
			const struct unwind_image *image, u32 *unwound)
{
	const u64 end = frame.sp + REACH;
	const struct hwprof_unwind_row *row;
	u32 count = 0;

	while (count < CALLERS_MAX) {
		/*
		 * Look the call up, not the instruction behind it: if the call
		 * never returns, that may belong to the next function.
		 */
		row = image ? unwind_row(image, frame.ip - !!count) : NULL;
		if (row && row->kind == HWPROF_UNWIND_OUTERMOST)
			break;
		if (!(row ? callers_step_by_row(&frame, row, end) :
			    callers_step_by_pointer(&frame)))
			break;
		/* There is no code in the first page of memory. */
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

	if (!arch_is_64bit(regs) || !callers_may_read(frame.sp))
		return 0;
	pagefault_disable();
	count = callers_walk(sites, frame, unwind ? unwind_image(unwind) : NULL,
			     unwound);
	pagefault_enable();
	return count;
}
