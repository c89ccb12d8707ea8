/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The values of one load, summed over rows as the engine sums them over tables
 * (Zilles, Sohi: A Programmable Co-processor for Profiling, section 5.1.5), and
 * conclusions from them.
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
	uint64_t unseen;		/* how many of these were not looked
					 * at */
	uint64_t runs, breaks;
	uint64_t stride, strides;
	uint32_t width;
	uint32_t basis;			/* the weakest; 0: samples */
	uint32_t count;
	/* The most frequent first. */
	struct hwprof_value values[VALUE_SUM_KEPT];
};

/* Adds @from, which is of the same load. */
void value_sum_add(struct value_sum *sum, const struct value_sum *from);
struct value_sum value_sum_of(const struct hwprof_row_value *row);

/* Returns the share of executions that returned values[index]. */
double value_sum_invariance(const struct value_sum *sum, uint32_t index);
/*
 * Sets an interval of that share: its level is 95 % with windows, otherwise it
 * is certain.
 */
void value_sum_interval(const struct value_sum *sum, uint32_t index,
			double *low, double *high);
enum hwprof_value_class value_sum_class(const struct value_sum *sum);
/* Returns true if all executions were seen in one window. */
bool value_sum_is_new(const struct value_sum *sum);

#endif /* HWPROF_VALUE_SUM_H */
