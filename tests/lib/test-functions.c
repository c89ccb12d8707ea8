// SPDX-License-Identifier: GPL-2.0-only
/*
 * Profiles of one function: its loops, calls, paths and loads, and its callers.
 */
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "found.h"

/* Functions of this program, which is the recorded object. */
#define FUNCTION(name)							\
	static void __attribute__((noinline, used)) name(void)		\
	{								\
		asm volatile("nop; nop");				\
	}

FUNCTION(red)
FUNCTION(green)
FUNCTION(blue)

/* Adds the mapping of this program's code. */
static void map_self(struct fixture *fixture, uint32_t pid)
{
	uint64_t start, end, offset;
	char line[512], path[256];
	FILE *maps = fopen("/proc/self/maps", "r");

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx %*s %*s %255s", &start, &end,
			   &offset, path) == 4 &&
		    start <= (uintptr_t)red && (uintptr_t)red < end)
			fixture_map(fixture, 2, pid, start, end - start, offset,
				    path, NULL);
	fclose(maps);
}

static void begin(struct fixture *fixture, const char *event)
{
	fixture_begin(fixture, event);
	fixture_comm(fixture, 1, 100, "prog", true);
	map_self(fixture, 100);
}

static struct hwprof_profile *read_of(struct fixture *fixture,
				      enum hwprof_kind kind,
				      const char *function)
{
	return fixture_read(fixture, 1, kind,
			    &(struct hwprof_options){ .function = function });
}

static void add_of_self(struct fixture *fixture, unsigned int kind, uint64_t id,
			uint64_t parent, void (*caller)(void),
			void (*callee)(void), uint64_t calls, uint64_t branches)
{
	struct hwprof_row_context row = {
		.row = {
			.type = HWPROF_ROW_CONTEXT, .size = sizeof(row),
			.session = 1, .space = 100, .pid = 100,
		},
		.id = id, .parent = parent,
		.site = caller ? (uintptr_t)caller + 1 : 0,
		.callee = (uintptr_t)callee,
		.calls = calls, .branches = branches,
		.kind = kind, .basis = HWPROF_BASIS_EXACT,
	};

	if (kind == HWPROF_CONTEXT_RECURSION)
		row.target = parent;
	fixture_row(fixture, 10, row.callee, row.site, calls, &row.row);
}

/* Adds a tree: red and blue call green, which calls itself below red. */
static void add_colours(struct fixture *fixture)
{
	begin(fixture, "cct,step,rows");
	add_of_self(fixture, HWPROF_CONTEXT_ROOT, 1, 0, NULL, NULL, 0, 1);
	add_of_self(fixture, HWPROF_CONTEXT_CALL, 2, 1, NULL, red, 2, 20);
	add_of_self(fixture, HWPROF_CONTEXT_CALL, 3, 2, red, green, 5, 50);
	add_of_self(fixture, HWPROF_CONTEXT_CALL, 4, 1, NULL, blue, 1, 0);
	add_of_self(fixture, HWPROF_CONTEXT_CALL, 5, 4, blue, green, 7, 7);
	add_of_self(fixture, HWPROF_CONTEXT_RECURSION, 6, 3, green, green, 4,
		    0);
	add_of_self(fixture, HWPROF_CONTEXT_CALL, 7, 3, green, blue, 3, 43);
}

static struct hwprof_profile *read_callers(const char *function)
{
	struct fixture fixture;

	add_colours(&fixture);
	return read_of(&fixture, HWPROF_KIND_CCT, function);
}

/* Asserts node @index: its function (NULL: the process), calls and cost. */
static void is_caller(const struct hwprof_profile *contexts, size_t index,
		      unsigned int kind, const char *function,
		      unsigned int depth, uint64_t calls, uint64_t branches,
		      uint64_t all_branches)
{
	const struct hwprof_context *context = hwprof_contexts_get(contexts,
								   index);

	assert_int_equal(context->kind, kind);
	if (function)
		assert_string_equal(context->function, function);
	else
		assert_string_equal(context->comm, "prog");
	assert_int_equal(context->depth, depth);
	assert_int_equal(context->calls, calls);
	assert_int_equal(context->branches, branches);
	assert_int_equal(context->all_branches, all_branches);
}

static void test_callers(void **state)
{
	struct hwprof_profile *contexts = read_callers("green");

	assert_true(hwprof_contexts_turned(contexts));
	assert_int_equal(hwprof_contexts_count(contexts), 6);
	is_caller(contexts, 0, HWPROF_CONTEXT_CALL, "green", 0, 16, 57, 100);
	is_caller(contexts, 1, HWPROF_CONTEXT_CALL, "red", 1, 5, 50, 93);
	is_caller(contexts, 2, HWPROF_CONTEXT_ROOT, NULL, 2, 5, 50, 93);
	is_caller(contexts, 3, HWPROF_CONTEXT_CALL, "blue", 1, 7, 7, 7);
	is_caller(contexts, 4, HWPROF_CONTEXT_ROOT, NULL, 2, 7, 7, 7);
	is_caller(contexts, 5, HWPROF_CONTEXT_RECURSION, "green", 1, 4, 0, 0);
	assert_true(hwprof_contexts_get(contexts, 1)->share == .93);
	assert_string_equal(hwprof_contexts_get(contexts, 1)->site_function,
			    "red");
	assert_int_equal(hwprof_contexts_get(contexts, 1)->site_offset, 1);
	assert_ptr_equal(hwprof_contexts_get(contexts, 5)->target,
			 hwprof_contexts_get(contexts, 0));
	hwprof_profile_free(contexts);
}

/* Two functions, one of which also calls the other. */
static void test_callers_of_pattern(void **state)
{
	struct hwprof_profile *contexts = read_callers("[gb]*e*");

	is_caller(contexts, 0, HWPROF_CONTEXT_CALL, "green", 0, 16, 57, 100);
	is_caller(contexts, 6, HWPROF_CONTEXT_CALL, "blue", 0, 4, 43, 50);
	is_caller(contexts, 7, HWPROF_CONTEXT_CALL, "green", 1, 3, 43, 43);
	is_caller(contexts, 8, HWPROF_CONTEXT_CALL, "red", 2, 3, 43, 43);
	is_caller(contexts, 9, HWPROF_CONTEXT_ROOT, NULL, 3, 3, 43, 43);
	is_caller(contexts, 10, HWPROF_CONTEXT_ROOT, NULL, 1, 1, 0, 7);
	assert_int_equal(hwprof_contexts_count(contexts), 11);
	hwprof_profile_free(contexts);
	contexts = read_callers("yellow");
	assert_int_equal(hwprof_contexts_count(contexts), 0);
	assert_non_null(found_warning(contexts, "of a function 'yellow'"));
	hwprof_profile_free(contexts);
}

/* Shares remain those of all loops. */
static void test_loops(void **state)
{
	void (*const functions[])(void) = { red, green };
	struct hwprof_profile *loops;
	struct fixture fixture;
	size_t i;

	begin(&fixture, "loops,step,rows");
	for (i = 0; i < 2; i++) {
		const uint64_t head = (uintptr_t)functions[i];
		const struct hwprof_row_loop row =
			fixture_loop(1, 100, head, head + 1, 29 + 40 * i, 1);

		fixture_add_loop(&fixture, 10, &row);
	}
	loops = read_of(&fixture, HWPROF_KIND_LOOPS, "red");
	assert_int_equal(hwprof_loops_count(loops), 1);
	assert_string_equal(hwprof_loops_get(loops, 0)->function, "red");
	assert_true(hwprof_loops_get(loops, 0)->share == .3);
	hwprof_profile_free(loops);
}

static void add_call(struct fixture *fixture, void (*caller)(void),
		     void (*callee)(void))
{
	const struct hwprof_row_call row = {
		.row = { HWPROF_ROW_CALL, sizeof(row), 1, 1, 100 },
		.site = (uintptr_t)caller + 1, .callee = (uintptr_t)callee,
		.calls = 10, .basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 10, row.site, row.callee, row.calls, &row.row);
}

/* Calls by and of the function, and its method. */
static void test_calls(void **state)
{
	struct hwprof_profile *calls;
	struct fixture fixture;

	begin(&fixture, "calls,step,rows");
	add_call(&fixture, red, green);
	add_call(&fixture, green, blue);
	add_call(&fixture, blue, red);
	calls = read_of(&fixture, HWPROF_KIND_CALLS, "green");
	assert_int_equal(hwprof_calls_pair_count(calls), 2);
	assert_int_equal(hwprof_calls_method_count(calls), 1);
	assert_string_equal(hwprof_calls_method(calls, 0)->entry.function,
			    "green");
	assert_true(hwprof_calls_pair(calls, 0)->called.share == 1 / 3.);
	hwprof_profile_free(calls);
}

static void add_path(struct fixture *fixture, void (*function)(void))
{
	const uint64_t start = (uintptr_t)function;
	const struct hwprof_row_path row = {
		.row = { HWPROF_ROW_PATH, sizeof(row), 1, 1, 100 },
		.start = start, .end = start + 1, .count = 10,
		.flags = HWPROF_PATH_CALLED, .basis = HWPROF_BASIS_EXACT,
	};

	fixture_row(fixture, 10, row.start, row.end, row.count, &row.row);
}

static void test_paths(void **state)
{
	struct hwprof_profile *paths;
	struct fixture fixture;

	begin(&fixture, "paths,step,rows");
	add_path(&fixture, red);
	add_path(&fixture, green);
	paths = read_of(&fixture, HWPROF_KIND_PATHS, "red");
	assert_int_equal(hwprof_paths_count(paths), 1);
	assert_int_equal(hwprof_paths_procedures(paths), 1);
	assert_string_equal(hwprof_paths_procedure(paths, 0)->function, "red");
	assert_true(hwprof_paths_get(paths, 0)->share == .5);
	hwprof_profile_free(paths);
}

static void add_load(struct fixture *fixture, void (*function)(void))
{
	const struct hwprof_row_value row = {
		.row = { HWPROF_ROW_VALUE, sizeof(row), 1, 1, 100 },
		.ip = (uintptr_t)function, .loads = 10, .runs = 1, .breaks = 1,
		.width = 8, .basis = HWPROF_BASIS_EXACT, .count = 1,
		.values[0] = { .value = 7, .hits = 10 },
	};

	fixture_row(fixture, 10, row.ip, 0, row.loads, &row.row);
}

static void test_values(void **state)
{
	struct hwprof_profile *values;
	struct fixture fixture;

	begin(&fixture, "values,step,rows");
	add_load(&fixture, red);
	add_load(&fixture, blue);
	values = read_of(&fixture, HWPROF_KIND_VALUES, "b*");
	assert_int_equal(hwprof_values_count(values), 1);
	assert_string_equal(hwprof_values_get(values, 0)->function, "blue");
	assert_int_equal(hwprof_values_get(values, 0)->values[0].value, 7);
	assert_true(hwprof_values_get(values, 0)->share == .5);
	hwprof_profile_free(values);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_callers),
		cmocka_unit_test(test_callers_of_pattern),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
