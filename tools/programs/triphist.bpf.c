// SPDX-License-Identifier: GPL-2.0-only
/*
 * triphist: how often each loop, or the one at `only`, had each trip count.
 * Executions that never take the back edge are not seen.
 */
#include "count.bpf.h"

enum {
	COUNTS	= 1 << 16,
	EXACT	= 1 << 10,	/* from here on: powers of two */
};

/* hwprof bpf --set only=ADDRESS: the head of a loop; 0: all loops. */
const volatile __u64 only = 0;

struct trips {
	__u64 head;
	__u64 space;
	__u64 trips;		/* or more, up to the next power of two */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, COUNTS);
	__type(key, struct trips);
	__type(value, __u64);
} executions SEC(".maps");

/* Return the greatest power of two that is not above @number. */
static __u64 power_below(__u64 number)
{
	int i;

	for (i = 1; i < 64; i *= 2)
		number |= number >> i;
	return number - (number >> 1);
}

static const __u64 none;

SEC("hwprof/loop_exit")
int count_exit(const struct hwprof_program_loop_exit *exit)
{
	struct trips trips = {
		.head = exit->head, .space = exit->event.space,
		.trips = exit->trips,
	};
	__u64 *count;

	if (only && trips.head != only)
		return 0;
	if (trips.trips > EXACT)
		trips.trips = power_below(trips.trips);
	count = find_or_add(&executions, &trips, &none);
	if (count)
		++*count;
	return 0;
}

char _license[] SEC("license") = "GPL";
