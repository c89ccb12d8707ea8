// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * The distance between ticks follows from the average cost of a tick. Costs
 * differ and the trigger cannot fire at any time, so each tick leaves an error.
 * The error is kept as owed or saved time and spread over the next ticks. The
 * share is therefore right in the long run, however wrong a single distance
 * was.
 */
#include "burst.h"

enum {
	/* Averages are over so many ticks. The first one replaces the guess. */
	BURST_MEMORY	= 32,
	/* They are taken for averages over so many after a change. */
	BURST_RELEARN	= 4,
	EVEN_OUT	= 8,	/* ticks over which debts are evened out */
	/* The same while averages are over fewer than BURST_MEMORY ticks. */
	EVEN_OUT_EARLY	= 2,
	SAVED_MOST	= 64,	/* most saved time, in average distances */
	OWED_MOST	= 64,	/* most owed time, in ticks of peak cost */
	OWED_MUCH	= 8,	/* beyond it, a tick passes without a look */
	PEAK_MEMORY	= 256,	/* ticks over which the peak decays */
	FASTEST		= 2,	/* least distance: average / FASTEST */
	SLOWEST		= 4,	/* greatest: average * SLOWEST */
	/* More than so many times the average or the peak is not believed. */
	OUTLIER		= 8,
	/* A tick is at most so many times as far as ticks are on average. */
	STRIDE_MOST	= 16,
	OWN_MEMORY	= 16,
};

/* With these limits no product below has more than 63 bits. */
#define COST_MOST	(1ULL << 32)	/* four seconds */
#define TIME_MOST	BURST_FARTHEST
#define UNITS_MOST	(1ULL << 44)
#define RATE_SHIFT	10
#define RATE_MOST	(1U << 20)	/* in 2^-10 units a ns: about a thousand
					 * units a ns */

static u64 burst_between(u64 value, u64 least, u64 most)
{
	return value < least ? least : value > most ? most : value;
}

/* Return the program's time, in ns, that pays for a cost of @cost ns. */
static u64 burst_pays_for(const struct burst_control *control, u64 cost)
{
	return cost * 1000 / control->permille;
}

static u64 burst_average_distance(const struct burst_control *control)
{
	return burst_between(burst_pays_for(control, control->cost),
			     BURST_NEAREST, BURST_FARTHEST / SLOWEST / 2);
}

static u64 burst_average(u64 old, u64 value, u32 count)
{
	return value > old ? old + (value - old) / count :
			     old - (old - value) / count;
}

void burst_control_init(struct burst_control *control, u32 permille, u64 guess)
{
	*control = (struct burst_control){
		.permille = burst_between(permille, 1, 1000),
		.cost = burst_between(guess, 1, COST_MOST),
		.peak = burst_between(guess, 1, COST_MOST),
	};
}

void burst_control_spend(struct burst_control *control, u32 permille)
{
	permille = burst_between(permille, 1, 1000);
	control->due = control->due * control->permille / permille;
	control->permille = permille;
}

void burst_control_stretch(struct burst_control *control, u32 from, u32 to)
{
	control->cost = burst_between(control->cost * to / from, 1, COST_MOST);
	control->peak = burst_between(control->peak * to / from, 1, COST_MOST);
	control->ticks = min(control->ticks, (u32)BURST_RELEARN);
}

/*
 * Update the peak, which decays slowly, and return the cost to account for. A
 * cost far beyond the peak is cut: most likely something else interrupted the
 * tick. If not, it comes again, and the peak grows.
 */
static u64 burst_note_peak(struct burst_control *control, u64 cost)
{
	if (cost > control->peak)
		control->peak = cost = min(cost, control->peak * OUTLIER);
	else
		control->peak -= control->peak / PEAK_MEMORY;
	return cost;
}

/* Return the time that pays for @ticks ticks of peak cost. */
static s64 burst_pays_for_peaks(const struct burst_control *control, u32 ticks)
{
	return (s64)burst_between(burst_pays_for(control, control->peak),
				  BURST_NEAREST, BURST_FARTHEST) * ticks;
}

void burst_owe(struct burst_control *control, u64 cost)
{
	control->debt = min(control->debt + min(cost, COST_MOST), COST_MOST);
}

/* Take this tick's part of the debt and return it. */
static u64 burst_repay(struct burst_control *control)
{
	u64 part = min(control->debt, control->cost);

	control->debt -= part;
	return part;
}

void burst_account(struct burst_control *control, u64 cost, u64 time, u64 units)
{
	s64 owed, saved;

	cost = burst_note_peak(control, min(cost, COST_MOST));
	time = min(time, TIME_MOST);
	units = min(units, UNITS_MOST);
	/* Averages may be of ticks in the kernel, without looks. */
	if (cost / OUTLIER > control->cost)
		control->ticks = min(control->ticks, (u32)BURST_RELEARN);
	if (control->ticks < BURST_MEMORY)
		control->ticks++;
	control->cost = burst_average(control->cost, cost, control->ticks);
	control->time = burst_average(control->time, time, control->ticks);
	control->units = burst_average(control->units, units, control->ticks);

	owed = burst_pays_for_peaks(control, OWED_MOST);
	saved = burst_average_distance(control) * SAVED_MOST;
	control->due +=
		(s64)burst_pays_for(control, cost + burst_repay(control)) -
		(s64)time;
	control->due = control->due > owed ? owed :
		       control->due < -saved ? -saved : control->due;
}

bool burst_must_pass(const struct burst_control *control)
{
	return control->due > burst_pays_for_peaks(control, OWED_MUCH);
}

/*
 * Return the part of what is owed or saved that the next tick makes up for. The
 * first windows may cost many times the guess. That is paid back early, since a
 * program of a few seconds has only some ten windows.
 */
static s64 burst_due_now(const struct burst_control *control)
{
	bool early = control->due > 0 && control->ticks < BURST_MEMORY;

	return control->due / (early ? EVEN_OUT_EARLY : EVEN_OUT);
}

u64 burst_distance(const struct burst_control *control, u32 random)
{
	u64 usual = burst_average_distance(control);
	s64 wanted = (s64)usual + burst_due_now(control);
	u64 distance = burst_between(wanted < 0 ? 0 : wanted, usual / FASTEST,
				     usual * SLOWEST);

	distance = distance / 2 + ((distance >> 10) * (random >> 10) >> 12);
	return burst_between(distance, BURST_NEAREST, BURST_FARTHEST);
}

/* Convert at the average rate, which is @units in @time ns. */
static u64 burst_at_rate(u64 distance, u64 units, u64 time)
{
	if (units >= time)
		return distance * min((units << RATE_SHIFT) / time,
				      (u64)RATE_MOST) >> RATE_SHIFT;
	return max((distance << RATE_SHIFT) / ((time << RATE_SHIFT) / units),
		   (u64)1);
}

/*
 * The rate is not known well while ticks are few: if one of them seems to have
 * taken nearly all of its time, the rate seems enormous. The next tick must not
 * be seconds away then.
 */
u64 burst_units(const struct burst_control *control, u64 distance)
{
	u64 time = max(control->time, (u64)1);
	u64 units = max(control->units, (u64)1);
	u64 next = burst_at_rate(min(distance, BURST_FARTHEST), units, time);

	return control->ticks ? min(next, units * STRIDE_MOST) : next;
}

u64 burst_own(u64 *usual, u64 took)
{
	took = min(took, COST_MOST);
	if (!*usual)
		*usual = took;
	if (took > *usual * OUTLIER) {
		took = *usual;
		/* follow slowly, in case it stays so */
		*usual += *usual / OWN_MEMORY + 1;
	} else {
		*usual = burst_average(*usual, took, OWN_MEMORY);
	}
	return took;
}
