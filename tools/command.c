// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* Returns the length of a control character at @at; 0 if it is none. */
static size_t control_length(const unsigned char *at)
{
	if (*at < 0x20 || *at == 0x7f)
		return 1;
	/* U+0080 to U+009f */
	return at[0] == 0xc2 && at[1] >= 0x80 && at[1] < 0xa0 ? 2 : 0;
}

static bool is_clean(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	for (; *at; at++)
		if (control_length(at))
			return false;
	return true;
}

const char *clean(const char *text)
{
	enum { BUFFERS = 4, SIZE = 2048, ESCAPED = 4 };
	static char buffers[BUFFERS][SIZE];
	static unsigned int next;
	const unsigned char *at = (const unsigned char *)text;
	char *buffer, *to;

	if (is_clean(text))
		return text;
	to = buffer = buffers[next++ % BUFFERS];
	while (*at && to - buffer < SIZE - 2 * ESCAPED - 1) {
		size_t length = control_length(at);

		if (!length)
			*to++ = *at++;
		for (; length; length--)
			to += sprintf(to, "\\x%02x", *at++);
	}
	*to = 0;
	return buffer;
}

static void say(const char *kind, const char *format, va_list args)
{
	char *text;

	fflush(stdout);
	if (vasprintf(&text, format, args) < 0)
		return;
	fprintf(stderr, "hwprof: %s%s\n", kind, clean(text));
	free(text);
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

FILE *output_open(const char *path, FILE *standard)
{
	FILE *out = path ? fopen(path, "we") : standard;

	if (!out)
		failed("%s: cannot be written: %s", path, strerror(errno));
	return out;
}

int output_close(FILE *out)
{
	bool bad = fflush(out) || ferror(out);

	if (out != stdout && out != stderr)
		bad |= fclose(out);
	return bad ? failed("cannot write: %s", strerror(errno)) : STATUS_OK;
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

char *rounded(double value, char text[GROUPED_SIZE])
{
	double unit = 1;

	if (!(value >= 9.5 && value < 1e15)) {
		snprintf(text, GROUPED_SIZE, "%.2g", value);
		return text;
	}
	while (value / unit >= 99.5)
		unit *= 10;
	return grouped(llround(value / unit) * unit, text);
}
