// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "command.h"

/* Returns true if the first folder of the list @path has the file. */
static bool has_file(const char *path, const char *name)
{
	int length = strcspn(path, ":");
	char file[PATH_MAX];

	/* A list's empty item is the working folder. */
	snprintf(file, sizeof(file), "%.*s%s%s", length, path,
		 length ? "/" : "", name);
	return !access(file, F_OK);
}

static bool is_somewhere(const char *name)
{
	const char *path = getenv("PATH");

	/* execvp() takes a list of its own. */
	if (strchr(name, '/') || !path)
		return !strchr(name, '/') || !access(name, F_OK);
	while (!has_file(path, name)) {
		path += strcspn(path, ":");
		if (!*path++)
			return false;
	}
	return true;
}

int child_find(const char *name)
{
	return *name && is_somewhere(name) ? -1 : child_failed(name, -ENOENT);
}

int child_failed(const char *name, int error)
{
	failed("%s: %s", name, error == -ENOENT ? "command not found" :
	       strerror(-error));
	return error == -ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
}

static void run(int go, int report, char **argv, const sigset_t *mask)
{
	char byte;
	int error;

	/* The parent gave up, or has died. */
	if (read(go, &byte, 1) != 1)
		_exit(STATUS_FAILED);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(argv[0], argv);
	error = errno;
	while (write(report, &error, sizeof(error)) < 0 && errno == EINTR)
		;
	_exit(STATUS_NOT_FOUND);
}

int child_fork(struct child *child, char **argv, const sigset_t *mask)
{
	int go[2], report[2];

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(report, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	child->pid = fork();
	if (!child->pid) {
		close(go[1]);
		run(go[0], report[1], argv, mask);
	}
	close(go[0]);
	close(report[1]);
	child->go = go[1];
	child->report = report[0];
	return child->pid < 0 ? -errno : 0;
}

int child_go(struct child *child)
{
	int error = 0;
	ssize_t got;

	if (write(child->go, "", 1) != 1)
		return -EIO;
	close(child->go);
	/* A successful exec closes the other end. */
	do {
		got = read(child->report, &error, sizeof(error));
	} while (got < 0 && errno == EINTR);
	close(child->report);
	if (got != sizeof(error))
		return 0;
	waitpid(child->pid, NULL, 0);
	return -error;
}

void child_abandon(struct child *child)
{
	close(child->go);
	close(child->report);
	waitpid(child->pid, NULL, 0);
}

int child_status(int status)
{
	return WIFSIGNALED(status) ? STATUS_SIGNAL + WTERMSIG(status) :
	       WEXITSTATUS(status);
}
