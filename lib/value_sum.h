/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of one load, summed over rows, as the engine sums them over tables
 * (Zilles, Sohi: A Programmable Co-processor for Profiling, section 5.1.5); and
 * what is concluded from them.
 */
#ifndef HWPROF_VALUE_SUM_H
#define HWPROF_VALUE_SUM_H

#include <linux/hwprof.h>
#include <stdint.h>

#include "hwprof.h"

enum {
	VALUE_SUM_KEPT = 16,
};

struct value_sum {
	uint64_t loads;			/* executions */
	uint64_t unseen;		/* of them, those not looked at */
	uint64_t runs, breaks;
	uint64_t stride, strides;
	uint32_t width;
	uint32_t basis;			/* the weakest; 0: samples */
	uint32_t count;
	struct hwprof_value values[VALUE_SUM_KEPT];	/* strongest first */
};

/* Adds @from, of the same load. */
void value_sum_add(struct value_sum *sum, const struct value_sum *from);
struct value_sum value_sum_of(const struct hwprof_row_value *row);

/* The part of executions that gave values[index]. */
double value_sum_invariance(const struct value_sum *sum, uint32_t index);
/* What it may be: 95 % where windows were seen; else it is that for sure. */
void value_sum_interval(const struct value_sum *sum, uint32_t index,
			double *low, double *high);
enum hwprof_value_class value_sum_class(const struct value_sum *sum);
/* Was it seen in one window alone? */
bool value_sum_is_new(const struct value_sum *sum);

#endif /* HWPROF_VALUE_SUM_H */
