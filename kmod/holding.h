/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is held for users: by sessions, their rings, and unwind tables.
 * It counts as locked, and limits of all users and of each apply: see limit.h.
 */
#ifndef HWPROF_HOLDING_H
#define HWPROF_HOLDING_H

#include <linux/list.h>
#include <linux/types.h>

struct user_struct;

/**
 * struct holding - Memory that is held for one purpose
 * @link: on the list of all holdings.
 * @user: who pays for it; a reference.
 * @memory: bytes, in whole pages.
 * @is_session: It is a session's, and counts as one. Else it is a file's, for
 *	unwind tables.
 */
struct holding {
	struct list_head link;
	struct user_struct *user;
	size_t memory;
	bool is_session;
};

/*
 * Begin to hold memory for unwind tables of current's user: none yet. Return 0;
 * -EMFILE or -ENFILE if too many files have tables.
 */
int holding_begin_unwind(struct holding *holding);

/*
 * Begin to hold @bytes for a session of current's user. Return 0; -EMFILE or
 * -ENFILE if there are too many sessions; -ENOMEM if that is too much memory.
 */
int holding_begin_session(struct holding *holding, size_t bytes);

/*
 * Charge @bytes, rounded up to whole pages, so that many small things count as
 * well. Return 0 or -ENOMEM.
 */
int holding_charge(struct holding *holding, size_t bytes);
void holding_uncharge(struct holding *holding, size_t bytes);

/* End what was begun. Whatever is still charged is not held any more. */
void holding_end(struct holding *holding);

/* Return the number of sessions that hold memory, or are about to. */
unsigned int holding_sessions(void);

#endif /* HWPROF_HOLDING_H */
