/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * As much of a kernel that knows FRED as trap_flag.h uses: one task, in plain
 * memory. The other headers of this folder lead here.
 */
#ifndef FAKE_SCHED_H
#define FAKE_SCHED_H

#include "engine/types.h"

#define X86_FEATURE_FRED	1

enum { TIF_SINGLESTEP, TIF_FORCED_TF };

struct pt_regs {
	unsigned long flags, r11, cx, ip;
	unsigned long long ssx;
};

struct task_struct {
	unsigned long thread_flags;
	struct pt_regs regs;
	bool has_fred;			/* the CPU it runs on */
};

extern struct task_struct fake_task;

static inline bool boot_cpu_has(int feature)
{
	return feature == X86_FEATURE_FRED && fake_task.has_fred;
}

static inline struct pt_regs *task_pt_regs(struct task_struct *task)
{
	return &task->regs;
}

static inline void set_bit(int bit, unsigned long *word)
{
	*word |= 1UL << bit;
}

static inline void clear_bit(int bit, unsigned long *word)
{
	*word &= ~(1UL << bit);
}

static inline bool test_tsk_thread_flag(struct task_struct *task, int flag)
{
	return task->thread_flags >> flag & 1;
}

static inline void set_tsk_thread_flag(struct task_struct *task, int flag)
{
	set_bit(flag, &task->thread_flags);
}

static inline void clear_tsk_thread_flag(struct task_struct *task, int flag)
{
	clear_bit(flag, &task->thread_flags);
}

#endif /* FAKE_SCHED_H */
