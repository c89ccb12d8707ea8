/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that is profiled: forked first, so that events can be opened on
 * it, and let go when all is ready.
 */
#ifndef HWPROF_CHILD_H
#define HWPROF_CHILD_H

#include <signal.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int go;			/* a byte here lets it exec; end of file: exit */
	int report;		/* the errno of an exec that failed comes here */
};

/* Forks; @mask is the signal mask that the command shall have. 0 or errno. */
int child_fork(struct child *child, char **argv, const sigset_t *mask);

/* Lets it exec. 0; or the negative errno with which exec failed. */
int child_go(struct child *child);

/* It shall not run after all. */
void child_abandon(struct child *child);

/* An exit status, as a shell has it, of waitpid()'s. */
int child_status(int status);

#endif /* HWPROF_CHILD_H */
