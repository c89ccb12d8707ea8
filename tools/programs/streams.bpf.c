// SPDX-License-Identifier: GPL-2.0-only
/*
 * streams: passes loads and stores on, in bursts. hwprof finds the sequences
 * that come again and again: hot data streams.
 */
#include "count.bpf.h"

enum { RING_SIZE = 1 << 22 };

/* The first `burst` of each `period` references are passed on; 0: all are. */
const volatile __u64 burst;
const volatile __u64 period = 10000;
/* Read by hwprof alone. */
const volatile __u64 keep = 1 << 20;	/* references */
const volatile __u64 shortest = 2;	/* references of a stream */
const volatile __u64 longest = 100;
const volatile __u64 permille = 5;	/* least heat of all references */

struct event {
	__u64 ip;
	__u64 address;
	__u64 task;
	__u64 weight;
	__u64 number;		/* of the reference, on its CPU */
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_SIZE);
} references SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} _number SEC(".maps");

SEC("hwprof/load,store")
int pass_on(const struct hwprof_program_access *access)
{
	const __u32 first = 0;
	__u64 *number = bpf_map_lookup_elem(&_number, &first);
	struct event event = {
		.ip = access->ip, .address = access->address,
		.task = access->event.task, .weight = access->event.weight,
	};

	if (!number)
		return HWPROF_PROGRAM_DROP;
	event.number = (*number)++;
	if (burst && period && event.number % period >= burst)
		return HWPROF_PROGRAM_DROP;
	if (bpf_ringbuf_output(&references, &event, sizeof(event),
			       BPF_RB_NO_WAKEUP))
		lose();
	return HWPROF_PROGRAM_DROP;
}

char _license[] SEC("license") = "GPL";
