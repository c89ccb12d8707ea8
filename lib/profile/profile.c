// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "perfdata/file.h"
#include "base/row_origin.h"
#include "profile.h"
#include "event_kinds.h"
#include "base/tree.h"

static int take_beside(struct hwprof_profile *profile,
		       const struct hwprof_sample *sample)
{
	return sample->row && profile->kind->beside ?
	       profile->kind->beside(profile, sample) : 0;
}

int profile_take(struct hwprof_profile *profile,
		 const struct hwprof_sample *sample)
{
	int noted;

	if (profile->kind->skips && profile->kind->skips(profile, sample))
		return 0;
	noted = facts_note(&profile->facts, sample);
	if (noted)
		return noted < 0 ? noted : 0;
	if (facts_elsewhere(&profile->facts, profile->kind->kind,
				sample))
		return take_beside(profile, sample);
	return profile->kind->take(profile, sample);
}

static int take(void *context, const struct hwprof_sample *sample)
{
	return profile_take(context, sample);
}

int profile_note_event(struct hwprof_profile *profile, const char *name)
{
	if (!profile->event) {
		profile->event = strdup(name);
		return profile->event ? 0 : -ENOMEM;
	}
	profile->events |= !!strcmp(profile->event, name);
	return 0;
}

/* Opens the objects that the replay needed, so that their warnings come. */
static int open_missing(struct hwprof_profile *profile)
{
	const struct file_replay *replay = &profile->file->replay;
	size_t i;

	for (i = 0; i < replay->missing_count; i++) {
		struct object *object = objects_get(profile->objects,
						    replay->missing[i].name,
						    &replay->missing[i].id);

		if (!object)
			return -ENOMEM;
		object_elf(object);
	}
	return 0;
}

/* Takes the facts that the replay that wrote the file knew besides its rows. */
static int take_replay(struct hwprof_profile *profile)
{
	struct hwprof_file *file = profile->file;
	const struct file_replay *replay = &file->replay;
	int error = 0;

	if (!replay->known)
		return 0;
	profile->replayed = true;
	file->lost += replay->lost;
	file->lost_samples += replay->lost_samples;
	profile->events |= replay->several;
	if (replay->event)
		error = profile_note_event(profile, replay->event);
	if (replay->inferred > profile->inferred)
		profile->inferred = replay->inferred;
	error |= warnings_add_all(&profile->warnings, &replay->warnings);
	return error | open_missing(profile);
}

static int gather_samples(struct hwprof_profile *profile, void *context)
{
	int error = facts_collect(&profile->facts, profile->file,
				  profile->kind->about, take, profile);

	if (!error)
		error = numbers_add_texts(&profile->masks,
					  &profile->file->masks);
	return error ? error : take_replay(profile);
}

int profile_place(struct hwprof_profile *profile)
{
	size_t count, kept = 0, i;
	void **rows = profile->kind->list ?
		      profile->kind->list(profile, &count) :
		      tree_list(profile->rows, &count);
	int error;

	if (!rows)
		return -ENOMEM;
	/* Samples beside rows add nothing. */
	for (i = 0; i < count; i++)
		if (((struct row_origin *)rows[i])->basis ||
		    !profile->facts.rows)
			rows[kept++] = rows[i];
	error = profile->kind->place(profile, rows, kept);
	free(rows);
	return error;
}

static int warn_of_damage(struct hwprof_profile *profile)
{
	const char *sentence;
	int error = 0;
	size_t i;

	for (i = 0; (sentence = hwprof_file_warning(profile->file, i)); i++)
		error |= warnings_add(&profile->warnings, "%s", sentence);
	return error;
}

static int warn(struct hwprof_profile *profile,
		const struct hwprof_totals *totals)
{
	const struct profile_kind *kind = profile->kind;
	struct warnings *warnings = &profile->warnings;
	char units[EVENT_KINDS_TEXT];
	int error = warn_of_damage(profile);

	error |= kind->warn ? kind->warn(profile, totals) : 0;
	if (profile->facts.bare_rows)
		error |= warnings_add(warnings,
				      "%" PRIu64 " rows have no raw data: %s; record with 'perf record -R'",
				      profile->facts.bare_rows,
				      kind->lacking);
	else if (totals->samples && totals->rows)
		error |=
			warnings_add(warnings,
				     "the file has rows and %" PRIu64
				     " samples of %s: the samples are left out",
				     totals->samples, kind->things);
	return error |
	       facts_warn(&profile->facts, totals, profile->found,
			  event_kinds_units(totals->kinds, kind->units, units),
			  warnings);
}

void profile_free_rows(struct hwprof_profile *profile)
{
	if (profile->kind->free_rows)
		profile->kind->free_rows(profile->rows);
	else
		tdestroy(profile->rows, free);
	tdestroy(profile->times, free);
	profile->rows = profile->times = NULL;
}

/* Keeps the facts of a file, because names point into them. */
static int keep_facts(struct hwprof_profile *profile)
{
	struct recording_facts *files = reallocarray(profile->files,
					       profile->file_count + 1,
					       sizeof(*files));

	if (!files)
		return -ENOMEM;
	profile->files = files;
	files[profile->file_count++] = profile->facts;
	profile->facts = (struct recording_facts){ .rows = 0 };
	profile_free_rows(profile);
	return 0;
}

/* Adds the gathered rows to the profile. */
static int add_gathered(struct hwprof_profile *profile)
{
	struct hwprof_totals totals = { .rows = 0 };
	int error;

	profile->found = 0;
	facts_totals(&profile->facts, profile->file, &totals);
	totals_add(&profile->totals, &totals);
	error = stretches_weigh(profile->facts.stretches);
	if (!error)
		error = profile_place(profile);
	profile->windows += facts_windows(&profile->facts, &profile->spread);
	profile->heaviest = fmax(profile->heaviest,
				 facts_heaviest(&profile->facts));
	facts_distances(&profile->facts, &profile->distances);
	return error ? error : warn(profile, &totals);
}

static int read_file(struct hwprof_profile *profile, profile_gather gather,
		     void *context)
{
	int error = gather(profile, context);

	if (!error)
		error = add_gathered(profile);
	return error ? error : keep_facts(profile);
}

static int finish(struct hwprof_profile *profile)
{
	int error = profile->kind->finish(profile);

	if (!error && profile->function && !profile->kind->count(profile))
		error = warnings_add(&profile->warnings,
				     "nothing here is of a function '%s'",
				     profile->function);
	return error ? error : objects_warn(profile->objects,
					    &profile->warnings);
}

static int read_files(struct hwprof_profile *profile,
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
	return error ? error : finish(profile);
}

static struct hwprof_profile *profile_new(const struct profile_kind *kind,
					  const struct hwprof_options *options)
{
	struct hwprof_profile *profile = calloc(1, kind->size);

	if (!profile)
		return NULL;
	profile->kind = kind;
	profile->flags = options->flags;
	if (kind->configure)
		kind->configure(profile, options);
	if (options->function)
		profile->function = strdup(options->function);
	profile->objects = objects_new(options->flags & HWPROF_NO_OBJECTS);
	if (profile->objects && options->flags & HWPROF_TRUSTED_FILES)
		objects_trust_copies(profile->objects);
	if (profile->objects && !profile->function == !options->function &&
	    !objects_look_in(profile->objects, options->symfs,
			     options->debuginfo))
		return profile;
	objects_free(profile->objects);
	free(profile->function);
	free(profile);
	return NULL;
}

void hwprof_profile_free(struct hwprof_profile *profile)
{
	if (!profile)
		return;
	if (profile->kind->destroy)
		profile->kind->destroy(profile);
	warnings_free(&profile->warnings);
	numbers_free(&profile->masks);
	profile_free_rows(profile);
	facts_free(&profile->facts);
	while (profile->file_count)
		facts_free(&profile->files[--profile->file_count]);
	free(profile->files);
	objects_free(profile->objects);
	free(profile->function);
	free(profile->event);
	free(profile);
}

int profile_check_options(enum hwprof_kind kind,
			  const struct hwprof_options *options, char *message,
			  size_t size)
{
	if (!(options->hot >= 0 && options->hot <= 1)) {
		snprintf(message, size,
			 "what has a share of %g is to be hot: above 0, up to 1 is allowed",
			 options->hot);
		return -EINVAL;
	}
	if (options->function && kind == HWPROF_KIND_RANGES) {
		snprintf(message, size,
			 "ranges are of addresses, not of a function");
		return -EINVAL;
	}
	return 0;
}

int profile_make(struct hwprof_profile **result,
		 const struct profile_kind *kind,
		 struct hwprof_file *const *files, size_t count,
		 const struct hwprof_options *options, profile_gather gather,
		 void *context)
{
	const struct hwprof_options defaults = { 0 };
	struct hwprof_file *file = files[0];
	struct hwprof_profile *profile;
	int error = -ENOMEM;
	char message[256];

	*result = NULL;
	if (!options)
		options = &defaults;
	if (profile_check_options(kind->kind, options, message,
				  sizeof(message)))
		return file_fail(file, -EINVAL, "%s", message);
	profile = profile_new(kind, options);
	if (profile) {
		error = read_files(profile, files, count, gather, context);
		file = profile->file;
	}
	if (!error) {
		*result = profile;
		return 0;
	}
	hwprof_profile_free(profile);
	return error == -ENOMEM ? file_fail(file, error, "out of memory") :
				  error;
}

/* --- for all kinds -------------------------------------------------------- */

struct hwprof_profile *profile_gathering(const struct profile_kind *kind,
					 const struct hwprof_options *options,
					 struct hwprof_file *file)
{
	struct hwprof_profile *profile = profile_new(kind, options);

	if (!profile)
		return NULL;
	profile->file = file;
	profile->facts.processes = processes_new();
	profile->facts.stretches = stretches_new(&file->distances);
	if (profile->facts.processes && profile->facts.stretches)
		return profile;
	hwprof_profile_free(profile);
	return NULL;
}

void profile_reset(struct hwprof_profile *gathering)
{
	struct recording_facts *facts = &gathering->facts;

	profile_free_rows(gathering);
	numbers_free(&gathering->masks);
	free(facts->sessions);
	metrics_free(&facts->metrics);
	if (facts->stretches)
		stretches_reset(facts->stretches);
	*facts = (struct recording_facts){
		.processes = facts->processes, .stretches = facts->stretches,
	};
}

int profile_snapshot(struct hwprof_profile **result,
		     struct hwprof_profile *gathering,
		     const struct hwprof_options *options)
{
	struct hwprof_profile *profile = profile_new(gathering->kind, options);
	int error;

	*result = NULL;
	if (!profile)
		return -ENOMEM;
	/* Borrow what was gathered. */
	profile->file = gathering->file;
	profile->rows = gathering->rows;
	profile->times = gathering->times;
	profile->facts = gathering->facts;
	error = numbers_add_texts(&profile->masks, &gathering->masks);
	if (!error)
		error = add_gathered(profile);
	profile->rows = profile->times = NULL;
	profile->facts = (struct recording_facts){
		.processes = processes_share(gathering->facts.processes),
	};
	if (!error)
		error = finish(profile);
	if (!error)
		*result = profile;
	else
		hwprof_profile_free(profile);
	return error;
}

/*
 * Refuses files whose events are all of other kinds. A pipe tells its events
 * later.
 */
static int check_kind(enum hwprof_kind kind, struct hwprof_file *const *files,
		      size_t count)
{
	unsigned int all = 0, kinds;
	char text[EVENT_KINDS_TEXT];
	int error;
	size_t i;

	for (i = 0; i < count; i++) {
		if (files[i]->pipe)
			return 0;
		error = hwprof_file_kinds(files[i], &kinds);
		if (error)
			return error;
		all |= kinds;
	}
	if (all >> kind & 1)
		return 0;
	return file_fail(files[0], -ENOENT,
			 "was recorded with %s, not with %s",
			 event_kinds_names(all, text), hwprof_kind_name(kind));
}

int profile_read(struct hwprof_profile **profile,
		 const struct profile_kind *kind,
		 struct hwprof_file *const *files, size_t count,
		 const struct hwprof_options *options)
{
	int error = check_kind(kind->kind, files, count);

	*profile = NULL;
	if (error)
		return error;
	return profile_make(profile, kind, files, count, options,
			    gather_samples, NULL);
}

/* A part of a recording. */
struct part {
	struct hwprof_profile *profile;
	profile_part_fn take;
	void *context;
};

static int take_part(void *context, const struct hwprof_sample *sample)
{
	struct part *part = context;

	return part->take(part->context, part->profile, sample);
}

static int gather_part(struct hwprof_profile *profile, void *context)
{
	struct part *part = context;

	part->profile = profile;
	return facts_collect(&profile->facts, profile->file,
			     profile->kind->about, take_part, part) ?:
	       numbers_add_texts(&profile->masks, &profile->file->masks);
}

int profile_read_part(struct hwprof_profile **profile,
		      const struct profile_kind *kind, struct hwprof_file *file,
		      const struct hwprof_options *options,
		      profile_part_fn part, void *context)
{
	struct part given = { .take = part, .context = context };

	return profile_make(profile, kind, &file, 1, options, gather_part,
			    &given);
}

enum hwprof_kind hwprof_profile_kind(const struct hwprof_profile *profile)
{
	return profile->kind->kind;
}

const char *hwprof_profile_event(const struct hwprof_profile *profile)
{
	return profile->events ? NULL : profile->event;
}

const struct hwprof_totals *
hwprof_profile_totals(const struct hwprof_profile *profile)
{
	return &profile->totals;
}

const struct hwprof_distances *
hwprof_profile_distances(const struct hwprof_profile *profile)
{
	return profile->distances.sessions ? &profile->distances : NULL;
}

const char *hwprof_profile_warning(const struct hwprof_profile *profile,
				   size_t index)
{
	return warnings_get(&profile->warnings, index);
}

const char *hwprof_profile_mask(const struct hwprof_profile *profile,
				size_t index)
{
	return index < profile->masks.count ? profile->masks.list[index]->text :
					      NULL;
}

const char *hwprof_profile_error(const struct hwprof_profile *profile)
{
	return profile->message;
}

/*
 * Compare literally first: a name may contain special characters (operator[]).
 */
bool profile_wants(const struct hwprof_profile *profile, const char *function)
{
	const char *wanted = profile->function;

	return !wanted || (function && (!strcmp(function, wanted) ||
					!fnmatch(wanted, function, 0)));
}

const char *profile_comm(const struct hwprof_profile *profile, uint32_t pid,
			 uint64_t time)
{
	return pid ? processes_comm(profile->facts.processes, pid, time) :
		     NULL;
}
