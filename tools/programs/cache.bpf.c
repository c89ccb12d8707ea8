// SPDX-License-Identifier: GPL-2.0-only
/*
 * cache: misses and conflicts of a simulated cache, which replaces the block
 * that was used longest ago, by instruction and by page of memory. A miss is a
 * conflict if the block left its set at one of its last `recent` misses.
 *
 * All threads share the cache. Counts of threads that run at the same time are
 * about right.
 */
#include "count.bpf.h"

enum {
	PLACES		= 1 << 16,
	SETS_MOST	= 1 << 14,
	WAYS_MOST	= 16,
	RECENT_MOST	= 16,
	PAGE		= 4096,
	BLOCKS_MOST	= 8,	/* of an access */
};

/* hwprof bpf --set NAME=VALUE changes them. */
const volatile __u32 size = 32 * 1024;	/* bytes */
const volatile __u32 ways = 8;		/* up to WAYS_MOST */
const volatile __u32 line = 64;		/* bytes of a block, a power of two */
const volatile __u32 recent = 8;	/* up to RECENT_MOST */

struct place {
	__u64 ip, space;
};

struct page {
	__u64 address;
	__u64 space;
};

struct counts {
	__u64 misses;
	__u64 conflicts;
	__u64 accesses;		/* to blocks */
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, PLACES);
	__type(key, struct place);
	__type(value, struct counts);
} instructions SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, PLACES);
	__type(key, struct page);
	__type(value, struct counts);
} pages SEC(".maps");

struct set {
	__u64 time;			/* accesses so far */
	__u64 misses;
	__u64 block[WAYS_MOST];		/* 0: none */
	__u64 used[WAYS_MOST];		/* when */
	__u64 gone[RECENT_MOST];	/* blocks that left it last */
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SETS_MOST);
	__type(key, __u32);
	__type(value, struct set);
} _sets SEC(".maps");

static const struct counts no_counts;

static void count(void *map, const void *key, int missed, int conflict)
{
	struct counts *counts = find_or_add(map, key, &no_counts);

	if (!counts)
		return;
	counts->accesses++;
	counts->misses += missed;
	counts->conflicts += conflict;
}

/* Return 1 for a conflict. */
static int replace(struct set *set, __u32 oldest, __u64 block)
{
	int conflict = 0;
	__u32 i;

	for (i = 0; i < RECENT_MOST && i < recent; i++)
		conflict |= set->gone[i] == block;
	if (recent)
		set->gone[set->misses % recent & (RECENT_MOST - 1)] =
			set->block[oldest];
	set->misses++;
	set->block[oldest] = block;
	set->used[oldest] = set->time;
	return conflict;
}

static int touch(struct set *set, __u64 block, int *conflict)
{
	__u32 i, oldest = 0;

	set->time++;
	for (i = 0; i < WAYS_MOST && i < ways; i++) {
		if (set->block[i] == block) {
			set->used[i] = set->time;
			return 0;
		}
		if (set->used[i] < set->used[oldest & (WAYS_MOST - 1)])
			oldest = i;
	}
	*conflict = replace(set, oldest & (WAYS_MOST - 1), block);
	return 1;
}

/* The verifier looks at it once, because it is not static. */
__noinline int take_block(__u64 ip, __u64 space, __u64 number)
{
	const struct place place = { ip, space };
	const struct page page = { number * line & ~(PAGE - 1ULL), space };
	/* Not 0. Programs have their own blocks. */
	__u64 block = (number | 1ULL << 63) ^ space << 58;
	__u32 index = number % (size / line / ways);
	struct set *set = bpf_map_lookup_elem(&_sets, &index);
	int conflict = 0, missed;

	if (!set)
		return 0;
	missed = touch(set, block, &conflict);
	count(&instructions, &place, missed, conflict);
	count(&pages, &page, missed, conflict);
	return missed;
}

SEC("hwprof/load,store")
int take_access(const struct hwprof_program_access *access)
{
	__u64 number = access->address / line;
	__u64 last = (access->address + access->width - 1) / line;
	int i, missed = 0;

	for (i = 0; i < BLOCKS_MOST && number <= last; i++)
		missed |= take_block(access->ip, access->event.space, number++);
	return missed ? 0 : HWPROF_PROGRAM_DROP;
}

char _license[] SEC("license") = "GPL";
