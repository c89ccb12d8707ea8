// SPDX-License-Identifier: GPL-2.0-only
/* subject NAME [ARG]: runs the subject. Exit status 1: an expect() failed. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "list.h"
#include "subject.h"

#define X(name) void subject_##name(void);
SUBJECTS(X)
SUBJECTS_STARTED(X)
#ifdef __x86_64__
SUBJECTS_64(X)
#else
SUBJECTS_32(X)
#endif
#undef X

static const struct {
	const char *name;
	void (*run)(void);
} subjects[] = {
#define X(name) { #name, subject_##name },
SUBJECTS(X)
SUBJECTS_STARTED(X)
#ifdef __x86_64__
SUBJECTS_64(X)
#else
SUBJECTS_32(X)
#endif
#undef X
};

static const char *self;
static int failed;

void subject_fail(const char *file, int line, const char *condition)
{
	dprintf(STDOUT_FILENO, "%s:%d: expected %s\n", file, line, condition);
	failed = 1;
}

void subject_become(const char *name)
{
	execl(self, self, name, NULL);
	_exit(127);
}

void subject_wait(pid_t pid, const char *what)
{
	int status = -1;

	expect(pid > 0);
	expect(waitpid(pid, &status, 0) == pid);
	dprintf(STDOUT_FILENO, "%s: status %x\n", what, status);
}

uint64_t subject_work(unsigned int rounds)
{
	uint64_t sum = 1;

	while (rounds--)
		sum = sum * 6364136223846793005ULL + (sum & 4 ? rounds : 1);
	return sum;
}

void subject_handle(int sig, subject_handler *handler, int flags)
{
	struct sigaction action = {
		.sa_sigaction = handler, .sa_flags = flags | SA_SIGINFO,
	};

	expect(sigaction(sig, &action, NULL) == 0);
}

int main(int argc, char **argv)
{
	unsigned int i;

	self = argv[0];
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (i = 0; argc > 1 && i < sizeof(subjects) / sizeof(subjects[0]); i++)
		if (!strcmp(argv[1], subjects[i].name)) {
			subjects[i].run();
			return failed;
		}
	fprintf(stderr, "subject: name one of those in list.h\n");
	return 2;
}
