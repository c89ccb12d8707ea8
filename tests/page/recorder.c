// SPDX-License-Identifier: GPL-2.0-only
/*
 * recorder OUT PROGRAM [ARG...]: runs a program by single steps of ptrace, and
 * writes two recordings as perf does: OUT.branches has stacks of its last
 * branches, taken now and then, and OUT.calls has its stacks of calls.
 */
#include <stdlib.h>
#include <string.h>

#include "hwprof.h"
#include "stacks.h"
#include "stepping.h"

enum {
	PID = 100,
	DEPTH = 32,		/* of a stack of branches */
	PERIOD = 61,		/* branches from one stack to the next */
	CALLS_PERIOD = 37,
	CHAIN = 100,		/* deepest stack of calls */
};

struct recorder {
	struct perf_branch_entry last[DEPTH];	/* the newest first */
	size_t last_count;
	uint64_t calls[CHAIN];	/* addresses of calls, the outermost first */
	size_t depth;		/* may be above CHAIN */
	uint64_t branches;
	struct sample *samples;
	size_t sample_count, room;
	char *out;
};

/* Samples wait for the maps, which are known at the end. */
struct sample {
	struct perf_branch_entry entries[DEPTH];
	size_t entry_count;
	uint64_t chain[CHAIN + 2];
	size_t length;
	uint64_t time, ip;
};

static struct sample *add_sample(struct recorder *recorder)
{
	struct sample *sample;

	if (recorder->sample_count == recorder->room) {
		recorder->room = 2 * recorder->room + 1024;
		recorder->samples = reallocarray(recorder->samples,
						 recorder->room,
						 sizeof(*sample));
		if (!recorder->samples)
			stepping_die("memory");
	}
	sample = &recorder->samples[recorder->sample_count++];
	memset(sample, 0, sizeof(*sample));
	sample->time = 1000 + recorder->branches;
	return sample;
}

static void take_branches(struct recorder *recorder)
{
	struct sample *sample = add_sample(recorder);

	memcpy(sample->entries, recorder->last, sizeof(sample->entries));
	sample->entry_count = recorder->last_count;
}

static void take_calls(struct recorder *recorder, uint64_t ip)
{
	struct sample *sample = add_sample(recorder);
	size_t i = recorder->depth < CHAIN ? recorder->depth : CHAIN;

	sample->ip = ip;
	sample->chain[sample->length++] = PERF_CONTEXT_USER;
	sample->chain[sample->length++] = ip;
	while (i)
		sample->chain[sample->length++] = recorder->calls[--i] + 1;
}

static void see(void *context, uint64_t from, uint64_t to, unsigned int kind)
{
	struct recorder *recorder = context;

	memmove(recorder->last + 1, recorder->last,
		(DEPTH - 1) * sizeof(*recorder->last));
	memset(recorder->last, 0, sizeof(*recorder->last));
	recorder->last[0].from = from;
	recorder->last[0].to = to;
	recorder->last[0].predicted = 1;
	if (recorder->last_count < DEPTH)
		recorder->last_count++;
	if (kind == HWPROF_BRANCH_CALL && recorder->depth++ < CHAIN)
		recorder->calls[recorder->depth - 1] = from;
	if (kind == HWPROF_BRANCH_RET && recorder->depth)
		recorder->depth--;
	if (++recorder->branches % PERIOD == 0)
		take_branches(recorder);
	if (recorder->branches % CALLS_PERIOD == 0)
		take_calls(recorder, to);
}

static void add_maps(struct stacks *stacks, pid_t pid)
{
	struct stepping_map map;
	char path[64];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "r");
	if (!maps)
		stepping_die(path);
	stacks_comm(stacks, 1, PID, "prog", true);
	while (stepping_next_map(maps, &map))
		stacks_map(stacks, 2, PID, map.begin, map.end - map.begin,
			   map.offset, map.name);
	fclose(maps);
}

static void begin(struct stacks *stacks, const char *out, const char *ending,
		  const struct stacks_style *style)
{
	char *path;

	if (asprintf(&path, "%s.%s", out, ending) < 0)
		stepping_die("memory");
	stacks_begin(stacks, path, style);
	free(path);
}

static void write_all(void *context, pid_t pid)
{
	const struct stacks_style branches = {
		.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	};
	const struct stacks_style calls = { .chains = true };
	struct recorder *recorder = context;
	struct stacks lbr, chains;
	size_t i;

	begin(&lbr, recorder->out, "branches", &branches);
	begin(&chains, recorder->out, "calls", &calls);
	add_maps(&lbr, pid);
	add_maps(&chains, pid);
	for (i = 0; i < recorder->sample_count; i++) {
		const struct sample *sample = &recorder->samples[i];

		if (sample->entry_count)
			stacks_sample(&lbr, sample->time, PID, sample->entries,
				      sample->entry_count);
		else
			stacks_chain(&chains, sample->time, PID, sample->ip, 1,
				     sample->chain, sample->length, NULL, 0);
	}
	stacks_end(&lbr);
	stacks_end(&chains);
}

int main(int argc, char **argv)
{
	struct recorder recorder = { .out = argv[1] };
	const struct stepping stepping = { see, write_all, &recorder };

	if (argc < 3)
		return 2;
	stepping_run(&stepping, argv + 2);
	free(recorder.samples);
	return 0;
}
