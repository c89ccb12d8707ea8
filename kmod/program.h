/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Programs of a session: BPF programs that are called for each event, before
 * the session's engine learns from it. See struct hwprof_program.
 *
 * A program never runs where it could have interrupted the kernel, because it
 * might then wait for a lock of a map that the interrupted code holds.
 */
#ifndef HWPROF_PROGRAM_H
#define HWPROF_PROGRAM_H

#include <linux/bpf.h>
#include <linux/irq_work.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "engine/engine.h"

struct perf_event;
struct program;
struct session;
struct lane;
struct window_branch;

/* The programs of a session. */
struct programs {
	/*
	 * Bits 1 << enum stream_kind of the events for which something is
	 * called, and 1 << enum program_bit.
	 */
	u32 mask;
	/* More than the program of branches is called for branches. */
	bool several;
	/* Loads and stores are seen for programs alone, not for the engine. */
	bool accesses;
	bool stored;			/* what stores write is wanted */
	bool listens;			/* the tables have the listener */
	struct engine_listener listener;
	/*
	 * By enum hwprof_program_kind; NULL: none. Those that are called, and
	 * those that the session has: some were taken away.
	 */
	struct program *runs[HWPROF_PROGRAM_KINDS];
	struct program *of[HWPROF_PROGRAM_KINDS];
	/*
	 * Protects writes to @mask, @several, @runs and @of, with interrupts
	 * off. One thing needs no lock: to clear @runs.
	 */
	raw_spinlock_t lock;
	struct irq_work taken;		/* a program was taken away */
};

/* Bits of programs.mask for things that are no event of the stream. */
enum program_bit {
	PROGRAM_LOOP_EXIT	= 16,
	PROGRAM_WINDOW_BEGIN	= 17,
	PROGRAM_WINDOW_END	= 18,
};

/* The part of a lane that is for programs. */
struct program_lane {
	/* The kernel was interrupted: no program may run. */
	bool quiet;
	/* log2 of what the next distance is multiplied with. */
	s8 pace;
	u64 waited;			/* what the trigger counted since the
					 * last window */
	u64 weight;			/* of the window's events */
	u64 cycles;			/* that programs took, not accounted */
	/*
	 * The event that a program sees. The session's number stays; all others
	 * are written each time. Behind them is 0, up to the most arguments
	 * that a raw tracepoint has.
	 */
	u64 words[MAX_BPF_FUNC_ARGS];
};

/* Return true if something is called for such an event. */
static inline bool programs_want(const struct programs *programs,
				 unsigned int bit)
{
	return IS_ENABLED(CONFIG_BPF_SYSCALL) &&
	       unlikely(READ_ONCE(programs->mask) >> bit & 1);
}

#ifdef CONFIG_BPF_SYSCALL
/* In lanes; interrupts are off, or this is an NMI. */

/**
 * programs_feed() - Feed an event of the lane's task to the programs
 * @lane: the lane. Something is called for such an event.
 * @event: a branch, load or store.
 *
 * Return: true if the engine must not see it.
 */
bool programs_feed(struct lane *lane, const struct stream_event *event);

/**
 * programs_feed_window() - Feed the branches of a window to the programs
 * @lane: the lane.
 * @branches: the branches, newest first.
 * @kinds: enum stream_kind of each. That of a branch that is dropped becomes 0,
 *	which is a gap.
 * @count: number of branches.
 * @space: address space.
 */
void programs_feed_window(struct lane *lane,
			  const struct window_branch *branches, u8 *kinds,
			  u32 count, u32 space);

/**
 * programs_feed_sample() - Feed a sample to the programs
 * @lane: the lane. Something is called for samples.
 * @ip: where the program was.
 * @weight: what the sample stands for.
 * @space: address space.
 * @stack: its calls; NULL: they were not asked for.
 *
 * Return: true if the engine must not see it.
 */
bool programs_feed_sample(struct lane *lane, u64 ip, u64 weight, u32 space,
			  const struct stream_stack *stack);

/**
 * programs_begin_window() - A window begins
 * @lane: the lane.
 * @ip: where it begins, or was taken.
 * @space: address space.
 * @branches: branches in it; 0: not known.
 * @cost: how much of what the trigger has counted was the profiler's own.
 */
void programs_begin_window(struct lane *lane, u64 ip, u32 space, u64 branches,
			   u64 cost);

/* The window ends, which began at @ip and had so many branches. */
void programs_end_window(struct lane *lane, u64 ip, u32 space, u64 branches);

/*
 * Change the trigger's next period as programs have asked for. @fixed: its
 * period is that of its attr; else somebody chooses it anew each time.
 */
void programs_pace(struct lane *lane, struct perf_event *trigger, bool fixed);

/* Return the time that programs took since the last call, in ns. */
u64 programs_spent(struct lane *lane);

/* In process context. A lane's session has a number. */
void programs_init_lane(struct lane *lane);
void programs_init(struct session *session);

/**
 * programs_set() - Give the session a program, or take programs away
 * @session: the session. The caller serialises this.
 * @request: what was asked for.
 *
 * Return: 0 or an errno of HWPROF_IOC_PROGRAM.
 */
int programs_set(struct session *session, const struct hwprof_program *request);

/* Fill the account of the program of account->kind, which is valid. */
void programs_account(struct session *session,
		      struct hwprof_program_account *account);

/* Drop all programs. Nothing feeds the session any more. */
void programs_free(struct session *session);

#else /* CONFIG_BPF_SYSCALL */

static inline bool programs_feed(struct lane *lane,
				 const struct stream_event *event)
{
	return false;
}

static inline void programs_feed_window(struct lane *lane,
					const struct window_branch *branches,
					u8 *kinds, u32 count, u32 space)
{
}

static inline bool programs_feed_sample(struct lane *lane, u64 ip, u64 weight,
					u32 space,
					const struct stream_stack *stack)
{
	return false;
}

static inline void programs_begin_window(struct lane *lane, u64 ip, u32 space,
					 u64 branches, u64 cost)
{
}

static inline void programs_end_window(struct lane *lane, u64 ip, u32 space,
				       u64 branches)
{
}

static inline void programs_pace(struct lane *lane, struct perf_event *trigger,
				 bool fixed)
{
}

static inline u64 programs_spent(struct lane *lane)
{
	return 0;
}

static inline void programs_init_lane(struct lane *lane)
{
}

static inline void programs_init(struct session *session)
{
}

static inline int programs_set(struct session *session,
			       const struct hwprof_program *request)
{
	return -EOPNOTSUPP;
}

static inline void programs_account(struct session *session,
				    struct hwprof_program_account *account)
{
}

static inline void programs_free(struct session *session)
{
}
#endif /* CONFIG_BPF_SYSCALL */

#endif /* HWPROF_PROGRAM_H */
