// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tap.h"

static unsigned int tests, failures;

bool tap_test(bool good, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	printf("%s %u - ", good ? "ok" : "not ok", ++tests);
	vprintf(format, arguments);
	printf("\n");
	va_end(arguments);
	failures += !good;
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
