/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes the outputs of an export to files. */
#ifndef HWPROF_EXPORT_FILES_H
#define HWPROF_EXPORT_FILES_H

#include <stdbool.h>
#include <stdio.h>

#include "hwprof.h"

/*
 * Returns the names of formats, separated by ", "; only those of compilers with
 * @per_object. The caller frees it. NULL: out of memory.
 */
char *export_list_formats(bool per_object);

/*
 * Opens an export and prints its warnings, or its error behind @before. Returns
 * the exit status. *@export may have to be closed in either case.
 */
int export_open(struct hwprof_export **export,
		const struct hwprof_profile *profile,
		const struct hwprof_format *format,
		const struct hwprof_export_options *options,
		const char *before);

/*
 * Write the output with the number @index to a file, or to a file of its own
 * name in a folder, and print a line about it. Return the exit status.
 */
int export_write_file(struct hwprof_export *export, size_t index,
		      const char *path);
int export_write_in_folder(struct hwprof_export *export, size_t index,
			   const char *folder);

/* Returns the exit status of hwprof_export_write(), whose error it prints. */
int export_write_to(struct hwprof_export *export, size_t index, FILE *out,
		    const char *name);

bool is_folder(const char *path);

#endif /* HWPROF_EXPORT_FILES_H */
