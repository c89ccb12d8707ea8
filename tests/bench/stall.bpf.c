// SPDX-License-Identifier: GPL-2.0-only
/* How long each burst holds its thread. See stall.sh. */
#include "../../tools/programs/count.bpf.h"

enum {
	THREADS	= 1 << 10,
	TIMES	= 1 << 16,
	UNIT	= 100,		/* ns, of the times that are told apart */
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, THREADS);
	__type(key, __u64);	/* process and thread */
	__type(value, __u64);	/* ns */
} _begun SEC(".maps");

struct stall {
	__u64 ns;
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, TIMES);
	__type(key, struct stall);
	__type(value, __u64);
} stalls SEC(".maps");

static const __u64 none;

SEC("hwprof/window_begin")
int begin(const struct hwprof_program_window *window)
{
	__u64 task = window->event.task;
	__u64 now = bpf_ktime_get_ns();

	bpf_map_update_elem(&_begun, &task, &now, BPF_ANY);
	return 0;
}

SEC("hwprof/window_end")
int end(const struct hwprof_program_window *window)
{
	__u64 task = window->event.task;
	__u64 *begun = bpf_map_lookup_elem(&_begun, &task), *count;
	struct stall stall;

	if (!begun)
		return 0;
	stall.ns = (bpf_ktime_get_ns() - *begun) / UNIT * UNIT;
	count = find_or_add(&stalls, &stall, &none);
	if (count)
		++*count;
	return 0;
}

char _license[] SEC("license") = "GPL";
