// SPDX-License-Identifier: GPL-2.0-only
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/mm.h>

#include "limit.h"

/*
 * All sessions of a user may have events of one task. Perf switches these one
 * after the other, with interrupts off: docs/security.md, "Time".
 */
struct limits limits = {
	.sessions = 4096,
	.sessions_per_user = 128,
};

/*
 * Half of the machine's memory is for all users together, a quarter for each.
 */
void limits_init(void)
{
	u64 mib = ((u64)totalram_pages() << PAGE_SHIFT) >> 20;

	limits.memory_mib = mib / 2;
	limits.memory_mib_per_user = mib / 4;
}

static bool limit_is_exceeded(u64 bytes, unsigned int mib)
{
	return bytes > (u64)mib << 20;
}

/*
 * Check one more of what a user has @user of, and all users @all. One in eight
 * is in the reserve.
 */
static int limits_check_count(unsigned int user, unsigned int all)
{
	unsigned int most = READ_ONCE(limits.sessions);
	bool many = user >= READ_ONCE(limits.sessions_per_user);

	if (all >= most)
		return -ENFILE;
	if ((!many && all < most - most / 8) || capable(CAP_SYS_RESOURCE))
		return 0;
	return many ? -EMFILE : -ENFILE;
}

int limits_check_session(const struct usage *user, const struct usage *all)
{
	return limits_check_count(user->sessions, all->sessions);
}

int limits_check_unwind(const struct usage *user, const struct usage *all)
{
	return limits_check_count(user->unwinds, all->unwinds);
}

int limits_check_memory(const struct usage *user, const struct usage *all,
			size_t memory)
{
	if (limit_is_exceeded(all->memory + memory,
			      READ_ONCE(limits.memory_mib)))
		return -ENOMEM;
	if (limit_is_exceeded(user->memory + memory,
			      READ_ONCE(limits.memory_mib_per_user)) &&
	    !capable(CAP_SYS_RESOURCE))
		return -ENOMEM;
	return 0;
}
