// SPDX-License-Identifier: GPL-2.0-only
/*
 * depend: memory dependences. A load depends on the store that was the last to
 * write one of its bytes. Each pair of instructions says how often, at what
 * distance, and how often a back edge around both was taken in between: then
 * a loop carries the dependence.
 */
#include "count.bpf.h"

enum {
	LOOPS	= 32,		/* that are remembered */
	WORD	= 8,
	WIDEST	= 64,		/* bytes of an access that are looked at */
};

struct pair {
	__u64 store_ip, load_ip, space;
};

struct dependence {
	__u64 count;
	__u64 carried;		/* by a loop */
	__u64 whole;		/* the store wrote all that was loaded */
	__u64 distance;		/* sum, in loads and stores */
};

struct place {
	__u64 word, space;
};

struct word {
	__u64 ip[WORD];		/* who wrote each byte last */
	__u64 time[WORD];
};

struct state {
	__u64 time;		/* loads and stores so far */
	struct loop {		/* those that went on last */
		__u64 head, tail, space, time;
	} loops[LOOPS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 1 << 16);
	__type(key, struct pair);
	__type(value, struct dependence);
} pairs SEC(".maps");

/* A name that begins with _ is that of a map for the program alone. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 1 << 20);
	__type(key, struct place);
	__type(value, struct word);
} _words SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct state);
} _state SEC(".maps");

static const __u32 first;
static const struct word no_word;
static const struct dependence no_dependence;
static bool is_around(const struct loop *loop, const struct pair *pair)
{
	return pair->space == loop->space &&
	       pair->store_ip - loop->head <= loop->tail - loop->head &&
	       pair->load_ip - loop->head <= loop->tail - loop->head;
}

static void count(const struct pair *pair, const struct state *state,
		  __u64 time, bool whole)
{
	struct dependence *found = find_or_add(&pairs, pair, &no_dependence);
	const struct loop *loop;
	bool carried = false;

	for (loop = state->loops; loop < state->loops + LOOPS; loop++)
		carried |= loop->time >= time && is_around(loop, pair);
	if (!found)
		return;
	found->count++;
	found->whole += whole;
	found->carried += carried;
	found->distance += state->time - time;
}

SEC("hwprof/load,store")
int take_access(const struct hwprof_program_access *access)
{
	struct state *state = bpf_map_lookup_elem(&_state, &first);
	bool stores = access->event.kind == HWPROF_PROGRAM_STORE;
	struct pair pair = {
		.load_ip = access->ip, .space = access->event.space,
	};
	struct place place = { .space = access->event.space };
	__u64 i, at, time, youngest = 0, oldest = ~0ULL;
	struct word *word = NULL;

	if (!state)
		return HWPROF_PROGRAM_DROP;
	state->time++;
	for (i = 0; i < WIDEST && i < access->width; i++) {
		at = (access->address + i) % WORD;
		place.word = (access->address + i) / WORD;
		if (!i || !at)
			word = stores ? find_or_add(&_words, &place, &no_word) :
			       bpf_map_lookup_elem(&_words, &place);
		time = word ? word->time[at] : 0;
		oldest = time < oldest ? time : oldest;
		if (word && stores) {
			word->ip[at] = access->ip;
			word->time[at] = state->time;
		} else if (word && time > youngest) {
			pair.store_ip = word->ip[at];
			youngest = time;
		}
	}
	if (!stores && youngest)
		count(&pair, state, youngest, oldest == youngest);
	return HWPROF_PROGRAM_DROP;
}

SEC("hwprof/branch")
int take_branch(const struct hwprof_program_branch *branch)
{
	struct state *state = bpf_map_lookup_elem(&_state, &first);
	__u32 i, at = 0;

	if (!state || branch->to > branch->from || branch->branch > 3)
		return HWPROF_PROGRAM_DROP;	/* no jump back */
	for (i = 0; i < LOOPS; i++)
		if (state->loops[i].tail == branch->from &&
		    state->loops[i].head == branch->to)
			break;
		else if (state->loops[i].time < state->loops[at % LOOPS].time)
			at = i;
	at = i < LOOPS ? i : at;
	state->loops[at % LOOPS] = (struct loop) {
		branch->to, branch->from, branch->event.space, state->time,
	};
	return HWPROF_PROGRAM_DROP;
}

char _license[] SEC("license") = "GPL";
