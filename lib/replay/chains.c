// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * From sampled call stacks (perf record -g) to calling contexts. A repeated
 * stack is recognised by its call sites. For other stacks, the procedures
 * around the sites are looked up.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "reports/contexts.h"
#include "deferred.h"
#include "engine/types.h"
#include "playback.h"
#include "code/procedures.h"
#include "replay.h"
#include "code/stack_dump.h"

enum {
	ADDRESSES_MAX	= UINT16_MAX / sizeof(uint64_t),
	STACK_DEFAULT	= 127,	/* frames: kernel.perf_event_max_stack */
	NULL_END	= 4096,	/* nothing is mapped below */
	WAITING_MAX	= 4 << 20,	/* bytes of chains that lack their user
					 * part; each round searches all of
					 * them */
};

/* The highest addresses are markers in a call chain. */
#define MARKER_MIN	((uint64_t)PERF_CONTEXT_MAX)

enum chain_kind {
	CHAIN_KNOWN,		/* the chain is complete */
	CHAIN_DEFERRED,		/* its user part is in another record */
	CHAIN_PART,		/* it is such a user part, without a sample */
};

/*
 * A sample in a round. Its addresses follow it, and then the user stack if it
 * must be unwound.
 */
struct chain {
	uint64_t time;
	uint64_t weight;
	uint64_t ip, sp, bp, r10;	/* of the user, if there is a stack */
	uint32_t pid;
	uint32_t count;		/* of addresses: the sample's, and call sites */
	uint32_t size;		/* bytes of the stack; 0: no unwinding needed */
	uint32_t tid;
	enum chain_kind kind;
	uint64_t cookie;	/* identifies the user part */
};

struct chains {
	struct playback playback;
	struct procedures *procedures;
	struct stack_unwinder *unwinder;
	bool chosen;			/* the event to replay is known */
	struct perf_event_attr event;
	uint64_t samples;		/* of that event */
	uint64_t cut;			/* with as many frames as perf records
					 * at most */
	uint64_t walked;		/* new stacks, approximately */
	uint64_t broken;		/* of these, with addresses outside
					 * code */
	uint64_t unwound;		/* stacks unwound from memory */
	uint64_t ended[STACK_ENDS];	/* by the reason for their end */
	uint64_t foreign;		/* with memory of another kind of CPU */
	struct deferred *deferred;	/* user parts that came in their own
					 * records */
	struct round waiting;		/* chains that wait for their user
					 * part */
	uint64_t unmet;			/* number of chains that never got
					 * one */
	uint64_t addresses[ADDRESSES_MAX];
	uint64_t of[ADDRESSES_MAX];	/* procedures that contain the
					 * addresses */
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

/*
 * Returns true if samples may have the stack as memory, which must be unwound.
 */
static bool has_memory(const struct perf_event_attr *attr)
{
	const uint64_t both = PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;

	return (attr->sample_type & both) == both;
}

static bool has_chains(const struct perf_event_attr *attr)
{
	return attr->sample_type & PERF_SAMPLE_CALLCHAIN ||
	       has_call_stack(attr) || has_memory(attr);
}

static int chains_expected(struct hwprof_file *file)
{
	size_t i;

	for (i = 0; i < file->event_count; i++)
		if (has_chains(&file->events[i].attr))
			return 0;
	return file_fail(file, -ENOENT,
			 "has no stacks of calls: record with 'perf record -g', or report on it, if hwprof recorded it");
}

/*
 * On hybrid machines the upper half of config selects the PMU of a kind of
 * core.
 */
static uint64_t config_of(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE ||
	       attr->type == PERF_TYPE_HW_CACHE ? (uint32_t)attr->config :
						  attr->config;
}

static bool is_same_event(const struct perf_event_attr *a,
			  const struct perf_event_attr *b)
{
	return a->type == b->type && config_of(a) == config_of(b) &&
	       a->config1 == b->config1 && a->config2 == b->config2;
}

/*
 * Returns true for the event to replay: the requested one, or the file's first
 * with stacks. Weights of different events cannot be added.
 */
static bool is_replayed(struct chains *chains, const struct file_event *event)
{
	struct playback *playback = &chains->playback;
	const struct hwprof_file *file = playback->file;
	size_t i;

	for (i = 0; i < file->event_count && !chains->chosen; i++) {
		if (!has_chains(&file->events[i].attr) ||
		    !playback_wants(playback, &file->events[i]))
			continue;
		chains->event = file->events[i].attr;
		chains->chosen = true;
	}
	return chains->chosen && is_same_event(&event->attr, &chains->event) &&
	       playback_take_event(playback, event);
}

/* --- stacks ------------------------------------------------------------- */

/* Returns an address inside the call instruction that returns to @address. */
static uint64_t site_before(uint64_t address)
{
	return address ? address - 1 : 0;
}

/* Parts that markers begin. A chain without markers is the host's. */
enum part { PART_HOST, PART_USER, PART_GUEST, PART_OTHER };

static enum part part_of(uint64_t marker)
{
	switch ((int64_t)marker) {
	case PERF_CONTEXT_USER:
		return PART_USER;
	case PERF_CONTEXT_KERNEL:
	case PERF_CONTEXT_HV:
		return PART_HOST;
	case PERF_CONTEXT_GUEST:
	case PERF_CONTEXT_GUEST_KERNEL:
	case PERF_CONTEXT_GUEST_USER:
		return PART_GUEST;
	}
	return PART_OTHER;
}

/*
 * Returns true if the chain has addresses behind a marker of the @wanted part.
 */
static bool has_part(struct byte_reader chain, enum part wanted)
{
	enum part part = PART_HOST;
	uint64_t address;

	while (reader_u64(&chain, &address)) {
		if (address >= MARKER_MIN)
			part = part_of(address);
		else if (part == wanted)
			return true;
	}
	return false;
}

static bool is_wanted(enum part part, bool guest)
{
	return guest ? part == PART_GUEST :
		       part == PART_HOST || part == PART_USER;
}

/*
 * Copies the addresses of a call chain that belong to the @guest, or to the
 * host. Returns their number. The first address of each side, kernel and user,
 * is where it ran; the others are return addresses.
 */
static uint32_t copy_callchain(uint64_t *to, struct byte_reader chain,
			       bool guest)
{
	enum part part = guest ? PART_GUEST : PART_HOST;
	uint64_t address;
	uint32_t count = 0;
	bool first = true;

	while (reader_u64(&chain, &address)) {
		if (address == PERFDATA_CONTEXT_USER_DEFERRED)
			break;
		if (address < MARKER_MIN) {
			if (is_wanted(part, guest))
				to[count++] = first ? address :
						      site_before(address);
			first = false;
			continue;
		}
		first = true;
		part = part_of(address);
	}
	return count;
}

/* Returns the index at which the user part begins. */
static uint32_t count_kernel(const uint64_t *addresses, uint32_t count)
{
	uint32_t i = 0;

	while (i < count && window_in_kernel(addresses[i]))
		i++;
	return i;
}

/* Appends the calls of a branch stack to the address of the sample. */
static uint32_t copy_call_stack(uint64_t *to, uint32_t count, uint64_t ip,
				struct byte_reader branches)
{
	uint32_t user = count_kernel(to, count);
	struct window_branch branch;

	if (!reader_left(&branches))
		return count;		/* the chain has the calls */
	count = min(count, user + 1);
	while (count < ADDRESSES_MAX &&
	       reader_copy(&branches, &branch, sizeof(branch))) {
		if (count == user && !window_in_kernel(ip))
			to[count++] = ip;
		else if (count == user)
			to[count++] = branch.to;
		if (count < ADDRESSES_MAX)
			to[count++] = branch.from;
	}
	return count;
}

/*
 * Returns true if the user part is deferred. The chain then ends with its
 * cookie.
 */
static bool is_deferred(struct byte_reader chain, uint64_t *cookie)
{
	uint64_t address;

	while (reader_u64(&chain, &address))
		if (address == PERFDATA_CONTEXT_USER_DEFERRED)
			return reader_u64(&chain, cookie);
	return false;
}

static uint32_t copy_addresses(struct chains *chains,
			       const struct perf_event_attr *attr,
			       const struct sample *sample, bool guest)
{
	uint32_t count = copy_callchain(chains->addresses, sample->callchain,
					guest);
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

/* Numbers of x86 registers in sample_regs_user. */
enum { SAMPLED_BP = 6, SAMPLED_SP = 7, SAMPLED_IP = 8, SAMPLED_R10 = 18 };

static bool get_register(const struct sample *sample, uint64_t mask,
			 unsigned int number, uint64_t *value)
{
	struct byte_reader at = sample->registers;
	uint64_t below = mask & ((1ULL << number) - 1);

	return mask >> number & 1 &&
	       reader_skip(&at, 8 * __builtin_popcountll(below)) &&
	       reader_u64(&at, value);
}

static bool set_registers(struct chain *chain, uint64_t mask,
			  const struct sample *sample)
{
	get_register(sample, mask, SAMPLED_R10, &chain->r10);
	return sample->abi == PERF_SAMPLE_REGS_ABI_64 &&
	       get_register(sample, mask, SAMPLED_IP, &chain->ip) &&
	       get_register(sample, mask, SAMPLED_SP, &chain->sp) &&
	       get_register(sample, mask, SAMPLED_BP, &chain->bp);
}

/*
 * Returns true if the sample has the user stack only as memory. A kernel thread
 * has none. Other recorders write complete chains and no memory.
 */
static bool has_dump(const struct sample *sample)
{
	return reader_left(&sample->stack) && sample->abi &&
	       !has_part(sample->callchain, PART_USER);
}

/*
 * Takes the registers, and the kernel part of the chain, which perf still
 * records.
 */
static void take_dump(struct chains *chains, struct chain *chain,
		      const struct perf_event_attr *attr,
		      const struct sample *sample)
{
	if (!chains->playback.file->foreign &&
	    set_registers(chain, attr->sample_regs_user, sample)) {
		chain->size = reader_left(&sample->stack);
		chain->count = copy_callchain(chains->addresses,
					      sample->callchain, false);
	} else {
		chains->foreign++;
	}
}

/* Copies the parts of a sample that a round keeps. */
static int keep(struct playback *playback, const struct chain *chain,
		const struct sample *sample)
{
	size_t addresses = 8 * chain->count;
	size_t memory = (chain->size + 7) & ~7ULL;
	uint8_t *bytes = rounds_room(&playback->rounds,
				     sizeof(*chain) + addresses + memory);

	if (!bytes)
		return playback_no_memory(playback);
	memcpy(bytes, chain, sizeof(*chain));
	bytes += sizeof(*chain);
	memcpy(bytes, chains_of(playback)->addresses, addresses);
	if (chain->size)
		memcpy(bytes + addresses, sample->stack.at, chain->size);
	return 0;
}

/*
 * Returns the sample's process. A guest's chain may be followed by that of the
 * process in which it runs.
 */
static uint32_t pid_of(struct playback *playback, const struct record *record,
		       const struct sample *sample)
{
	uint32_t pid = playback_pid(playback, record);

	if (pid & PROCESS_GUEST || !has_part(sample->callchain, PART_GUEST))
		return pid;
	playback->guests++;
	return pid | PROCESS_GUEST;
}

static int take_sample(struct playback *playback, const struct record *record)
{
	const struct perf_event_attr *attr = &record->event->attr;
	struct chains *chains = chains_of(playback);
	struct chain chain = { .time = record->time };
	struct sample sample;
	bool guest;
	int error;

	if (!has_chains(attr))
		return 0;
	error = sample_parse(playback->file, record, &sample);
	if (error)
		return error;
	if (!is_replayed(chains, record->event)) {
		playback->unchosen++;
		return 0;
	}
	if (!playback_counts_branches(attr))
		playback->basis = HWPROF_BASIS_TIME;
	chain.weight = sample.period;
	chain.pid = pid_of(playback, record, &sample);
	chain.tid = record->tid;
	guest = chain.pid & PROCESS_GUEST;
	if (!guest && is_deferred(sample.callchain, &chain.cookie)) {
		chain.kind = CHAIN_DEFERRED;
		chain.ip = sample.ip;
		chain.count = copy_callchain(chains->addresses,
					     sample.callchain, false);
		return keep(playback, &chain, &sample);
	}
	if (!guest && has_dump(&sample))
		take_dump(chains, &chain, attr, &sample);
	if (!chain.size)
		chain.count = copy_addresses(chains, attr, &sample, guest);
	return keep(playback, &chain, &sample);
}

/* Keeps the user part of earlier chains. */
static int take_part(struct playback *playback, const struct record *record)
{
	static const struct sample none;
	struct chains *chains = chains_of(playback);
	struct chain chain = {
		.time = record->time, .pid = record->pid, .tid = record->tid,
		.kind = CHAIN_PART,
	};
	struct byte_reader body = record->body, addresses;
	uint64_t count;

	if (record->type != PERFDATA_CALLCHAIN_DEFERRED)
		return 0;
	if (!reader_u64(&body, &chain.cookie) || !reader_u64(&body, &count) ||
	    count > reader_left(&body) / 8 ||
	    !reader_part(&body, 8 * count, &addresses))
		return file_damaged(playback->file, record->offset,
				    "a deferred call chain is cut off");
	chain.count = copy_callchain(chains->addresses, addresses, false);
	return keep(playback, &chain, &none);
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
 * Finds the procedures of a chain, and sets how many of its calls to trust. In
 * code without frame pointers a supposed return address may lead anywhere, and
 * nothing behind it is a caller.
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
	/* Programs start with their arguments at the end of the stack. */
	chains->broken += i < chain->count && chains->addresses[i] >= NULL_END;
	return 0;
}

static int feed(struct chains *chains, const struct chain *chain,
		uint32_t program)
{
	struct user_engine *engine = &chains->playback.engine;
	struct stream_stack stack = {
		.sites = chains->addresses + 1, .procedures = chains->of + 1,
		.weight = chain->weight, .depth = chain->count - 1,
		.space = program,
	};
	int error = find_procedure(chains, chain, program, 0);

	stack.procedure = chains->of[0];
	if (error || user_engine_count_stack(engine, &stack))
		return error;
	error = find_procedures(chains, chain, program, &stack.used);
	if (error || user_engine_feed_stack(engine, &stack))
		return error;
	return user_engine_retire(engine);
}

/* Appends the user's calls to those of the kernel. Returns 0 or -ENOMEM. */
static int unwind(struct chains *chains, struct chain *chain, uint32_t program,
		  const uint8_t *memory)
{
	const struct stack_dump dump = {
		.ip = chain->ip, .sp = chain->sp, .bp = chain->bp,
		.r10 = chain->r10,
		.memory = reader_of(memory, chain->size),
	};
	uint64_t *to = chains->addresses + chain->count;
	enum stack_end end;
	int count, i;

	*to++ = dump.ip;
	count = stack_unwind(chains->unwinder, program, chain->pid, chain->time,
			     dump, to, ADDRESSES_MAX - chain->count - 1, &end);
	if (count < 0)
		return count;
	for (i = 0; i < count; i++)
		to[i] = site_before(to[i]);
	chain->count += 1 + count;
	chains->unwound++;
	chains->ended[end]++;
	return 0;
}

static int take_chain(struct chains *chains, struct chain *chain,
		      const uint8_t *memory)
{
	struct playback *playback = &chains->playback;
	uint32_t program = playback_program(playback, chain->pid, chain->time);

	if (!program ||
	    (chain->size && unwind(chains, chain, program, memory)) ||
	    feed(chains, chain, program))
		return playback_no_memory(playback);
	chains->samples++;
	return 0;
}

/* Returns the chain at *@at of a round, and the @bytes behind it. */
static struct chain next_chain(const struct round *round, size_t *at,
			       const uint8_t **bytes)
{
	struct chain chain;

	memcpy(&chain, round->bytes + *at, sizeof(chain));
	*bytes = round->bytes + *at + sizeof(chain);
	*at += sizeof(chain) + 8 * (size_t)chain.count +
	       ((chain.size + 7) & ~7ULL);
	return chain;
}

/*
 * Collects the user parts of a round before its samples, because they may come
 * in a ring that is read later.
 */
static int find_parts(struct chains *chains, const struct round *round)
{
	const uint8_t *bytes;
	size_t at = 0;
	int error = 0;

	while (at < round->size && !error) {
		struct chain chain = next_chain(round, &at, &bytes);

		if (chain.kind != CHAIN_PART)
			continue;
		memcpy(chains->addresses, bytes, 8 * chain.count);
		error = deferred_add(chains->deferred, chain.tid, chain.cookie,
				     chains->addresses, chain.count);
	}
	return error;
}

/*
 * Takes a chain, followed by its user part; a @count below 0 means there is
 * none.
 */
static int take_joined(struct chains *chains, struct chain *chain,
		       const uint8_t *bytes, const uint64_t *part, int count)
{
	uint32_t room = ADDRESSES_MAX - chain->count;

	memcpy(chains->addresses, bytes, 8 * chain->count);
	if (count < 0)
		chains->unmet++;
	if (count > 0 && (uint32_t)count > room)
		count = room;
	if (count > 0) {
		memcpy(chains->addresses + chain->count, part, 8 * count);
		chain->count += count;
	}
	/* Only the address of the sample is known. */
	if (!chain->count)
		chains->addresses[chain->count++] = chain->ip;
	return take_chain(chains, chain, NULL);
}

/* Takes chains whose user part has come, and moves the others to the front. */
static int retry_waiting(struct chains *chains, bool last)
{
	struct round *waiting = &chains->waiting;
	size_t at = 0, kept = 0;
	const uint64_t *part = NULL;
	const uint8_t *bytes;
	int error = 0;

	while (at < waiting->size && !error) {
		size_t from = at;
		struct chain chain = next_chain(waiting, &at, &bytes);
		int count = deferred_find(chains->deferred, chain.tid,
					  chain.cookie, &part);

		if (count < 0 && !last) {
			memmove(waiting->bytes + kept, waiting->bytes + from,
				at - from);
			kept += at - from;
		} else {
			error = take_joined(chains, &chain, bytes, part, count);
		}
	}
	waiting->size = error ? waiting->size : kept;
	return error;
}

/*
 * Keeps a chain that waits for its user part: the thread may sleep in the
 * kernel for long.
 */
static int wait_for_part(struct chains *chains, const struct chain *chain,
			 const uint8_t *bytes)
{
	size_t size = 8 * (size_t)chain->count;
	uint8_t *room = round_room(&chains->waiting, sizeof(*chain) + size);

	if (!room)
		return -ENOMEM;
	memcpy(room, chain, sizeof(*chain));
	memcpy(room + sizeof(*chain), bytes, size);
	return 0;
}

static int take_deferred(struct chains *chains, struct chain *chain,
			 const uint8_t *bytes)
{
	const uint64_t *part = NULL;
	int count = deferred_find(chains->deferred, chain->tid, chain->cookie,
				  &part);

	if (count >= 0 || chains->waiting.size >= WAITING_MAX)
		return take_joined(chains, chain, bytes, part, count);
	return wait_for_part(chains, chain, bytes) ?
	       playback_no_memory(&chains->playback) : 0;
}

static int take_known(struct chains *chains, struct chain *chain,
		      const uint8_t *bytes)
{
	size_t addresses = 8 * (size_t)chain->count;

	memcpy(chains->addresses, bytes, addresses);
	return take_chain(chains, chain, bytes + addresses);
}

static int take_round(struct playback *playback)
{
	const struct round *round = &playback->rounds.older;
	struct chains *chains = chains_of(playback);
	const uint8_t *bytes;
	size_t at = 0;
	int error;

	if (find_parts(chains, round))
		return playback_no_memory(playback);
	error = retry_waiting(chains, false);
	while (at < round->size && !playback->failed && !error) {
		struct chain chain = next_chain(round, &at, &bytes);

		if (chain.kind == CHAIN_KNOWN)
			error = take_known(chains, &chain, bytes);
		else if (chain.kind == CHAIN_DEFERRED)
			error = take_deferred(chains, &chain, bytes);
	}
	deferred_turn(chains->deferred);
	return error;
}

/* Takes the remaining chains: no user part will follow. */
static void flush_waiting(struct playback *playback)
{
	if (retry_waiting(chains_of(playback), true))
		playback->failed = true;
}

/* --- all of it ---------------------------------------------------------- */

/* Warns why calls are missing in stacks that were unwound. */
static int warn_of_ends(const struct chains *chains, struct warnings *warnings)
{
	uint64_t dump = chains->ended[STACK_END_DUMP];
	uint64_t tables = chains->ended[STACK_END_TABLES];
	int error = 0;

	if (dump)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" stacks go on behind the memory that was recorded of them: their outermost calls are missing; record more (perf record --call-graph dwarf,65528)",
			dump, chains->unwound);
	if (tables)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" stacks end in code that has no table for unwinding, or that could not be read: its callers are missing",
			tables, chains->unwound);
	if (chains->foreign)
		error |= warnings_add(
			warnings,
			"%" PRIu64
			" stacks are not of 64-bit x86 code, and were not unwound: the user's calls in them are missing",
			chains->foreign);
	return error;
}

static int warn(struct playback *playback)
{
	struct warnings *warnings = &playback->profile->warnings;
	const struct chains *chains = chains_of(playback);
	int error = 0;

	if (chains->cut)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" stacks are as deep as perf records them: who made their outermost calls may be missing (perf record --max-stack, kernel.perf_event_max_stack)",
			chains->cut, chains->samples);
	if (chains->broken)
		error |= warnings_add(
			warnings,
			"%" PRIu64 " of %" PRIu64
			" stacks that were not seen before lead where no code is, as where it keeps no frame pointers: what would have called from there is left out",
			chains->broken, chains->walked);
	if (chains->unmet)
		error |= warnings_add(warnings,
				      "%" PRIu64 " of %" PRIu64
				      " stacks were to get their user's calls later, and did not: these are missing",
				      chains->unmet, chains->samples);
	return error | warn_of_ends(chains, warnings);
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
	.record = take_part,
	.flush = flush_waiting,
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
		chains->unwinder = stack_unwinder_new(profile->file,
						      playback->processes,
						      profile->objects);
		chains->deferred = deferred_new();
		error = chains->procedures && chains->unwinder &&
			chains->deferred ?
			playback_run(playback) : playback_no_memory(playback);
	}
	stack_unwinder_free(chains->unwinder);
	procedures_free(chains->procedures);
	deferred_free(chains->deferred);
	free(chains->waiting.bytes);
	playback_destroy(playback);
	free(chains);
	return error;
}
