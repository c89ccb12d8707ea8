/* SPDX-License-Identifier: GPL-2.0-only */
/* Differences between architectures. Each has a header with these names. */
#ifndef HWPROF_ARCH_H
#define HWPROF_ARCH_H

#include <linux/bitfield.h>
#include <linux/perf/arm_pmuv3.h>
#include <asm/arch_timer.h>
#include <asm/ptrace.h>
#include <asm/sysreg.h>

#include "brbe.h"

/* Return registers of a program of which nothing else is known. */
static inline struct pt_regs arch_user_regs(void)
{
	return (struct pt_regs){ .pstate = PSR_MODE_EL0t };
}

/* Return true if the program runs 64-bit code. */
static inline bool arch_is_64bit(struct pt_regs *regs)
{
	return !compat_user_mode(regs);
}

/* Return true if its last exec laid its memory out for 32-bit code. */
static inline bool arch_task_is_32bit(const struct task_struct *task)
{
	return test_ti_thread_flag(task_thread_info((struct task_struct *)task),
				   TIF_32BIT);
}

/*
 * Return true if unwind tables tell where code of this architecture has return
 * addresses.
 */
static inline bool arch_has_unwinding(void)
{
	return false;	/* they are signed, or in a register */
}

/*
 * The raw event that counts taken branches, of the CPU that this runs on; 0: it
 * has none. BR_RETIRED counts those that are not taken, too. BRB_FILTRATE
 * counts branches as they are recorded by the branch record buffer (BRBE),
 * where there is one. Hypervisors hide it from guests.
 */
static inline u64 arch_taken_branches(void)
{
	return brbe_taken_branches(read_sysreg(id_aa64dfr0_el1));
}

#define ARCH_NO_TAKEN_BRANCHES \
	"this CPU has no branch record buffer (BRBE), or a hypervisor hides it"

/* Does that event count only while branches are recorded? */
static inline bool arch_counts_records(void)
{
	return true;
}

/* The kinds of branches come with the records, and cost nothing. */
#define ARCH_RECORD_KINDS	PERF_SAMPLE_BRANCH_TYPE_SAVE

/*
 * Does perf hand over all records that a CPU has room for? BRBE's begin anew
 * each time that the counter does.
 */
static inline bool arch_fills_stacks(void)
{
	return false;
}

/* Does the CPU record its newest branch twice at times? */
static inline bool arch_copies_newest_branch(void)
{
	return false;
}

/* Return the bits that a raw event may have. */
static inline u64 arch_raw_events(void)
{
	return ARMV8_PMU_EVTYPE_EVENT;
}

/*
 * Return the number of counters of this CPU that take any event; 0: not known.
 */
static inline unsigned int arch_counter_count(void)
{
	return pmuv3_implemented(read_pmuver()) ?
	       FIELD_GET(ARMV8_PMU_PMCR_N, read_pmcr()) : 0;
}

/* Return how fast get_cycles() counts, in kHz; 0: not known. */
static inline u64 arch_cycles_khz(void)
{
	return arch_timer_get_cntfrq() / 1000;
}

#endif /* HWPROF_ARCH_H */
