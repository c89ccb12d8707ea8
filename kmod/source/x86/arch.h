/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between architectures. Each has a header with these names. */
#ifndef HWPROF_ARCH_H
#define HWPROF_ARCH_H

#include <asm/perf_event.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <asm/segment.h>
#include <asm/tsc.h>

#include "../../compat.h"
#include "skylake.h"
#include "source/core_pmus.h"

/* Return registers of a program of which nothing else is known. */
static inline struct pt_regs arch_user_regs(void)
{
	return (struct pt_regs){ .cs = __USER_CS };
}

/* Return true if the program runs 64-bit code. */
static inline bool arch_is_64bit(struct pt_regs *regs)
{
	return user_64bit_mode(regs);
}

/* Return true if its last exec laid its memory out for 32-bit code. */
static inline bool arch_task_is_32bit(const struct task_struct *task)
{
	return test_ti_thread_flag(task_thread_info((struct task_struct *)task),
				   TIF_ADDR32);
}

/*
 * Return true if unwind tables tell where code of this architecture has return
 * addresses.
 */
static inline bool arch_has_unwinding(void)
{
	return true;
}

/* Return the kind of this CPU's core, if cores differ. */
static inline enum core_kind arch_core_kind(void)
{
	return boot_cpu_has(X86_FEATURE_HYBRID_CPU) ?
	       core_kind_of_intel(cpuid_eax(0x1a)) : CORE_UNKNOWN;
}

/* Return the raw event that counts taken branches; 0: not known of this CPU. */
static inline u64 arch_taken_branches(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return core_taken_branches_of_intel(arch_core_kind());
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return 0x00c4;	/* ex_ret_brn_tkn */
	}
	return 0;
}

#define ARCH_NO_TAKEN_BRANCHES \
	"the event of taken branches is not known of this CPU"

/* Does that event count only while branches are recorded? */
static inline bool arch_counts_records(void)
{
	return false;
}

/*
 * Kinds of branches are not asked for: on CPUs that do not record them, perf
 * would decode each branch, without remembering it.
 */
#define ARCH_RECORD_KINDS	0

/* Does perf hand over all records that a CPU has room for? */
static inline bool arch_fills_stacks(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL;
}

/* Does the CPU record its newest branch twice at times? */
static inline bool arch_copies_newest_branch(void)
{
	return boot_cpu_data.x86_vendor == X86_VENDOR_INTEL &&
	       skylake_copies_newest_branch(boot_cpu_data.x86,
					    boot_cpu_data.x86_model);
}

/*
 * Return what perf knows of the counters. Perf warns on CPUs whose cores
 * differ, so these are not asked.
 */
static inline struct compat_counters arch_counters(void)
{
	if (boot_cpu_has(X86_FEATURE_HYBRID_CPU))
		return (struct compat_counters){ };
	return compat_counters();
}

/* Return the number of counters that take any event; 0: not known. */
static inline unsigned int arch_counter_count(void)
{
	return arch_counters().general;
}

/* Return the bits that a raw event may have, without those that perf sets. */
static inline u64 arch_raw_events(void)
{
	switch (boot_cpu_data.x86_vendor) {
	case X86_VENDOR_INTEL:
		return X86_RAW_EVENT_MASK |
		       (arch_counters().version > 2 ?
			ARCH_PERFMON_EVENTSEL_ANY : 0);
	case X86_VENDOR_AMD:
	case X86_VENDOR_HYGON:
		return AMD64_RAW_EVENT_MASK;
	}
	return X86_RAW_EVENT_MASK;
}

/* Return how fast get_cycles() counts, in kHz; 0: not known. */
static inline u64 arch_cycles_khz(void)
{
	return tsc_khz;
}

#endif /* HWPROF_ARCH_H */
