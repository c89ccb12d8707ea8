// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the execs began that are going on. Perf reports an exec before it ends.
 * In between, the process still counts as the old program, and a sample may see
 * it for the first time. The record of the program gets its date from here:
 * rows with the time of that sample would be the new program's.
 */
#include <linux/atomic.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>

#include "exec.h"

enum {
	EXEC_BITS = 8,
	EXEC_BUSY = 1,		/* a key that no program has */
};

/* The latest of each place. They are not removed: each has a key of its own. */
static struct exec {
	u64 key, began;
} execs[1 << EXEC_BITS];

static struct exec *exec_at(u64 key)
{
	return &execs[hash_64(key, EXEC_BITS)];
}

void exec_note(u64 key, u64 now)
{
	struct exec *exec = exec_at(key);

	/* If another CPU is noting one in the same place, it goes on. */
	if (xchg(&exec->key, EXEC_BUSY) == EXEC_BUSY)
		return;
	WRITE_ONCE(exec->began, now);
	smp_store_release(&exec->key, key);
	smp_mb();	/* pairs with the cmpxchg that claims a record */
}

/* A later process may have the same number. It is younger than the note. */
static bool exec_is_current(u64 began)
{
	return local_clock() - began <
	       ktime_get_mono_fast_ns() - current->start_time;
}

u64 exec_began(u64 key)
{
	const struct exec *exec = exec_at(key);
	u64 began;

	if (smp_load_acquire(&exec->key) != key)
		return 0;
	began = READ_ONCE(exec->began);
	smp_rmb();	/* the key is read again */
	if (READ_ONCE(exec->key) != key || !exec_is_current(began))
		return 0;
	return began;
}
