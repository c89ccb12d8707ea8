// SPDX-License-Identifier: GPL-2.0-only
/* From rows to branches: sums, targets, lines that pass, intervals, kinds. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assembled.h"
#include "base/json.h"
#include "check.h"
#include "edge_rows.h"
#include "export/flow_graph.h"
#include "fixture.h"

enum { R = 1000 };

/*
 * A loop of R rounds: `cond` is taken in every fourth one, `never` not at all,
 * and `call` leads to two procedures.
 */
static const char source[] =
".text\n"
".globl _start, loop, cond, jump, fourth, never, call, back, last, even, odd\n"
".globl after, even_ret, odd_ret\n"
".type _start, @function\n"
"_start:\n"
"loop:	test $3, %cl\n"
"cond:	jz fourth\n"
"	nop\n"
"jump:	jmp never\n"
"fourth: nop\n"
"never:	js last\n"
"call:	call *%rax\n"
"after:	dec %ecx\n"
"back:	jnz loop\n"
"last:	ret\n"
".size _start, . - _start\n"
".type even, @function\n"
"even:	nop\n"
"even_ret: ret\n"
".size even, . - even\n"
".type odd, @function\n"
"odd:	nop\n"
"odd_ret: ret\n"
".size odd, . - odd\n"
".section .note.GNU-stack,\"\",@progbits\n";

static int make_program(void **state)
{
	return assembled_make(source, "");
}

/* --- rows ---------------------------------------------------------------- */

static void begin(struct fixture *fixture, const char *object)
{
	fixture_begin(fixture, "edges,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	fixture_map(fixture, 2, 100, EDGE_BASE, 0x10000, 0, object, NULL);
}

/* All edges of the program's loop. */
static void add_loop(struct fixture *fixture)
{
	edge_add(fixture, NULL, "loop", "cond", 1, 0);
	edge_add(fixture, "cond", "fourth", "call", R / 4, HWPROF_BRANCH_COND);
	edge_add(fixture, "jump", "never", "call", 3 * R / 4,
		 HWPROF_BRANCH_JUMP);
	edge_add(fixture, "call", "even", "even_ret", R / 2,
		 HWPROF_BRANCH_CALL);
	edge_add(fixture, "call", "odd", "odd_ret", R / 2, HWPROF_BRANCH_CALL);
	edge_add(fixture, "even_ret", "after", "back", R / 2,
		 HWPROF_BRANCH_RET);
	edge_add(fixture, "odd_ret", "after", "back", R / 2 - 1,
		 HWPROF_BRANCH_RET);
	edge_add(fixture, "odd_ret", "after", "last", 1, HWPROF_BRANCH_RET);
	edge_add(fixture, "back", "loop", "cond", R / 4 - 1,
		 HWPROF_BRANCH_COND);
	edge_add(fixture, "back", "loop", "jump", 3 * R / 4,
		 HWPROF_BRANCH_COND);
	/* As if a signal had come on the way to the last branch. */
	edge_add(fixture, "last", "after", NULL, 1, HWPROF_BRANCH_RET);
	fixture_add_totals(fixture, 30, 1, 4 * R);
}

static const struct hwprof_branch_site *
find_at(const struct hwprof_profile *edges, uint64_t address)
{
	size_t i;

	for (i = 0; i < hwprof_edges_count(edges); i++) {
		const struct hwprof_branch_site *site =
			hwprof_edges_get(edges, i);

		if (site->code.address == address)
			return site;
	}
	return NULL;
}

static const struct hwprof_branch_site *
find(const struct hwprof_profile *edges, const char *symbol)
{
	const struct hwprof_branch_site *site =
		find_at(edges, edge_at(symbol) - EDGE_BASE);

	assert_non_null(site);
	return site;
}

static void assert_near(double a, double b, double reach)
{
	assert_true(fabs(a - b) <= reach);
}

/* --- tests --------------------------------------------------------------- */

static void check_jump(const struct hwprof_profile *edges, const char *symbol,
		       uint64_t taken, uint64_t passed)
{
	const struct hwprof_branch_site *site = find(edges, symbol);

	assert_int_equal(site->kind, HWPROF_BRANCH_COND);
	assert_int_equal(site->taken, taken);
	assert_int_equal(site->most, taken);
	assert_int_equal(site->passed, passed);
	assert_near(site->bias, (double)taken / (taken + passed), 1e-9);
	assert_near(site->bias_low, site->bias, 1e-9);
	assert_near(site->bias_high, site->bias, 1e-9);
	assert_string_equal(site->code.function, "_start");
	assert_non_null(site->code.file);
	assert_int_equal(site->target_count, !!taken);
}

/* Lines say what was passed; what no branch tells, the code does. */
static void test_bias(void **state)
{
	struct hwprof_profile *edges;
	struct fixture fixture;

	begin(&fixture, assembled);
	add_loop(&fixture);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	check_jump(edges, "cond", R / 4, 3 * R / 4);
	check_jump(edges, "never", 0, R);
	check_jump(edges, "back", R - 1, 1);
	assert_int_equal(hwprof_edges_count(edges), 8);
	assert_null(hwprof_profile_warning(edges, 0));
	hwprof_profile_free(edges);
}

static void test_targets(void **state)
{
	const struct hwprof_branch_site *call, *jump;
	struct hwprof_profile *edges;
	struct fixture fixture;

	begin(&fixture, assembled);
	add_loop(&fixture);
	edge_add(&fixture, "call", "odd", "odd_ret", R / 2, HWPROF_BRANCH_CALL);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	call = find(edges, "call");
	jump = find(edges, "jump");
	assert_true(call->indirect);
	assert_int_equal(call->kind, HWPROF_BRANCH_CALL);
	assert_int_equal(call->taken, 3 * R / 2);
	assert_int_equal(call->led, 3 * R / 2);
	assert_true(isnan(call->bias));
	assert_int_equal(call->target_count, 2);
	assert_string_equal(call->targets[0].code.function, "odd");
	assert_int_equal(call->targets[0].count, R);
	assert_near(call->targets[0].share, 2.0 / 3, 1e-9);
	assert_string_equal(call->targets[1].code.function, "even");
	assert_int_equal(jump->kind, HWPROF_BRANCH_JUMP);
	assert_false(jump->indirect);
	assert_false(find(edges, "last")->indirect);
	/* The most frequent is the first. */
	assert_ptr_equal(hwprof_edges_get(edges, 0), call);
	hwprof_profile_free(edges);
}

/* A branch of which the line's end was not seen was taken all the same. */
static void test_open(void **state)
{
	struct hwprof_profile *edges;
	struct fixture fixture;

	begin(&fixture, assembled);
	edge_add(&fixture, "back", "loop", NULL, 7, HWPROF_BRANCH_COND);
	edge_add(&fixture, "back", "loop", "cond", 5, HWPROF_BRANCH_COND);
	fixture_add_totals(&fixture, 30, 1, 5);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	assert_int_equal(find(edges, "back")->taken, 12);
	assert_int_equal(find(edges, "back")->passed, 0);
	/* No line came to it. */
	assert_true(isnan(find(edges, "back")->bias));
	/* Where this one led was not seen, but that it was taken. */
	assert_int_equal(find(edges, "cond")->taken, 5);
	assert_int_equal(find(edges, "cond")->target_count, 0);
	assert_int_equal(hwprof_edges_count(edges), 2);
	assert_null(hwprof_profile_warning(edges, 0));
	hwprof_profile_free(edges);
}

/* Lines of other processes and objects pass nothing here. */
static void test_apart(void **state)
{
	const struct hwprof_options options = { .flags = HWPROF_PER_PROCESS };
	struct hwprof_row_edge row =
		edge_row(EDGE_BASE + 0x100, EDGE_BASE + 0x10, EDGE_BASE + 0x100,
			 5, HWPROF_BRANCH_COND);
	const struct hwprof_branch_site *site;
	struct hwprof_profile *edges;
	struct fixture fixture;

	begin(&fixture, "/no/prog");
	fixture_map(&fixture, 2, 100, 0x700000, 0x10000, 0, "/no/lib", NULL);
	fixture_comm(&fixture, 1, 101, "other", true);
	fixture_map(&fixture, 2, 101, EDGE_BASE, 0x10000, 0, "/no/prog", NULL);
	edge_put(&fixture, &row);
	row = edge_row(0x700200, 0x700010, 0x700200, 3, HWPROF_BRANCH_COND);
	edge_put(&fixture, &row);
	row = edge_row(EDGE_BASE + 0x200, EDGE_BASE + 0x10, EDGE_BASE + 0x200,
		       2, HWPROF_BRANCH_COND);
	row.row.pid = row.row.space = 101;
	edge_put(&fixture, &row);
	fixture_add_totals(&fixture, 30, 1, 10);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, &options);
	assert_int_equal(hwprof_edges_count(edges), 3);
	site = hwprof_edges_get(edges, 0);
	assert_int_equal(site->taken, 5);
	assert_int_equal(site->passed, 0);
	assert_int_equal(site->pid, 100);
	assert_string_equal(site->comm, "prog");
	/* None of this code can be read. */
	assert_non_null(strstr(hwprof_profile_warning(edges, 0),
			       "10 straight lines"));
	hwprof_profile_free(edges);
}

/* Sums over recordings and sessions, also of what was given up. */
static void test_files(void **state)
{
	struct hwprof_row_totals totals = {
		.row.type = HWPROF_ROW_TOTALS, .row.size = sizeof(totals),
		.row.session = 1, .produced = 25, .delivered = 15,
		.evicted = 10, .basis = HWPROF_BASIS_EXACT,
	};
	const struct hwprof_branch_site *site;
	struct hwprof_profile *edges;
	struct fixture fixtures[2];
	size_t i;

	for (i = 0; i < 2; i++) {
		begin(&fixtures[i], assembled);
		edge_add(&fixtures[i], "back", "loop", "cond", 5,
			 HWPROF_BRANCH_COND);
		edge_add(&fixtures[i], "back", "loop", "cond", 10,
			 HWPROF_BRANCH_COND);
		fixture_row(&fixtures[i], 30, 0, 0, 0, &totals.row);
	}
	edges = fixture_read(fixtures, 2, HWPROF_KIND_EDGES, NULL);
	site = find(edges, "back");
	assert_int_equal(site->taken, 30);
	assert_int_equal(site->most, 50);
	assert_int_equal(site->targets[0].count, 30);
	assert_int_equal(hwprof_edges_edge_count(edges), 1);
	hwprof_profile_free(edges);
}

static void add_window_row(struct fixture *fixture, const char *from,
			   const char *to, const char *end, uint64_t count,
			   uint64_t mispredicted)
{
	struct hwprof_row_edge row =
		edge_row(edge_at(from), edge_at(to), edge_at(end), count,
			 HWPROF_BRANCH_COND);

	row.basis = HWPROF_BASIS_BRANCHES;
	row.sum_sq = 4 * count;		/* four at a time */
	row.mispredicted = mispredicted;
	row.flags = HWPROF_EDGE_PREDICTION;
	row.cycles = 3 * count;
	edge_put(fixture, &row);
}

/* Intervals contain what they are of, and are no points. */
static void test_windows(void **state)
{
	const struct hwprof_branch_site *site;
	struct hwprof_profile *edges;
	struct fixture fixture;

	begin(&fixture, assembled);
	add_window_row(&fixture, "back", "loop", "cond", 400, 20);
	add_window_row(&fixture, "back", "loop", "jump", 1200, 0);
	add_window_row(&fixture, "cond", "fourth", "call", 1200, 0);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	site = find(edges, "cond");
	assert_int_equal(site->passed, 1200);
	assert_near(site->bias, 0.25, 1e-9);
	assert_true(site->bias_low < 0.25 && site->bias_high > 0.25);
	site = find(edges, "never");
	assert_near(site->bias, 0, 1e-9);
	assert_near(site->bias_low, 0, 1e-9);
	/* 1200 in 300 windows: the rule of three. */
	assert_near(site->bias_high, 0.01, 1e-4);
	site = find(edges, "back");
	assert_true(site->predicted);
	assert_int_equal(site->mispredicted, 20);
	assert_int_equal(site->cycles, 4800);
	assert_true(isnan(site->bias));
	assert_true(site->share_low < site->share);
	hwprof_profile_free(edges);
}

/* Where half is taken, the interval is about the bias. */
static void test_interval(void **state)
{
	const struct hwprof_branch_site *site;
	struct hwprof_profile *edges;
	struct fixture fixture;

	begin(&fixture, assembled);
	add_window_row(&fixture, "back", "loop", "cond", 800, 0);
	add_window_row(&fixture, "back", "loop", "jump", 800, 0);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	site = find(edges, "cond");
	assert_near(site->bias, 0.5, 1e-9);
	/* sqrt(3200) of 1600, and 1.96 times that. */
	assert_near(site->bias_high - site->bias, 0.0693, 0.001);
	assert_near(site->bias - site->bias_low, 0.0693, 0.001);
	hwprof_profile_free(edges);
}

/* Samples have no lines: nothing is known of what was passed. */
static void test_samples(void **state)
{
	const struct hwprof_branch_site *site;
	struct hwprof_profile *edges;
	struct fixture fixture;

	fixture_begin(&fixture, "edges,step");
	fixture_comm(&fixture, 1, 100, "prog", true);
	fixture_map(&fixture, 2, 100, EDGE_BASE, 0x10000, 0, assembled, NULL);
	fixture_bare(&fixture, 10, 100, edge_at("back"), edge_at("loop"), 70);
	fixture_bare(&fixture, 11, 100, edge_at("back"), edge_at("loop"), 30);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	site = find(edges, "back");
	assert_int_equal(site->taken, 100);
	assert_int_equal(site->basis, 0);
	assert_true(isnan(site->bias));
	hwprof_profile_free(edges);
}

static void test_function(void **state)
{
	const struct hwprof_options options = { .function = "ev*" };
	struct hwprof_profile *edges;
	struct fixture fixture;

	begin(&fixture, assembled);
	add_loop(&fixture);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, &options);
	assert_int_equal(hwprof_edges_count(edges), 1);
	assert_int_equal(find(edges, "even_ret")->taken, R / 2);
	hwprof_profile_free(edges);
}

/* Edges as exporters want them. */
static void test_edges(void **state)
{
	struct hwprof_profile *edges;
	struct hwprof_edge edge;
	struct fixture fixture;

	begin(&fixture, assembled);
	edge_add(&fixture, NULL, "loop", "cond", 1, 0);
	edge_add(&fixture, "back", "loop", "cond", 5, HWPROF_BRANCH_COND);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	assert_int_equal(hwprof_edges_edge_count(edges), 2);
	hwprof_edges_edge(edges, 0, &edge);
	assert_null(edge.from_object);
	assert_int_equal(edge.from, 0);
	hwprof_edges_edge(edges, 1, &edge);
	assert_string_equal(edge.from_object, assembled);
	assert_string_equal(edge.to_object, assembled);
	assert_int_equal(edge.from, edge_at("back") - EDGE_BASE);
	assert_int_equal(edge.to, edge_at("loop") - EDGE_BASE);
	assert_int_equal(edge.end, edge_at("cond") - EDGE_BASE);
	assert_int_equal(edge.count, 5);
	assert_int_equal(edge.kind, HWPROF_BRANCH_COND);
	assert_false(edge.predicted);
	hwprof_profile_free(edges);
}

/* A line into what is not mapped, or backwards, is none. */
static void test_damaged(void **state)
{
	struct hwprof_row_edge row =
		edge_row(EDGE_BASE + 0x100, EDGE_BASE + 0x10,
			 EDGE_BASE + 0x20000, 5, HWPROF_BRANCH_COND);
	struct hwprof_profile *edges;
	struct fixture fixture;

	begin(&fixture, "/no/prog");
	edge_put(&fixture, &row);
	row.end = EDGE_BASE + 8;
	edge_put(&fixture, &row);
	row.end = ~0ULL;
	edge_put(&fixture, &row);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	assert_int_equal(hwprof_edges_count(edges), 1);
	assert_int_equal(hwprof_edges_get(edges, 0)->taken, 15);
	assert_int_equal(hwprof_edges_get(edges, 0)->passed, 0);
	hwprof_profile_free(edges);
}

static void check_text(const char *json, const char *expected)
{
	if (!strstr(json, expected))
		fail_msg("no %s in\n%s", expected, json);
}

/* Returns the graph, and the code of its blocks, as JSON. */
static char *graph_of(const struct hwprof_profile *edges)
{
	struct listing *listing = listing_new();
	struct json json = { .line = true };
	char *text;
	size_t size;

	json.out = open_memstream(&text, &size);
	json_open(&json, NULL, '{');
	assert_int_equal(flow_graphs_put(&json, edges, 10, listing), 0);
	assert_int_equal(listing_put(listing, &json, true), 0);
	json_close(&json, '}');
	fclose(json.out);
	listing_free(listing);
	return text;
}

/*
 * Blocks of _start: to `cond`; to `jump`; `fourth`; `never`; to `back`, with a
 * call in it; `last`.
 */
static void test_graph(void **state)
{
	static const char *const edges_of[] = {
		"{\"from\": 0,\"to\": 1,\"count\": 750,\"kind\": \"next\"}",
		"{\"from\": 0,\"to\": 2,\"count\": 250,\"kind\": \"taken\"}",
		"{\"from\": 1,\"to\": 3,\"count\": 750,\"kind\": \"taken\"}",
		"{\"from\": 2,\"to\": 3,\"count\": 250,\"kind\": \"next\"}",
		"{\"from\": 3,\"to\": 4,\"count\": 1000,\"kind\": \"next\"}",
		"{\"from\": 4,\"to\": 0,\"count\": 999,\"kind\": \"taken\"}",
		"{\"from\": 4,\"to\": 5,\"count\": 1,\"kind\": \"next\"}",
	};
	struct hwprof_profile *edges;
	struct fixture fixture;
	char *text, *at;
	size_t i, count = 0;

	begin(&fixture, assembled);
	add_loop(&fixture);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	text = graph_of(edges);
	for (i = 0; i < sizeof(edges_of) / sizeof(edges_of[0]); i++)
		check_text(text, edges_of[i]);
	for (at = text; (at = strstr(at, "{\"from\"")); at++)
		count++;
	assert_int_equal(count, i);
	check_text(text, "\"function\": \"_start\"");
	check_text(text, "\"instructions\": 3,\"count\": 1000}");
	check_text(text, "\"text\": \"call rax\"");
	check_text(text, "\"text\": \"test cl, 3\"");
	free(text);
	hwprof_profile_free(edges);
}

/* Without code there is no graph. */
static void test_no_graph(void **state)
{
	struct hwprof_profile *edges;
	struct fixture fixture;
	char *text;

	begin(&fixture, "/no/prog");
	add_loop(&fixture);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	text = graph_of(edges);
	assert_string_equal(text, "{\"graphs\": [],\"code\": [],"
			    "\"source\": []}\n");
	free(text);
	hwprof_profile_free(edges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bias),
		cmocka_unit_test(test_targets),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_windows),
		cmocka_unit_test(test_interval),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_function),
		cmocka_unit_test(test_edges),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_graph),
		cmocka_unit_test(test_no_graph),
	};

	return cmocka_run_group_tests(tests, make_program, assembled_remove);
}
