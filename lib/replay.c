// SPDX-License-Identifier: LGPL-2.1-or-later
/* From branch stacks to rows, as if the module had recorded these. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "calls.h"
#include "loops.h"
#include "repeats.h"
#include "rounds.h"
#include "summary.h"

enum {
	SESSION		 = 1,		/* all is of one */
	MEMORY_MIB	 = 64,
	MEMORY_MIB_MAX	 = 4095,	/* as HWPROF_FIELDS has it */
	PROGRESS_BYTES	 = 1 << 20,
};

/* BR_INST_RETIRED of Intel and its like of AMD have it, whatever the umask. */
#define RAW_EVENT_BRANCHES	0xc4
#define RAW_EVENT_MASK		0xf000000ffULL

/* What runs between fork or exec and exec or exit. */
struct program {
	uint32_t pid;
	uint64_t last;			/* time of its last stack */
};

/* Takes a row that says whose it is, as of @time. -ENOMEM. */
typedef int (*row_take)(struct hwprof_profile *profile,
			const struct hwprof_row *row,
			uint64_t time);

struct replay {
	struct hwprof_file *file;
	struct hwprof_profile *profile;		/* that it goes into */
	row_take take;
	struct processes *processes;
	const struct hwprof_replay_options *options;
	struct rounds rounds;
	struct sites *sites;
	struct repeats *repeats;
	struct summary summary;
	struct program *programs;	/* by number; [0]: the kernel */
	size_t program_count;
	uint32_t basis;			/* the weakest of all stacks */
	bool failed;			/* a row found no memory */

	uint64_t untimed;		/* records that have no time, so far */
	uint64_t next_progress;		/* offset in the file */
	uint64_t branches, inferred, broken;
	uint64_t filtered;		/* samples without all branches */
	uint64_t unknown;		/* of no event in the file */
};

static int no_memory(struct replay *replay)
{
	return file_fail(replay->file, -ENOMEM, "out of memory");
}

/* --- events ------------------------------------------------------------- */

static bool has_stacks(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK;
}

static bool has_all_branches(const struct perf_event_attr *attr)
{
	return attr->branch_sample_type & PERF_SAMPLE_BRANCH_ANY;
}

static bool counts_branches(const struct perf_event_attr *attr)
{
	if (attr->type == PERF_TYPE_HARDWARE)
		return (uint32_t)attr->config ==
		       PERF_COUNT_HW_BRANCH_INSTRUCTIONS;
	/* On hybrid machines each kind of core has a PMU of its own. */
	return (attr->type == PERF_TYPE_RAW || attr->type >= PERF_TYPE_MAX) &&
	       (attr->config & RAW_EVENT_MASK) == RAW_EVENT_BRANCHES;
}

/* If the filter leaves it open, the branches are those of what is counted. */
static void set_sides(struct stack *stack, const struct perf_event_attr *attr)
{
	uint64_t filter = attr->branch_sample_type;

	if (filter & PERF_SAMPLE_BRANCH_PLM_ALL) {
		stack->user = filter & PERF_SAMPLE_BRANCH_USER;
		stack->kernel = filter & PERF_SAMPLE_BRANCH_KERNEL;
	} else {
		stack->user = !attr->exclude_user;
		stack->kernel = !attr->exclude_kernel;
	}
}

static int stacks_expected(struct hwprof_file *file)
{
	bool any = false;
	size_t i;

	for (i = 0; i < file->event_count; i++) {
		const struct perf_event_attr *attr = &file->events[i].attr;

		if (has_stacks(attr) && has_all_branches(attr))
			return 0;
		any |= has_stacks(attr);
	}
	if (any)
		return file_fail(file, -ENOENT,
				 "has branch stacks with some kinds of branches only, and a replay needs all of them: record with 'perf record -b'");
	return file_fail(file, -ENOENT,
			 "has no branch stacks: record with 'perf record -b', or report on it, if hwprof recorded it");
}

/* --- windows ------------------------------------------------------------ */

static int get_program(struct replay *replay, const struct stack *stack)
{
	uint32_t number = stack->program;
	struct program *program;

	if (number >= replay->program_count) {
		size_t count = 2 * (size_t)number + 64;
		struct program *all = reallocarray(replay->programs, count,
						   sizeof(*all));

		if (!all)
			return -ENOMEM;
		memset(all + replay->program_count, 0,
		       (count - replay->program_count) * sizeof(*all));
		replay->programs = all;
		replay->program_count = count;
	}
	program = &replay->programs[number];
	program->pid = stack->pid;
	if (stack->time > program->last)
		program->last = stack->time;
	if (stack->time > replay->programs->last)
		replay->programs->last = stack->time;
	return 0;
}

/* The user's side of the stack, or the kernel's, if it was recorded. */
static bool side_begin(struct window *window, const struct stack *stack,
		       const uint8_t *kinds, bool kernel)
{
	window_begin(window, stack->branches, kinds, stack->count,
		     kernel ? 0 : stack->program);
	return kernel ? stack->kernel : stack->user;
}

static bool feed_side(struct replay *replay, const struct stack *stack,
		      const uint8_t *kinds, bool kernel, uint32_t times)
{
	struct window window;
	bool room;

	if (!side_begin(&window, stack, kinds, kernel))
		return true;
	window.times = times;
	room = summary_feed(&replay->summary, &window);
	replay->broken += (uint64_t)window.broken * times;
	return room;
}

/* False: the summary is to be retired. */
static bool feed(struct replay *replay, const struct stack *stack,
		 const uint8_t *kinds, uint32_t times)
{
	bool room = feed_side(replay, stack, kinds, false, times);

	room &= feed_side(replay, stack, kinds, true, times);
	replay->branches += (uint64_t)stack->count * times;
	replay->inferred += (uint64_t)stack->inferred * times;
	return room;
}

/* All of it is in the table already, so there is room. */
static void feed_repeat(void *context, const struct stack *stack,
			const uint8_t *kinds, uint32_t times)
{
	feed(context, stack, kinds, times);
}

static bool knows_side(struct replay *replay, const struct stack *stack,
		       const uint8_t *kinds, bool kernel)
{
	struct window window;

	return !side_begin(&window, stack, kinds, kernel) ||
	       summary_knows(&replay->summary, &window);
}

/* It is fed at once, so that regions become known as they would be. */
static int feed_new(struct replay *replay, struct stack *stack)
{
	uint8_t kinds[STACK_MAX];
	int open = sites_kinds(replay->sites, stack, kinds);

	if (open < 0)
		return no_memory(replay);
	if (repeats_wait(replay->repeats) &&
	    (!knows_side(replay, stack, kinds, false) ||
	     !knows_side(replay, stack, kinds, true)))
		repeats_flush(replay->repeats);
	if (!feed(replay, stack, kinds, 1)) {
		repeats_turn(replay->repeats);
		summary_retire(&replay->summary);
	} else if (!open) {
		repeats_fed(replay->repeats, stack, kinds);
	}
	return 0;
}

static int take_stack(struct replay *replay, struct stack *stack)
{
	int error = 0;

	stack->program = processes_program(replay->processes, stack->pid,
					   stack->time);
	if (!stack->program || get_program(replay, stack))
		return no_memory(replay);
	if (!repeats_take(replay->repeats, stack))
		error = feed_new(replay, stack);
	if (stack->ip)
		summary_window(&replay->summary, stack->ip,
			       window_in_kernel(stack->ip) ? 0 : stack->program);
	return replay->failed ? no_memory(replay) : error;
}

/* --- rounds ------------------------------------------------------------- */

/* All is known up to @time: takes the older round, and begins a newer one. */
static int end_round(struct replay *replay, uint64_t time)
{
	struct stack stack;
	size_t at = 0;

	if (processes_settle(replay->processes, time))
		return no_memory(replay);
	while (round_take(&replay->rounds.older, &at, &stack)) {
		int error = take_stack(replay, &stack);

		if (error)
			return error;
	}
	rounds_turn(&replay->rounds);
	return 0;
}

static int end_rounds(struct replay *replay)
{
	int error = end_round(replay, UINT64_MAX);

	return error ? error : end_round(replay, UINT64_MAX);
}

/* --- records ------------------------------------------------------------ */

static int take_sample(struct replay *replay, const struct record *record)
{
	const struct perf_event_attr *attr;
	struct stack stack = { .time = record->time, .pid = record->pid };
	struct sample sample;
	int error;

	replay->unknown += !record->event;
	if (!record->event || !has_stacks(&record->event->attr))
		return 0;
	attr = &record->event->attr;
	error = sample_parse(replay->file, record, &sample);
	if (error)
		return error;
	if (!has_all_branches(attr)) {
		replay->filtered++;
		return 0;
	}
	if (!counts_branches(attr)) {
		replay->basis = HWPROF_BASIS_TIME;
		stack.ip = sample.ip;
	}
	set_sides(&stack, attr);
	stack.count = span_left(&sample.branches) /
		      sizeof(struct window_branch);
	repeats_hold(replay->repeats, &stack, sample.branches);
	if (!rounds_add(&replay->rounds, &stack, sample.branches))
		return no_memory(replay);
	return 0;
}

static void tell_progress(struct replay *replay, uint64_t offset)
{
	const struct perfdata_section *data = &replay->file->header.data;
	uint64_t begin = replay->file->pipe ? 0 : data->offset;

	if (offset < replay->next_progress)
		return;
	replay->next_progress = offset + PROGRESS_BYTES;
	if (replay->options->progress)
		replay->options->progress(replay->options->context,
					  offset - begin,
					  replay->file->pipe ? 0 : data->size);
}

static int take_record(void *context, const struct record *given)
{
	struct replay *replay = context;
	struct record record = *given;
	int error;

	tell_progress(replay, record.offset);
	if (record.type == PERFDATA_FINISHED_ROUND)
		return end_round(replay, replay->rounds.older.last);
	/* Without times the order in the file has to do. */
	if (record.time == UINT64_MAX)
		record.time = ++replay->untimed;
	rounds_note(&replay->rounds, record.time);
	if (record.type != PERF_RECORD_SAMPLE)
		return processes_note(replay->processes, replay->file, &record);
	error = take_sample(replay, &record);
	if (!error && rounds_full(&replay->rounds))
		error = end_round(replay, replay->rounds.older.last);
	return error;
}

/* --- rows --------------------------------------------------------------- */

/* Any that an engine of windows gives. */
union row {
	struct hwprof_row row;
	struct hwprof_row_loop loop;
	struct hwprof_row_call call;
	struct hwprof_row_time time;
};

static bool take_row(void *context, const void *data, u64 ip, u64 addr,
		     u64 period)
{
	struct replay *replay = context;
	const struct program *program;
	union row row;

	memcpy(&row, data, ((const struct hwprof_row *)data)->size);
	program = &replay->programs[row.row.space];
	row.row.session = SESSION;
	row.row.pid = program->pid;
	if (row.row.type == HWPROF_ROW_LOOP)
		row.loop.basis = replay->basis;
	if (row.row.type == HWPROF_ROW_CALL)
		row.call.basis = replay->basis;
	if (replay->take(replay->profile, &row.row, program->last))
		replay->failed = true;
	return true;
}

static int finish(struct replay *replay)
{
	struct collected_session *session;

	repeats_flush(replay->repeats);
	summary_finish(&replay->summary);
	session = collected_session(&replay->profile->collected, SESSION);
	if (!session || replay->failed)
		return no_memory(replay);
	session->totals = replay->summary.totals;
	session->totals.basis = replay->basis;
	session->has_totals = true;
	return 0;
}

static int warn(struct replay *replay)
{
	struct warnings *warnings = &replay->profile->warnings;
	int error = 0;

	if (replay->inferred)
		error |= warnings_add(warnings, "%" PRIu64 " of %" PRIu64 " branches are in code that could not be read: whether they call, return or jump is inferred",
				    replay->inferred, replay->branches);
	if (replay->broken)
		error |= warnings_add(warnings, "%" PRIu64 " of %" PRIu64 " branches were aborted or cannot have been as they are recorded: they count as gaps",
				    replay->broken, replay->branches);
	if (replay->filtered)
		error |= warnings_add(warnings, "%" PRIu64 " samples are left out: their event recorded some kinds of branches only",
				    replay->filtered);
	if (replay->unknown)
		error |= warnings_add(warnings, "%" PRIu64 " samples are left out: they are of no event that the file has",
				    replay->unknown);
	return error ? no_memory(replay) : 0;
}

/* --- all of it ---------------------------------------------------------- */

static int read_stacks(struct replay *replay)
{
	struct hwprof_file *file = replay->file;
	int error = 0;

	/* A pipe's events come with its data. */
	if (!file->pipe)
		error = stacks_expected(file);
	if (!error)
		error = records_read(file, take_record, replay);
	if (!error)
		error = stacks_expected(file);
	if (!error)
		error = end_rounds(replay);
	if (!error)
		error = finish(replay);
	return error ? error : warn(replay);
}

static int init(struct replay *replay, const struct engine_ops *engine)
{
	const struct hwprof_replay_options *options = replay->options;
	struct engine_params params = {
		.span = options->span ? options->span : HWPROF_DEFAULT_SPAN,
		.basis = HWPROF_BASIS_BRANCHES,
	};
	uint64_t mib = options->memory_mib ? options->memory_mib : MEMORY_MIB;

	if (mib > MEMORY_MIB_MAX)
		return file_fail(replay->file, -EINVAL,
				 "memory of %" PRIu64 " MiB: 1 to %d are allowed",
				 mib, MEMORY_MIB_MAX);
	rounds_init(&replay->rounds);
	replay->processes = processes_new();
	replay->profile->collected.processes = replay->processes;
	if (!replay->processes ||
	    summary_init(&replay->summary, engine, &params,
			 mib << 20, take_row, replay))
		return no_memory(replay);
	replay->sites = sites_new(replay->file, replay->processes,
				  replay->profile->objects);
	replay->repeats = repeats_new(feed_repeat, replay);
	return replay->sites && replay->repeats ? 0 : no_memory(replay);
}

static int replay_stacks(struct hwprof_profile *profile,
			 const struct engine_ops *engine, row_take take,
			 const struct hwprof_replay_options *options)
{
	struct hwprof_replay_options defaults = { 0 };
	struct replay replay = {
		.file = profile->file, .profile = profile, .take = take,
		.options = options ? options : &defaults,
		.basis = HWPROF_BASIS_BRANCHES,
	};
	int error = init(&replay, engine);

	if (!error)
		error = read_stacks(&replay);
	repeats_free(replay.repeats);
	sites_free(replay.sites);
	summary_destroy(&replay.summary);
	rounds_destroy(&replay.rounds);
	free(replay.programs);
	return error;
}

/* --- loops -------------------------------------------------------------- */

static int take_loop(struct hwprof_profile *profile,
		     const struct hwprof_row *row,
		     uint64_t time)
{
	if (row->type == HWPROF_ROW_TIME)
		return times_add_row(profile, (const void *)row, time);
	return loops_add_row(profile, (const void *)row, time);
}

int loops_replay(struct hwprof_profile *profile, void *options)
{
	return replay_stacks(profile, &loop_engine, take_loop, options);
}

/* --- calls -------------------------------------------------------------- */

static int take_call(struct hwprof_profile *profile,
		     const struct hwprof_row *row,
		     uint64_t time)
{
	return calls_add_row(profile, (const void *)row, time);
}

int calls_replay(struct hwprof_profile *profile, void *options)
{
	return replay_stacks(profile, &call_engine, take_call, options);
}
