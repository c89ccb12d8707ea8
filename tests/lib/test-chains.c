// SPDX-License-Identifier: GPL-2.0-only
/*
 * From call stacks to calling contexts. Each map of the recorded processes is a
 * procedure, because there are no objects to read. Trees of random stacks are
 * compared with those of the simplest code. Handmade stacks test what perf and
 * hardware do besides.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "converted.h"
#include "found.h"
#include "hwprof.h"
#include "stacks.h"
#include "tests/engine/random.h"
#include "tests/engine/seeds.h"

enum {
	PID		= 4242,
	PROCEDURES	= 12,
	SIZE		= 0x1000,	/* of the map of a procedure */
	DEPTH		= 40,
	CHAINS		= 8192,
	NAME		= 600,
};

#define BASE		0x400000ULL
#define KERNEL		0xffffffff81000000ULL
#define CONTEXT(side)	((uint64_t)PERF_CONTEXT_##side)

static uint64_t begin_of(unsigned int procedure)
{
	return BASE + procedure * 2 * SIZE;
}

static char path[64];

static void begin(struct stacks *stacks, const struct stacks_style *style)
{
	unsigned int i;

	strcpy(path, "/tmp/hwprof-test-XXXXXX");
	close(mkstemp(path));
	stacks_begin(stacks, path, style);
	stacks_comm(stacks, 1, PID, "prog", true);
	for (i = 0; i < PROCEDURES; i++) {
		char name[32];

		snprintf(name, sizeof(name), "/no/%c", 'a' + i);
		stacks_map(stacks, 2, PID, begin_of(i), SIZE, 0, name);
	}
}

static int try_replay(struct hwprof_profile **contexts, unsigned int flags,
		      char message[512])
{
	return converted_replay(HWPROF_KIND_CCT, path,
				&(struct hwprof_options){ .flags = flags },
				NULL, contexts, message);
}

static struct hwprof_profile *replay(struct stacks *stacks, unsigned int flags)
{
	struct hwprof_profile *contexts;
	char message[512];

	stacks_end(stacks);
	if (try_replay(&contexts, flags, message))
		print_message("# %s\n", message);
	unlink(path);
	assert_non_null(contexts);
	return contexts;
}

static void refuses(struct stacks *stacks, const char *words)
{
	struct hwprof_profile *contexts;
	char message[512];

	stacks_end(stacks);
	assert_int_equal(try_replay(&contexts, 0, message), -ENOENT);
	assert_null(contexts);
	assert_non_null(strstr(message, words));
	unlink(path);
}

/* --- chains by their procedures ----------------------------------------- */

struct sums {
	struct { char name[NAME]; uint64_t weight, samples; } chains[CHAINS];
	size_t count;
};

static void add(struct sums *sums, const char *name, uint64_t weight,
		uint64_t samples)
{
	size_t i;

	for (i = 0; i < sums->count; i++)
		if (!strcmp(sums->chains[i].name, name))
			break;
	assert_true(i < CHAINS);
	sums->count += i == sums->count;
	strcpy(sums->chains[i].name, name);
	sums->chains[i].weight += weight;
	sums->chains[i].samples += samples;
}

/* Writes the chain of a context, such as "prog/a/b". */
static void name_chain(char *name, const struct hwprof_context *context)
{
	if (!context->parent) {
		strcpy(name, context->comm ? context->comm : "?");
		return;
	}
	name_chain(name, context->parent);
	strcat(name, "/");
	strcat(name, !strncmp(context->object, "/no/", 4) ?
		     context->object + 4 : context->object);
}

static struct sums *sum_up(const struct hwprof_profile *contexts)
{
	struct sums *sums = calloc(1, sizeof(*sums));
	uint64_t weight = 0;
	size_t i;

	assert_non_null(sums);
	for (i = 0; i < hwprof_contexts_count(contexts); i++) {
		const struct hwprof_context *context =
			hwprof_contexts_get(contexts, i);
		char name[NAME];

		assert_int_equal(context->calls, 0);
		assert_int_equal(context->branches, 0);
		if (context->kind == HWPROF_CONTEXT_RECURSION) {
			assert_int_equal(context->weight, 0);
			assert_non_null(context->target);
			continue;
		}
		name_chain(name, context);
		weight += context->weight;
		add(sums, name, context->weight, context->samples);
		if (!context->parent)
			assert_true(context->all_weight >= context->weight);
	}
	assert_int_equal(weight, hwprof_profile_totals(contexts)->produced);
	assert_int_equal(weight, hwprof_profile_totals(contexts)->delivered);
	return sums;
}

static uint64_t weight_of(const struct hwprof_profile *contexts,
			  const char *name)
{
	struct sums *sums = sum_up(contexts);
	uint64_t weight = 0;
	size_t i;

	for (i = 0; i < sums->count; i++)
		if (!strcmp(sums->chains[i].name, name))
			weight = sums->chains[i].weight;
	free(sums);
	return weight;
}

static void compare(const struct hwprof_profile *contexts,
		    const struct sums *wanted)
{
	struct sums *found = sum_up(contexts);
	size_t i, k;

	for (i = 0; i < wanted->count; i++) {
		for (k = 0; k < found->count; k++)
			if (!strcmp(found->chains[k].name,
				    wanted->chains[i].name))
				break;
		assert_true(k < found->count);
		assert_int_equal(found->chains[k].weight,
				 wanted->chains[i].weight);
		assert_int_equal(found->chains[k].samples,
				 wanted->chains[i].samples);
		found->chains[k].samples = 0;
	}
	for (k = 0; k < found->count; k++)
		assert_int_equal(found->chains[k].samples, 0);
	free(found);
}

/* --- random stacks ------------------------------------------------------ */

/*
 * Folds by the paper's rule: a procedure that is on the chain already ends it
 * there.
 */
static void fold(char *name, const unsigned int *procedures, unsigned int depth)
{
	unsigned int i;

	strcpy(name, "prog");
	for (i = 0; i < depth; i++) {
		char one[3] = { '/', 'a' + procedures[i], 0 };
		char *again = strchr(name + 4, one[1]);

		if (again)
			again[1] = 0;
		else
			strcat(name, one);
	}
}

static void try_random(uint64_t random, const struct stacks_style *style,
		       unsigned int flags)
{
	struct sums *wanted = calloc(1, sizeof(*wanted));
	unsigned int procedures[DEPTH], depth = 0, i, k;
	struct hwprof_profile *contexts;
	struct stacks stacks;

	assert_non_null(wanted);
	begin(&stacks, style);
	for (i = 0; i < 1500; i++) {
		uint64_t chain[DEPTH + 1] = { CONTEXT(USER) }, period;
		char name[NAME];

		depth -= random_below(&random, depth + 1) / 2;
		while (depth < 2 || (depth < DEPTH && random_below(&random, 6)))
			procedures[depth++] = random_below(&random, PROCEDURES);
		for (k = 0; k < depth; k++)
			chain[depth - k] = begin_of(procedures[k]) + 1 +
					   random_below(&random, 3);
		period = 1 + random_below(&random, 1000);
		stacks_chain(&stacks, 10 + i, PID, chain[1], period, chain,
			     depth + 1, NULL, 0);
		if (random_once_in(&random, 100))
			stacks_round(&stacks);
		fold(name, procedures, depth);
		add(wanted, name, period, 1);
	}
	contexts = replay(&stacks, flags);
	compare(contexts, wanted);
	hwprof_profile_free(contexts);
	free(wanted);
}

static void test_random(void **state)
{
	static const struct stacks_style styles[] = {
		{ .chains = true, .sample_type = PERF_SAMPLE_TIME },
		{ .chains = true, .sample_type = PERF_SAMPLE_TIME |
		  PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER, .zstd = true },
		{ .chains = true, .pipe = true,
		  .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_READ },
		{ .chains = true },
	};
	uint64_t seed;
	size_t i;

	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++)
		for (seed = 1; seed <= seeds(2); seed++)
			try_random(seed * 7919 + i, &styles[i],
				   seed % 2 ? HWPROF_MERGE_SITES : 0);
}

/* --- what perf and hardware do ------------------------------------------ */

static const struct stacks_style plain = {
	.chains = true, .sample_type = PERF_SAMPLE_TIME,
};

static void test_sides(void **state)
{
	const uint64_t chain[] = {
		CONTEXT(KERNEL), KERNEL + 5, KERNEL + 0x123456,
		/* The user side was left at the first byte of c. */
		CONTEXT(USER), begin_of(2), begin_of(1) + 9, begin_of(0) + 9,
	};
	const uint64_t guest[] = {
		CONTEXT(GUEST_KERNEL), KERNEL + 5, CONTEXT(GUEST_USER),
		begin_of(5), CONTEXT(USER), begin_of(3) + 1,
	};
	struct hwprof_profile *contexts;
	struct stacks stacks;

	begin(&stacks, &plain);
	stacks_chain(&stacks, 10, PID, KERNEL + 5, 7, chain, 7, NULL, 0);
	stacks_chain(&stacks, 11, PID, KERNEL + 5, 5, guest, 6, NULL, 0);
	/* Only the address of the sample. */
	stacks_chain(&stacks, 12, PID, begin_of(4) + 1, 3, NULL, 0, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/a/b/c/[kernel]"), 7);
	assert_int_equal(weight_of(contexts, "guest/[guest]/[guest kernel]"),
			 5);
	assert_int_equal(weight_of(contexts, "prog/e"), 3);
	assert_true(warns(contexts, "1 samples are of virtual machines"));
	hwprof_profile_free(contexts);
}

/* --- user parts that come later ----------------------------------------- */

#define DEFERRED	((uint64_t)-640)

/* Adds a record of a user part: c called by b called by a. */
static void add_part(struct stacks *stacks, uint64_t time, uint32_t tid,
		     uint64_t cookie)
{
	const uint64_t body[] = {
		cookie, 4, CONTEXT(USER), begin_of(2), begin_of(1) + 9,
		begin_of(0) + 9,
		/* fields that samples have, too: pid and tid, time */
		(uint64_t)tid << 32 | PID, time,
	};

	stacks_record(stacks, 22, PERF_RECORD_MISC_USER, body, sizeof(body));
}

/* Adds a sample of the kernel with one call, or of the user. */
static void add_deferred(struct stacks *stacks, uint64_t time, uint64_t cookie,
			 uint64_t weight, bool kernel)
{
	const uint64_t chain[] = {
		CONTEXT(KERNEL), KERNEL + 5, DEFERRED, cookie,
	};

	stacks_chain(stacks, time, PID, kernel ? KERNEL + 5 : begin_of(4),
		     weight, kernel ? chain : chain + 2, kernel ? 4 : 2, NULL,
		     0);
}

static void test_deferred(void **state)
{
	struct hwprof_profile *contexts;
	struct stacks stacks;
	int i;

	begin(&stacks, &plain);
	/*
	 * Two samples during one stay in the kernel; a cookie may look like a
	 * marker.
	 */
	add_deferred(&stacks, 10, UINT64_MAX - 100, 7, true);
	add_deferred(&stacks, 11, UINT64_MAX - 100, 2, true);
	add_part(&stacks, 12, PID, UINT64_MAX - 100);
	/* A sample of user code whose part comes first in the file. */
	add_part(&stacks, 21, PID, 8);
	add_deferred(&stacks, 20, 8, 5, false);
	/* This sample sleeps in the kernel for many rounds. */
	add_deferred(&stacks, 30, 9, 100, true);
	for (i = 0; i < 10; i++) {
		stacks_round(&stacks);
		add_deferred(&stacks, 40 + i, 1000 + i, 1, true);
		add_part(&stacks, 41 + i, PID, 1000 + i);
	}
	add_part(&stacks, 60, PID, 9);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/a/b/c/[kernel]"), 119);
	assert_int_equal(weight_of(contexts, "prog/a/b/c"), 5);
	assert_null(strstr(hwprof_profile_warning(contexts, 0), "later"));
	hwprof_profile_free(contexts);
}

/* Parts may be lost, belong to another thread, or be missing at the end. */
static void test_deferred_for_ever(void **state)
{
	struct hwprof_profile *contexts;
	struct stacks stacks;

	begin(&stacks, &plain);
	add_deferred(&stacks, 10, 7, 3, true);
	add_part(&stacks, 11, PID + 1, 7);
	add_part(&stacks, 11, PID, 8);
	stacks_round(&stacks);
	add_deferred(&stacks, 20, 9, 5, false);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/[kernel]"), 3);
	assert_int_equal(weight_of(contexts, "prog/e"), 5);
	assert_true(
		warns(contexts,
		      "2 of 2 stacks were to get their user's calls later"));
	hwprof_profile_free(contexts);
}

/* A count beyond the record's end is damage. */
static void test_deferred_cut(void **state)
{
	const uint64_t body[] = { 7, UINT64_MAX / 8, CONTEXT(USER), 0, 0 };
	struct hwprof_profile *contexts;
	char message[512];
	struct stacks stacks;

	begin(&stacks, &plain);
	add_deferred(&stacks, 10, 7, 3, true);
	stacks_record(&stacks, 22, PERF_RECORD_MISC_USER, body, sizeof(body));
	stacks_end(&stacks);
	assert_int_equal(try_replay(&contexts, 0, message), -EBADMSG);
	assert_non_null(strstr(message, "a deferred call chain is cut off"));
	unlink(path);
}

/* A call that is the last instruction of its procedure returns behind it. */
static void test_last_call(void **state)
{
	const uint64_t chain[] = {
		CONTEXT(USER), begin_of(1) + 4, begin_of(0) + SIZE,
	};
	struct hwprof_profile *contexts;
	struct stacks stacks;

	begin(&stacks, &plain);
	stacks_chain(&stacks, 10, PID, chain[1], 7, chain, 3, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/a/b"), 7);
	hwprof_profile_free(contexts);
}

static void test_lbr(void **state)
{
	const struct stacks_style style = {
		.chains = true, .sample_type = PERF_SAMPLE_TIME,
		.filter = PERF_SAMPLE_BRANCH_CALL_STACK |
			  PERF_SAMPLE_BRANCH_USER,
	};
	const struct perf_branch_entry entries[] = {
		{ .from = begin_of(1) + 8, .to = begin_of(2) },
		{ .from = begin_of(0) + 8, .to = begin_of(1) },
	};
	/* Frame pointers and hardware disagree. */
	const uint64_t chain[] = {
		CONTEXT(USER), begin_of(2) + 3, begin_of(7) + 3,
	};
	const uint64_t kernel[] = { CONTEXT(KERNEL), KERNEL + 5 };
	struct hwprof_profile *contexts;
	struct stacks stacks;

	begin(&stacks, &style);
	stacks_chain(&stacks, 10, PID, chain[1], 7, chain, 3, entries, 2);
	stacks_chain(&stacks, 11, PID, KERNEL + 5, 5, kernel, 2, entries, 2);
	stacks_chain(&stacks, 12, PID, chain[1], 3, chain, 3, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/a/b/c"), 7);
	assert_int_equal(weight_of(contexts, "prog/a/b/c/[kernel]"), 5);
	assert_int_equal(weight_of(contexts, "prog/h/c"), 3);
	hwprof_profile_free(contexts);
}

static void test_cut(void **state)
{
	struct stacks_style style = plain;
	const uint64_t chain[] = {
		CONTEXT(USER), begin_of(2) + 3, begin_of(1) + 3,
	};
	struct hwprof_profile *contexts;
	struct stacks stacks;

	style.max_stack = 2;
	begin(&stacks, &style);
	stacks_chain(&stacks, 10, PID, chain[1], 7, chain, 3, NULL, 0);
	stacks_chain(&stacks, 11, PID, chain[1], 7, chain, 2, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_true(warns(contexts, "1 of 2 stacks are as deep as"));
	hwprof_profile_free(contexts);
}

/* Calls deeper than the engine follows count at the last node. */
static void test_deep(void **state)
{
	struct hwprof_profile *contexts;
	uint64_t chain[2001];
	struct stacks stacks;
	unsigned int i;

	begin(&stacks, &plain);
	chain[0] = CONTEXT(USER);
	for (i = 1; i <= 2000; i++)
		chain[i] = begin_of(i % 2) + 3;
	stacks_chain(&stacks, 10, PID, chain[1], 7, chain, 2001, NULL, 0);
	stacks_chain(&stacks, 11, PID, chain[1], 7, chain, 2001, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/a") +
			 weight_of(contexts, "prog/a/b"), 14);
	hwprof_profile_free(contexts);
}

/* An address without code cannot be a caller. */
static void test_broken(void **state)
{
	const uint64_t chain[] = {
		CONTEXT(USER), begin_of(2) + 3, begin_of(1) + 3, 0x12345,
		begin_of(0) + 3,
	};
	const uint64_t leaf[] = { CONTEXT(USER), 0x1234, begin_of(0) + 3 };
	struct hwprof_profile *contexts;
	struct stacks stacks;
	unsigned int i;

	begin(&stacks, &plain);
	for (i = 0; i < 3; i++)
		stacks_chain(&stacks, 10 + i, PID, chain[1], 7, chain, 5, NULL,
			     0);
	stacks_chain(&stacks, 20, PID, leaf[1], 5, leaf, 3, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/b/c"), 21);
	assert_int_equal(weight_of(contexts, "prog/a/[unknown]"), 5);
	assert_true(warns(contexts, "1 of 2 stacks that were not seen before"));
	hwprof_profile_free(contexts);
}

/* After an exec, the maps of the old program no longer apply. */
static void test_exec(void **state)
{
	const uint64_t chain[] = {
		CONTEXT(USER), begin_of(1) + 3, begin_of(0) + 3,
	};
	struct hwprof_profile *contexts;
	struct stacks stacks;

	begin(&stacks, &plain);
	stacks_chain(&stacks, 10, PID, chain[1], 7, chain, 3, NULL, 0);
	stacks_comm(&stacks, 11, PID, "other", true);
	stacks_map(&stacks, 12, PID, begin_of(0), SIZE, 0, "/no/x");
	stacks_map(&stacks, 12, PID, begin_of(1), SIZE, 0, "/no/y");
	stacks_chain(&stacks, 13, PID, chain[1], 5, chain, 3, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/a/b"), 7);
	assert_int_equal(weight_of(contexts, "other/x/y"), 5);
	hwprof_profile_free(contexts);
}

static void test_refusals(void **state)
{
	struct stacks_style style = { .sample_type = PERF_SAMPLE_TIME };
	struct stacks stacks;

	begin(&stacks, &style);
	refuses(&stacks, "has no stacks of calls");
}

/*
 * A sample may itself say that it is of a guest, without markers in its chain.
 */
static void test_guest(void **state)
{
	const uint64_t chain[] = {
		CONTEXT(GUEST_USER), begin_of(1) + 3, begin_of(0) + 3,
	};
	struct hwprof_profile *contexts;
	struct stacks stacks;

	begin(&stacks, &plain);
	stacks_chain(&stacks, 10, PID, chain[1], 7, chain + 1, 2, NULL, 0);
	stacks.misc = PERF_RECORD_MISC_GUEST_USER;
	stacks_chain(&stacks, 11, PID, chain[1], 3, chain, 3, NULL, 0);
	stacks_chain(&stacks, 11, PID, chain[1], 2, chain + 1, 2, NULL, 0);
	stacks_chain(&stacks, 12, PID, chain[1], 4, NULL, 0, NULL, 0);
	stacks.misc = PERF_RECORD_MISC_GUEST_KERNEL;
	stacks_chain(&stacks, 13, PID, KERNEL + 5, 5, NULL, 0, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/a/b"), 7);
	assert_int_equal(weight_of(contexts, "guest/[guest]"), 3 + 2 + 4);
	assert_int_equal(weight_of(contexts, "guest/[guest kernel]"), 5);
	assert_true(warns(contexts, "4 samples are of virtual machines"));
	hwprof_profile_free(contexts);
}

/* An empty dump beside a chain: the recorder has unwound it. */
static void test_whole_chains(void **state)
{
	struct stacks_style style = plain;
	const uint64_t chain[] = {
		CONTEXT(USER), begin_of(1) + 3, begin_of(0) + 3,
	};
	struct hwprof_profile *contexts;
	struct stacks stacks;
	int with;

	style.sample_type |= PERF_SAMPLE_STACK_USER;
	for (with = 0; with <= 1; with++) {
		if (with)
			style.sample_type |= PERF_SAMPLE_REGS_USER;
		begin(&stacks, &style);
		stacks_chain(&stacks, 10, PID, chain[1], 7, chain, 3, NULL, 0);
		stacks.memory = chain;
		stacks.memory_size = stacks.memory_room = sizeof(chain);
		stacks_chain(&stacks, 11, PID, chain[1], 5, chain, 3, NULL, 0);
		contexts = replay(&stacks, 0);
		assert_int_equal(weight_of(contexts, "prog/a/b"), 12);
		hwprof_profile_free(contexts);
	}
}

#define STACK	0x7ffc00001000ULL

/* User stack as memory: code without tables keeps frame pointers. */
static void test_dump(void **state)
{
	struct stacks_style style = plain;
	/* The frames of c, called by b, and of b, called by a, the last one. */
	const uint64_t memory[] = {
		1, 2, STACK + 40, begin_of(1) + 3, 5, 0, begin_of(0) + 3, 8,
	};
	const uint64_t kernel[] = { CONTEXT(KERNEL), KERNEL + 5 };
	struct hwprof_profile *contexts;
	struct stacks stacks;

	style.sample_type |= PERF_SAMPLE_STACK_USER | PERF_SAMPLE_REGS_USER;
	begin(&stacks, &style);
	stacks.registers[0] = STACK + 16;
	stacks.registers[1] = STACK;
	stacks.registers[2] = begin_of(2) + 1;
	stacks.memory = memory;
	stacks.memory_size = sizeof(memory);
	stacks.memory_room = 256;
	stacks_chain(&stacks, 10, PID, begin_of(2) + 1, 7, NULL, 0, NULL, 0);
	stacks_chain(&stacks, 11, PID, KERNEL + 5, 5, kernel, 2, NULL, 0);
	/* Only half of the stack was recorded. */
	stacks.memory_size = 32;
	stacks_chain(&stacks, 12, PID, begin_of(2) + 1, 3, NULL, 0, NULL, 0);
	/* A kernel thread has no user stack. */
	stacks.memory_room = stacks.memory_size = 0;
	stacks_chain(&stacks, 13, PID, KERNEL + 5, 2, kernel, 2, NULL, 0);
	contexts = replay(&stacks, 0);
	assert_int_equal(weight_of(contexts, "prog/a/b/c"), 7);
	assert_int_equal(weight_of(contexts, "prog/a/b/c/[kernel]"), 5);
	assert_int_equal(weight_of(contexts, "prog/b/c"), 3);
	assert_int_equal(weight_of(contexts, "prog/[kernel]"), 2);
	assert_true(
		warns(contexts, "3 of 3 stacks end in code that has no table"));
	hwprof_profile_free(contexts);
}

static int replay_event(const char *event, struct hwprof_profile **contexts,
			char message[512])
{
	const struct hwprof_replay_options replay = { .event = event };

	return converted_replay(HWPROF_KIND_CCT, path, NULL, &replay, contexts,
				message);
}

static void expect_event(const char *asked, const char *name, uint64_t weight)
{
	struct hwprof_profile *contexts;
	char message[512];

	assert_int_equal(replay_event(asked, &contexts, message), 0);
	assert_string_equal(hwprof_profile_event(contexts), name);
	assert_int_equal(weight_of(contexts, "prog/a/b"), weight);
	assert_true(warns(contexts, "samples are left out"));
	hwprof_profile_free(contexts);
}

/*
 * Among three events with chains, the file's first is replayed, whichever
 * sample is first.
 */
static void test_events(void **state)
{
	struct stacks_style style = plain;
	const uint64_t chain[] = {
		CONTEXT(USER), begin_of(1) + 3, begin_of(0) + 3,
	};
	struct hwprof_profile *contexts;
	struct stacks stacks;
	char message[512];
	int pipe, i;

	style.type = PERF_TYPE_SOFTWARE;
	style.sample_type |= PERF_SAMPLE_IDENTIFIER;
	style.events = 3;
	for (pipe = 0; pipe <= 1; pipe++) {
		style.pipe = pipe;
		begin(&stacks, &style);
		for (i = 2; i >= 0; i--) {
			stacks.event = i;
			stacks_chain(&stacks, 10, PID, chain[1], 7 + i, chain,
				     3, NULL, 0);
		}
		stacks_end(&stacks);
		expect_event(NULL, "cpu-clock", 7);
		expect_event("cpu-clock", "cpu-clock", 7);
		expect_event("task-clock", "task-clock", 8);
		expect_event("page-faults", "page-faults", 9);
		assert_int_equal(replay_event("cpu", &contexts, message),
				 -EINVAL);
		assert_non_null(
			strstr(message, "has no event 'cpu'; there are: cpu-clock, task-clock, page-faults"));
		unlink(path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_sides),
		cmocka_unit_test(test_deferred),
		cmocka_unit_test(test_deferred_for_ever),
		cmocka_unit_test(test_deferred_cut),
		cmocka_unit_test(test_last_call),
		cmocka_unit_test(test_lbr),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_deep),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_guest),
		cmocka_unit_test(test_whole_chains),
		cmocka_unit_test(test_dump),
		cmocka_unit_test(test_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
