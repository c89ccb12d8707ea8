// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "repeats.h"

enum {
	WAYS		= 4,
	SETS		= 1 << 11,
	REPEATS		= SETS * WAYS,
	BRANCHES	= 32,	/* what most hardware has; longer are not kept */
	CACHE_LINE	= 64,
};

/* Of a branch's flags, those that say what it does. */
#define FLAGS	(WINDOW_ABORT | WINDOW_SPEC_MASK |			       \
		 WINDOW_TYPE_MASK << WINDOW_TYPE_SHIFT)

#define PRIME	0x9e3779b97f4a7c15ULL

struct repeat {
	struct stack stack;	/* as it was fed, with the branches below */
	uint32_t turn;		/* when that was; 0: not yet */
	uint32_t held;		/* by so many stacks */
	uint32_t times;		/* it was counted since it was fed */
	uint32_t waiting;	/* place in repeats->waiting, if times */
	struct window_branch branches[BRANCHES];
	uint8_t kinds[BRANCHES];
};

/* What is looked at first. */
struct set {
	uint64_t keys[WAYS];	/* 0: free */
	struct repeat *ways[WAYS];
	uint32_t heat[WAYS];	/* how often it was found, of late */
};

struct repeats {
	repeats_feed feed;
	void *context;
	uint32_t turn;		/* from 1 on */
	struct set *sets;
	struct repeat *all;	/* as they came, so that few pages are in use */
	uint32_t count;
	struct repeat **waiting; /* those with times */
	uint32_t waiting_count;
};

struct repeats *repeats_new(repeats_feed feed, void *context)
{
	struct repeats *repeats = calloc(1, sizeof(*repeats));

	if (!repeats)
		return NULL;
	*repeats = (struct repeats){
		.feed = feed, .context = context, .turn = 1,
		.sets = calloc(SETS, sizeof(*repeats->sets)),
		.all = calloc(REPEATS, sizeof(*repeats->all)),
		.waiting = calloc(REPEATS, sizeof(*repeats->waiting)),
	};
	if (!repeats->sets || !repeats->all || !repeats->waiting) {
		repeats_free(repeats);
		return NULL;
	}
	return repeats;
}

void repeats_free(struct repeats *repeats)
{
	if (!repeats)
		return;
	free(repeats->sets);
	free(repeats->all);
	free(repeats->waiting);
	free(repeats);
}

/* --- feeding ---------------------------------------------------------------- */

static void feed(const struct repeats *repeats, struct repeat *repeat)
{
	repeats->feed(repeats->context, &repeat->stack, repeat->kinds,
		      repeat->times);
	repeat->times = 0;
}

static void feed_one(struct repeats *repeats, struct repeat *repeat)
{
	struct repeat *last = repeats->waiting[--repeats->waiting_count];

	repeats->waiting[repeat->waiting] = last;
	last->waiting = repeat->waiting;
	feed(repeats, repeat);
}

bool repeats_wait(const struct repeats *repeats)
{
	return repeats->waiting_count;
}

void repeats_flush(struct repeats *repeats)
{
	uint32_t i;

	for (i = 0; i < repeats->waiting_count; i++)
		feed(repeats, repeats->waiting[i]);
	repeats->waiting_count = 0;
}

void repeats_turn(struct repeats *repeats)
{
	repeats_flush(repeats);
	repeats->turn++;
}

/* --- the table -------------------------------------------------------------- */

static struct set *set_of(const struct repeats *repeats, uint64_t key)
{
	return &repeats->sets[key >> 40 & (SETS - 1)];
}

static bool is_same(const struct repeat *repeat, const struct stack *stack)
{
	return repeat->stack.count == stack->count &&
	       !memcmp(repeat->branches, stack->branches,
		       stack->count * sizeof(*stack->branches));
}

/*
 * The way of the stack that was found least, unless one is free; what was found
 * often must be so again. WAYS: all are held.
 */
static int choose(struct set *set)
{
	int way, least = WAYS;

	for (way = 0; way < WAYS; way++) {
		if (!set->keys[way])
			return way;
		if (!set->ways[way]->held &&
		    (least == WAYS || set->heat[way] < set->heat[least]))
			least = way;
	}
	for (way = 0; way < WAYS; way++)
		set->heat[way] /= 2;
	return least;
}

/* The stack is not there yet. NULL: there is no room. */
static struct repeat *add(struct repeats *repeats, const struct stack *stack)
{
	struct set *set = set_of(repeats, stack->key);
	struct repeat *repeat;
	int way = choose(set);

	if (way == WAYS)
		return NULL;
	if (!set->keys[way])
		set->ways[way] = &repeats->all[repeats->count++];
	repeat = set->ways[way];
	if (repeat->times)
		feed_one(repeats, repeat);
	set->keys[way] = stack->key;
	set->heat[way] = 0;
	repeat->turn = 0;
	repeat->stack.count = stack->count;
	memcpy(repeat->branches, stack->branches,
	       stack->count * sizeof(*stack->branches));
	return repeat;
}

static struct repeat *find(struct repeats *repeats, const struct stack *stack)
{
	struct set *set = set_of(repeats, stack->key);
	int way;

	for (way = 0; way < WAYS; way++) {
		if (set->keys[way] == stack->key &&
		    is_same(set->ways[way], stack)) {
			set->heat[way]++;
			return set->ways[way];
		}
	}
	return NULL;
}

/* --- stacks ----------------------------------------------------------------- */

/*
 * The key is a sum of products, so that none waits for another; each has keys of
 * its own, so that the order matters.
 */
uint64_t repeats_copy(struct window_branch *to, struct span branches)
{
	uint64_t key = PRIME, sum = span_left(&branches);
	uint64_t words[3];

	for (; span_copy(&branches, words, sizeof(words)); to++) {
		to->from = words[0];
		to->to = words[1];
		to->flags = words[2] & FLAGS;
		sum += (words[0] + key) * (words[1] ^ key);
		key += PRIME;
	}
	return (sum ^ sum >> 32) * PRIME | 1;
}

void repeats_expect(const struct repeats *repeats, uint64_t key)
{
	const struct set *set = set_of(repeats, key);
	size_t line;
	int way;

	for (way = 0; way < WAYS; way++)
		if (set->keys[way] == key)
			for (line = 0; line < sizeof(struct repeat);
			     line += CACHE_LINE)
				__builtin_prefetch((char *)set->ways[way] +
						   line);
}

bool repeats_hold(struct repeats *repeats, struct stack *stack)
{
	struct repeat *repeat;

	if (stack->count > BRANCHES)
		return false;
	repeat = find(repeats, stack);
	if (!repeat)
		repeat = add(repeats, stack);
	if (!repeat)
		return false;
	repeat->held++;
	stack->repeat = repeat;
	stack->branches = repeat->branches;
	return true;
}

bool repeats_take(struct repeats *repeats, const struct stack *stack)
{
	struct repeat *repeat = stack->repeat;

	if (!repeat)
		return false;
	repeat->held--;
	if (repeat->turn != repeats->turn ||
	    repeat->stack.program != stack->program ||
	    repeat->stack.user != stack->user ||
	    repeat->stack.kernel != stack->kernel)
		return false;
	if (!repeat->times++) {
		repeat->waiting = repeats->waiting_count;
		repeats->waiting[repeats->waiting_count++] = repeat;
	}
	return true;
}

void repeats_fed(struct repeats *repeats, const struct stack *stack,
		 const uint8_t *kinds)
{
	struct repeat *repeat = stack->repeat;

	if (!repeat)
		return;
	if (repeat->times)
		feed_one(repeats, repeat);	/* of another program */
	repeat->turn = repeats->turn;
	repeat->stack = *stack;
	memcpy(repeat->kinds, kinds, stack->count);
}
