/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The budget pays for looks of the module, and for the CPU time of the
 * collector and hwprofd. These need about the same for each window, however
 * long it is, and some more for each look, since rows are written, read and
 * stored. If the machine has too little to do for that, windows get longer, and
 * then there are rests without one.
 */
#ifndef HWPROFD_SPENDING_H
#define HWPROFD_SPENDING_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SPENDING_WINDOW_MOST = 60,	/* seconds */
	SPENDING_REST = 10,		/* seconds, before the next decision */
	SPENDING_RESTS_MOST = 54,	/* in a row */
};

/* A window or rest, as it went. */
struct spent {
	uint64_t wall_ns;
	uint64_t busy_ns;		/* of all CPUs */
	bool busy_unknown;		/* assume that it was as before */
	uint64_t own_ns;		/* CPU time of collector and hwprofd */
	uint64_t files_ns;		/* of it: for files that were new */
	bool has_looks;			/* hwprofd has said: */
	uint64_t looks_ns;		/* what the module's looks cost */
};

/* A window or rest that comes next. */
struct spending_plan {
	bool rest;			/* nothing is recorded */
	uint64_t seconds;
	uint64_t permille;		/* of all events of the window */
};

struct spending {
	uint64_t permille;		/* the budget */
	uint64_t window;		/* the least seconds of one */
	struct spending_plan plan;	/* the last one */
	bool begun;			/* @rate is known */
	double rate;			/* work, in CPUs */
	double credit;			/* ns; negative: debt */
	double assumed;			/* ns that were paid for looks of which
					 * hwprofd has not said yet */
	double own, looks;		/* ns since the last window */
	double last_cost;		/* of the last window alone */
	double cost;			/* of a window without looks */
	uint64_t rests;			/* in a row */
};

/* @permille and @window are as in hwprofd.conf(5). Forgets everything else. */
void spending_init(struct spending *spending, uint64_t permille,
		   uint64_t window);
/* The same for a change: nothing is forgotten. */
void spending_configure(struct spending *spending, uint64_t permille,
			uint64_t window);

/* Notes how the plan went. */
void spending_note(struct spending *spending, const struct spent *spent);

/* Plans the next window or rest. */
struct spending_plan spending_next(struct spending *spending);

#endif /* HWPROFD_SPENDING_H */
