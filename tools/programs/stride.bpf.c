// SPDX-License-Identifier: GPL-2.0-only
/*
 * stride: how far each load or store is from the address that the same
 * instruction of the same thread accessed before. Strides of FAR bytes and more
 * are one.
 */
#include "count.bpf.h"

enum {
	STRIDES	= 1 << 16,
	THREADS	= 1 << 16,	/* instructions of threads */
	FAR	= 1 << 12,
};

struct stride {
	__u64 ip;
	__u64 space;
	__s64 stride;		/* bytes; FAR or -FAR: that and more */
};

struct counts {
	__u64 count;
	__u64 again;		/* the same as the time before */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, STRIDES);
	__type(key, struct stride);
	__type(value, struct counts);
} strides SEC(".maps");

struct instruction {
	__u64 ip;
	__u64 space;
	__u64 task;
};

struct last {
	__u64 address;
	__s64 stride;
	__u64 times;		/* that it ran */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS);
	__type(key, struct instruction);
	__type(value, struct last);
} _instructions SEC(".maps");

static const struct counts no_counts;

static const struct last no_last;

static void count(const struct stride *stride, int again)
{
	struct counts *counts = find_or_add(&strides, stride, &no_counts);

	if (!counts)
		return;
	counts->count++;
	counts->again += again;
}

SEC("hwprof/load,store")
int take_access(const struct hwprof_program_access *access)
{
	const struct instruction key = {
		access->ip, access->event.space, access->event.task,
	};
	struct last *last = find_or_add(&_instructions, &key, &no_last);
	struct stride stride = { access->ip, access->event.space };
	__s64 distance;

	if (!last)
		return HWPROF_PROGRAM_DROP;
	distance = access->address - last->address;
	distance = distance > FAR ? FAR : distance < -FAR ? -FAR : distance;
	stride.stride = distance;
	if (last->times)
		count(&stride, last->times > 1 && last->stride == distance);
	last->address = access->address;
	last->stride = distance;
	last->times++;
	return HWPROF_PROGRAM_DROP;
}

char _license[] SEC("license") = "GPL";
