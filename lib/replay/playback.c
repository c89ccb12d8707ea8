// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <sys/random.h>

#include "playback.h"

enum {
	SESSION		 = 1,		/* the only session */
	MEMORY_MIB	 = 64,
	MEMORY_MIB_MAX	 = 4095,	/* as in HWPROF_FIELDS */
	PROGRESS_BYTES	 = 1 << 20,
};

/*
 * Intel's BR_INST_RETIRED and AMD's counterpart have this number with any
 * umask.
 */
#define RAW_EVENT_BRANCHES	0xc4
#define RAW_EVENT_MASK		0xf000000ffULL

/* Arm's BR_RETIRED. On x86 this number without a umask counts nothing. */
#define RAW_EVENT_BRANCHES_ARM	0x21

int playback_no_memory(struct playback *playback)
{
	return file_fail(playback->file, -ENOMEM, "out of memory");
}

/* --- events ------------------------------------------------------------- */

/*
 * Returns true for an event of that name. As in perf, "cycles" also means
 * cycles:u.
 */
static bool is_named(const struct file_event *event, const char *name)
{
	size_t length = strlen(name);
	char text[EVENT_TEXT];
	const char *own = file_event_name(event, text);

	return !strncmp(own, name, length) && (!own[length] ||
					       own[length] == ':');
}

bool playback_wants(const struct playback *playback,
		    const struct file_event *event)
{
	return !playback->options->event ||
	       is_named(event, playback->options->event);
}

bool playback_take_event(struct playback *playback,
			 const struct file_event *event)
{
	size_t number = event - playback->file->events + 1;
	char text[EVENT_TEXT];

	if (number == playback->event)
		return true;
	if (!playback_wants(playback, event))
		return false;
	playback->event = number;
	/* The same event on another kind of core has the same name. */
	if (profile_note_event(playback->profile, file_event_name(event, text)))
		playback->failed = true;
	return true;
}

/* Fails if the requested event is missing; the message lists the events. */
static int check_event(const struct playback *playback)
{
	struct hwprof_file *file = playback->file;
	char all[384] = "", text[EVENT_TEXT];
	size_t used = 0, i;

	for (i = 0; i < file->event_count; i++) {
		if (playback_wants(playback, &file->events[i]))
			return 0;
		used += snprintf(all + used, sizeof(all) - used, "%s%s",
				 i ? ", " : "",
				 file_event_name(&file->events[i], text));
		if (used >= sizeof(all))
			break;
	}
	return file_fail(file, -EINVAL, "has no event '%s'; there are: %s",
			 playback->options->event, all);
}

bool playback_counts_branches(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return (uint32_t)attr->config ==
		       PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	/* On Arm and on hybrid machines, kinds of cores have their own PMUs. */
	if (attr->type != PERF_TYPE_RAW && attr->type < PERF_TYPE_MAX)
		return false;
	return (attr->config & RAW_EVENT_MASK) == RAW_EVENT_BRANCHES ||
	       attr->config == RAW_EVENT_BRANCHES_ARM;
}

/* --- programs ----------------------------------------------------------- */

static struct program *get_program(struct playback *playback, uint32_t number)
{
	size_t count = 2 * (size_t)number + 64;
	struct program *all;

	if (number < playback->program_count)
		return &playback->programs[number];
	all = reallocarray(playback->programs, count, sizeof(*all));
	if (!all)
		return NULL;
	memset(all + playback->program_count, 0,
	       (count - playback->program_count) * sizeof(*all));
	playback->programs = all;
	playback->program_count = count;
	return &all[number];
}

uint32_t playback_program(struct playback *playback, uint32_t pid,
			  uint64_t time)
{
	uint32_t number = processes_program(playback->processes, pid, time);
	struct program *program;

	program = number ? get_program(playback, number) : NULL;
	if (!program)
		return 0;
	program->pid = pid;
	if (time > program->last)
		program->last = time;
	if (time > playback->programs->last)
		playback->programs->last = time;
	return number;
}

uint32_t playback_pid(struct playback *playback, const struct record *record)
{
	unsigned int mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	if (mode != PERF_RECORD_MISC_GUEST_KERNEL &&
	    mode != PERF_RECORD_MISC_GUEST_USER)
		return record->pid;
	playback->guests++;
	return record->pid | PROCESS_GUEST;
}

/* --- rounds ------------------------------------------------------------- */

/* Ends a round: everything up to @time is known, so takes the older round. */
static int end_round(struct playback *playback, uint64_t time)
{
	int error;

	if (processes_settle(playback->processes, time))
		return playback_no_memory(playback);
	error = playback->kind->round(playback);
	if (!error && playback->failed)
		error = playback_no_memory(playback);
	if (!error)
		error = playback->unwritten;
	if (!error)
		rounds_swap(&playback->rounds);
	return error;
}

static int end_rounds(struct playback *playback)
{
	int error = end_round(playback, UINT64_MAX);

	return error ? error : end_round(playback, UINT64_MAX);
}

/* --- records ------------------------------------------------------------ */

static void tell_progress(struct playback *playback, uint64_t offset)
{
	const struct hwprof_replay_options *options = playback->options;
	const struct hwprof_file *file = playback->file;
	const struct perfdata_section *data = &file->header.data;
	uint64_t begin = file->pipe ? 0 : data->offset;

	if (offset < playback->next_progress)
		return;
	playback->next_progress = offset + PROGRESS_BYTES;
	if (options->progress)
		options->progress(options->context, offset - begin,
				  file->pipe || file->part_count ? 0 :
								   data->size);
}

static int take_sample(struct playback *playback, const struct record *record)
{
	playback->unknown += !record->event;
	return record->event ? playback->kind->sample(playback, record) : 0;
}

/*
 * Takes a record that is no sample. Maps of a file with parts are known
 * already.
 */
static int take_other(struct playback *playback, const struct record *record)
{
	int error = 0;

	if (!playback->file->part_count)
		error = processes_note(playback->processes, playback->file,
				       record);
	return !error && playback->kind->record ?
	       playback->kind->record(playback, record) : error;
}

static int take_record(void *context, const struct record *given)
{
	struct playback *playback = context;
	struct record record = *given;
	int error;

	tell_progress(playback, record.offset);
	if (record.type == PERFDATA_FINISHED_ROUND)
		return end_round(playback, playback->rounds.older.last);
	/* Without times, use the order of the file. */
	if (record.time == UINT64_MAX)
		record.time = ++playback->untimed;
	rounds_note(&playback->rounds, record.time);
	if (record.type == PERF_RECORD_SAMPLE)
		error = take_sample(playback, &record);
	else
		error = take_other(playback, &record);
	if (!error && rounds_full(&playback->rounds))
		error = end_round(playback, playback->rounds.older.last);
	return error;
}

/* --- rows --------------------------------------------------------------- */

/* Any row that an engine of windows or samples produces. */
union row {
	struct hwprof_row row;
	struct hwprof_row_loop loop;
	struct hwprof_row_call call;
	struct hwprof_row_context context;
	struct hwprof_row_time time;
	struct hwprof_row_range range;
	struct hwprof_row_path path;
	struct hwprof_row_edge edge;
	uint8_t room[sizeof(struct hwprof_row_path) + HWPROF_PATH_JUMPS_MAX *
		     sizeof(struct hwprof_path_jump)];	/* room for a path's
					 * jumps */
};

static void set_basis(union row *row, uint32_t basis)
{
	if (row->row.type == HWPROF_ROW_LOOP)
		row->loop.basis = basis;
	if (row->row.type == HWPROF_ROW_CALL)
		row->call.basis = basis;
	if (row->row.type == HWPROF_ROW_CONTEXT)
		row->context.basis = basis;
	if (row->row.type == HWPROF_ROW_RANGE)
		row->range.basis = basis;
	if (row->row.type == HWPROF_ROW_PATH)
		row->path.basis = basis;
	if (row->row.type == HWPROF_ROW_EDGE)
		row->edge.basis = basis;
}

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	struct playback *playback = context;
	const struct program *program;
	union row row;

	memcpy(&row, data, ((const struct hwprof_row *)data)->size);
	program = &playback->programs[row.row.space];
	row.row.session = SESSION;
	row.row.pid = program->pid;
	set_basis(&row, playback->basis);
	if (playback->kind->row(playback->profile, &row.row, program->last))
		playback->failed = true;
	if (playback->conversion && !playback->unwritten)
		playback->unwritten = conversion_add(playback->conversion,
						     &row.row, program->last,
						     ip, addr, period);
	return true;
}

static int finish_conversion(struct playback *playback)
{
	if (!playback->conversion)
		return 0;
	return conversion_finish(playback->conversion,
				 playback->program_count ?
				 playback->programs->last : 0);
}

static int finish(struct playback *playback)
{
	struct session_facts *session;

	if (playback->kind->flush)
		playback->kind->flush(playback);
	if (user_engine_finish(&playback->engine))
		return playback_no_memory(playback);
	session = facts_session(&playback->profile->facts, SESSION);
	if (!session || playback->failed)
		return playback_no_memory(playback);
	if (playback->unwritten)
		return playback->unwritten;
	session->totals = playback->engine.totals;
	session->totals.basis = playback->basis;
	session->has_totals = true;
	return 0;
}

static int warn(struct playback *playback)
{
	int error = playback->kind->warn(playback);

	if (playback->unchosen)
		error |= warnings_add(&playback->profile->warnings,
				      "%" PRIu64
				      " samples are left out: they are of other events (choose one with --event)",
				      playback->unchosen);
	if (playback->guests)
		error |= warnings_add(
			&playback->profile->warnings,
			"%" PRIu64
			" samples are of virtual machines, whose code is shown as [guest] and [guest kernel]",
			playback->guests);
	if (playback->unknown)
		error |= warnings_add(&playback->profile->warnings,
				      "%" PRIu64
				      " samples are left out: they are of no event that the file has",
				      playback->unknown);
	return error ? playback_no_memory(playback) : 0;
}

/* --- all of it ---------------------------------------------------------- */

static int note_record(void *context, const struct record *given)
{
	struct playback *playback = context;
	struct record record = *given;

	if (record.type == PERFDATA_FINISHED_ROUND)
		return 0;
	if (record.time == UINT64_MAX)
		record.time = ++playback->untimed;
	return processes_note(playback->processes, playback->file, &record);
}

/*
 * Notes all maps before any sample is taken, because a map and its samples may
 * be in different parts.
 */
static int note_parts(struct playback *playback)
{
	struct hwprof_file *file = playback->file;
	int error = records_read(file, note_record, playback);

	if (error)
		return error;
	playback->untimed = 0;
	records_rewind(file);
	return processes_settle(playback->processes, UINT64_MAX) ?
	       playback_no_memory(playback) : 0;
}

int playback_run(struct playback *playback)
{
	struct hwprof_file *file = playback->file;
	int error = 0;

	/* In a pipe, events come with the data. */
	if (!file->pipe)
		error = playback->kind->expected(file);
	if (!error && !file->pipe)
		error = check_event(playback);
	if (!error && file->part_count)
		error = note_parts(playback);
	if (!error)
		error = records_read(file, take_record, playback);
	if (!error)
		error = playback->kind->expected(file);
	if (!error)
		error = check_event(playback);
	if (!error)
		error = end_rounds(playback);
	if (!error)
		error = finish(playback);
	if (!error)
		error = warn(playback);
	return error ? error : finish_conversion(playback);
}

static int open_conversion(struct playback *playback)
{
	const char *path = playback->options->output;
	struct engine_params params = { .range_of = 0 };

	if (!path)
		return 0;
	if (playback->kind->configure)
		playback->kind->configure(playback->profile, &params);
	return conversion_open(&playback->conversion, playback->profile,
			       params.range_of, path);
}

static int start_engine(struct playback *playback, uint64_t mib)
{
	const struct hwprof_replay_options *options = playback->options;
	struct engine_params params = {
		.span = options->span ? options->span : HWPROF_DEFAULT_SPAN,
		.basis = HWPROF_BASIS_BRANCHES,
	};

	if (playback->kind->configure)
		playback->kind->configure(playback->profile, &params);
	if (playback->kind->keyed &&
	    getrandom(&params.seed, sizeof(params.seed), 0) !=
	    sizeof(params.seed))
		return -ENOMEM;
	return user_engine_init(&playback->engine, playback->kind->engine,
				&params, mib << 20, take_row, playback);
}

int playback_init(struct playback *playback, const struct playback_kind *kind,
		  struct hwprof_profile *profile,
		  const struct hwprof_replay_options *options)
{
	static const struct hwprof_replay_options defaults;
	uint64_t mib;

	*playback = (struct playback){
		.kind = kind, .file = profile->file, .profile = profile,
		.options = options ? options : &defaults,
		.basis = HWPROF_BASIS_BRANCHES,
	};
	rounds_init(&playback->rounds);
	mib = playback->options->memory_mib ? playback->options->memory_mib :
					      MEMORY_MIB;
	if (mib > MEMORY_MIB_MAX)
		return file_fail(playback->file, -EINVAL,
				 "memory of %" PRIu64
				 " MiB: 1 to %d are allowed",
				 mib, MEMORY_MIB_MAX);
	playback->processes = processes_new();
	profile->facts.processes = playback->processes;
	profile->replayed = true;
	if (!playback->processes || start_engine(playback, mib))
		return playback_no_memory(playback);
	return open_conversion(playback);
}

void playback_destroy(struct playback *playback)
{
	user_engine_destroy(&playback->engine);
	rounds_destroy(&playback->rounds);
	conversion_close(playback->conversion);
	free(playback->programs);
}
