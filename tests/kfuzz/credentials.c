// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/kselftest/capability.h"

#include "credentials.h"

enum { OTHER_USER = 1001 };

/* Readers of the process's files, such as fail-nth, need not be root. */
static bool become_other(void)
{
	bool good = !setresgid(OTHER_USER, OTHER_USER, OTHER_USER) &&
		    !setresuid(OTHER_USER, OTHER_USER, OTHER_USER);

	prctl(PR_SET_DUMPABLE, 1);
	return good;
}

/* This thread alone: the others of the process keep theirs. */
static bool thread_becomes_other(void)
{
	return !syscall(SYS_setresuid, OTHER_USER, OTHER_USER, OTHER_USER);
}

/* As a setuid program does for a while. */
static bool seem_other(void)
{
	return !seteuid(OTHER_USER);
}

bool credentials_drop(uint64_t word)
{
	switch (word % 8) {
	case 0:
	case 1:
		return become_other();
	case 2:
		return thread_becomes_other();
	case 3:
		return seem_other();
	case 4:
		return capabilities_keep(0);
	case 5:
		return !unshare(CLONE_NEWUSER);
	case 6:
		return !unshare(CLONE_NEWUSER | CLONE_NEWPID);
	default:
		return !prctl(PR_SET_DUMPABLE, 0);
	}
}
