/* SPDX-License-Identifier: GPL-2.0-only */
/* How records of address spaces are found, for space.c and space_end.c. */
#ifndef HWPROF_SPACE_H
#define HWPROF_SPACE_H

#include "session.h"

/* Flag in a key: the process is gone, and its number may be reused. */
#define SPACE_ENDED	(1ULL << 63)

/* Return the key of a task's address space. @exec: task_struct.self_exec_id. */
u64 space_key(struct task_struct *task, u64 exec);

/* Return a record by its key, from probe *@probe on; NULL if there is none. */
struct space *space_by_key(struct session *session, u64 key, int *probe);

void space_date(struct space *space, u64 key, u64 now);

/*
 * Leave the record of a process that is gone to a later flush. From now on it
 * belongs to whoever holds flush_lock, who finds its end set.
 */
static inline void space_leave(struct space *space)
{
	smp_store_release(&space->left, SPACE_LEFT);
}

/* Return the number of a record that was left to a later flush, else 0. */
static inline u32 space_left(const struct space *space)
{
	/* Without a number, it is still being filled. */
	return smp_load_acquire(&space->left) ? smp_load_acquire(&space->id) :
						0;
}

#endif /* HWPROF_SPACE_H */
