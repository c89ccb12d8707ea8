// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include "branches.h"
#include "repeats.h"

enum {
	WAYS		= 4,
	SETS_LEAST	= 1 << 7,
	SETS_MOST	= 1 << 11,
	REPEATS		= SETS_MOST * WAYS,
	PART		= 64,	/* contents that are allocated at a time */
	BRANCHES	= 32,	/* as most hardware has; longer stacks are not
				 * kept */
};

/*
 * Flags that affect what a branch does. Stacks are not held where cycles
 * matter.
 */
#define FLAGS	(WINDOW_ABORT | WINDOW_SPEC_MASK | BRANCH_NOT_TAKEN |	       \
		 WINDOW_TYPE_MASK << WINDOW_TYPE_SHIFT)

struct hash {
	uint64_t low, high;
};

/* The state needed when a stack is repeated. */
struct repeat {
	struct stack stack;	/* as it was fed */
	uint32_t generation;	/* in which it was fed; 0: not yet */
	uint32_t held;		/* number of stacks that hold it */
	uint32_t times;		/* number of repetitions since it was fed */
	uint32_t waiting;	/* index in repeats->waiting, if @times is not
				 * 0 */
};

/* The state needed only for feeding. */
struct content {
	struct window_branch branches[BRANCHES];
	uint8_t kinds[BRANCHES];
};

struct set {
	struct hash hashes[WAYS];
	uint32_t ways[WAYS];	/* number of a repeat, from 1; 0: free */
	uint32_t heat[WAYS];	/* how often it was found recently */
};

/* Keys for the words of a stack, and for their number. */
struct hash_keys {
	uint64_t from[BRANCHES], to[BRANCHES], flags[BRANCHES], count;
};

struct repeats {
	repeats_feed feed;
	void *context;
	uint32_t generation;	/* the present one, from 1 */
	struct hash_keys keys;
	struct set *sets;	/* double with the stacks, so that few stacks
				 * use few pages */
	uint32_t set_count;	/* a power of two */
	struct repeat *all;	/* in the order of arrival, which keeps few
				 * pages in use */
	struct content *contents[REPEATS / PART];	/* one for each, in
							 * parts; NULL: none
							 * was needed yet */
	uint32_t count;
	struct repeat **waiting; /* repeats that were counted */
	uint32_t waiting_count;
};

static bool make_keys(struct hash_keys *keys)
{
	uint8_t *at = (uint8_t *)keys, *end = (uint8_t *)(keys + 1);

	while (at < end) {
		ssize_t got = getrandom(at, end - at, 0);

		if (got < 0 && errno != EINTR)
			return false;
		if (got > 0)
			at += got;
	}
	return true;
}

struct repeats *repeats_new(repeats_feed feed, void *context)
{
	struct repeats *repeats = calloc(1, sizeof(*repeats));

	if (!repeats)
		return NULL;
	*repeats = (struct repeats){
		.feed = feed, .context = context, .generation = 1,
		.sets = calloc(SETS_LEAST, sizeof(*repeats->sets)),
		.set_count = SETS_LEAST,
		.all = calloc(REPEATS, sizeof(*repeats->all)),
		.waiting = calloc(REPEATS, sizeof(*repeats->waiting)),
	};
	if (!repeats->sets || !repeats->all || !repeats->waiting ||
	    !make_keys(&repeats->keys)) {
		repeats_free(repeats);
		return NULL;
	}
	return repeats;
}

void repeats_free(struct repeats *repeats)
{
	uint32_t i;

	if (!repeats)
		return;
	free(repeats->sets);
	free(repeats->all);
	for (i = 0; i < REPEATS / PART; i++)
		free(repeats->contents[i]);
	free(repeats->waiting);
	free(repeats);
}

/* --- feeding -------------------------------------------------------------- */

static struct content *content_of(const struct repeats *repeats,
				  const struct repeat *repeat)
{
	size_t i = repeat - repeats->all;

	return &repeats->contents[i / PART][i % PART];
}

static void feed(const struct repeats *repeats, struct repeat *repeat)
{
	repeats->feed(repeats->context, &repeat->stack,
		      content_of(repeats, repeat)->kinds, repeat->times);
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

void repeats_restart(struct repeats *repeats)
{
	repeats_flush(repeats);
	repeats->generation++;
}

/* --- the table ------------------------------------------------------------ */

/* Returns branch @i of as many as @branches has. */
static inline struct window_branch branch_at(struct byte_reader branches,
					     uint32_t i)
{
	struct window_branch branch;

	memcpy(&branch, branches.at + i * sizeof(branch), sizeof(branch));
	return branch;
}

/*
 * Multiplies words by secret keys, as NH of UMAC and multilinear hashing do.
 * Any two different stacks have equal hashes with a probability of 2^-64,
 * whoever chose them. Most recordings have no flags that matter.
 */
static struct hash hash(const struct hash_keys *keys,
			struct byte_reader branches, uint32_t count)
{
	unsigned __int128 sum = (unsigned __int128)count * keys->count;
	uint64_t flags = 0;
	uint32_t i;

	for (i = 0; i < count; i++) {
		struct window_branch branch = branch_at(branches, i);

		sum += (unsigned __int128)(branch.from + keys->from[i]) *
		       (branch.to + keys->to[i]);
		flags |= branch.flags;
	}
	for (i = 0; flags & FLAGS && i < count; i++)
		sum += (unsigned __int128)(branch_at(branches, i).flags &
					   FLAGS) * keys->flags[i];
	return (struct hash){ .low = sum, .high = sum >> 64 };
}

static struct set *set_of(const struct repeats *repeats, struct hash hash)
{
	return &repeats->sets[hash.high & (repeats->set_count - 1)];
}

/*
 * Returns a free way, or that of the stack found least often. Halves all heat,
 * so that it must be earned again. Returns WAYS if all are held.
 */
static int choose(const struct repeats *repeats, struct set *set)
{
	int way, least = WAYS;

	for (way = 0; way < WAYS; way++) {
		if (!set->ways[way])
			return way;
		if (!repeats->all[set->ways[way] - 1].held &&
		    (least == WAYS || set->heat[way] < set->heat[least]))
			least = way;
	}
	for (way = 0; way < WAYS; way++)
		set->heat[way] /= 2;
	return least;
}

/*
 * Doubles the sets. Each set's ways go to two sets. If out of memory, they stay
 * as they are.
 */
static void grow(struct repeats *repeats)
{
	uint32_t count = repeats->set_count, i;
	struct set *sets = reallocarray(repeats->sets, 2 * count,
					sizeof(*sets));
	int way;

	if (!sets)
		return;
	repeats->sets = sets;
	repeats->set_count *= 2;
	for (i = 0; i < count; i++) {
		sets[count + i] = sets[i];
		for (way = 0; way < WAYS; way++) {
			bool upper = sets[i].hashes[way].high & count;

			sets[upper ? i : count + i].ways[way] = 0;
		}
	}
}

/* Returns the number of a repeat that was not used, or 0 if out of memory. */
static uint32_t next_way(struct repeats *repeats)
{
	struct content **part = &repeats->contents[repeats->count / PART];

	if (!*part)
		*part = calloc(PART, sizeof(**part));
	return *part ? ++repeats->count : 0;
}

/* Adds a stack. Returns NULL if there is no room. */
static struct repeat *add(struct repeats *repeats, struct hash hash,
			  struct byte_reader branches)
{
	struct repeat *repeat;
	struct set *set;
	int way;

	if (repeats->count >= repeats->set_count * WAYS / 2 &&
	    repeats->set_count < SETS_MOST)
		grow(repeats);
	set = set_of(repeats, hash);
	way = choose(repeats, set);
	if (way == WAYS)
		return NULL;
	if (!set->ways[way])
		set->ways[way] = next_way(repeats);
	if (!set->ways[way])
		return NULL;
	repeat = &repeats->all[set->ways[way] - 1];
	if (repeat->times)
		feed_one(repeats, repeat);
	set->hashes[way] = hash;
	set->heat[way] = 0;
	repeat->generation = 0;
	branches_read(&repeat->stack, content_of(repeats, repeat)->branches,
		      branches);
	return repeat;
}

static struct repeat *find(struct repeats *repeats, struct hash hash)
{
	struct set *set = set_of(repeats, hash);
	int way;

	for (way = 0; way < WAYS; way++) {
		if (set->hashes[way].low == hash.low &&
		    set->hashes[way].high == hash.high && set->ways[way]) {
			set->heat[way]++;
			return &repeats->all[set->ways[way] - 1];
		}
	}
	return NULL;
}

/* --- stacks --------------------------------------------------------------- */

void repeats_hold(struct repeats *repeats, struct stack *stack,
		  struct byte_reader branches)
{
	struct repeat *repeat;
	struct hash key;

	if (stack->count > BRANCHES)
		return;
	key = hash(&repeats->keys, branches, stack->count);
	repeat = find(repeats, key);
	if (!repeat)
		repeat = add(repeats, key, branches);
	if (!repeat)
		return;
	repeat->held++;
	stack->repeat = repeat;
	stack->count = repeat->stack.count;
	stack->dead = repeat->stack.dead;
	stack->not_taken = repeat->stack.not_taken;
	stack->branches = content_of(repeats, repeat)->branches;
}

bool repeats_take(struct repeats *repeats, const struct stack *stack)
{
	struct repeat *repeat = stack->repeat;

	if (!repeat)
		return false;
	repeat->held--;
	if (repeat->generation != repeats->generation ||
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
		feed_one(repeats, repeat); /* counted for another program */
	repeat->generation = repeats->generation;
	repeat->stack = *stack;
	memcpy(content_of(repeats, repeat)->kinds, kinds, stack->count);
}
