/* SPDX-License-Identifier: GPL-2.0-only */
/* How many sessions there may be, and how much memory they may hold. */
#ifndef HWPROF_LIMIT_H
#define HWPROF_LIMIT_H

#include <linux/types.h>

/* Root sets them in sysfs. What is more than one allows stays, and gets no more. */
struct limits {
	unsigned int sessions;			/* of all users */
	unsigned int sessions_per_user;
	unsigned int memory_mib;		/* of all users */
	unsigned int memory_mib_per_user;
};

extern struct limits limits;

/* What somebody has. */
struct usage {
	unsigned int sessions;
	u64 memory;				/* bytes */
};

void limits_init(void);

/*
 * May there be one session more? And so much more @memory? EMFILE, ENFILE: the
 * user has, or all have, too many; ENOMEM: too much.
 */
int limits_check_session(const struct usage *user, const struct usage *all);
int limits_check_memory(const struct usage *user, const struct usage *all,
			size_t memory);

#endif /* HWPROF_LIMIT_H */
