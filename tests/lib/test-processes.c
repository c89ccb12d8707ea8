// SPDX-License-Identifier: GPL-2.0-only
/* Maps over time: rows find their object whatever the order of the file. */
#include <string.h>

#include "check.h"
#include "fixture.h"

/* Returns the object of the loop with that number of entries. */
static const char *object_of(const struct hwprof_profile *loops,
			     uint64_t entries)
{
	size_t i;

	/*
	 * The number of entries identifies the loop, since heads become
	 * offsets.
	 */
	for (i = 0; i < hwprof_loops_count(loops); i++)
		if (hwprof_loops_get(loops, i)->entries == entries)
			return hwprof_loops_get(loops, i)->object;
	return NULL;
}

static void add_marked(struct fixture *fixture, uint64_t time, uint32_t space,
		       uint32_t pid, uint64_t head, int64_t mark)
{
	struct hwprof_row_loop row = fixture_loop(space, pid, head, head + 16,
						  1, mark);

	fixture_add_loop(fixture, time, &row);
}

static void expect(struct fixture *fixture, const char *const *objects)
{
	struct hwprof_profile *loops;
	int64_t mark;

	fixture_end(fixture);
	loops = fixture_loops(fixture, HWPROF_PER_PROCESS);
	for (mark = 1; *objects; mark++, objects++) {
		const char *found = object_of(loops, mark);

		assert_non_null(found);
		assert_string_equal(found, *objects);
	}
	hwprof_profile_free(loops);
	fixture_remove(fixture);
}

/* The same address in one process before and after an exec. */
static void test_exec(void **state)
{
	static const char *const objects[] = { "/bin/old", "/bin/new", NULL };
	struct fixture fixture;

	fixture_begin(&fixture, "loops,rows");
	fixture_comm(&fixture, 10, 100, "old", true);
	fixture_map(&fixture, 11, 100, 0x1000, 0x1000, 0, "/bin/old", NULL);
	fixture_comm(&fixture, 20, 100, "new", true);
	fixture_map(&fixture, 21, 100, 0x1000, 0x1000, 0, "/bin/new", NULL);
	add_marked(&fixture, 20, 1, 100, 0x1100, 1); /* flushed by the exec */
	add_marked(&fixture, 30, 2, 100, 0x1100, 2);
	expect(&fixture, objects);
}

/* All rows come before the records that they need. */
static void test_rows_first(void **state)
{
	static const char *const objects[] = { "/bin/old", "/bin/new", NULL };
	struct fixture fixture;

	fixture_begin(&fixture, "loops,rows");
	add_marked(&fixture, 30, 2, 100, 0x1100, 2);
	add_marked(&fixture, 15, 1, 100, 0x1100, 1);
	fixture_map(&fixture, 21, 100, 0x1000, 0x1000, 0, "/bin/new", NULL);
	fixture_comm(&fixture, 20, 100, "new", true);
	fixture_map(&fixture, 11, 100, 0x1000, 0x1000, 0, "/bin/old", NULL);
	fixture_comm(&fixture, 10, 100, "old", true);
	expect(&fixture, objects);
}

/* A child has its parent's maps at the fork, and no later ones. */
static void test_fork(void **state)
{
	static const char *const objects[] = {
		"/bin/a", "[unknown]", "/lib/child", "/lib/parent", NULL,
	};
	struct fixture fixture;

	fixture_begin(&fixture, "loops,rows");
	fixture_comm(&fixture, 1, 100, "a", true);
	fixture_map(&fixture, 2, 100, 0x1000, 0x1000, 0, "/bin/a", NULL);
	fixture_fork(&fixture, 10, 101, 100);
	fixture_map(&fixture, 11, 100, 0x5000, 0x1000, 0, "/lib/parent", NULL);
	fixture_map(&fixture, 12, 101, 0x6000, 0x1000, 0, "/lib/child", NULL);
	add_marked(&fixture, 20, 2, 101, 0x1100, 1);
	add_marked(&fixture, 20, 2, 101, 0x5100, 2);
	add_marked(&fixture, 20, 2, 101, 0x6100, 3);
	add_marked(&fixture, 20, 1, 100, 0x5100, 4);
	expect(&fixture, objects);
}

/* A grandchild execs. All exit before its late row. */
static void test_fork_exec_exit(void **state)
{
	static const char *const objects[] = {
		"/bin/shell", "/bin/tool", "/bin/shell", NULL,
	};
	struct fixture fixture;

	fixture_begin(&fixture, "loops,rows");
	fixture_comm(&fixture, 1, 100, "shell", true);
	fixture_map(&fixture, 2, 100, 0x1000, 0x1000, 0, "/bin/shell", NULL);
	fixture_fork(&fixture, 10, 101, 100);
	fixture_fork(&fixture, 11, 102, 101);
	fixture_comm(&fixture, 12, 102, "tool", true);
	fixture_map(&fixture, 13, 102, 0x1000, 0x1000, 0, "/bin/tool", NULL);
	fixture_exit(&fixture, 20, 102);
	fixture_exit(&fixture, 21, 101);
	fixture_exit(&fixture, 22, 100);
	add_marked(&fixture, 11, 2, 102, 0x1100, 1);
	add_marked(&fixture, 19, 3, 102, 0x1100, 2);
	add_marked(&fixture, 20, 4, 101, 0x1100, 3);
	expect(&fixture, objects);
}

/* A reused pid is another process. */
static void test_pid_again(void **state)
{
	static const char *const objects[] = { "/bin/one", "/bin/two", NULL };
	struct fixture fixture;

	fixture_begin(&fixture, "loops,rows");
	fixture_comm(&fixture, 1, 100, "one", true);
	fixture_map(&fixture, 2, 100, 0x1000, 0x1000, 0, "/bin/one", NULL);
	fixture_exit(&fixture, 5, 100);
	fixture_comm(&fixture, 6, 200, "two", true);
	fixture_map(&fixture, 7, 200, 0x1000, 0x1000, 0, "/bin/two", NULL);
	fixture_fork(&fixture, 10, 100, 200);
	add_marked(&fixture, 4, 1, 100, 0x1100, 1);
	add_marked(&fixture, 20, 2, 100, 0x1100, 2);
	expect(&fixture, objects);
}

/* A newer map hides an older one from then on, as dlclose and dlopen do. */
static void test_map_over(void **state)
{
	static const char *const objects[] = {
		"/lib/first", "/lib/second", "/lib/first", NULL,
	};
	struct fixture fixture;

	fixture_begin(&fixture, "loops,rows");
	fixture_comm(&fixture, 1, 100, "a", true);
	fixture_map(&fixture, 2, 100, 0x1000, 0x3000, 0, "/lib/first", NULL);
	fixture_map(&fixture, 10, 100, 0x2000, 0x1000, 0, "/lib/second", NULL);
	add_marked(&fixture, 9, 1, 100, 0x2100, 1);
	add_marked(&fixture, 11, 1, 100, 0x2200, 2);
	add_marked(&fixture, 11, 1, 100, 0x3100, 3);
	expect(&fixture, objects);
}

/* Code in no file has a name, too, and belongs to its process. */
static void test_no_files(void **state)
{
	static const char *const objects[] = {
		"//anon", "[vdso]", "[heap]", "[unknown]", NULL,
	};
	struct fixture fixture;

	fixture_begin(&fixture, "loops,rows");
	fixture_comm(&fixture, 1, 100, "jit", true);
	fixture_map(&fixture, 2, 100, 0x1000, 0x1000, 0, "//anon", NULL);
	fixture_map(&fixture, 2, 100, 0x2000, 0x1000, 0, "[vdso]", NULL);
	fixture_map(&fixture, 2, 100, 0x3000, 0x1000, 0, "[heap]", NULL);
	add_marked(&fixture, 9, 1, 100, 0x1100, 1);
	add_marked(&fixture, 9, 1, 100, 0x2100, 2);
	add_marked(&fixture, 9, 1, 100, 0x3100, 3);
	add_marked(&fixture, 9, 1, 100, 0x9100, 4);
	expect(&fixture, objects);
}

/* A loop has its process's name at the time. */
static void test_comm(void **state)
{
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct fixture fixture;
	size_t i;

	fixture_begin(&fixture, "loops,rows");
	fixture_comm(&fixture, 1, 100, "first", true);
	fixture_map(&fixture, 2, 100, 0x1000, 0x1000, 0, "/bin/a", NULL);
	fixture_comm(&fixture, 10, 100, "second", true);
	fixture_map(&fixture, 11, 100, 0x1000, 0x1000, 0, "/bin/a", NULL);
	fixture_fork(&fixture, 12, 101, 100);
	add_marked(&fixture, 9, 1, 100, 0x1100, 1);
	add_marked(&fixture, 15, 3, 101, 0x1200, 2);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, HWPROF_PER_PROCESS);
	assert_int_equal(hwprof_loops_count(loops), 2);
	for (i = 0; i < 2; i++) {
		loop = hwprof_loops_get(loops, i);
		assert_string_equal(loop->comm, loop->pid == 100 ? "first" :
				    "second");
	}
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exec),
		cmocka_unit_test(test_rows_first),
		cmocka_unit_test(test_fork),
		cmocka_unit_test(test_fork_exec_exit),
		cmocka_unit_test(test_pid_again),
		cmocka_unit_test(test_map_over),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_comm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
