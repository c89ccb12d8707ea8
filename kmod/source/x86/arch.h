/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between architectures; each has its own of these. */
#ifndef HWPROF_ARCH_H
#define HWPROF_ARCH_H

#include <asm/perf_event.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <asm/segment.h>

#include "../../compat.h"

/* Registers of a program of which nothing is known but that it is one. */
static inline struct pt_regs arch_user_regs(void)
{
	return (struct pt_regs){ .cs = __USER_CS };
}

/* Does the program run 64-bit code? */
static inline bool arch_is_64bit(struct pt_regs *regs)
{
	return user_64bit_mode(regs);
}

/* Has its last exec laid out its memory for 32-bit code? */
static inline bool arch_task_is_32bit(const struct task_struct *task)
{
	return test_ti_thread_flag(task_thread_info((struct task_struct *)task),
				   TIF_ADDR32);
}

/* Do tables for unwinding tell where its code has return addresses? */
static inline bool arch_has_unwinding(void)
{
	return true;
}

/* The raw event that counts taken branches; 0: not known of this CPU. */
static inline u64 arch_taken_branches(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return 0x20c4;	/* BR_INST_RETIRED.NEAR_TAKEN */
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return 0x00c4;	/* ex_ret_brn_tkn */
	}
	return 0;
}

/* What perf knows of the counters; of CPUs that differ it warns who asks. */
static inline struct compat_counters arch_counters(void)
{
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return (struct compat_counters){ };
	return compat_counters();
}

/* Counters that take any event; 0: not known. */
static inline unsigned int arch_counter_count(void)
{
	return arch_counters().general;
}

/* The bits that a raw event may have, of those that are not perf's to set. */
static inline u64 arch_raw_events(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return X86_RAW_EVENT_MASK |
		       (arch_counters().version > 2 ? ARCH_PERFMON_EVENTSEL_ANY :
						      0);
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return AMD64_RAW_EVENT_MASK;
	}
	return X86_RAW_EVENT_MASK;
}

#endif /* HWPROF_ARCH_H */
