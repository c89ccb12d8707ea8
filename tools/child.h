/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The profiled command. It is forked first, so that events can be opened on it,
 * and execs when all is ready.
 */
#ifndef HWPROF_CHILD_H
#define HWPROF_CHILD_H

#include <signal.h>
#include <sys/types.h>

struct child {
	pid_t pid;
	int go;			/* a byte here makes it exec; end of file,
				 * exit */
	int report;		/* receives the errno of a failed exec */
};

/*
 * Looks for a command before anything else is done. Returns -1 if there is such
 * a file; otherwise says that there is none, and returns the exit status.
 */
int child_find(const char *name);

/* Says why the command's exec failed with @error. Returns the exit status. */
int child_failed(const char *name, int error);

/* Forks. @mask is the command's signal mask. Returns 0 or a negative errno. */
int child_fork(struct child *child, char **argv, const sigset_t *mask);

/* Makes the command exec. Returns 0, or the negative errno of a failed exec. */
int child_go(struct child *child);

/* Ends the child without running the command. */
void child_abandon(struct child *child);

/* Converts a status of waitpid() to an exit status, as a shell does. */
int child_status(int status);

#endif /* HWPROF_CHILD_H */
