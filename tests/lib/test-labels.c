// SPDX-License-Identifier: GPL-2.0-only
/* Labels of processes: from /proc to a file and back, merged and chosen by. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "live/process_labels.h"
#include "merge/merge.h"
#include "perfdata/file.h"

enum { UNITS = 100 };

static const char web[] = "/system.slice/web.service";
static const char user[] =
	"/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope";
#define ID_1	"0123456789abcdef0123456789abcdef"
static const char docker[] = "/system.slice/docker-" ID_1 ID_1 ".scope";

/* --- filters -------------------------------------------------------------- */

static bool chooses(const struct label_filter *filter, uint32_t uid, bool seen,
		    const char *cgroup)
{
	const struct label label = {
		.uid = uid, .seen = seen, .cgroup = cgroup,
	};

	return label_is_wanted(filter, "prog", &label);
}

static void test_filters(void **state)
{
	struct label_filter filter = { .by_uid = true, .uid = 0 };

	assert_true(label_filter_is_set(&filter));
	assert_true(chooses(&filter, 0, true, ""));
	assert_true(chooses(&filter, 0, false, ""));
	assert_false(chooses(&filter, 1, true, ""));
	assert_false(chooses(&filter, LABEL_NO_UID, true, ""));
	filter.only_seen = true;
	assert_false(chooses(&filter, 0, false, ""));
	filter = (struct label_filter){ .program = "prog" };
	assert_true(chooses(&filter, 5, false, ""));
	strcpy(filter.program, "pro");
	assert_false(chooses(&filter, 5, false, ""));
	filter = (struct label_filter){ .by_uid = false };
	assert_false(label_filter_is_set(&filter));
	assert_true(chooses(&filter, LABEL_NO_UID, false, ""));
}

static void test_paths(void **state)
{
	struct label_filter filter = { .cgroup = "/system.slice" };

	assert_true(chooses(&filter, 0, true, web));
	assert_true(chooses(&filter, 0, true, "/system.slice"));
	assert_false(chooses(&filter, 0, true, "/system.slices/web.service"));
	assert_false(chooses(&filter, 0, true, "/"));
	assert_false(chooses(&filter, 0, true, ""));
	strcpy(filter.cgroup, "/system.slice/");
	assert_true(chooses(&filter, 0, true, web));
	strcpy(filter.cgroup, "/");
	assert_true(chooses(&filter, 0, true, web));
	assert_false(chooses(&filter, 0, true, ""));
	filter = (struct label_filter){ .unit = "web.service" };
	assert_true(chooses(&filter, 0, true, web));
	assert_false(chooses(&filter, 0, true, "/system.slice/eb.service"));
	assert_false(chooses(&filter, 0, true, "/system.slice/web.service2"));
	filter = (struct label_filter){ .container = "0123456789ab" };
	assert_true(chooses(&filter, 0, true, docker));
	assert_false(chooses(&filter, 0, true, "/0123456789ab"));
	strcpy(filter.container, "123456789ab");
	assert_false(chooses(&filter, 0, true, docker));
}

static void test_names(void **state)
{
	const char *unit;

	assert_int_equal(label_unit(web, &unit), strlen("web.service"));
	assert_string_equal(unit, "web.service");
	assert_int_equal(label_unit(user, &unit), strlen("app-x.scope"));
	assert_string_equal(unit, "app-x.scope");
	assert_int_equal(label_unit("/a/.service/b", &unit), 0);
	assert_int_equal(label_unit("", &unit), 0);
	assert_string_equal(label_container(docker), ID_1 ID_1 ".scope");
	assert_null(label_container("/a/" ID_1));
	assert_null(label_container("/a/" ID_1 ID_1 "0"));
}

/* --- processes ------------------------------------------------------------ */

static void test_self(void **state)
{
	struct label_table labels = { .count = 0 };
	const struct label *own;

	assert_int_equal(process_labels_look(&labels, getpid()), 0);
	own = labels_find(&labels, getpid());
	assert_non_null(own);
	assert_int_equal(own->uid, geteuid());
	assert_true(own->seen);
	labels_free(&labels);
}

static void take(struct label_table *labels, unsigned int type,
		 unsigned int misc, uint32_t pid, uint32_t parent)
{
	const struct perf_event_header header = { .type = type, .misc = misc };
	const uint32_t words[4] = { pid, parent };

	assert_int_equal(process_labels_take(labels, &header, words,
					     sizeof(words)), 0);
}

/* Returns the number of a process that is gone. */
static uint32_t gone(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

/* A process that is gone when it is looked at is what its parent was. */
static void test_short(void **state)
{
	struct label parent = {
		.pid = 1 << 30, .uid = 1000, .seen = true, .cgroup = web,
	};
	struct label_table labels = { .count = 0 };
	uint32_t pid = gone();
	struct label *child;

	assert_int_equal(labels_set(&labels, &parent), 0);
	take(&labels, PERF_RECORD_FORK, 0, pid, parent.pid);
	child = labels_find(&labels, pid);
	assert_non_null(child);
	assert_int_equal(child->uid, 1000);
	assert_string_equal(child->cgroup, web);
	assert_true(child->seen);
	/* Nobody knows whose it was when it had executed something. */
	take(&labels, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, pid, pid);
	assert_int_equal(child->uid, 1000);
	assert_false(child->seen);
	/* The record of its fork comes late, from another CPU. */
	take(&labels, PERF_RECORD_FORK, 0, pid, parent.pid);
	assert_false(child->seen);
	/* If records were lost, nothing is known for sure of others either. */
	assert_true(labels_find(&labels, parent.pid)->seen);
	assert_int_equal(labels_doubt(&labels), 0);
	assert_false(labels_find(&labels, parent.pid)->seen);
	labels_free(&labels);
}

/* A process that was another user's is not shown to its new one. */
static void test_changed(void **state)
{
	struct label before = {
		.pid = getpid(), .uid = geteuid() + 1, .seen = true,
		.cgroup = web,
	};
	struct label_table labels = { .count = 0 };
	struct label *own;

	assert_int_equal(labels_set(&labels, &before), 0);
	take(&labels, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, getpid(),
	     getpid());
	own = labels_find(&labels, getpid());
	assert_int_equal(own->uid, geteuid());
	assert_false(own->seen);
	labels_free(&labels);
}

/* --- the section ---------------------------------------------------------- */

static char *write_labels(const struct label_table *labels, size_t *size,
			  size_t *count)
{
	char *bytes;
	FILE *out = open_memstream(&bytes, size);

	*count = labels_put(labels, out);
	fclose(out);
	return bytes;
}

static void test_section(void **state)
{
	struct label_table labels = { .count = 0 }, read = { .count = 0 };
	struct label a = { .pid = 7, .uid = 3, .used = true, .cgroup = web },
		     b = { .pid = 8, .uid = 4, .used = true, .seen = true,
			   .cgroup = docker },
		     c = { .pid = 9, .uid = 5, .cgroup = user };
	size_t size, count, cut;
	char *bytes;

	assert_int_equal(labels_set(&labels, &a), 0);
	assert_int_equal(labels_set(&labels, &b), 0);
	assert_int_equal(labels_set(&labels, &c), 0);
	bytes = write_labels(&labels, &size, &count);
	assert_int_equal(count, 2);
	assert_int_equal(labels_parse(&read, reader_of(bytes, size)), 0);
	assert_int_equal(read.count, 2);
	assert_int_equal(labels_find(&read, 7)->uid, 3);
	assert_false(labels_find(&read, 7)->seen);
	assert_string_equal(labels_find(&read, 8)->cgroup, docker);
	assert_true(labels_find(&read, 8)->seen);
	assert_null(labels_find(&read, 9));
	labels_free(&read);
	for (cut = 0; cut < size; cut++) {
		char *part = malloc(cut + 1);

		memcpy(part, bytes, cut);
		labels_parse(&read, reader_of(part, cut));
		labels_free(&read);
		free(part);
	}
	/* A path that is not there. */
	memset(bytes + size - 4, 0xff, 4);
	assert_true(labels_parse(&read, reader_of(bytes, size)) < 0);
	labels_free(&read);
	labels_free(&labels);
	free(bytes);
}

/* A path that is not known does not stay in the caller's memory. */
static void test_no_path(void **state)
{
	struct label_table labels = { .count = 0 };
	char cgroup[LABEL_PATH] = "";
	struct label label = { .pid = 1, .cgroup = cgroup };

	assert_int_equal(labels_set(&labels, &label), 0);
	strcpy(cgroup, web);
	assert_string_equal(labels_find(&labels, 1)->cgroup, "");
	labels_free(&labels);
}

/* --- merging -------------------------------------------------------------- */

static void add_process(struct fixture *fixture, uint32_t pid)
{
	struct hwprof_row_loop row = fixture_loop(pid, pid, 0x400100, 0x400140,
						  UNITS, 1);

	fixture_comm(fixture, 1, pid, "prog", true);
	fixture_map(fixture, 2, pid, 0x400000, 0x10000, 0, "/no/prog", NULL);
	fixture_add_loop(fixture, 10, &row);
}

static void add_file(struct merge *merge, const char *path)
{
	struct hwprof_file *file;

	assert_int_equal(hwprof_file_open(&file, path), 0);
	assert_int_equal(merge_add(merge, file), 0);
	hwprof_file_close(file);
}

/* Adds recordings of three processes, whose labels are these. */
static void add_three(struct merge *merge)
{
	struct label labels[] = {
		{ .pid = 100, .uid = 1000, .seen = true, .cgroup = user },
		{ .pid = 200, .uid = 33, .seen = true, .cgroup = web },
		{ .pid = 300, .uid = 33, .cgroup = docker },
	};
	struct fixture fixture;
	size_t i;

	fixture_begin(&fixture, "loops,lbr,rows");
	for (i = 0; i < 3; i++) {
		add_process(&fixture, labels[i].pid);
		assert_int_equal(labels_set(&fixture.labels, &labels[i]), 0);
	}
	/* One that has none. */
	add_process(&fixture, 400);
	fixture_end(&fixture);
	add_file(merge, fixture.path);
	fixture_remove(&fixture);
}

static uint64_t units_of(const struct label_filter *filter)
{
	struct merge *merge = merge_new(), *again = merge_new();
	char path[] = "/tmp/hwprof-test-XXXXXX", message[256];
	const struct merge_part *part;
	uint64_t units = 0;

	close(mkstemp(path));
	add_three(merge);
	/* Labels stay when they are written and read again. */
	assert_int_equal(merge_write(merge, MERGE_ALL, path, message,
				     sizeof(message)), 0);
	merge_choose(again, filter);
	add_file(again, path);
	part = merge_part(again, 0);
	if (part)
		units = part->units;
	assert_null(merge_part(again, 1));
	assert_true(label_filter_is_set(filter) ||
		    merge_totals(again, false).produced ==
		    merge_totals(merge, false).produced);
	merge_free(merge);
	merge_free(again);
	unlink(path);
	return units;
}

static void test_merge(void **state)
{
	struct label_filter filter = { .by_uid = false };

	assert_int_equal(units_of(&filter), 4 * UNITS);
	filter = (struct label_filter){ .by_uid = true, .uid = 33 };
	assert_int_equal(units_of(&filter), 2 * UNITS);
	filter.only_seen = true;
	assert_int_equal(units_of(&filter), UNITS);
	filter.uid = 34;
	assert_int_equal(units_of(&filter), 0);
	filter = (struct label_filter){ .cgroup = "/system.slice" };
	assert_int_equal(units_of(&filter), 2 * UNITS);
	filter = (struct label_filter){ .container = "0123" };
	assert_int_equal(units_of(&filter), UNITS);
	filter = (struct label_filter){ .program = "prog" };
	assert_int_equal(units_of(&filter), 4 * UNITS);
}

/* Label sets that are too many become one, and are counted. */
static void test_folded(void **state)
{
	enum { MANY = MERGE_PROGRAMS_MAX + 10 };
	struct merge *merge = merge_new();
	struct merge_process process;
	struct fixture fixture;
	char cgroup[32];
	size_t count;
	uint32_t i;

	fixture_begin(&fixture, "loops,lbr,rows");
	for (i = 1; i <= MANY; i++) {
		struct label label = { .pid = i, .uid = i, .cgroup = cgroup };

		snprintf(cgroup, sizeof(cgroup), "/%u", i);
		add_process(&fixture, i);
		assert_int_equal(labels_set(&fixture.labels, &label), 0);
	}
	fixture_end(&fixture);
	add_file(merge, fixture.path);
	fixture_remove(&fixture);
	for (count = 0; merge_process(merge, count, &process); count++)
		;
	assert_int_equal(count, MERGE_PROGRAMS_MAX);
	assert_string_equal(process.program, MERGE_OTHER);
	assert_int_equal(process.uid, LABEL_NO_UID);
	assert_int_equal(merge_folded(merge), 11 * UNITS);
	assert_int_equal(merge_part(merge, 0)->units, MANY * UNITS);
	merge_free(merge);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_filters),
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_self),
		cmocka_unit_test(test_short),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_section),
		cmocka_unit_test(test_no_path),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_folded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
