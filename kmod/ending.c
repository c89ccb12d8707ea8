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

u64 ending_since(u64 key, enum moment_clock clock)
{
	const struct ending *ending = ending_at(key);
	u64 born, since;

	if (smp_load_acquire(&ending->key) != key)
		return 0;
	born = READ_ONCE(ending->born);
	smp_rmb();	/* whoever sees @born sees its moment */
	since = READ_ONCE(ending->since.by[clock]);
	smp_rmb();	/* the key is read again */
	return READ_ONCE(ending->key) == key && born == ending_born() ? since :
									0;
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
