// SPDX-License-Identifier: GPL-2.0-only
/* A debugger without events debugs a program with events. */
#define _GNU_SOURCE
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>

#include "child.h"
#include "outside.h"
#include "tap.h"

struct session {
	unsigned long steps, places, flag, ax;
	int status;
};

/* Steps through the subject, from its own stop to its end. */
static void debug(const char *subject, const struct profile_mode *mode,
		  struct session *session, struct ending *ending)
{
	struct user_regs_struct regs;
	struct child child;
	int status = 0;

	memset(session, 0, sizeof(*session));
	child_start(&child, subject, "stepped", mode, true);
	waitpid(child.pid, &status, 0);		/* the exec */
	ptrace(PTRACE_CONT, child.pid, NULL, NULL);
	waitpid(child.pid, &status, 0);		/* raise(SIGSTOP) */
	while (WIFSTOPPED(status)) {
		/*
		 * Every eighth stop of the first 100 is at a system call, not
		 * after a step.
		 */
		int how = session->steps % 8 == 7 ? PTRACE_SYSCALL :
						    PTRACE_SINGLESTEP;

		if (session->steps > 100 && how == PTRACE_SYSCALL)
			how = PTRACE_SINGLESTEP;
		ptrace(how, child.pid, NULL, NULL);
		waitpid(child.pid, &status, 0);
		if (!WIFSTOPPED(status))
			break;
		ptrace(PTRACE_GETREGS, child.pid, NULL, &regs);
		session->steps++;
		session->places = session->places * 31 + regs.rip;
		session->ax = session->ax * 31 + regs.rax;
		session->flag |= regs.eflags & 0x100;
	}
	session->status = status;
	child_end(&child, ending);
}

void test_debugged(const char *subject)
{
	unsigned int turn;
	struct session native, watched;
	struct ending ending;

	debug(subject, NULL, &native, &ending);
	for (turn = 0; turn < profile_each; turn++) {
		const struct profile_mode *mode = profile_next();

		debug(subject, mode, &watched, &ending);
		tap_test(watched.steps == native.steps && native.steps > 50 &&
			 watched.places == native.places &&
			 watched.status == native.status &&
			 watched.flag == native.flag,
			 "debugged from outside: %s", mode->name);
		tap_note("steps %lu (%lu), status %x (%x), flag %lx (%lx)",
			 watched.steps, native.steps, watched.status,
			 native.status, watched.flag, native.flag);
	}
}
