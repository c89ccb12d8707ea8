// SPDX-License-Identifier: GPL-2.0-only
/*
 * exact_ranges FILE: compares the ranges in a recording with the branches in
 * it.
 *
 * For each process, the exact branches into each range must be within the
 * bounds of the recording. Prints ranges that are wrong. Then it prints the
 * number of ranges and of hot ranges, and the average and worst accuracy of the
 * counts of hot ranges (section 5.3 of the paper). Exit status 1: a range is
 * wrong, or branches are missing.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/stream.h"
#include "hwprof.h"
#include "reports/range_hot.h"
#include "tests/oracle/array.h"

#define HOT	0.1

struct process {
	u32 pid;
	struct range_set ranges;
	struct {
		u64 *items;
		size_t count, room;
	} targets;
};

struct recording {
	struct process *items;
	size_t count, room;
};

static struct process *find(struct recording *recording, u32 pid)
{
	struct process *process;
	size_t i;

	for (i = 0; i < recording->count; i++)
		if (recording->items[i].pid == pid)
			return &recording->items[i];
	process = array_push(recording);
	*process = (struct process){ .pid = pid };
	return process;
}

static int take(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_branches *branches = (const void *)sample->row;
	const struct hwprof_row_range *range = (const void *)sample->row;
	struct process *process;
	u32 i;

	if (!sample->row || sample->row->type == HWPROF_ROW_TOTALS)
		return 0;
	process = find(context, sample->row->pid);
	if (sample->row->type == HWPROF_ROW_RANGE)
		return range_set_add(&process->ranges, range->low, range->bits,
				     range->count);
	for (i = 0; i < branches->count; i++)
		if (branches->branches[i].kind <= HWPROF_BRANCH_RET)
			*array_push(&process->targets) =
				branches->branches[i].to;
	return 0;
}

static u64 exact(const struct process *process, const struct range_node *node)
{
	u64 count = 0;
	size_t i;

	for (i = 0; i < process->targets.count; i++)
		count += process->targets.items[i] - node->low <=
			 range_last(node) - node->low;
	return count;
}

struct result {
	size_t ranges, wrong, hot;
	double sum, worst;
};

static void compare(struct process *process, struct result *result)
{
	size_t i;

	if (range_set_build(&process->ranges,
			    HOT * process->targets.count))
		abort();
	result->ranges += process->ranges.count;
	for (i = 0; i < process->ranges.count; i++) {
		const struct range_node *node = &process->ranges.nodes[i];
		u64 count = exact(process, node);
		double right = count ? (double)node->count / count : 1;

		if (node->count > count || node->count + node->around < count) {
			result->wrong++;
			printf("# 0x%llx, 2^%u: %llu to %llu, and it is %llu\n",
			       (unsigned long long)node->low, node->bits,
			       (unsigned long long)node->count,
			       (unsigned long long)(node->count + node->around),
			       (unsigned long long)count);
		}
		if (!node->hot)
			continue;
		result->hot++;
		result->sum += right;
		if (right < result->worst)
			result->worst = right;
	}
	if (process->ranges.count &&
	    process->ranges.nodes[0].count != process->targets.count) {
		result->wrong++;
		printf("# process %u: %llu in ranges, %zu branches\n",
		       process->pid,
		       (unsigned long long)process->ranges.nodes[0].count,
		       process->targets.count);
	}
}

int main(int argc, char **argv)
{
	struct result result = { .worst = 1 };
	struct recording recording = { 0 };
	struct hwprof_file *file;
	size_t i;

	if (argc != 2)
		return 2;
	if (hwprof_file_open(&file, argv[1]) ||
	    hwprof_file_samples(file, take, &recording)) {
		fprintf(stderr, "%s\n", hwprof_file_error(file));
		return 1;
	}
	hwprof_file_close(file);
	for (i = 0; i < recording.count; i++)
		compare(&recording.items[i], &result);
	printf("%zu ranges, %zu hot: on average %.2f%% accurate, the worst %.2f%%\n",
	       result.ranges, result.hot, 100 * result.sum / result.hot,
	       100 * result.worst);
	return result.wrong || !result.hot;
}
