// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "log.h"

static const char *own_name = "hwprofd";

void log_name(const char *name)
{
	own_name = name;
}

/* The priorities are those of syslog; systemd reads them. */
static void say(int priority, const char *format, va_list args)
{
	char text[1024], *at;

	vsnprintf(text, sizeof(text), format, args);
	for (at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	if (getenv("JOURNAL_STREAM"))
		fprintf(stderr, "<%d>%s\n", priority, text);
	else
		fprintf(stderr, "%s: %s\n", own_name, text);
}

void log_info(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(6, format, args);
	va_end(args);
}

void log_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(4, format, args);
	va_end(args);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(3, format, args);
	va_end(args);
}
