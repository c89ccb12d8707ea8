// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

static void say(const char *kind, const char *format, va_list args)
{
	fflush(stdout);
	fprintf(stderr, "hwprof: %s", kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int failed(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args);
	va_end(args);
	return STATUS_FAILED;
}

int usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("", format, args);
	va_end(args);
	return STATUS_USAGE;
}

void warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say("warning: ", format, args);
	va_end(args);
}

int option_error(int option, const char *usage, char **argv)
{
	if (option == 'h') {
		fputs(usage, stdout);
		return fflush(stdout) ? STATUS_FAILED : STATUS_OK;
	}
	fprintf(stderr, "Try '%s --help'.\n", argv[0]);
	return STATUS_USAGE;
}

bool parse_count(const char *text, uint64_t least, uint64_t most,
		 uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 10);
	return !errno && !*end && *value >= least && *value <= most;
}

bool read_number(const char *path, int64_t *value)
{
	FILE *file = fopen(path, "re");
	bool found;

	if (!file)
		return false;
	found = fscanf(file, "%" SCNd64, value) == 1;
	fclose(file);
	return found;
}

bool read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool read;

	if (!file)
		return false;
	read = fgets(line, size, file);
	fclose(file);
	if (read)
		line[strcspn(line, "\n")] = 0;
	return read;
}

bool read_cap(const char *name, char *value, size_t size)
{
	char path[512];

	snprintf(path, sizeof(path), HWPROF_SYSFS "/caps/%s", name);
	return read_line(path, value, size);
}

char *grouped(uint64_t value, char text[GROUPED_SIZE])
{
	char digits[GROUPED_SIZE];
	int length = snprintf(digits, sizeof(digits), "%" PRIu64, value);
	char *to = text;
	int i;

	for (i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = 0;
	return text;
}
