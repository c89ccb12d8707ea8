/* SPDX-License-Identifier: GPL-2.0-only */
/* Limits of the number of sessions, and of the memory that they hold. */
#ifndef HWPROF_LIMIT_H
#define HWPROF_LIMIT_H

#include <linux/types.h>

/*
 * Limits that root sets in sysfs. Lowering one takes nothing away; it only
 * refuses more.
 */
struct limits {
	unsigned int sessions;			/* of all users */
	unsigned int sessions_per_user;
	unsigned int memory_mib;		/* of all users */
	unsigned int memory_mib_per_user;
};

extern struct limits limits;

/* The share of one user, or of all users. */
struct usage {
	unsigned int sessions;
	unsigned int unwinds;			/* files with unwind tables */
	u64 memory;				/* in bytes */
};

void limits_init(void);

/**
 * limits_check_session() - Ask whether there can be another session
 * @user: what its user has.
 * @all: what all users have.
 *
 * The last sessions of all users are a reserve for CAP_SYS_RESOURCE.
 *
 * Return: 0; -EMFILE if the user has too many sessions; -ENFILE if all users
 *	have.
 *
 * limits_check_unwind() does the same for files with unwind tables: there may
 * be as many of them as sessions. limits_check_memory() does it for @memory
 * more bytes, and returns -ENOMEM if that is too much.
 */
int limits_check_session(const struct usage *user, const struct usage *all);
int limits_check_unwind(const struct usage *user, const struct usage *all);
int limits_check_memory(const struct usage *user, const struct usage *all,
			size_t memory);

#endif /* HWPROF_LIMIT_H */
