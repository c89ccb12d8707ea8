/* SPDX-License-Identifier: GPL-2.0-only */
/* What differs between architectures; each has its own of these. */
#ifndef HWPROF_ARCH_H
#define HWPROF_ARCH_H

#include <asm/perf_event.h>
#include <asm/processor.h>
#include <asm/ptrace.h>
#include <asm/segment.h>

#include "../../compat.h"
#include "source/core_pmus.h"

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

/* Of the CPU that this runs on, where they differ. */
static inline enum core_kind arch_core_kind(void)
{
	return boot_cpu_has(X86_FEATURE_HYBRID_CPU) ?
	       core_kind_of_intel(cpuid_eax(0x1a)) : CORE_UNKNOWN;
}

/* The raw event that counts taken branches; 0: not known of this CPU. */
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

/*
 * Does the CPU record its newest branch twice at times? Those of Skylake's core
 * do. Intel's public lists of errata were not found to name it; LLVM's BOLT
 * (parseLBRSample() of DataAggregator.cpp: "Intel Skylake", and the pull request
 * llvm/llvm-project#147971: "Intel SKL and derived CPUs") and AutoFDO work around
 * it, and a recording of a Xeon 8173M (6, 0x55) has it in 966 of 3732 stacks.
 * Which CPUs have that core is from Linux's intel-family.h ("Sky Lake"); perf
 * takes the same ones for "skylake". Model numbers are of Intel's family 6.
 */
static inline bool arch_copies_newest_branch(void)
{
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL ||
	    boot_cpu_data.x86 != 6)
		return false;
	switch (boot_cpu_data.x86_model) {
	case 0x4e:	/* Skylake, mobile */
	case 0x55:	/* Skylake, Cascade Lake and Cooper Lake servers */
	case 0x5e:	/* Skylake */
	case 0x8e:	/* Kaby, Amber, Coffee, Whiskey Lake, mobile */
	case 0x9e:	/* Kaby and Coffee Lake */
	case 0xa5:	/* Comet Lake */
	case 0xa6:	/* the same, mobile */
		return true;
	}
	return false;
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
