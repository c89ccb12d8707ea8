// SPDX-License-Identifier: GPL-2.0-only
/*
 * depend: memory dependences. A load depends on the store that was the last to
 * write one of its bytes. Each pair of instructions says how often, at what
 * distance, and how often a back edge around both was taken in between: then
 * a loop carries the dependence.
 */
#include "count.bpf.h"
#include "loops.bpf.h"

enum {
	WORD	= 8,
	WORDS_MOST = 9,		/* of an access */
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
	__u64 youngest, oldest;	/* of the last load: times of its bytes */
	__u64 writer;		/* of the youngest byte */
	struct loops loops;
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
/* Take the bytes of a word up to @end. @ip: who stores them; 0: a load. */
__noinline int take_word(struct state *state, const struct place *place,
			 __u64 begin, __u64 end, __u64 ip)
{
	struct word *word;
	struct place key;
	__u64 at, time;

	if (!state || !place)
		return 0;
	/* Linux 6.1 takes keys from the stack only. */
	key = *place;
	word = ip ? find_or_add(&_words, &key, &no_word) :
	       bpf_map_lookup_elem(&_words, &key);
	for (at = 0; at < WORD; at++) {
		if (at < begin % WORD || at >= end - place->word * WORD)
			continue;
		time = word ? word->time[at] : 0;
		if (word && ip) {
			word->ip[at] = ip;
			word->time[at] = state->time;
		} else if (word && time > state->youngest) {
			state->writer = word->ip[at];
			state->youngest = time;
		}
		state->oldest = time < state->oldest ? time : state->oldest;
	}
	return 0;
}

static void count(const struct state *state, const struct pair *pair)
{
	struct dependence *found = find_or_add(&pairs, pair, &no_dependence);

	if (!found)
		return;
	found->count++;
	found->whole += state->youngest == state->oldest;
	found->carried += loops_around(&state->loops, pair->store_ip,
				       pair->load_ip, state->youngest) > 0;
	found->distance += state->time - state->youngest;
}

SEC("hwprof/load,store")
int take_access(const struct hwprof_program_access *access)
{
	bool stores = access->event.kind == HWPROF_PROGRAM_STORE;
	__u64 begin = access->address, end = begin + access->width;
	struct place place = { begin / WORD, access->event.space };
	struct state *state = bpf_map_lookup_elem(&_state, &first);
	__u32 i;

	if (!state)
		return HWPROF_PROGRAM_DROP;
	state->time++;
	state->youngest = 0;
	state->oldest = ~0ULL;
	for (i = 0; i < WORDS_MOST && place.word * WORD < end; i++) {
		take_word(state, &place, begin, end, stores ? access->ip : 0);
		begin = ++place.word * WORD;
	}
	if (!stores && state->youngest) {
		struct pair pair = { state->writer, access->ip, place.space };

		count(state, &pair);
	}
	return HWPROF_PROGRAM_DROP;
}

SEC("hwprof/branch")
int take_branch(const struct hwprof_program_branch *branch)
{
	struct state *state = bpf_map_lookup_elem(&_state, &first);

	if (state)
		loops_note(&state->loops, branch, state->time);
	return HWPROF_PROGRAM_DROP;
}

char _license[] SEC("license") = "GPL";
