// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "command.h"
#include "export_files.h"

char *export_list_formats(bool per_object)
{
	const struct hwprof_format *format;
	const char *between = "";
	size_t size, i;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	for (i = 0; (format = hwprof_format_get(i)); i++) {
		if (per_object && !format->per_object)
			continue;
		fprintf(out, "%s%s", between, format->name);
		between = ", ";
	}
	return fclose(out) ? NULL : text;
}

static void print_export_warnings(const struct hwprof_export *export)
{
	const char *sentence;
	size_t i;

	for (i = 0; (sentence = hwprof_export_warning(export, i)); i++)
		warning("%s", sentence);
}

int export_open(struct hwprof_export **export,
		const struct hwprof_profile *profile,
		const struct hwprof_format *format,
		const struct hwprof_export_options *options,
		const char *before)
{
	int error = hwprof_export_open(export, profile, format->name, options);

	if (*export)
		print_export_warnings(*export);
	if (!error)
		return STATUS_OK;
	return error == -EINVAL ?
	       usage_error("%s", hwprof_export_error(*export)) :
	       failed("%s%s", before, hwprof_export_error(*export));
}

bool is_folder(const char *path)
{
	struct stat status;

	return !stat(path, &status) && S_ISDIR(status.st_mode);
}

int export_write_to(struct hwprof_export *export, size_t index, FILE *out,
		    const char *name)
{
	if (!hwprof_export_write(export, index, out))
		return STATUS_OK;
	return failed("%s: %s", name, hwprof_export_error(export));
}

int export_write_file(struct hwprof_export *export, size_t index,
		      const char *path)
{
	const struct hwprof_export_part *part = hwprof_export_part(export,
								   index);
	char text[GROUPED_SIZE];
	FILE *out = fopen(path, "we");
	int status;

	if (!out)
		return failed("%s: %s", path, strerror(errno));
	status = export_write_to(export, index, out, path);
	if (fclose(out) && !status)
		status = failed("%s: %s", path, strerror(errno));
	if (status)
		return status;
	if (part->object)
		printf("%s: %s, %s taken branches\n", clean(path),
		       clean(part->object), grouped(part->count, text));
	else
		printf("%s\n", clean(path));
	return STATUS_OK;
}

int export_write_in_folder(struct hwprof_export *export, size_t index,
			   const char *folder)
{
	char *path;
	int status;

	if (asprintf(&path, "%s/%s", folder,
		     hwprof_export_part(export, index)->name) < 0)
		return failed("out of memory");
	status = export_write_file(export, index, path);
	free(path);
	return status;
}
