// SPDX-License-Identifier: GPL-2.0-only
/* Keeps all branches, loads and stores of a program in order, for simulate. */
#include <linux/bpf.h>
#include <linux/hwprof.h>
#include <bpf/bpf_helpers.h>

enum { EVENTS = 1 << 19 };

struct event {
	__u64 before_last;	/* EVENTS - its number: rows come in order */
	__u64 kind;		/* enum hwprof_program_kind */
	__u64 from;		/* the instruction */
	__u64 to;		/* where it led, or the data */
	__u64 what;		/* kind of branch, or width */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, EVENTS);
	__type(key, __u32);
	__type(value, struct event);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} _number SEC(".maps");

SEC("hwprof/branch,load,store")
int keep(const __u64 *words)
{
	const __u32 first = 0;
	__u64 *number = bpf_map_lookup_elem(&_number, &first);
	__u32 at = number ? (*number)++ : 0;
	struct event *event = bpf_map_lookup_elem(&events, &at);

	if (event)
		*event = (struct event) {
			EVENTS - at, words[HWPROF_PROGRAM_WORD_KIND],
			words[HWPROF_PROGRAM_WORD_FIRST],
			words[HWPROF_PROGRAM_WORD_FIRST + 1],
			words[HWPROF_PROGRAM_WORD_FIRST + 2],
		};
	return HWPROF_PROGRAM_DROP;
}

char _license[] SEC("license") = "GPL";
