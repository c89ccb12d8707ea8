// SPDX-License-Identifier: GPL-2.0-only
#include "spending.h"

enum {
	SECOND = 1000000000,
	MEMORY_SECONDS = 120,		/* in which debts are paid, and which
					 * the average of the work is of */
	MOST_TIMES = 8,			/* the budget: no window gets more */
	/*
	 * CPU time of the collector and hwprofd for what looks find, as a
	 * multiple of what looks cost. If it is something else between 0 and 7,
	 * the looks come to be the right ones after some windows.
	 */
	AFTER_LOOKS = 3,
	/*
	 * Percent more than their CPU time: kernel threads free their memory,
	 * and looks wake idle CPUs. tests/accuracy/daemon-cost measures 6 % on
	 * a busy machine, and 25 % on one that is almost idle.
	 */
	UNSEEN = 15,
};

/* Returns the ns that so much CPU time costs the machine. */
static double whole(uint64_t ns)
{
	return ns * (1 + UNSEEN / 100.0);
}

void spending_init(struct spending *spending, uint64_t permille,
		   uint64_t window)
{
	*spending = (struct spending){ .permille = permille, .window = window };
}

void spending_configure(struct spending *spending, uint64_t permille,
			uint64_t window)
{
	spending->permille = permille;
	spending->window = window;
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* Returns what the budget gives for so many seconds, in ns. */
static double income(const struct spending *spending, double seconds)
{
	return spending->rate * seconds * SECOND * spending->permille / 1000;
}

/* Starting, and questions, must not stop the windows for long. */
static void bound_credit(struct spending *spending)
{
	double most = income(spending, MEMORY_SECONDS);

	spending->credit = larger(spending->credit, -most);
	spending->credit = smaller(spending->credit,
				   larger(most, 2 * spending->cost));
}

/* Returns the ns that others worked, without looks. */
static double note_work(struct spending *spending, const struct spent *spent)
{
	double wall = larger(spent->wall_ns, 1), work = spending->rate * wall;
	double weight = smaller(1, wall / SECOND / MEMORY_SECONDS);

	if (spent->busy_unknown)
		return work;
	work = larger(0, spent->busy_ns - whole(spent->own_ns));
	if (!spending->plan.rest)
		work /= 1 + spending->plan.permille / 1000.0;
	if (!spending->begun)
		weight = 1;
	spending->begun = true;
	spending->rate += (work / wall - spending->rate) * weight;
	return work;
}

/*
 * Notes what a window costs, by the cheaper one of two: the other one may have
 * had new programs, or somebody asked for a profile. The cost is negative if
 * looks have less after them than AFTER_LOOKS.
 */
static void note_cost(struct spending *spending)
{
	double cost = spending->own - AFTER_LOOKS * spending->looks;

	spending->cost = smaller(spending->last_cost, cost);
	spending->last_cost = cost;
	spending->own = spending->looks = 0;
}

void spending_note(struct spending *spending, const struct spent *spent)
{
	const struct spending_plan *plan = &spending->plan;
	double work = note_work(spending, spent), looks = 0;

	/* New files come with new programs, not with each window. */
	spending->own += whole(spent->own_ns - spent->files_ns);
	spending->credit += work * spending->permille / 1000 -
			    whole(spent->own_ns);
	if (spent->has_looks) {
		spending->credit += spending->assumed - spent->looks_ns;
		spending->looks += smaller(spending->assumed, spent->looks_ns);
		spending->assumed = 0;
	}
	if (!plan->rest) {
		looks = work * plan->permille / 1000;
		note_cost(spending);
	}
	spending->credit -= looks;
	spending->assumed += looks;
	bound_credit(spending);
}

/* Returns how many seconds a window is to have. */
static uint64_t length_of(const struct spending *spending)
{
	double second = income(spending, 1);
	double seconds = SPENDING_WINDOW_MOST;

	if (!spending->begun)
		return spending->window;
	if (second > 0)
		seconds = smaller(seconds, 2 * spending->cost / second + 1);
	return larger(seconds, spending->window);
}

/* Returns the ns for looks and what comes after them. */
static double for_looks(const struct spending *spending, uint64_t seconds)
{
	double earned = income(spending, seconds), cost = spending->cost;
	double left;

	if (2 * cost <= earned)
		return earned - cost + spending->credit * seconds /
				       MEMORY_SECONDS;
	/* Looks are to get at least as much as the window costs. */
	left = earned - cost + spending->credit;
	return left < cost ? 0 : left;
}

struct spending_plan spending_next(struct spending *spending)
{
	struct spending_plan plan = { .seconds = length_of(spending) };
	double work = spending->rate * plan.seconds * SECOND;
	double permille = spending->permille;

	if (spending->begun)
		permille = work > 0 ? for_looks(spending, plan.seconds) /
				      work * 1000 : 0;
	permille = smaller(permille, MOST_TIMES * spending->permille);
	permille = permille / (1 + AFTER_LOOKS) + 0.5;
	plan.permille = smaller(larger(permille, 0), 1000);
	plan.rest = !plan.permille && spending->rests < SPENDING_RESTS_MOST;
	if (plan.rest)
		plan.seconds = SPENDING_REST;
	else if (!plan.permille)
		plan.permille = 1;
	spending->rests = plan.rest ? spending->rests + 1 : 0;
	spending->plan = plan;
	return plan;
}
