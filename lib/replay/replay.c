// SPDX-License-Identifier: LGPL-2.1-or-later
/* From branch stacks to rows, as if the module had recorded the rows. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "branches.h"
#include "reports/calls.h"
#include "copies.h"
#include "reports/edges.h"
#include "engine/types.h"
#include "reports/loops.h"
#include "reports/paths.h"
#include "playback.h"
#include "reports/ranges.h"
#include "repeats.h"
#include "replay.h"
#include "straight.h"

struct replay {
	struct playback playback;
	struct sites *sites;
	struct straight_lines *lines;
	struct copies *copies;
	struct repeats *repeats;
	uint64_t branches, inferred, unknown, broken, not_taken;
	uint64_t copied, astray;
	uint64_t filtered;		/* samples without all branches */
};

static struct replay *replay_of(struct playback *playback)
{
	return container_of(playback, struct replay, playback);
}

/* --- events ------------------------------------------------------------- */

static bool has_stacks(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK;
}

/* If the filter names no side, branches of the counted sides are recorded. */
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

static bool has_calls(const struct hwprof_file *file)
{
	size_t i;

	for (i = 0; i < file->event_count; i++)
		if (file->events[i].attr.sample_type & PERF_SAMPLE_CALLCHAIN)
			return true;
	return false;
}

static int stacks_expected(struct hwprof_file *file)
{
	bool any = false;
	size_t i;

	for (i = 0; i < file->event_count; i++) {
		const struct perf_event_attr *attr = &file->events[i].attr;

		if (has_stacks(attr) && branches_all(attr))
			return 0;
		any |= has_stacks(attr);
	}
	if (file->traced)
		return file_fail(file, -ENOENT,
				 "has a trace of the CPU (Intel PT, Arm ETM or SPE) that perf has to decode: run 'perf inject --itrace=i1000il64 --strip -i FILE -o DECODED', and replay what it makes");
	if (any)
		return file_fail(file, -ENOENT,
				 "has branch stacks with some kinds of branches only, and a replay needs all of them: record with 'perf record -b'");
	return file_fail(file, -ENOENT,
			 "has no branch stacks: record with 'perf record -b'%s, or report on it, if hwprof recorded it",
			 has_calls(file)
				 ? ", or replay its stacks of calls with -e cct"
				 : "");
}

/* --- windows ------------------------------------------------------------ */

/*
 * Begins a window of the stack's user side or kernel side. It is empty if that
 * side was not recorded.
 */
static void side_begin(struct window *window, const struct stack *stack,
		       const uint8_t *kinds, bool kernel)
{
	bool recorded = kernel ? stack->kernel : stack->user;
	uint32_t copied = stack->copied;

	window_begin(window, stack->branches + copied, kinds + copied,
		     recorded ? stack->count - copied : 0,
		     kernel ? 0 : stack->program);
	window->event.space = stack_space(stack, kernel);
}

static bool feed_side(struct replay *replay, const struct stack *stack,
		      const uint8_t *kinds, bool kernel, uint32_t times)
{
	struct window window;
	bool room;

	side_begin(&window, stack, kinds, kernel);
	window.times = times;
	room = user_engine_feed(&replay->playback.engine, &window);
	replay->broken += (uint64_t)window.broken * times;
	return room;
}

/*
 * Feeds a stack. Returns false if the table must be retired. The side on
 * which the stack was taken is fed last, because what was in flight there gets
 * its time.
 */
static bool feed(struct replay *replay, const struct stack *stack,
		 const uint8_t *kinds, uint32_t times)
{
	bool last = window_in_kernel(stack->ip);
	bool room = feed_side(replay, stack, kinds, !last, times);

	room &= feed_side(replay, stack, kinds, last, times);
	replay->branches += (uint64_t)stack->count * times;
	replay->inferred += (uint64_t)stack->inferred * times;
	replay->unknown += (uint64_t)stack->unknown * times;
	replay->not_taken += (uint64_t)stack->not_taken * times;
	replay->copied += (uint64_t)stack->copied * times;
	replay->astray += (uint64_t)stack->astray * times;
	replay->broken -= (uint64_t)stack->astray * times;	/* the windows
					 * counted these, too */
	/* Both sides have counted them. */
	if (stack->user && stack->kernel)
		replay->broken -= (uint64_t)stack->dead * times;
	return room;
}

/*
 * Feeds repetitions. The table has all their entries already, so there is room.
 */
static void feed_repeat(void *context, const struct stack *stack,
			const uint8_t *kinds, uint32_t times)
{
	feed(context, stack, kinds, times);
}

static bool knows_side(struct replay *replay, const struct stack *stack,
		       const uint8_t *kinds, bool kernel)
{
	struct window window;

	side_begin(&window, stack, kinds, kernel);
	return user_engine_knows(&replay->playback.engine, &window);
}

/*
 * Finds kinds as sites_kinds() does, but none for copies. Skips it if kinds do
 * not matter.
 */
static int find_kinds(struct replay *replay, struct stack *stack,
		      uint8_t *kinds)
{
	struct stack rest = *stack;
	int open;

	memset(kinds, STREAM_JUMP, stack->count);
	if (replay->playback.kind->kindless)
		return 0;
	rest.branches += stack->copied;
	rest.count -= stack->copied;
	open = sites_kinds(replay->sites, &rest, kinds + stack->copied);
	stack->inferred = rest.inferred;
	stack->unknown = rest.unknown;
	return open;
}

/*
 * Prepares a stack: finds its kinds, removes copies, and sets gaps where its
 * lines are impossible. Returns 0; 1 if the result for an equal stack may
 * differ; or -ENOMEM.
 */
static int look_at(struct replay *replay, struct stack *stack, uint8_t *kinds)
{
	int copies = copies_find(replay->copies, stack);
	int open, error;

	if (copies < 0)
		return copies;
	open = find_kinds(replay, stack, kinds);
	if (open < 0)
		return open;
	error = straight_check(replay->lines, stack, kinds);
	return error < 0 ? error : open | copies;
}

/*
 * Feeds a new stack at once, so that regions become known in the right order.
 */
static int feed_new(struct replay *replay, struct stack *stack)
{
	uint8_t kinds[STACK_MAX];
	int open = look_at(replay, stack, kinds);

	if (open < 0)
		return playback_no_memory(&replay->playback);
	if (repeats_wait(replay->repeats) &&
	    (!knows_side(replay, stack, kinds, false) ||
	     !knows_side(replay, stack, kinds, true)))
		repeats_flush(replay->repeats);
	if (!feed(replay, stack, kinds, 1)) {
		repeats_restart(replay->repeats);
		if (user_engine_retire(&replay->playback.engine))
			return playback_no_memory(&replay->playback);
	} else if (!open) {
		repeats_fed(replay->repeats, stack, kinds);
	}
	return 0;
}

static int take_stack(struct replay *replay, struct stack *stack)
{
	struct playback *playback = &replay->playback;
	int error = 0;

	stack->program = playback_program(playback, stack->pid, stack->time);
	if (!stack->program)
		return playback_no_memory(playback);
	if (!repeats_take(replay->repeats, stack))
		error = feed_new(replay, stack);
	if (stack->ip)
		user_engine_window(&playback->engine, stack->ip,
			       stack_space(stack, window_in_kernel(stack->ip)));
	return error;
}

static int take_round(struct playback *playback)
{
	struct stack stack;
	size_t at = 0;
	int error = 0;

	while (!error && !playback->failed &&
	       round_take(&playback->rounds.older, &at, &stack))
		error = take_stack(replay_of(playback), &stack);
	return error;
}

static void flush(struct playback *playback)
{
	repeats_flush(replay_of(playback)->repeats);
}

/* --- records ------------------------------------------------------------ */

/*
 * Returns true if repeated stacks may be counted. Paths and edges record
 * cycles, which hardly repeat, and the time of a window goes to the path at its
 * end. Their stacks are therefore fed one by one.
 */
static bool may_repeat(const struct replay *replay)
{
	const struct engine_ops *engine = replay->playback.kind->engine;

	return engine != &path_engine && engine != &edge_engine;
}

static int take_sample(struct playback *playback, const struct record *record)
{
	const struct perf_event_attr *attr = &record->event->attr;
	struct replay *replay = replay_of(playback);
	struct stack stack = { .time = record->time };
	struct sample sample;
	int error;

	if (!has_stacks(attr))
		return 0;
	if (!playback_take_event(playback, record->event)) {
		playback->unchosen++;
		return 0;
	}
	error = sample_parse(replay->playback.file, record, &sample);
	if (error)
		return error;
	if (!branches_all(attr)) {
		replay->filtered++;
		return 0;
	}
	if (!playback_counts_branches(attr)) {
		replay->playback.basis = HWPROF_BASIS_TIME;
		stack.ip = sample.ip;
	}
	stack.pid = playback_pid(playback, record);
	stack.guest = stack.pid & PROCESS_GUEST;
	set_sides(&stack, attr);
	stack.count = reader_left(&sample.branches) /
		      sizeof(struct window_branch);
	copies_learn(replay->copies, sample.branches);
	if (may_repeat(replay))
		repeats_hold(replay->repeats, &stack, sample.branches);
	if (!rounds_add(&replay->playback.rounds, &stack, sample.branches))
		return playback_no_memory(&replay->playback);
	return 0;
}

static int warn(struct playback *playback)
{
	const struct replay *replay = replay_of(playback);
	struct warnings *warnings = &playback->profile->warnings;
	double inferred = replay->branches ?
			  (double)replay->inferred / replay->branches : 0;
	int error = 0;

	playback->profile->inferred = max(playback->profile->inferred,
					  inferred);
	if (replay->inferred)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" branches are in code that could not be read: whether they call, return or jump is inferred",
			replay->inferred, replay->branches);
	if (replay->unknown)
		error |=
			warnings_add(warnings,
				     "%" PRIu64 " of %" PRIu64
				     " branches are of unknown kinds, which nothing in their stacks tells: as calls, returns or jumps they are left out",
				     replay->unknown, replay->branches);
	if (replay->not_taken)
		error |= warnings_add(
			warnings,
			"%" PRIu64
			" records of branches that were not taken are left out",
			replay->not_taken);
	if (replay->broken)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" branches were aborted or cannot have been as they are recorded: they count as gaps",
			replay->broken, replay->branches);
	if (replay->copied)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" branches are left out: the newest one of their stacks, recorded twice, as by an erratum of Intel's CPUs with Skylake's core",
			replay->copied, replay->branches);
	if (replay->astray)
		error |= warnings_add(warnings,
				      "%" PRIu64 " of %" PRIu64
				      " branches do not follow from the last one by the code, which calls, returns or jumps in between: they count as gaps",
				      replay->astray, replay->branches);
	if (replay->filtered)
		error |= warnings_add(warnings,
				      "%" PRIu64
				      " samples are left out: their event recorded some kinds of branches only",
				      replay->filtered);
	return error;
}

static int replay_stacks(struct hwprof_profile *profile,
			 const struct playback_kind *kind,
			 const struct hwprof_replay_options *options)
{
	struct replay replay = { .branches = 0 };
	struct playback *playback = &replay.playback;
	int error = playback_init(playback, kind, profile, options);

	if (!error) {
		replay.sites = sites_new(profile->file, playback->processes,
					 profile->objects);
		replay.lines = straight_new(profile->file, playback->processes,
					    profile->objects);
		replay.copies = copies_new(profile->file, replay.lines);
		replay.repeats = repeats_new(feed_repeat, &replay);
		error = replay.sites && replay.lines && replay.copies &&
			replay.repeats ? playback_run(playback) :
					 playback_no_memory(playback);
	}
	repeats_free(replay.repeats);
	copies_free(replay.copies);
	straight_free(replay.lines);
	sites_free(replay.sites);
	playback_destroy(playback);
	return error;
}

#define OF_STACKS							       \
	.expected = stacks_expected,					       \
	.sample = take_sample,						       \
	.round = take_round,						       \
	.flush = flush,							       \
	.warn = warn

/* --- loops -------------------------------------------------------------- */

static int take_loop(struct hwprof_profile *profile,
		     const struct hwprof_row *row,
		     uint64_t time)
{
	if (row->type == HWPROF_ROW_TIME)
		return times_add_row(profile, (const void *)row, time);
	return loops_add_row(profile, (const void *)row, time);
}

static const struct playback_kind loops_playback = {
	.engine = &loop_engine,
	.row = take_loop,
	OF_STACKS,
};

int loops_replay(struct hwprof_profile *profile, void *options)
{
	return replay_stacks(profile, &loops_playback, options);
}

/* --- calls -------------------------------------------------------------- */

static int take_call(struct hwprof_profile *profile,
		     const struct hwprof_row *row,
		     uint64_t time)
{
	return calls_add_row(profile, (const void *)row, time);
}

static const struct playback_kind calls_playback = {
	.engine = &call_engine,
	.row = take_call,
	OF_STACKS,
};

int calls_replay(struct hwprof_profile *profile, void *options)
{
	return replay_stacks(profile, &calls_playback, options);
}

/* --- paths -------------------------------------------------------------- */

static int take_path(struct hwprof_profile *profile,
		     const struct hwprof_row *row,
		     uint64_t time)
{
	return paths_add_row(profile, (const void *)row, time);
}

/*
 * Paths with equal keys are merged. Secret keys prevent anyone from provoking
 * that.
 */
static const struct playback_kind paths_playback = {
	.engine = &path_engine,
	.keyed = true,
	.row = take_path,
	OF_STACKS,
};

int paths_replay(struct hwprof_profile *profile, void *options)
{
	return replay_stacks(profile, &paths_playback, options);
}

/* --- edges -------------------------------------------------------------- */

static int take_edge(struct hwprof_profile *profile,
		     const struct hwprof_row *row, uint64_t time)
{
	return edges_add_row(profile, (const void *)row, time);
}

static const struct playback_kind edges_playback = {
	.engine = &edge_engine,
	.row = take_edge,
	OF_STACKS,
};

int edges_replay(struct hwprof_profile *profile, void *options)
{
	return replay_stacks(profile, &edges_playback, options);
}

/* --- ranges ------------------------------------------------------------- */

static int take_range(struct hwprof_profile *profile,
		      const struct hwprof_row *row,
		      uint64_t time)
{
	return ranges_add_row(profile, (const void *)row, time);
}

static enum hwprof_range_of stream_of(const struct hwprof_profile *profile)
{
	const struct hwprof_ranges *ranges = (const void *)profile;

	return ranges->of < 0 ? HWPROF_RANGE_IP : ranges->of;
}

static void configure_ranges(const struct hwprof_profile *profile,
			     struct engine_params *params)
{
	params->range_of = stream_of(profile);
}

static const struct playback_kind ranges_playback = {
	.engine = &range_engine,
	.configure = configure_ranges,
	.row = take_range,
	OF_STACKS,
};

/* The targets of branches do not depend on their kinds. */
static const struct playback_kind ip_ranges_playback = {
	.engine = &range_engine,
	.configure = configure_ranges,
	.kindless = true,
	.row = take_range,
	OF_STACKS,
};

int ranges_replay(struct hwprof_profile *profile, void *options)
{
	enum hwprof_range_of of = stream_of(profile);

	if (of != HWPROF_RANGE_IP && of != HWPROF_RANGE_CALLEE)
		return file_fail(profile->file, -EOPNOTSUPP,
				 "ranges of %s cannot be replayed: stacks say where branches and calls lead, and nothing of loads and stores",
				 hwprof_range_of_name(of));
	return replay_stacks(profile, of == HWPROF_RANGE_IP ?
				      &ip_ranges_playback : &ranges_playback,
			     options);
}
