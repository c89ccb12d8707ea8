// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#define LIMITS	"/sys/class/misc/hwprof/limits/"

enum { PATH = 128 };

int text_read(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY), error;
	ssize_t length;

	if (fd < 0)
		return -errno;
	length = read(fd, text, size - 1);
	error = length < 0 ? -errno : 0;
	close(fd);
	if (error)
		return error;
	text[length] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

int text_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY), error;
	ssize_t length = strlen(text), written;

	if (fd < 0)
		return -errno;
	written = write(fd, text, length);
	error = written < 0 ? -errno : written < length ? -EIO : 0;
	close(fd);
	return error;
}

int limit_read(const char *name, char *text, size_t size)
{
	char path[PATH];

	snprintf(path, sizeof(path), LIMITS "%s", name);
	return text_read(path, text, size);
}

int limit_write(const char *name, const char *text)
{
	char path[PATH];

	snprintf(path, sizeof(path), LIMITS "%s", name);
	return text_write(path, text);
}

int sysctl_write(const char *name, int number)
{
	char path[PATH], text[16];

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	snprintf(text, sizeof(text), "%d", number);
	return text_write(path, text);
}

int sample_rate_write(int rate)
{
	int error = sysctl_write("perf_cpu_time_max_percent", 25);

	/* Perf refuses another rate while nothing lowers it. */
	error = error ?: sysctl_write("perf_event_max_sample_rate", rate);
	return error ?: sysctl_write("perf_cpu_time_max_percent", 0);
}
