/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between architectures; each has its own of these. */
#ifndef HWPROF_ARCH_H
#define HWPROF_ARCH_H

#include <linux/bitfield.h>
#include <linux/perf/arm_pmuv3.h>
#include <asm/ptrace.h>

/* Registers of a program of which nothing is known but that it is one. */
static inline struct pt_regs arch_user_regs(void)
{
	return (struct pt_regs){ .pstate = PSR_MODE_EL0t };
}

/* Does the program run 64-bit code? */
static inline bool arch_is_64bit(struct pt_regs *regs)
{
	return !compat_user_mode(regs);
}

/* Has its last exec laid out its memory for 32-bit code? */
static inline bool arch_task_is_32bit(const struct task_struct *task)
{
	return test_ti_thread_flag(task_thread_info((struct task_struct *)task),
				   TIF_32BIT);
}

/* Do tables for unwinding tell where its code has return addresses? */
static inline bool arch_has_unwinding(void)
{
	return false;	/* they are signed, or in a register */
}

/* The raw event that counts taken branches; 0: not known of this CPU. */
static inline u64 arch_taken_branches(void)
{
	return 0;	/* BR_RETIRED counts those that are not taken, too */
}

/* The bits that a raw event may have. */
static inline u64 arch_raw_events(void)
{
	return ARMV8_PMU_EVTYPE_EVENT;
}

/* Counters that take any event, of this CPU; 0: not known. */
static inline unsigned int arch_counter_count(void)
{
	return pmuv3_implemented(read_pmuver()) ?
	       FIELD_GET(ARMV8_PMU_PMCR_N, read_pmcr()) : 0;
}

#endif /* HWPROF_ARCH_H */
