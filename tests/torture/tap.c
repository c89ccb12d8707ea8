// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tap.h"

enum { SLOW = 2 };	/* seconds */

static unsigned int tests, failures;

/* Prints the time that the tests since the last note took, if it is long. */
static void note_time(void)
{
	static time_t last;
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	if (last && time.tv_sec - last >= SLOW)
		tap_note("took %d s", (int)(time.tv_sec - last));
	last = time.tv_sec;
}

bool tap_test(bool good, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("%s %u - ", good ? "ok" : "not ok", ++tests);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	failures += !good;
	note_time();
	fflush(stdout);
	return good;
}

void tap_skip(const char *why, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("ok %u - ", ++tests);
	vprintf(format, arguments);
	printf(" # SKIP %s\n", why);
	va_end(arguments);
	fflush(stdout);
}

void tap_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("# ");
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	fflush(stdout);
}

void tap_bail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("Bail out! ");
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	fflush(stdout);
	exit(2);
}

int tap_end(void)
{
	printf("1..%u\n", tests);
	return failures || !tests;
}
