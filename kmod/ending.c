// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that are just ending. Perf reports an exec, and the exit of the
 * first thread, before they are over. A sample may see the old program for the
 * first time after that. Its record gets its date from here: rows with the time
 * of that sample would be the new program's, or nobody's.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>

#include "ending.h"

enum {
	ENDING_BITS = 8,
	ENDING_BUSY = 1,	/* a key that no program has */
};

/*
 * The latest of each place. They are not removed. A process that gets the same
 * number, and so the same key, is born later.
 */
static struct ending {
	u64 key, born;
	struct moment since;
} endings[1 << ENDING_BITS];

static struct ending *ending_at(u64 key)
{
	return &endings[hash_64(key, ENDING_BITS)];
}

/* A thread that execs gets the first thread's time of birth. */
static u64 ending_born(void)
{
	return current->group_leader->start_time;
}

/* Return false if current's program has no note. */
static bool ending_read(u64 key, struct moment *since)
{
	const struct ending *ending = ending_at(key);
	int clock;
	u64 born;

	if (smp_load_acquire(&ending->key) != key)
		return false;
	born = READ_ONCE(ending->born);
	smp_rmb();	/* whoever sees @born sees its moment */
	for (clock = 0; clock < MOMENT_CLOCKS; clock++)
		since->by[clock] = READ_ONCE(ending->since.by[clock]);
	smp_rmb();	/* the key is read again */
	return READ_ONCE(ending->key) == key && born == ending_born();
}

u64 ending_since(u64 key, enum moment_clock clock)
{
	struct moment since;

	return ending_read(key, &since) ? since.by[clock] : 0;
}

struct moment ending_moment(u64 key)
{
	struct moment since;

	return ending_read(key, &since) ? since : moment_now();
}

static void ending_write(u64 key, const struct moment *now)
{
	struct ending *ending = ending_at(key);
	int clock;

	/* If another CPU is writing in the same place, it goes on. */
	if (xchg(&ending->key, ENDING_BUSY) == ENDING_BUSY)
		return;
	for (clock = 0; clock < MOMENT_CLOCKS; clock++)
		WRITE_ONCE(ending->since.by[clock], now->by[clock]);
	smp_wmb();	/* pairs with ending_since() */
	WRITE_ONCE(ending->born, ending_born());
	smp_store_release(&ending->key, key);
}

u64 ending_note(u64 key, enum moment_clock clock)
{
	struct moment now;
	u64 since;

	preempt_disable();
	since = ending_since(key, clock);
	if (!since) {
		now = moment_now();
		since = now.by[clock];
		ending_write(key, &now);
	}
	preempt_enable();
	smp_mb();	/* pairs with the cmpxchg that claims a record */
	return since;
}

/* Return true if all threads of current's process end but one that execs. */
static bool ending_of_threads(void)
{
	const struct signal_struct *signal = current->signal;

	return READ_ONCE(signal->flags) & SIGNAL_GROUP_EXIT ||
	       READ_ONCE(signal->group_exec_task);
}

bool ending_is_due(void)
{
	return current->flags & PF_EXITING &&
	       (!atomic_read(&current->signal->live) ||
		(thread_group_leader(current) && ending_of_threads()));
}
