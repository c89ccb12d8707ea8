// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "events.h"

static int add_thread(pid_t **threads, size_t *count, pid_t thread)
{
	pid_t *all = reallocarray(*threads, *count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	*threads = all;
	all[(*count)++] = thread;
	return 0;
}

int process_threads(pid_t pid, pid_t **threads, size_t *count)
{
	struct dirent *entry;
	char path[64];
	int error = 0;
	DIR *tasks;

	*threads = NULL;
	*count = 0;
	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	if (!tasks)
		return -ESRCH;
	while (!error && (entry = readdir(tasks)))
		if (isdigit((unsigned char)entry->d_name[0]))
			error = add_thread(threads, count, atoi(entry->d_name));
	closedir(tasks);
	if (!error && !*count)
		error = -ESRCH;
	if (error) {
		free(*threads);
		*threads = NULL;
	}
	return error;
}
