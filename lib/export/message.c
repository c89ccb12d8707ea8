// SPDX-License-Identifier: LGPL-2.1-or-later
/* Why an export failed. */
#include <stdarg.h>
#include <stdio.h>

#include "export.h"

int export_fail(struct hwprof_export *export, int error, const char *format,
		...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(export->message, sizeof(export->message), format, args);
	va_end(args);
	return error;
}
