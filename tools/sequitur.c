// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "sequitur.h"

enum {
	NONE	= 0,			/* no node: node 0 is not used */
	GUARD	= 1 << 30,		/* a symbol that closes a rule's ring */
};

/*
 * A symbol in a rule. The symbols of a rule are a ring with a guard, whose
 * symbol is GUARD | the rule.
 */
struct node {
	uint32_t symbol;
	uint32_t previous, next;	/* nodes; NONE: not linked */
};

struct rule {
	uint32_t guard;			/* node; NONE: the rule is not used */
	uint32_t uses;
};

struct sequitur {
	struct node *nodes;
	size_t count, room;
	uint32_t unused;		/* list of nodes by next */
	struct rule *rules;
	size_t rule_count, rule_room;
	/* Nodes by the pair that begins with them: open addressing. */
	uint32_t *pairs;
	size_t pair_count, slots;
	bool failed;			/* out of memory */
};

/* --- nodes ---------------------------------------------------------------- */

static struct node *node_at(const struct sequitur *sequitur, uint32_t node)
{
	return &sequitur->nodes[node];
}

static bool is_guard(const struct sequitur *sequitur, uint32_t node)
{
	uint32_t symbol = node_at(sequitur, node)->symbol;

	return symbol & GUARD && !(symbol & SEQUITUR_RULE);
}

static bool is_rule(uint32_t symbol)
{
	return symbol & SEQUITUR_RULE;
}

static struct rule *rule_at(const struct sequitur *sequitur, uint32_t symbol)
{
	return &sequitur->rules[symbol & ~(SEQUITUR_RULE | GUARD)];
}

static uint32_t node_new(struct sequitur *sequitur, uint32_t symbol)
{
	uint32_t node = sequitur->unused;
	struct node *nodes;

	if (node) {
		sequitur->unused = sequitur->nodes[node].next;
	} else {
		nodes = array_grow(sequitur->nodes, &sequitur->room,
				   sequitur->count + 1, sizeof(*nodes));
		if (!nodes) {
			sequitur->failed = true;
			return NONE;
		}
		sequitur->nodes = nodes;
		node = sequitur->count++;
	}
	sequitur->nodes[node] = (struct node){ symbol, NONE, NONE };
	if (is_rule(symbol))
		rule_at(sequitur, symbol)->uses++;
	return node;
}

/* --- pairs ---------------------------------------------------------------- */

static uint64_t pair_of(const struct sequitur *sequitur, uint32_t node)
{
	const struct node *first = node_at(sequitur, node);

	return (uint64_t)first->symbol << 32 |
	       node_at(sequitur, first->next)->symbol;
}

/* Returns the slot of the pair, or the free one where it would be. */
static size_t slot_of(const struct sequitur *sequitur, uint64_t pair)
{
	size_t slot = hash_mix(0, pair) & (sequitur->slots - 1);

	while (sequitur->pairs[slot] &&
	       pair_of(sequitur, sequitur->pairs[slot]) != pair)
		slot = (slot + 1) & (sequitur->slots - 1);
	return slot;
}

static bool make_slots(struct sequitur *sequitur)
{
	uint32_t *old = sequitur->pairs;
	size_t slots = sequitur->slots, i;

	if (slots > 2 * (sequitur->pair_count + 1))
		return true;
	sequitur->pairs = calloc(slots * 2, sizeof(*old));
	if (!sequitur->pairs) {
		sequitur->pairs = old;
		sequitur->failed = true;
		return false;
	}
	sequitur->slots = slots * 2;
	for (i = 0; i < slots; i++)
		if (old[i])
			sequitur->pairs[slot_of(sequitur,
						pair_of(sequitur, old[i]))] =
				old[i];
	free(old);
	return true;
}

/* Lets the table have this node for its pair. */
static void note_pair(struct sequitur *sequitur, uint32_t node)
{
	size_t slot;

	if (!make_slots(sequitur))
		return;
	slot = slot_of(sequitur, pair_of(sequitur, node));
	sequitur->pair_count += !sequitur->pairs[slot];
	sequitur->pairs[slot] = node;
}

/* Moves entries up that were behind a full slot that is now free. */
static void close_gap(struct sequitur *sequitur, size_t gap)
{
	size_t mask = sequitur->slots - 1, at = gap;

	for (;;) {
		size_t home;

		at = (at + 1) & mask;
		if (!sequitur->pairs[at])
			break;
		home = hash_mix(0, pair_of(sequitur, sequitur->pairs[at])) &
		       mask;
		if (((at - home) & mask) < ((at - gap) & mask))
			continue;
		sequitur->pairs[gap] = sequitur->pairs[at];
		gap = at;
	}
	sequitur->pairs[gap] = NONE;
}

/* Takes the pair out of the table if it is this node that the table has. */
static void forget_pair(struct sequitur *sequitur, uint32_t node)
{
	const struct node *first = node_at(sequitur, node);
	size_t slot;

	if (is_guard(sequitur, node) || is_guard(sequitur, first->next))
		return;
	slot = slot_of(sequitur, pair_of(sequitur, node));
	if (sequitur->pairs[slot] != node)
		return;
	sequitur->pair_count--;
	close_gap(sequitur, slot);
}

/* --- links ---------------------------------------------------------------- */

/* Returns true if three equal symbols stand around @node. */
static bool is_in_three(const struct sequitur *sequitur, uint32_t node)
{
	const struct node *middle = node_at(sequitur, node);

	return middle->previous && middle->next &&
	       node_at(sequitur, middle->previous)->symbol == middle->symbol &&
	       node_at(sequitur, middle->next)->symbol == middle->symbol;
}

/*
 * Links two nodes. Of three equal symbols in a row, the table has one of two
 * equal pairs. If that one goes, the other must come into the table.
 */
static void join(struct sequitur *sequitur, uint32_t left, uint32_t right)
{
	if (node_at(sequitur, left)->next) {
		forget_pair(sequitur, left);
		if (is_in_three(sequitur, right))
			note_pair(sequitur, right);
		if (is_in_three(sequitur, left))
			note_pair(sequitur,
				  node_at(sequitur, left)->previous);
	}
	node_at(sequitur, left)->next = right;
	node_at(sequitur, right)->previous = left;
}

static void insert_behind(struct sequitur *sequitur, uint32_t node,
			  uint32_t inserted)
{
	join(sequitur, inserted, node_at(sequitur, node)->next);
	join(sequitur, node, inserted);
}

static void remove_node(struct sequitur *sequitur, uint32_t node)
{
	struct node *removed = node_at(sequitur, node);

	join(sequitur, removed->previous, removed->next);
	forget_pair(sequitur, node);
	if (is_rule(removed->symbol))
		rule_at(sequitur, removed->symbol)->uses--;
	removed->next = sequitur->unused;
	sequitur->unused = node;
}

/* --- rules ---------------------------------------------------------------- */

static bool rule_new(struct sequitur *sequitur, uint32_t *number)
{
	struct rule *rules = array_grow(sequitur->rules, &sequitur->rule_room,
					sequitur->rule_count + 1,
					sizeof(*rules));
	uint32_t guard;

	if (!rules) {
		sequitur->failed = true;
		return false;
	}
	sequitur->rules = rules;
	*number = sequitur->rule_count;
	guard = node_new(sequitur, GUARD | *number);
	if (!guard)
		return false;
	rules[sequitur->rule_count++] = (struct rule){ guard, 0 };
	node_at(sequitur, guard)->next = guard;
	node_at(sequitur, guard)->previous = guard;
	return true;
}

static uint32_t first_of(const struct sequitur *sequitur, uint32_t rule)
{
	return node_at(sequitur, sequitur->rules[rule].guard)->next;
}

static uint32_t last_of(const struct sequitur *sequitur, uint32_t rule)
{
	return node_at(sequitur, sequitur->rules[rule].guard)->previous;
}

/* Puts the content of a rule that is used once in the place of its symbol. */
static void expand(struct sequitur *sequitur, uint32_t node)
{
	struct node *used = node_at(sequitur, node);
	struct rule *rule = rule_at(sequitur, used->symbol);
	uint32_t number = rule - sequitur->rules;
	uint32_t left = used->previous, right = used->next;
	uint32_t first = first_of(sequitur, number);
	uint32_t last = last_of(sequitur, number);

	forget_pair(sequitur, node);
	/* Nothing is behind the guard any more. */
	node_at(sequitur, rule->guard)->next = sequitur->unused;
	sequitur->unused = rule->guard;
	*rule = (struct rule){ NONE, 0 };
	used->next = sequitur->unused;
	sequitur->unused = node;
	node_at(sequitur, last)->next = NONE;
	join(sequitur, left, first);
	join(sequitur, last, right);
	if (!is_guard(sequitur, right))
		note_pair(sequitur, last);
}

static bool check(struct sequitur *sequitur, uint32_t node);

/* Puts a rule in the place of the pair that begins with @node. */
static void substitute(struct sequitur *sequitur, uint32_t node, uint32_t rule)
{
	uint32_t before = node_at(sequitur, node)->previous, inserted;

	remove_node(sequitur, node_at(sequitur, before)->next);
	remove_node(sequitur, node_at(sequitur, before)->next);
	inserted = node_new(sequitur, SEQUITUR_RULE | rule);
	if (!inserted)
		return;
	insert_behind(sequitur, before, inserted);
	if (!check(sequitur, before))
		check(sequitur, node_at(sequitur, before)->next);
}

static bool append_copy(struct sequitur *sequitur, uint32_t rule, uint32_t node)
{
	uint32_t copy = node_new(sequitur, node_at(sequitur, node)->symbol);

	if (!copy)
		return false;
	insert_behind(sequitur, last_of(sequitur, rule), copy);
	return true;
}

/* Makes a rule of a pair that is at two places. */
static bool make_rule(struct sequitur *sequitur, uint32_t node, uint32_t other,
		      uint32_t *rule)
{
	if (!rule_new(sequitur, rule) ||
	    !append_copy(sequitur, *rule, node) ||
	    !append_copy(sequitur, *rule, node_at(sequitur, node)->next))
		return false;
	substitute(sequitur, other, *rule);
	substitute(sequitur, node, *rule);
	if (!sequitur->failed)
		note_pair(sequitur, first_of(sequitur, *rule));
	return !sequitur->failed;
}

/* The pair at @node is also at @other, elsewhere. */
static void match(struct sequitur *sequitur, uint32_t node, uint32_t other)
{
	uint32_t before = node_at(sequitur, other)->previous, rule, first;
	uint32_t behind =
		node_at(sequitur, node_at(sequitur, other)->next)->next;

	if (is_guard(sequitur, before) && is_guard(sequitur, behind)) {
		rule = node_at(sequitur, before)->symbol & ~GUARD;
		substitute(sequitur, node, rule);
	} else if (!make_rule(sequitur, node, other, &rule)) {
		return;
	}
	first = first_of(sequitur, rule);
	if (is_rule(node_at(sequitur, first)->symbol) &&
	    rule_at(sequitur, node_at(sequitur, first)->symbol)->uses == 1)
		expand(sequitur, first);
}

/*
 * Looks whether the pair at @node is elsewhere, too. Returns true if the
 * grammar has changed.
 */
static bool check(struct sequitur *sequitur, uint32_t node)
{
	uint32_t other;
	size_t slot;

	if (sequitur->failed || is_guard(sequitur, node) ||
	    is_guard(sequitur, node_at(sequitur, node)->next))
		return false;
	slot = slot_of(sequitur, pair_of(sequitur, node));
	other = sequitur->pairs[slot];
	if (!other) {
		note_pair(sequitur, node);
		return false;
	}
	/* Overlapping pairs are those of three equal symbols. */
	if (other != node && node_at(sequitur, other)->next != node &&
	    node_at(sequitur, node)->next != other)
		match(sequitur, node, other);
	return true;
}

/* --- for others ----------------------------------------------------------- */

struct sequitur *sequitur_new(void)
{
	struct sequitur *sequitur = calloc(1, sizeof(*sequitur));
	uint32_t start;

	if (!sequitur)
		return NULL;
	sequitur->slots = 1 << 10;
	sequitur->pairs = calloc(sequitur->slots, sizeof(*sequitur->pairs));
	/* Node 0 is none. */
	if (sequitur->pairs) {
		node_new(sequitur, 0);
		if (!sequitur->failed && rule_new(sequitur, &start))
			return sequitur;
	}
	sequitur_free(sequitur);
	return NULL;
}

void sequitur_free(struct sequitur *sequitur)
{
	if (!sequitur)
		return;
	free(sequitur->nodes);
	free(sequitur->rules);
	free(sequitur->pairs);
	free(sequitur);
}

bool sequitur_append(struct sequitur *sequitur, uint32_t symbol)
{
	uint32_t node = node_new(sequitur, symbol), last;

	if (!node)
		return false;
	last = last_of(sequitur, 0);
	insert_behind(sequitur, last, node);
	check(sequitur, last);
	return !sequitur->failed;
}

uint32_t sequitur_rule_count(const struct sequitur *sequitur)
{
	return sequitur->rule_count;
}

bool sequitur_rule_is_used(const struct sequitur *sequitur, uint32_t rule)
{
	return sequitur->rules[rule].guard != NONE;
}

bool sequitur_next(const struct sequitur *sequitur, uint32_t rule, uint32_t *at,
		   uint32_t *symbol)
{
	uint32_t node = *at ? node_at(sequitur, *at)->next :
			      first_of(sequitur, rule);

	if (is_guard(sequitur, node))
		return false;
	*at = node;
	*symbol = node_at(sequitur, node)->symbol;
	return true;
}
