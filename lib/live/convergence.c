// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/event_config.h"
#include "convergence.h"
#include "perfdata/file.h"
#include "profile/row_thing.h"

enum {
	ROW_TYPES	= HWPROF_ROW_EDGE + 1,
	FIRST_SLOTS	= 1024,
	THINGS_MAX	= 1 << 20,	/* further ones stay unknown */
	WINDOWS_LEAST	= 20,		/* in a batch */
	LEVEL_MAX	= 31,
};

static const double THRESHOLD = 0.01;
static const double THRESHOLD_LEAST = 0.0001;

/* A thing that has rows. */
struct thing {
	uint64_t hash;			/* 0: the slot is free */
	uint32_t batch;			/* the last one that it was in */
	uint32_t batches;		/* how many it was in */
};

/* Units of one type of rows in this batch. */
struct part {
	double units, unknown;
};

struct convergence {
	struct hwprof_converge options;
	struct hwprof_tuning asked;
	unsigned int level;		/* distances are 2^level those asked
					 * for */
	unsigned int wanted;		/* the level that is to come */
	unsigned int calm;		/* batches with little that is unknown,
					 * on this level */

	struct thing *things;
	size_t slot_count, count;	/* a power of two; used slots */

	uint32_t batch;			/* number, from 1 */
	struct part parts[ROW_TYPES];
	bool has_windows;		/* a source without them has samples */
	uint64_t windows, first;	/* now, and when the batch began */
};

/* --- options -------------------------------------------------------------- */

int convergence_options(struct hwprof_converge *to,
			const struct hwprof_converge *options, char *message,
			size_t size)
{
	*to = options ? *options : (struct hwprof_converge){ .threshold = 0 };
	if (!to->threshold)
		to->threshold = THRESHOLD;
	if (!to->intervals)
		to->intervals = 3;
	if (!to->known)
		to->known = 2;
	if (!to->floor)
		to->floor = 64;
	if (!(to->threshold >= THRESHOLD_LEAST && to->threshold < 1)) {
		snprintf(message, size,
			 "a session is to converge at an unknown part of %g: allowed are 0.0001 and more, below 1",
			 to->threshold);
		return -EINVAL;
	}
	if (to->floor < 2 || to->floor & (to->floor - 1) ||
	    to->floor > 1U << LEVEL_MAX) {
		snprintf(message, size,
			 "distances are to grow up to %u times: allowed are powers of two from 2 on",
			 to->floor);
		return -EINVAL;
	}
	return 0;
}

/* Samples stand for their period. Windows get weights from the reader. */
static bool has_weights(const struct hwprof_event *event,
			const struct session_config *config)
{
	if (config->source_caps & SOURCE_SAMPLES)
		return true;
	return !hwprof_event_field(event, "ranges") &&
	       !hwprof_event_field(event, "values");
}

int convergence_check(const struct hwprof_event *event, char *why, size_t size)
{
	const struct session_config config = event_config(event, ALL_SOURCES);

	if (!config.windows)
		snprintf(why, size,
			 "sees everything: samples of code (ranges,sample), branch records (lbr) and bursts (burst=200) can converge");
	else if (!has_weights(event, &config))
		snprintf(why, size,
			 "cannot converge: counts of ranges and values in windows would not be weighed by their distance; those of loops, calls, paths and edges are, and samples");
	else
		return 0;
	return -EOPNOTSUPP;
}

struct convergence *convergence_new(const struct hwprof_converge *options,
				    const struct hwprof_tuning *asked)
{
	struct convergence *convergence = calloc(1, sizeof(*convergence));

	if (!convergence)
		return NULL;
	convergence->options = *options;
	convergence->asked = *asked;
	convergence->batch = 1;
	return convergence;
}

void convergence_free(struct convergence *convergence)
{
	if (!convergence)
		return;
	free(convergence->things);
	free(convergence);
}

struct distance convergence_distance(const struct hwprof_tuning *tuning,
				     bool filtered, uint64_t begin)
{
	return (struct distance){
		.session = tuning->session, .number = tuning->changes,
		.begin = begin, .period = tuning->period,
		.frequency = tuning->flags & HWPROF_TUNE_FREQ,
		.burst = tuning->burst,
		.budget_permille = tuning->budget_permille,
		.filtered = filtered,
	};
}

/* --- things --------------------------------------------------------------- */

/* Returns the slot of the thing, or the free one where it would be. */
static struct thing *slot_of(struct thing *things, size_t slot_count,
			     uint64_t hash)
{
	size_t at = hash & (slot_count - 1);

	while (things[at].hash && things[at].hash != hash)
		at = (at + 1) & (slot_count - 1);
	return &things[at];
}

/* Keeps at least half of the slots free. */
static int make_room(struct convergence *convergence)
{
	size_t wanted = convergence->slot_count ? 2 * convergence->slot_count :
						  FIRST_SLOTS, i;
	struct thing *things;

	if (2 * (convergence->count + 1) <= convergence->slot_count)
		return 0;
	things = calloc(wanted, sizeof(*things));
	if (!things)
		return -ENOMEM;
	for (i = 0; i < convergence->slot_count; i++)
		if (convergence->things[i].hash)
			*slot_of(things, wanted, convergence->things[i].hash) =
				convergence->things[i];
	free(convergence->things);
	convergence->things = things;
	convergence->slot_count = wanted;
	return 0;
}

/* Returns in how many batches before this one the thing was. */
static uint32_t note_thing(struct convergence *convergence, uint64_t hash)
{
	struct thing *thing = slot_of(convergence->things,
				      convergence->slot_count, hash);

	if (!thing->hash && convergence->count >= THINGS_MAX)
		return 0;
	if (!thing->hash) {
		*thing = (struct thing){ .hash = hash };
		convergence->count++;
	}
	if (thing->batch != convergence->batch) {
		thing->batch = convergence->batch;
		thing->batches += thing->batches < UINT32_MAX;
	}
	return thing->batches - 1;
}

int convergence_row(struct convergence *convergence,
		    const struct hwprof_row *row)
{
	struct hwprof_sample sample = { .row = row };
	struct part *part;

	row_describe(&sample);
	if (row->type >= ROW_TYPES || !sample.period)
		return 0;
	if (make_room(convergence))
		return -ENOMEM;
	part = &convergence->parts[row->type];
	part->units += sample.period;
	if (note_thing(convergence, row_thing(row) ?: 1) <
	    convergence->options.known)
		part->unknown += sample.period;
	return 0;
}

/* --- decisions ------------------------------------------------------------ */

static void begin_batch(struct convergence *convergence)
{
	memset(convergence->parts, 0, sizeof(convergence->parts));
	convergence->first = convergence->windows;
	convergence->batch++;
}

/*
 * Returns the unknown part of this batch, which has @windows. Where many of
 * these have no unit, it is a share of windows: one unit is no more than that.
 */
static double unknown_part(const struct convergence *convergence,
			   double windows)
{
	double most = 0;
	unsigned int i;

	for (i = 0; i < ROW_TYPES; i++) {
		const struct part *part = &convergence->parts[i];
		double all = fmax(part->units, windows);

		if (part->unknown > most * all)
			most = part->unknown / all;
	}
	return most;
}

/* Returns how many windows show whether a part reaches the threshold. */
static double batch_windows(const struct convergence *convergence)
{
	return fmax(ceil(1 / convergence->options.threshold), WINDOWS_LEAST);
}

/*
 * Sets the parameters of @level. Each has a limit; a period of 1 means as often
 * as the budget allows.
 */
static void set_level(const struct convergence *convergence, unsigned int level,
		      struct hwprof_tuning *tuning)
{
	const struct hwprof_tuning *asked = &convergence->asked;

	*tuning = *asked;
	tuning->flags = 0;
	if (asked->budget_permille) {
		tuning->flags = HWPROF_TUNE_BUDGET;
		tuning->budget_permille = asked->budget_permille >> level ?: 1;
	}
	if (asked->flags & HWPROF_TUNE_FREQ && asked->period) {
		tuning->flags |= HWPROF_TUNE_PERIOD | HWPROF_TUNE_FREQ;
		tuning->period = asked->period >> level ?: 1;
	} else if (asked->period > 1 || !asked->budget_permille) {
		tuning->flags |= HWPROF_TUNE_PERIOD;
		tuning->period = asked->period <= (uint64_t)INT64_MAX >> level ?
				 asked->period << level : INT64_MAX;
	}
}

static bool is_same(const struct hwprof_tuning *a,
		    const struct hwprof_tuning *b)
{
	return a->period == b->period &&
	       a->budget_permille == b->budget_permille;
}

/* Returns true if one more step changes something, and is allowed. */
static bool may_lengthen(const struct convergence *convergence)
{
	struct hwprof_tuning now, next;

	if (1U << convergence->level >= convergence->options.floor)
		return false;
	set_level(convergence, convergence->level, &now);
	set_level(convergence, convergence->level + 1, &next);
	return !is_same(&now, &next);
}

/*
 * Judges the batch, if it is complete. On longer distances it does not wait for
 * that: it is enough that more windows than may be unknown in a whole batch,
 * and one by chance, were unknown.
 */
static void judge(struct convergence *convergence)
{
	double windows = convergence->windows - convergence->first;
	double unknown = unknown_part(convergence, windows);
	double whole = batch_windows(convergence);
	double threshold = convergence->options.threshold;
	bool alarm = convergence->level &&
		     unknown * windows > threshold * whole + 1;

	if (windows < whole && !alarm)
		return;
	begin_batch(convergence);
	if (unknown > threshold) {
		convergence->wanted = convergence->calm = 0;
		return;
	}
	if (++convergence->calm < convergence->options.intervals)
		return;
	convergence->calm = convergence->options.intervals;
	if (may_lengthen(convergence))
		convergence->wanted = convergence->level + 1;
}

bool convergence_totals(struct convergence *convergence,
			const struct hwprof_row_totals *row,
			struct hwprof_tuning *change)
{
	uint64_t windows;

	/* The first window may end after its first events. */
	if (row->windows && !convergence->has_windows) {
		convergence->has_windows = true;
		convergence->windows = convergence->first = 0;
	}
	windows = convergence->has_windows ? row->windows : row->events;
	if (windows > convergence->windows)
		convergence->windows = windows;
	judge(convergence);
	if (convergence->wanted == convergence->level)
		return false;
	set_level(convergence, convergence->wanted, change);
	return true;
}

void convergence_changed(struct convergence *convergence)
{
	convergence->level = convergence->wanted;
	convergence->calm = 0;
	begin_batch(convergence);
}

void convergence_reset(struct convergence *convergence)
{
	convergence->windows = 0;
	begin_batch(convergence);
}
