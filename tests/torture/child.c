// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "tap.h"

static void become(const char *program, const char *name, int go, int input,
		   int output, bool traced)
{
	char byte;

	setpgid(0, 0);
	dup2(input, STDIN_FILENO);
	dup2(output, STDOUT_FILENO);
	if (read(go, &byte, 1) != 1)
		_exit(126);
	if (traced)
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	personality(ADDR_NO_RANDOMIZE);		/* addresses are compared */
	execl(program, program, name, NULL);
	_exit(127);
}

void child_start(struct child *child, const char *program, const char *name,
		 const struct profile_mode *mode, bool traced)
{
	int go[2], input[2], output[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(input, O_CLOEXEC) ||
	    pipe2(output, O_CLOEXEC))
		tap_bail("pipe: %s", strerror(errno));
	child->pid = fork();
	if (!child->pid)
		become(program, name, go[0], input[0], output[1], traced);
	setpgid(child->pid, child->pid);
	child->profile = mode ? profile_open(mode, child->pid, true) : NULL;
	if (write(go[1], "", 1) != 1)
		tap_bail("write: %s", strerror(errno));
	close(go[0]);
	close(go[1]);
	close(input[0]);
	close(output[1]);
	child->input = input[1];
	child->output = output[0];
}

static time_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec;
}

/*
 * Reads the output of the child until it contains @until, or to its end.
 * Returns false if the child does not end in time or prints too much.
 */
static bool listen(struct child *child, char *output, size_t *length,
		   const char *until)
{
	struct pollfd ready = { .fd = child->output, .events = POLLIN };
	time_t start = now();

	for (*length = 0; *length < CHILD_OUTPUT - 1;) {
		ssize_t got;

		if (now() - start > CHILD_SECONDS)
			return false;
		if (poll(&ready, 1, 1000) <= 0)
			continue;
		got = read(child->output, output + *length,
			   CHILD_OUTPUT - 1 - *length);
		if (got <= 0)
			return !until;
		*length += got;
		output[*length] = 0;
		if (until && strstr(output, until))
			return true;
	}
	return false;		/* too much output */
}

void child_go_on(struct child *child)
{
	if (write(child->input, "x", 1) != 1)
		tap_note("it is gone");
}

bool child_says(struct child *child, const char *text)
{
	char output[CHILD_OUTPUT];
	size_t length;

	return listen(child, output, &length, text);
}

void child_end(struct child *child, struct ending *ending)
{
	memset(ending, 0, sizeof(*ending));
	ending->late = !listen(child, ending->output, &ending->length, NULL);
	if (ending->late)
		kill(-child->pid, SIGKILL);
	while (waitpid(child->pid, &ending->status, 0) < 0 && errno == EINTR)
		;
	if (child->profile) {
		ending->count = profile_count(child->profile);
		profile_close(child->profile);
	}
	kill(-child->pid, SIGKILL);	/* its children */
	close(child->input);
	close(child->output);
}

void child_run(const char *program, const char *name,
	       const struct profile_mode *mode, struct ending *ending)
{
	struct child child;

	child_start(&child, program, name, mode, false);
	child_end(&child, ending);
}

bool child_same(const struct ending *native, const struct ending *watched,
		const char *what, const char *mode)
{
	bool good = !watched->late && native->status == watched->status &&
		    native->length == watched->length &&
		    !memcmp(native->output, watched->output, native->length);

	tap_test(good, "%s: %s", what, mode);
	if (good)
		return true;
	tap_note("status %x, natively %x%s", watched->status, native->status,
		 watched->late ? "; it did not end" : "");
	tap_note("natively: %.800s", native->output);
	tap_note("watched: %.800s", watched->output);
	return false;
}
