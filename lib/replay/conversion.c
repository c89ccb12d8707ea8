// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conversion.h"
#include "live/row_records.h"

enum {
	EVENT_ID	= 1,		/* of the only event */
	EVENT_NAME	= 64,
};

struct conversion {
	struct hwprof_profile *profile;
	struct hwprof_file *file;	/* that is replayed */
	struct writer *writer;
	struct writer_event event;
	uint64_t id;
	char name[EVENT_NAME];		/* of the event */
	char *path;			/* of the complete file */
	char *partial;			/* of the file until then */
};

static int no_memory(struct conversion *conversion)
{
	return file_fail(conversion->file, -ENOMEM, "out of memory");
}

static int from_writer(struct conversion *conversion, int error)
{
	return error ? file_fail(conversion->file, error, "%s",
				 writer_error(conversion->writer)) : 0;
}

/* --- the event ------------------------------------------------------------ */

static int set_event(struct conversion *conversion, uint32_t range_of)
{
	const char *about = conversion->profile->kind->about;
	struct hwprof_event event = { .user = false };

	if (hwprof_event_set(&event, about, 1) ||
	    hwprof_event_set(&event, "rows", 1) ||
	    hwprof_event_set(&event, "range_of", range_of))
		return -EINVAL;
	hwprof_event_print(&event, conversion->name, sizeof(conversion->name));
	conversion->event.attr = records_attr(&event);
	conversion->id = EVENT_ID;
	conversion->event.name = conversion->name;
	conversion->event.ids = &conversion->id;
	conversion->event.id_count = 1;
	return 0;
}

/*
 * Fails if the new file would replace the file that is replayed, or anything
 * else than a file, such as a device.
 */
static int check_path(struct hwprof_file *file, const char *path)
{
	struct stat input, output;

	if (stat(path, &output))
		return 0;
	if (!S_ISREG(output.st_mode))
		return file_fail(file, -EINVAL,
				 "cannot be written to %s, which is no regular file",
				 path);
	if (!fstat(file->fd, &input) && input.st_dev == output.st_dev &&
	    input.st_ino == output.st_ino)
		return file_fail(file, -EINVAL,
				 "is replayed, and cannot be written meanwhile: give another name");
	return 0;
}

static int create(struct conversion *conversion, uint32_t range_of,
		  const char *path)
{
	int error = set_event(conversion, range_of);

	if (error)
		return file_fail(conversion->file, error,
				 "no event of hwprof is of %s",
				 conversion->profile->kind->things);
	conversion->path = strdup(path);
	if (!conversion->path ||
	    asprintf(&conversion->partial, "%s.partial", path) < 0) {
		conversion->partial = NULL;
		return no_memory(conversion);
	}
	error = writer_open(&conversion->writer, conversion->partial,
			    &conversion->event, 1);
	return error ? file_fail(conversion->file, error, "%s",
				 writer_error(conversion->writer)) : 0;
}

int conversion_open(struct conversion **result, struct hwprof_profile *profile,
		    uint32_t range_of, const char *path)
{
	struct hwprof_file *file = profile->file;
	struct conversion *conversion;
	int error = check_path(file, path);

	*result = NULL;
	if (error)
		return error;
	conversion = calloc(1, sizeof(*conversion));
	if (!conversion)
		return file_fail(file, -ENOMEM, "out of memory");
	conversion->profile = profile;
	conversion->file = file;
	error = create(conversion, range_of, path);
	if (error)
		conversion_close(conversion);
	else
		*result = conversion;
	return error;
}

/* --- records -------------------------------------------------------------- */

int conversion_add(struct conversion *conversion, const struct hwprof_row *row,
		   uint64_t time, uint64_t ip, uint64_t addr, uint64_t period)
{
	const struct row_place place = { time, ip, addr, period };

	return from_writer(conversion, records_add_row(conversion->writer,
						       EVENT_ID, row, &place));
}

static int add_change(void *context, const struct process_change *change)
{
	struct conversion *conversion = context;

	return from_writer(conversion, records_add_change(conversion->writer,
							  EVENT_ID, change));
}

static int add_totals(struct conversion *conversion, uint64_t time)
{
	const struct recording_facts *facts = &conversion->profile->facts;
	int error = 0;
	size_t i;

	for (i = 0; i < facts->session_count && !error; i++) {
		struct hwprof_row_totals row = facts->sessions[i].totals;

		row.row = (struct hwprof_row){
			.type = HWPROF_ROW_TOTALS,
			.size = sizeof(row),
			.session = facts->sessions[i].session,
		};
		error = conversion_add(conversion, &row.row, time, 0, 0, 0);
	}
	return error;
}

/* --- what only the replay knows ------------------------------------------- */

static int add_missing(void *context, const char *name,
		       const struct build_id *id)
{
	struct file_replay *replay = context;

	return build_ids_add(&replay->missing, &replay->missing_count, name,
			     id, 0);
}

/* Completes the file, which then replaces what has its name. */
static int write_all(struct conversion *conversion,
		     const struct writer_facts *facts)
{
	struct writer_summary summary;
	int error = writer_finish(conversion->writer, facts, &summary);

	if (error)
		return file_fail(conversion->file, error, "%s",
				 writer_error(conversion->writer));
	if (rename(conversion->partial, conversion->path))
		return file_fail(conversion->file, -errno,
				 "%s: cannot be renamed to %s: %s",
				 conversion->partial, conversion->path,
				 strerror(errno));
	free(conversion->partial);
	conversion->partial = NULL;
	return 0;
}

int conversion_finish(struct conversion *conversion, uint64_t time)
{
	struct hwprof_profile *profile = conversion->profile;
	struct hwprof_file *file = conversion->file;
	struct file_replay replay = {
		.known = true,
		.several = profile->events,
		.event = profile->event,
		.inferred = profile->inferred,
		.lost = file->lost,
		.lost_samples = file->lost_samples,
	};
	const struct writer_facts facts = {
		.pmu_type = ROW_RECORDS_PMU, .of = file, .replay = &replay,
	};
	int error = add_totals(conversion, time);

	if (!error)
		error = processes_list(profile->facts.processes,
				       add_change, conversion);
	if (error)
		return error;
	error = warnings_add_all(&replay.warnings, &profile->warnings) |
		warnings_add_all(&replay.warnings, &file->warnings) |
		objects_list_missing(profile->objects, add_missing, &replay);
	if (error)
		no_memory(conversion);
	else
		error = write_all(conversion, &facts);
	replay.event = NULL;	/* the profile's */
	file_replay_free(&replay);
	return error;
}

void conversion_close(struct conversion *conversion)
{
	if (!conversion)
		return;
	if (conversion->partial && conversion->writer)
		unlink(conversion->partial);
	writer_close(conversion->writer);
	free(conversion->partial);
	free(conversion->path);
	free(conversion);
}
