// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>

#include "file.h"
#include "origin.h"
#include "profile.h"
#include "tree.h"

static int take(void *context, const struct hwprof_sample *sample)
{
	struct profile *profile = context;
	int noted;

	if (profile->kind->skips && profile->kind->skips(profile, sample))
		return 0;
	noted = collected_note(&profile->collected, sample);
	if (noted)
		return noted < 0 ? noted : 0;
	return profile->kind->take(profile, sample);
}

static int gather_samples(struct profile *profile, void *context)
{
	return collect(&profile->collected, profile->file,
		       profile->kind->about, take, profile);
}

static int place(struct profile *profile)
{
	size_t count, kept = 0, i;
	void **rows = tree_list(profile->rows, &count);
	int error;

	if (!rows)
		return -ENOMEM;
	/* Samples beside rows say nothing more. */
	for (i = 0; i < count; i++)
		if (((struct origin *)rows[i])->basis ||
		    !profile->collected.rows)
			rows[kept++] = rows[i];
	error = profile->kind->place(profile, rows, kept);
	free(rows);
	return error;
}

static int warn(struct profile *profile, const struct hwprof_totals *totals)
{
	const struct profile_kind *kind = profile->kind;
	struct warnings *warnings = &profile->warnings;
	int error = kind->warn ? kind->warn(profile, totals) : 0;

	if (profile->collected.bare_rows)
		error |= warnings_add(warnings, "%" PRIu64 " rows have no raw data: %s; record with 'perf record -R'",
				      profile->collected.bare_rows,
				      kind->lacking);
	else if (totals->samples && totals->rows)
		error |= warnings_add(warnings, "the file has rows and %" PRIu64 " samples of %s: the samples are left out",
				      totals->samples, kind->things);
	return error | collected_warn(&profile->collected, totals,
				      profile->found, kind->units, warnings);
}

/* What was collected is kept, since names point into it. */
static int keep_collected(struct profile *profile)
{
	struct collected *files = reallocarray(profile->files,
					       profile->file_count + 1,
					       sizeof(*files));

	if (!files)
		return -ENOMEM;
	profile->files = files;
	files[profile->file_count++] = profile->collected;
	profile->collected = (struct collected){ .rows = 0 };
	tdestroy(profile->rows, free);
	profile->rows = NULL;
	return 0;
}

static int read_file(struct profile *profile, profile_gather gather,
		     void *context)
{
	struct hwprof_totals totals = { .rows = 0 };
	int error;

	profile->found = 0;
	error = gather(profile, context);
	if (error)
		return error;
	collected_totals(&profile->collected, profile->file, &totals);
	totals_add(&profile->totals, &totals);
	error = place(profile);
	if (!error)
		error = warn(profile, &totals);
	return error ? error : keep_collected(profile);
}

static int read_files(struct profile *profile,
		      struct hwprof_file *const *files, size_t count,
		      profile_gather gather, void *context)
{
	int error = 0;
	size_t i;

	for (i = 0; i < count && !error; i++) {
		size_t said = profile->warnings.count;

		profile->file = files[i];
		error = read_file(profile, gather, context);
		if (!error && count > 1)
			error = warnings_name(&profile->warnings, said,
					      files[i]->name);
	}
	if (!error)
		error = profile->kind->finish(profile);
	if (!error)
		error = objects_warn(profile->objects, &profile->warnings);
	return error;
}

struct profile *profile_new(const struct profile_kind *kind, unsigned int flags)
{
	struct profile *profile = calloc(1, kind->size);

	if (!profile)
		return NULL;
	profile->kind = kind;
	profile->flags = flags;
	profile->objects = objects_new(flags & HWPROF_NO_OBJECTS);
	if (profile->objects)
		return profile;
	free(profile);
	return NULL;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	if (profile->kind->destroy)
		profile->kind->destroy(profile);
	warnings_free(&profile->warnings);
	tdestroy(profile->rows, free);
	collected_free(&profile->collected);
	while (profile->file_count)
		collected_free(&profile->files[--profile->file_count]);
	free(profile->files);
	objects_free(profile->objects);
	free(profile);
}

int profile_read(struct profile **profile, struct hwprof_file *const *files,
		 size_t count, profile_gather gather, void *context)
{
	struct hwprof_file *file = files[0];
	int error = -ENOMEM;

	if (*profile) {
		error = read_files(*profile, files, count,
				   gather ? gather : gather_samples, context);
		file = (*profile)->file;
	}
	if (!error)
		return 0;
	profile_free(*profile);
	*profile = NULL;
	return error == -ENOMEM ? file_fail(file, error, "out of memory") :
				  error;
}

const char *profile_comm(const struct profile *profile, uint32_t pid,
			 uint64_t time)
{
	return pid ? processes_comm(profile->collected.processes, pid, time) :
		     NULL;
}
