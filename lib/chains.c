// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From sampled stacks of calls (perf record -g) to calling contexts. A stack that
 * was there before is known by its call sites; of others, the procedures that the
 * sites are in are looked up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "contexts.h"
#include "engine/types.h"
#include "playback.h"
#include "procedures.h"

enum {
	ADDRESSES_MAX	= UINT16_MAX / sizeof(uint64_t),
	STACK_DEFAULT	= 127,	/* frames: kernel.perf_event_max_stack */
	NULL_END	= 4096,	/* nothing is mapped before */
};

/* Markers in a call chain are the highest addresses. */
#define MARKER_MIN	((uint64_t)PERF_CONTEXT_MAX)

/* A sample in a round, followed by its addresses. */
struct chain {
	uint64_t time;
	uint64_t weight;
	uint32_t pid;
	uint32_t count;		/* of addresses: where it was, and call sites */
};

struct chains {
	struct playback playback;
	struct procedures *procedures;
	bool chosen;			/* it is known which event is replayed: */
	struct perf_event_attr event;
	uint64_t samples;		/* of it */
	uint64_t cut;			/* of these, with no more frames than perf
					 * records */
	uint64_t walked;		/* stacks that were new, more or less, */
	uint64_t broken;		/* and of these, not of code all the way */
	uint64_t others;		/* samples of other events */
	uint64_t addresses[ADDRESSES_MAX];
	uint64_t of[ADDRESSES_MAX];	/* the procedures that these are in */
};

static struct chains *chains_of(struct playback *playback)
{
	return container_of(playback, struct chains, playback);
}

/* --- events ------------------------------------------------------------- */

static bool has_call_stack(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	       attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK;
}

/* Its stack is in the sample as memory, for perf to unwind. */
static bool has_memory(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_STACK_USER;
}

static bool has_chains(const struct perf_event_attr *attr)
{
	return (attr->sample_type & PERF_SAMPLE_CALLCHAIN ||
		has_call_stack(attr)) && !has_memory(attr);
}

static int chains_expected(struct hwprof_file *file)
{
	bool memory = false;
	size_t i;

	for (i = 0; i < file->event_count; i++) {
		if (has_chains(&file->events[i].attr))
			return 0;
		memory |= has_memory(&file->events[i].attr);
	}
	if (memory)
		return file_fail(file, -ENOENT,
				 "has the stacks' memory and not their calls: record with 'perf record --call-graph fp' or '--call-graph lbr'");
	return file_fail(file, -ENOENT,
			 "has no stacks of calls: record with 'perf record -g', or report on it, if hwprof recorded it");
}

/* On hybrid machines each kind of core has its own PMU in the upper half. */
static uint64_t config_of(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE ||
	       attr->type == PERF_TYPE_HW_CACHE ? (uint32_t)attr->config :
						  attr->config;
}

/* Weights of different events cannot be added up. */
static bool is_replayed(struct chains *chains,
			const struct perf_event_attr *attr)
{
	if (!chains->chosen)
		chains->event = *attr;
	chains->chosen = true;
	return attr->type == chains->event.type &&
	       config_of(attr) == config_of(&chains->event) &&
	       attr->config1 == chains->event.config1 &&
	       attr->config2 == chains->event.config2;
}

/* --- stacks ------------------------------------------------------------- */

/* An address inside the call instruction that returns to @address. */
static uint64_t site_before(uint64_t address)
{
	return address ? address - 1 : 0;
}

/*
 * Writes down a call chain, as far as it is not of a guest, and says how long it
 * is. On each side, kernel and user, the first is where it was, not where a call
 * returns to.
 */
static uint32_t copy_callchain(uint64_t *to, struct span chain)
{
	bool first = true, wanted = true;
	uint64_t address;
	uint32_t count = 0;

	while (span_u64(&chain, &address)) {
		if (address < MARKER_MIN) {
			if (wanted)
				to[count++] = first ? address :
						      site_before(address);
			first = false;
			continue;
		}
		first = true;
		wanted = address == (uint64_t)PERF_CONTEXT_USER ||
			 address == (uint64_t)PERF_CONTEXT_KERNEL ||
			 address == (uint64_t)PERF_CONTEXT_HV;
	}
	return count;
}

/* Where the user's part of it begins. */
static uint32_t count_kernel(const uint64_t *addresses, uint32_t count)
{
	uint32_t i = 0;

	while (i < count && window_in_kernel(addresses[i]))
		i++;
	return i;
}

/* The calls of a branch stack follow what is known of where it was. */
static uint32_t copy_call_stack(uint64_t *to, uint32_t count, uint64_t ip,
				struct span branches)
{
	uint32_t user = count_kernel(to, count);
	struct window_branch branch;

	if (!span_left(&branches))
		return count;		/* then the chain has it */
	count = min(count, user + 1);
	while (count < ADDRESSES_MAX &&
	       span_copy(&branches, &branch, sizeof(branch))) {
		if (count == user && !window_in_kernel(ip))
			to[count++] = ip;
		else if (count == user)
			to[count++] = branch.to;
		if (count < ADDRESSES_MAX)
			to[count++] = branch.from;
	}
	return count;
}

static uint32_t copy_addresses(struct chains *chains,
			       const struct perf_event_attr *attr,
			       const struct sample *sample)
{
	uint32_t count = copy_callchain(chains->addresses, sample->callchain);
	uint32_t most = attr->sample_max_stack ? attr->sample_max_stack :
						 STACK_DEFAULT;

	if (has_call_stack(attr))
		count = copy_call_stack(chains->addresses, count, sample->ip,
					sample->branches);
	else
		chains->cut += count >= most;
	if (!count)
		chains->addresses[count++] = sample->ip;
	return count;
}

static int take_sample(struct playback *playback, const struct record *record)
{
	const struct perf_event_attr *attr = &record->event->attr;
	struct chains *chains = chains_of(playback);
	struct chain chain = { .time = record->time, .pid = record->pid };
	struct sample sample;
	uint8_t *bytes;
	int error;

	if (!has_chains(attr))
		return 0;
	error = sample_parse(playback->file, record, &sample);
	if (error)
		return error;
	if (!is_replayed(chains, attr)) {
		chains->others++;
		return 0;
	}
	if (!playback_counts_branches(attr))
		playback->basis = HWPROF_BASIS_TIME;
	chain.weight = sample.period;
	chain.count = copy_addresses(chains, attr, &sample);
	bytes = rounds_room(&playback->rounds,
			    sizeof(chain) + 8 * chain.count);
	if (!bytes)
		return playback_no_memory(playback);
	memcpy(bytes, &chain, sizeof(chain));
	memcpy(bytes + sizeof(chain), chains->addresses, 8 * chain.count);
	return 0;
}

/* --- rounds ------------------------------------------------------------- */

static int find_procedure(struct chains *chains, const struct chain *chain,
			  uint32_t program, uint32_t index)
{
	return procedures_find(chains->procedures, program, chain->pid,
			       chain->time, chains->addresses[index],
			       &chains->of[index]);
}

/*
 * How many of its calls are believed: where code keeps no frame pointers, what is
 * taken for one leads anywhere, and what follows is no caller.
 */
static int find_procedures(struct chains *chains, const struct chain *chain,
			   uint32_t program, uint32_t *used)
{
	uint32_t i;

	for (i = 1; i < chain->count; i++) {
		if (find_procedure(chains, chain, program, i))
			return -ENOMEM;
		if (!chains->of[i])
			break;
	}
	*used = i - 1;
	chains->walked++;
	/* Where a program starts, there is what it was given. */
	chains->broken += i < chain->count && chains->addresses[i] >= NULL_END;
	return 0;
}

static int feed(struct chains *chains, const struct chain *chain,
		uint32_t program)
{
	struct summary *summary = &chains->playback.summary;
	struct stream_stack stack = {
		.sites = chains->addresses + 1, .procedures = chains->of + 1,
		.weight = chain->weight, .depth = chain->count - 1,
		.space = program,
	};
	int error = find_procedure(chains, chain, program, 0);

	stack.procedure = chains->of[0];
	if (error || summary_count_stack(summary, &stack))
		return error;
	error = find_procedures(chains, chain, program, &stack.used);
	if (!error && !summary_feed_stack(summary, &stack))
		summary_retire(summary);
	return error;
}

static int take_round(struct playback *playback)
{
	const struct round *round = &playback->rounds.older;
	struct chains *chains = chains_of(playback);
	struct chain chain;
	uint32_t program;
	size_t at = 0;

	while (at < round->size && !playback->failed) {
		memcpy(&chain, round->bytes + at, sizeof(chain));
		at += sizeof(chain);
		memcpy(chains->addresses, round->bytes + at, 8 * chain.count);
		at += 8 * chain.count;
		program = playback_program(playback, chain.pid, chain.time);
		if (!program || feed(chains, &chain, program))
			return playback_no_memory(playback);
		chains->samples++;
	}
	return 0;
}

/* --- all of it ---------------------------------------------------------- */

static int warn(struct playback *playback)
{
	struct warnings *warnings = &playback->profile->warnings;
	const struct chains *chains = chains_of(playback);
	int error = 0;

	if (chains->cut)
		error |= warnings_add(warnings, "%" PRIu64 " of %" PRIu64 " stacks are as deep as perf records them: who made their outermost calls may be missing (perf record --max-stack, kernel.perf_event_max_stack)",
				      chains->cut, chains->samples);
	if (chains->broken)
		error |= warnings_add(warnings, "%" PRIu64 " of %" PRIu64 " stacks that were not seen before lead where no code is, as where it keeps no frame pointers: what would have called from there is left out",
				      chains->broken, chains->walked);
	if (chains->others)
		error |= warnings_add(warnings, "%" PRIu64 " samples are left out: they are of other events than the first one",
				      chains->others);
	return error;
}

static int take_row(struct hwprof_profile *profile,
		    const struct hwprof_row *row, uint64_t time)
{
	return contexts_add_row(profile, (const void *)row, time);
}

static const struct playback_kind chains_playback = {
	.engine = &cct_engine,
	.keyed = true,
	.row = take_row,
	.expected = chains_expected,
	.sample = take_sample,
	.round = take_round,
	.warn = warn,
};

int contexts_replay(struct hwprof_profile *profile, void *options)
{
	struct chains *chains = calloc(1, sizeof(*chains));
	struct playback *playback;
	int error;

	if (!chains)
		return -ENOMEM;
	playback = &chains->playback;
	error = playback_init(playback, &chains_playback, profile, options);
	if (!error) {
		chains->procedures = procedures_new(profile->file,
						    playback->processes,
						    profile->objects);
		error = chains->procedures ? playback_run(playback) :
					     playback_no_memory(playback);
	}
	procedures_free(chains->procedures);
	playback_destroy(playback);
	free(chains);
	return error;
}
