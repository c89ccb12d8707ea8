// SPDX-License-Identifier: GPL-2.0-only
/* Numbers of paths: tries all possible paths of random procedures. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "../engine/random.h"
#include "code/graph.h"

enum {
	BEGIN = 0x1000,
	SIZE = 4,		/* of an instruction */
	MOST = 24,		/* instructions */
	MOST_PATHS = 4000,
	ROUNDS = 3000,
};

/* A procedure as a plain array. */
struct procedure {
	unsigned int count;
	struct instruction code[MOST];
};

/* A search of all its paths, and the numbers that it has seen. */
struct search {
	const struct procedure *procedure;
	const struct graph *graph;
	uint64_t start;
	bool called;
	uint64_t from[MOST], to[MOST];	/* jumps taken so far */
	unsigned int jumps;
	unsigned char seen[MOST_PATHS];
	uint64_t paths;
};

static uint64_t address(unsigned int index)
{
	return BEGIN + SIZE * index;
}

static enum ending random_ending(uint64_t *random)
{
	static const enum ending endings[] = {
		ENDING_NONE, ENDING_NONE, ENDING_CALL, ENDING_COND, ENDING_COND,
		ENDING_COND, ENDING_JUMP, ENDING_RETURN, ENDING_STOP,
	};

	return endings[random_below(random,
				    sizeof(endings) / sizeof(endings[0]))];
}

/*
 * Makes random code. Jumps lead anywhere inside, or a little before or behind
 * it.
 */
static void make(struct procedure *procedure, struct graph *graph,
		 uint64_t *random)
{
	unsigned int i;

	procedure->count = 1 + random_below(random, MOST);
	for (i = 0; i < procedure->count; i++) {
		struct instruction *now = &procedure->code[i];

		*now = (struct instruction){
			.address = address(i), .length = SIZE,
			.ending = random_ending(random),
		};
		if (now->ending == ENDING_COND || now->ending == ENDING_JUMP)
			now->target = BEGIN - SIZE + SIZE *
				random_below(random, procedure->count + 2);
		assert_int_equal(graph_add(graph, now), 0);
	}
}

/*
 * Numbers the present path, which ends at @from with a jump to @to, or returns.
 */
static void number(struct search *search, uint64_t from, uint64_t to)
{
	struct graph_walk walk;
	unsigned int i;

	assert_true(graph_begin(&walk, search->graph, search->start,
				search->called));
	for (i = 0; i < search->jumps; i++)
		assert_true(graph_jump(&walk, search->from[i], search->to[i]));
	if (to)
		assert_true(graph_jump(&walk, from, to));
	else
		assert_true(graph_return(&walk, from));
	assert_null(walk.at);
	assert_true(walk.number < search->graph->paths);
	assert_false(search->seen[walk.number]);
	search->seen[walk.number] = 1;
}

static void search_from(struct search *search, uint64_t at);

static void search_jump(struct search *search, const struct instruction *now)
{
	unsigned int count = search->procedure->count;

	if (now->target > now->address && now->target < address(count)) {
		search->from[search->jumps] = now->address;
		search->to[search->jumps++] = now->target;
		search_from(search, now->target);
		search->jumps--;
		return;
	}
	number(search, now->address, now->target);
	search->paths++;
}

static void search_from(struct search *search, uint64_t at)
{
	const struct instruction *now =
		&search->procedure->code[(at - BEGIN) / SIZE];

	/* These ends have no branch, but the paths count. */
	if (at == address(search->procedure->count) ||
	    now->ending == ENDING_STOP) {
		search->paths++;
		return;
	}
	switch (now->ending) {
	case ENDING_COND:
		search_jump(search, now);
		search_from(search, at + SIZE);
		break;
	case ENDING_JUMP:
		search_jump(search, now);
		break;
	case ENDING_RETURN:
		number(search, at, 0);
		search->paths++;
		break;
	default:
		search_from(search, at + SIZE);
	}
}

/* Returns true if a jump leads back to @at. */
static bool is_start(const struct procedure *procedure, uint64_t at)
{
	unsigned int i;

	for (i = 0; i < procedure->count; i++)
		if (procedure->code[i].target == at &&
		    procedure->code[i].address >= at)
			return true;
	return false;
}

static void search_all(struct search *search)
{
	const struct procedure *procedure = search->procedure;
	unsigned int i;

	search->start = BEGIN;
	search->called = true;
	search_from(search, BEGIN);
	search->called = false;
	for (i = 0; i < procedure->count; i++) {
		search->start = address(i);
		if (is_start(procedure, search->start))
			search_from(search, search->start);
	}
}

static bool always_says(const struct procedure *procedure)
{
	unsigned int i;

	for (i = 0; i < procedure->count; i++)
		if (procedure->code[i].ending == ENDING_STOP)
			return false;
	return !ending_goes_on(procedure->code[procedure->count - 1].ending);
}

/* Each number belongs to one path, and there are as many numbers as paths. */
static void test_random(void **state)
{
	unsigned int round, whole = 0, i;
	uint64_t random = 1;

	for (round = 0; round < ROUNDS; round++) {
		static struct search search;
		struct procedure procedure = { .count = 0 };
		struct graph graph = { .count = 0 };

		make(&procedure, &graph, &random);
		assert_null(graph_count(&graph));
		search = (struct search){
			.procedure = &procedure, .graph = &graph,
		};
		if (graph.paths <= MOST_PATHS) {
			search_all(&search);
			assert_int_equal(search.paths, graph.paths);
			whole += always_says(&procedure);
			for (i = 0; always_says(&procedure) && i < graph.paths;
			     i++)
				assert_true(search.seen[i]);
		}
		graph_free(&graph);
	}
	assert_true(whole > ROUNDS / 20);
}

static void add(struct graph *graph, enum ending ending, uint64_t target)
{
	struct instruction now = {
		.address = address(graph->count), .length = SIZE,
		.ending = ending, .target = target,
	};

	assert_int_equal(graph_add(graph, &now), 0);
}

static uint64_t number_of(const struct graph *graph, uint64_t to)
{
	struct graph_walk walk;

	assert_true(graph_begin(&walk, graph, address(0), true));
	assert_true(graph_jump(&walk, address(1), to));
	if (walk.at)
		assert_true(graph_return(&walk, address(5)));
	return walk.number;
}

/* A switch with two targets that were seen, one of them twice; one leaves. */
static void test_seen(void **state)
{
	struct graph graph = { .count = 0 };
	struct graph_walk walk;
	unsigned int i;

	for (i = 0; i < 6; i++)
		add(&graph, i == 1 ? ENDING_INDIRECT : i == 3 ? ENDING_COND :
			    i == 5 ? ENDING_RETURN : ENDING_NONE, address(5));
	assert_int_equal(graph_see(&graph, address(1), address(4)), 0);
	assert_int_equal(graph_see(&graph, address(1), address(2)), 0);
	assert_int_equal(graph_see(&graph, address(1), address(4)), 0);
	assert_int_equal(graph_see(&graph, address(1), address(99)), 0);
	assert_int_equal(graph_see(&graph, address(1), address(0)), 0);
	/* It is no indirect jump. */
	assert_int_equal(graph_see(&graph, address(3), address(4)), 0);
	assert_null(graph_count(&graph));
	assert_true(graph.indirect);
	/* Back to 0; two ways from 2; one from 4; out. All again from 0. */
	assert_int_equal(graph.paths, 2 * 5);
	assert_int_equal(number_of(&graph, address(0)), 0);
	assert_int_equal(number_of(&graph, address(2)), 1);
	assert_int_equal(number_of(&graph, address(4)), 3);
	assert_int_equal(number_of(&graph, address(99)), 4);
	assert_true(graph_begin(&walk, &graph, address(0), false));
	assert_int_equal(walk.number, 5);
	graph_clear(&graph);
	add(&graph, ENDING_INDIRECT, 0);
	assert_string_equal(graph_count(&graph), "indirect jump");
	graph_free(&graph);
}

static void test_refusals(void **state)
{
	struct graph graph = { .count = 0 };
	unsigned int i;

	assert_string_equal(graph_count(&graph), "no code");
	add(&graph, ENDING_INDIRECT, 0);
	assert_string_equal(graph_count(&graph), "indirect jump");
	graph.count = 0;
	add(&graph, ENDING_COND, BEGIN + SIZE + 1);
	add(&graph, ENDING_NONE, 0);
	add(&graph, ENDING_RETURN, 0);
	assert_string_equal(graph_count(&graph), "jump into an instruction");
	/* 2^63 paths are countable, 2^64 are not. */
	for (i = 63; i <= 64; i++) {
		graph.count = 0;
		while (graph.count < 2 * i) {
			add(&graph, ENDING_COND, address(graph.count + 2));
			add(&graph, ENDING_NONE, 0);
		}
		add(&graph, ENDING_RETURN, 0);
		if (i == 63) {
			assert_null(graph_count(&graph));
			assert_true(graph.paths == 1ULL << 63);
		} else {
			assert_string_equal(graph_count(&graph),
					    "too many paths");
		}
	}
	graph_free(&graph);
}

/* Impossible paths have no number. */
static void test_walks(void **state)
{
	struct graph graph = { .count = 0 };
	struct graph_walk walk;

	add(&graph, ENDING_COND, address(2));
	add(&graph, ENDING_JUMP, address(0));
	add(&graph, ENDING_RETURN, 0);
	assert_null(graph_count(&graph));
	assert_int_equal(graph.paths, 4);
	assert_false(graph_begin(&walk, &graph, BEGIN + 1, true));
	assert_false(graph_begin(&walk, &graph, address(1), false));
	assert_true(graph_begin(&walk, &graph, BEGIN, true));
	assert_false(graph_jump(&walk, BEGIN, address(1)));
	assert_true(graph_begin(&walk, &graph, BEGIN, true));
	assert_false(graph_jump(&walk, BEGIN + 1, address(2)));
	assert_true(graph_begin(&walk, &graph, BEGIN, true));
	assert_false(graph_return(&walk, address(2)));
	assert_true(graph_begin(&walk, &graph, BEGIN, true));
	assert_true(graph_jump(&walk, BEGIN, address(2)));
	assert_true(graph_return(&walk, address(2)));
	assert_false(graph_return(&walk, address(2)));
	assert_false(graph_jump(&walk, address(1), address(0)));
	graph_free(&graph);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_seen),
		cmocka_unit_test(test_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
