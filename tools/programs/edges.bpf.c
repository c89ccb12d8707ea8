// SPDX-License-Identifier: GPL-2.0-only
/*
 * edges: how often each branch led from where to where, in each address space.
 * It is the plainest program: hwprof/edges/ counts the same.
 */
#include "count.bpf.h"

enum { EDGES = 1 << 16 };

struct edge {
	__u64 from;
	__u64 to;
	__u32 space;		/* a process from one exec to the next */
	__u32 kind;		/* enum hwprof_branch_kind */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, EDGES);
	__type(key, struct edge);
	__type(value, __u64);
} edges SEC(".maps");

static int add(const struct edge *edge)
{
	const __u64 one = 1;

	if (bpf_map_update_elem(&edges, edge, &one, BPF_NOEXIST))
		lose();
	return HWPROF_PROGRAM_DROP;
}

SEC("hwprof/branch")
int count_branch(const struct hwprof_program_branch *branch)
{
	const struct edge edge = {
		.from = branch->from, .to = branch->to,
		.space = branch->event.space, .kind = branch->branch,
	};
	__u64 *count = bpf_map_lookup_elem(&edges, &edge);

	if (!count)
		return add(&edge);
	++*count;
	return HWPROF_PROGRAM_DROP;	/* the session's profile needs none */
}

char _license[] SEC("license") = "GPL";
