// SPDX-License-Identifier: LGPL-2.1-or-later
/* Messages about a file: failures, damage and warnings. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "file.h"

enum { WARNINGS_MAX = 16 };

static void set_message(struct hwprof_file *file, const char *where,
			const char *format, va_list args)
{
	int used = snprintf(file->message, sizeof(file->message), "%s: %s",
			    file->name, where);

	if (used >= 0 && (size_t)used < sizeof(file->message))
		vsnprintf(file->message + used, sizeof(file->message) - used,
			  format, args);
}

int file_fail(struct hwprof_file *file, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	set_message(file, "", format, args);
	va_end(args);
	return error;
}

int file_damaged(struct hwprof_file *file, uint64_t offset,
		 const char *format, ...)
{
	char where[48];
	va_list args;

	snprintf(where, sizeof(where), "offset 0x%" PRIx64 ": ", offset);
	va_start(args, format);
	set_message(file, where, format, args);
	va_end(args);
	return -EBADMSG;
}

int file_warn(struct hwprof_file *file, uint64_t offset,
	      const char *format, ...)
{
	char sentence[384];
	va_list args;

	va_start(args, format);
	vsnprintf(sentence, sizeof(sentence), format, args);
	va_end(args);
	if (file->warnings.count == WARNINGS_MAX)
		return 0;
	if (warnings_add(&file->warnings, "offset 0x%" PRIx64 ": %s", offset,
			 sentence))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}
