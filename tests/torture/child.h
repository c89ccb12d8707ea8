/* SPDX-License-Identifier: GPL-2.0-only */
/* A subject that runs, and everything that can be observed from outside. */
#ifndef TORTURE_CHILD_H
#define TORTURE_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "profile.h"

enum { CHILD_OUTPUT = 16384, CHILD_SECONDS = 240 };

struct child {
	pid_t pid;
	int input;		/* its standard input */
	int output;
	struct profile *profile;	/* NULL: no event */
};

/* The end of a child, and its output. */
struct ending {
	char output[CHILD_OUTPUT];
	size_t length;
	int status;		/* of waitpid() */
	uint64_t count;		/* of the event */
	bool late;		/* it did not end, and was killed */
};

/*
 * Starts the subject PROGRAM NAME. @mode is NULL for a run without events. If
 * @traced, it stops at its exec.
 */
void child_start(struct child *child, const char *program, const char *name,
		 const struct profile_mode *mode, bool traced);

/* Sends the byte that some subjects wait for. */
void child_go_on(struct child *child);

/* Reads until the output contains @text. Returns false if it does not. */
bool child_says(struct child *child, const char *text);

/* Waits for the end of the child and closes its events. */
void child_end(struct child *child, struct ending *ending);

void child_run(const char *program, const char *name,
	       const struct profile_mode *mode, struct ending *ending);

/* One test: both must have ended in the same way. */
bool child_same(const struct ending *native, const struct ending *watched,
		const char *what, const char *mode);

#endif /* TORTURE_CHILD_H */
