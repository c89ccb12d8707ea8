// SPDX-License-Identifier: LGPL-2.1-or-later
/* Computes estimates from sums; docs/definitions.md defines them. */
#include <math.h>

#include "estimate.h"

#define Z95		1.96	/* of the normal distribution, for 95 % */

/*
 * The row's statistics lack executions that never took the back edge. Their
 * number is known: they are entries that were neither executions nor cut off.
 */
static void add_single_trips(struct hwprof_loop *loop,
			     const struct collected_loop *sums)
{
	int64_t single = loop->entries_seen - sums->executions - sums->unclosed;

	if (loop->entries_seen < sums->executions + sums->unclosed || !single)
		return;
	loop->histogram[0] += single;
	loop->trip_min = 1;
	if (!loop->trip_max)
		loop->trip_max = 1;
}

/*
 * Choosing by time is not as fair to branches as counting them. Windows of a
 * fixed number of branches follow long lines of code too often: of their
 * intervals of equal width, 92 instead of 95 of 100 contained the trip count.
 * Windows of bursts have a fixed number of instructions, and begin anywhere
 * (kmod/engine/burst_window.h).
 */
static const double TIME_WIDTH = 1.3;

/*
 * Returns the reach of a 95 % interval of a logarithm that has @variance, from
 * @windows. 1.96 + 2.4/n stands for Student's t with n windows, and n/(n - 1)
 * corrects a variance from the same windows.
 */
static double fair_reach_of(double windows, double variance)
{
	variance *= windows / (windows - 1);
	return (1.96 + 2.4 / windows) * sqrt(variance > 0 ? variance : 0);
}

/* Returns the same for windows that were chosen as @basis says. */
static double reach_of(double windows, double variance, enum hwprof_basis basis)
{
	return fair_reach_of(windows, variance) *
	       (basis == HWPROF_BASIS_TIME ? TIME_WIDTH : 1);
}

/*
 * Windows: uses the delta method on log(back edges / entries), with the sums
 * over windows of squares and products. The loop was in at least n = (Σe)²/Σe²
 * windows. Counts are whole numbers, so if all windows agree, one more or one
 * less back edge was as likely. tests/accuracy/windows measures the coverage.
 */
static void estimate_interval(struct hwprof_loop *loop,
			      const struct collected_loop *sums, bool bursts)
{
	double back = loop->back_edges_seen, entries = loop->entries_seen;
	double edge = fmax(sums->weight, 1);
	double windows, variance, reach;

	if (!(back > 0 && entries > 0 && sums->sum_back_sq > 0 &&
	      sums->sum_entry_sq > 0))
		return;
	windows = entries * entries / sums->sum_entry_sq;
	if (windows < 1.01)
		return;		/* one window does not show a variance */
	variance = sums->sum_back_sq / (back * back) +
		   sums->sum_entry_sq / (entries * entries) -
		   2 * sums->sum_cross / (back * entries);
	reach = bursts ? fair_reach_of(windows, variance) :
			 reach_of(windows, variance, sums->origin.basis);
	loop->trip_low = 1 + fmax(back - edge, 0) / entries * exp(-reach);
	loop->trip_high = 1 + (back + edge) / entries * exp(reach);
}

static void estimate_trip(struct hwprof_loop *loop,
			  const struct collected_loop *sums, bool bursts)
{
	loop->trip = loop->trip_low = loop->trip_high = NAN;
	loop->trip_recent = sums->trip_recent ? sums->trip_recent / 256.0 : NAN;
	if (!loop->entries_seen)
		return;
	loop->trip = 1 + (double)loop->back_edges_seen / loop->entries_seen;
	if (loop->basis == HWPROF_BASIS_EXACT)
		loop->trip_low = loop->trip_high = loop->trip;
	else
		estimate_interval(loop, sums, bursts);
}

void estimate_loop(struct hwprof_loop *loop, const struct collected_loop *sums,
		   bool bursts)
{
	unsigned int i;

	/* Only negative if the rows that it corrects were lost. */
	loop->entries_seen = sums->entries > 0 ? sums->entries : 0;
	loop->back_edges_seen = sums->back_edges;
	loop->basis = sums->origin.basis;
	loop->tolerance = sums->tolerance;
	loop->trip_min = sums->trip_min;
	loop->trip_max = sums->trip_max;
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		loop->histogram[i] = sums->trips[i];
	if (loop->basis == HWPROF_BASIS_EXACT)
		add_single_trips(loop, sums);
	estimate_trip(loop, sums, bursts);
	/* There are no totals if windows missed an unknown part. */
	loop->counted = loop->basis == HWPROF_BASIS_EXACT;
	if (loop->counted) {
		loop->entries = loop->entries_seen;
		loop->iterations = loop->entries_seen + loop->back_edges_seen;
	}
}

void widen_binomial(double samples, double *low, double *high)
{
	double z = Z95 * Z95 / samples, p = *low;

	*low = (p + z / 2 - Z95 * sqrt((p * (1 - p) + z / 4) / samples)) /
	       (1 + z);
	p = *high;
	*high = (p + z / 2 + Z95 * sqrt((p * (1 - p) + z / 4) / samples)) /
		(1 + z);
}

/*
 * A stretch of long distances may have no window with what is rare. So windows
 * of large weights may have missed it, which their variance does not show.
 */
struct share_facts share_facts_of(const struct hwprof_profile *profile,
				  double total)
{
	const bool weighed = profile->distances.weighed;

	if (!weighed || !(profile->windows > 0) || !(total > 0))
		return (struct share_facts){ .weighed = false };
	return (struct share_facts){
		.weighed = true,
		.windows = profile->totals.windows,
		.all_variance = profile->spread / (total * total),
		.heaviest = profile->heaviest / profile->windows,
	};
}

/*
 * Calls of a window depend on each other, so the variance between windows gives
 * the interval. Σx²/(Σx)² is the variance of the count's logarithm if windows
 * are independent. It is so large that the variance of the total can be
 * neglected, unless a few windows of large weights are much of the total.
 */
void estimate_share(struct hwprof_called *called, double sum_sq,
		    const struct share_facts *facts)
{
	double windows = called->least * (double)called->least / sum_sq;
	double reach;

	called->share_low = called->share_high = NAN;
	if (!(sum_sq > 0) || windows < 1.01)
		return;		/* one window does not show a variance */
	reach = reach_of(windows, 1 / windows + facts->all_variance,
			 called->basis);
	called->share_low = called->share * exp(-reach);
	called->share_high = fmin(called->share * exp(reach) + facts->heaviest,
				  1);
}

/*
 * Returns the variance of the logarithm of a loop's share, which was seen in so
 * many windows of equal weights. It may have nearly all: if windows are inside
 * it or outside, the variance is that of a binomial distribution.
 *
 * With weights w of stretches in which the loop has n of N windows each, it is
 * the sum of w² n (1 - n / N) by the square of the sum of w n. Of the two parts
 * of that, the second is at least 1 / (all windows), by the inequality of
 * Cauchy and Schwarz; with equal weights it is just that.
 */
static double share_variance(double share, double windows,
			     const struct share_facts *facts)
{
	if (!facts->weighed)
		return (1 - share) / windows;
	if (facts->in_loop > 0)
		return 1 / windows - 1 / fmax(facts->windows, windows);
	return 1 / windows + facts->all_variance;
}

void estimate_loop_share(struct hwprof_loop *loop,
			 const struct collected_loop *sums,
			 const struct share_facts *facts)
{
	double sum = loop->entries_seen + (double)loop->back_edges_seen, reach;
	double windows = sum * sum / (sums->sum_back_sq + sums->sum_entry_sq +
				      2 * sums->sum_cross);

	if (facts->in_loop > 0)
		windows = facts->weighed ?
			  facts->in_loop * facts->in_loop / facts->in_loop_sq :
			  facts->in_loop;
	loop->share_low = loop->share_high = NAN;
	if (loop->basis == HWPROF_BASIS_EXACT)
		loop->share_low = loop->share_high = loop->share;
	if (loop->basis <= HWPROF_BASIS_EXACT || !(windows >= 1.01))
		return;
	reach = reach_of(windows, share_variance(loop->share, windows, facts),
			 loop->basis);
	loop->share_low = loop->share * exp(-reach);
	loop->share_high = fmin(loop->share * exp(reach) + facts->heaviest, 1);
}

/*
 * With p = stopped / n, a window with t stopped and f passed lines deviates by
 * (1 - p)t - pf. The root of the sum of squares is at most the sum of the roots
 * of its parts, so the interval is wide enough. If all windows agree, three of
 * them may still differ (the rule of three).
 */
void estimate_bias(struct hwprof_branch_site *site, uint64_t stopped,
		   double stopped_root, double passed_root)
{
	double n = stopped + (double)site->passed, p = stopped / n;
	double root = ((1 - p) * stopped_root + p * passed_root) / n;
	double windows = n / (stopped_root + passed_root), reach;

	if (!n)
		return;		/* samples have no lines */
	site->bias = p;
	if (site->basis == HWPROF_BASIS_EXACT)
		site->bias_low = site->bias_high = p;
	windows *= windows;
	if (site->basis == HWPROF_BASIS_EXACT || !(windows >= 1.01) ||
	    isinf(windows))
		return;		/* one window does not show a variance */
	reach = fmax(reach_of(windows, root * root, site->basis), 3 / windows);
	site->bias_low = fmax(p - reach, 0);
	site->bias_high = fmin(p + reach, 1);
}

/*
 * Without code, trip counts of programs were wrong by up to 8 % more than with
 * code (make bench-windows, docs/speed.md).
 */
static const double INFERRED_ERROR = 0.08;

void widen_loop(struct hwprof_loop *loop, double inferred)
{
	double factor = exp(INFERRED_ERROR * inferred);

	if (loop->basis == HWPROF_BASIS_EXACT || isnan(loop->trip_low))
		return;
	loop->trip_low = fmax(loop->trip_low / factor, 1);
	loop->trip_high *= factor;
}

void widen_share(struct hwprof_called *called, double inferred)
{
	double factor = exp(INFERRED_ERROR * inferred);

	if (isnan(called->share_low))
		return;
	called->share_low /= factor;
	called->share_high = fmin(called->share_high * factor, 1);
}
