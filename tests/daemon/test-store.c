// SPDX-License-Identifier: GPL-2.0-only
/* The store: bounds, kills, full disks, damage, and its clock. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "store.h"

enum { KILLS = 25, PART_BYTES = 20000 };

static char folder[64];

static int make(void **state)
{
	strcpy(folder, "/tmp/hwprof-test-XXXXXX");
	return !mkdtemp(folder);
}

static int clean(void **state)
{
	char output[64];

	return fixture_shell(output, sizeof(output), "rm -rf %s", folder);
}

static struct store *opened(uint64_t mib)
{
	struct store *store;

	if (store_open(&store, folder, mib))
		fail_msg("%s", store_error(store));
	return store;
}

/* A part whose bytes all are @fill, so that a torn one would be seen. */
static void add_part(struct parts *parts, unsigned int kind, const char *id,
		     int fill, size_t size)
{
	struct part_head head = { .kind = kind, .size = size, .units = fill };
	void *bytes = malloc(size);

	strcpy(head.build_id, id);
	strcpy(head.object, "/bin/prog");
	head.totals.lost = kind == PART_ACCOUNT ? 5 : 0;
	memset(bytes, fill, size);
	assert_int_equal(parts_add(parts, &head, bytes), 0);
}

static int write_window(struct store *store, int64_t minute, int fill,
			size_t size, int64_t *id)
{
	struct window window = {
		.level = STORE_MINUTE, .begin = minute * 60,
		.end = minute * 60 + 60, .wall = 1,
	};
	struct parts parts = { .count = 0 };
	int error;

	add_part(&parts, HWPROF_KIND_LOOPS, "ab12", fill, size);
	add_part(&parts, HWPROF_KIND_CALLS, "cd34", fill, size);
	add_part(&parts, PART_ACCOUNT, "", fill, 100);
	error = store_write(store, &window, &parts, NULL, 0);
	if (id)
		*id = window.id;
	parts_free(&parts);
	return error;
}

struct seen {
	struct store *store;
	size_t windows, torn;
	int64_t first, last;
};

static int see(void *context, const struct window *window)
{
	struct parts parts = { .count = 0 };
	struct seen *seen = context;
	size_t i, j;

	assert_int_equal(store_parts(seen->store, window->id, -1, "", &parts),
			 0);
	seen->torn += parts.count != 3;
	for (i = 0; i < parts.count; i++)
		for (j = 1; j < parts.all[i].head.size; j++)
			seen->torn += ((uint8_t *)parts.all[i].bytes)[j] !=
				      ((uint8_t *)parts.all[i].bytes)[0];
	parts_free(&parts);
	if (!seen->windows++)
		seen->first = window->begin;
	seen->last = window->begin;
	return 0;
}

static struct seen see_all(struct store *store)
{
	struct seen seen = { .store = store };

	assert_int_equal(store_windows(store, 0, INT64_MAX, see, &seen), 0);
	return seen;
}

static void test_parts(void **state)
{
	struct store *store = opened(16);
	struct parts parts = { .count = 0 };
	int64_t id;

	assert_int_equal(write_window(store, 100, 7, 50, &id), 0);
	assert_int_equal(store_parts(store, id, HWPROF_KIND_LOOPS, "", &parts),
			 0);
	/* With any build, the account comes, too. */
	assert_int_equal(parts.count, 2);
	assert_string_equal(parts.all[0].head.build_id, "ab12");
	assert_int_equal(parts.all[0].head.size, 50);
	assert_int_equal(parts.all[1].head.totals.lost, 5);
	parts_free(&parts);
	assert_int_equal(store_parts(store, id, -1, "cd", &parts), 0);
	assert_int_equal(parts.count, 1);
	parts_free(&parts);
	assert_int_equal(store_parts(store, id, -1, "ef", &parts), 0);
	assert_int_equal(parts.count, 0);
	store_close(store);
}

static int count_heads(void *context, const struct window *window,
		       const struct part_head *head)
{
	assert_int_equal(window->begin, 6000);
	assert_true(head->size == 50 || head->kind == PART_ACCOUNT);
	++*(int *)context;
	return 0;
}

static void test_times(void **state)
{
	struct window window = { .begin = 6000, .end = 6060 };
	struct store *store = opened(16);
	struct seen seen = { .store = store };
	int heads = 0;

	write_window(store, 100, 7, 50, &window.id);
	write_window(store, 102, 7, 50, NULL);
	assert_int_equal(store_windows(store, 6060, 6120, see, &seen), 0);
	assert_int_equal(seen.windows, 0);
	assert_int_equal(store_windows(store, 6059, 6121, see, &seen), 0);
	assert_int_equal(seen.windows, 2);
	assert_int_equal(store_heads(store, &window, count_heads, &heads), 0);
	assert_int_equal(heads, 3);
	store_close(store);
}

/* Windows go together with the arrival of what they became. */
static void test_replace(void **state)
{
	struct window hour = {
		.level = STORE_HOUR, .begin = 3600, .end = 7200,
	};
	struct store *store = opened(16);
	struct parts parts = { .count = 0 };
	int64_t ids[2];

	write_window(store, 100, 7, 50, &ids[0]);
	write_window(store, 101, 7, 50, &ids[1]);
	write_window(store, 200, 7, 50, NULL);
	add_part(&parts, 0, "ab12", 3, 9);
	add_part(&parts, 1, "ab12", 3, 9);
	add_part(&parts, PART_ACCOUNT, "", 3, 9);
	assert_int_equal(store_write(store, &hour, &parts, ids, 2), 0);
	assert_int_equal(see_all(store).windows, 2);
	assert_int_equal(see_all(store).first, 3600);
	parts_free(&parts);
	store_close(store);
}

/* The oldest go; the file stays within its bound. */
static void test_bound(void **state)
{
	struct store *store = opened(1);
	struct store_counts counts;
	char path[128];
	struct stat status;
	struct seen seen;
	int i;

	for (i = 0; i < 100; i++)
		assert_int_equal(write_window(store, 100 + i, i, PART_BYTES,
					      NULL), 0);
	store_count(store, &counts);
	seen = see_all(store);
	assert_int_equal(counts.windows + counts.evicted, 100);
	assert_int_equal(counts.failures, 0);
	assert_true(counts.windows > 10);
	assert_int_equal(seen.windows, counts.windows);
	assert_int_equal(seen.torn, 0);
	assert_int_equal(seen.last, 199 * 60);
	assert_int_equal(seen.first, (200 - (int64_t)counts.windows) * 60);
	store_close(store);
	snprintf(path, sizeof(path), "%s/hwprofd.db", folder);
	assert_int_equal(stat(path, &status), 0);
	assert_true(status.st_size <= 1 << 20);
}

/* One window that is too large for the store does not empty it. */
static void test_too_large(void **state)
{
	struct store *store = opened(1);
	struct store_counts counts;

	assert_int_equal(write_window(store, 100, 1, 50, NULL), 0);
	assert_int_equal(write_window(store, 101, 1, 1 << 20, NULL), -ENOSPC);
	store_count(store, &counts);
	assert_int_equal(counts.windows, 1);
	assert_int_equal(counts.evicted, 0);
	assert_int_equal(counts.failures, 1);
	store_close(store);
}

static void test_smaller_bound(void **state)
{
	struct store *store = opened(4);
	struct store_counts counts;
	int i;

	for (i = 0; i < 80; i++)
		write_window(store, 100 + i, i, PART_BYTES, NULL);
	store_close(store);
	store = opened(1);
	assert_int_equal(write_window(store, 500, 1, PART_BYTES, NULL), 0);
	store_count(store, &counts);
	assert_true(counts.windows > 0);
	assert_int_equal(see_all(store).last, 500 * 60);
	assert_int_equal(see_all(store).torn, 0);
	store_close(store);
}

/* Writes until it is killed; says on @out which windows were committed. */
static void write_for_ever(int64_t minute, int out)
{
	struct store *store = opened(2);

	for (;; minute++) {
		if (write_window(store, minute, minute & 0x7f, PART_BYTES,
				 NULL))
			_exit(1);
		if (write(out, &minute, sizeof(minute)) != sizeof(minute))
			_exit(2);
	}
}

/* Returns the last window that was committed before the kill. */
static int64_t kill_writer(int64_t minute, unsigned int us)
{
	int64_t last = minute - 1, read_now;
	int pipes[2], status;
	pid_t pid;

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid)
		write_for_ever(minute, pipes[1]);
	close(pipes[1]);
	/* Wait for the first, so that each round writes. */
	assert_int_equal(read(pipes[0], &last, sizeof(last)), sizeof(last));
	usleep(us);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	while (read(pipes[0], &read_now, sizeof(read_now)) == sizeof(read_now))
		last = read_now;
	close(pipes[0]);
	return last;
}

static void test_kills(void **state)
{
	int64_t minute = 100;
	int i;

	for (i = 0; i < KILLS; i++) {
		int64_t last = kill_writer(minute, 1000 + 1777 * i % 9000);
		struct store *store = opened(2);
		struct seen seen = see_all(store);

		assert_int_equal(seen.torn, 0);
		/* The one that was being committed may be there, too. */
		assert_in_range(seen.last / 60, last, last + 1);
		minute = seen.last / 60 + 1;
		store_close(store);
	}
}

static void test_damage(void **state)
{
	char path[128], aside[128];
	struct store *store = opened(4);
	int i, fd;

	for (i = 0; i < 20; i++)
		write_window(store, 100 + i, i, PART_BYTES, NULL);
	store_close(store);
	snprintf(path, sizeof(path), "%s/hwprofd.db", folder);
	snprintf(aside, sizeof(aside), "%s/hwprofd.db.damaged", folder);
	fd = open(path, O_WRONLY);
	for (i = 1; i < 100; i++)
		assert_int_equal(pwrite(fd, "damaged, badly", 14, i * 4096),
				 14);
	close(fd);
	store = opened(4);
	assert_int_equal(see_all(store).windows, 0);
	assert_int_equal(write_window(store, 500, 1, 50, NULL), 0);
	assert_int_equal(access(aside, F_OK), 0);
	store_close(store);
}

static void test_no_database(void **state)
{
	char path[128];
	struct store *store;
	FILE *out;

	snprintf(path, sizeof(path), "%s/hwprofd.db", folder);
	out = fopen(path, "w");
	fputs("this is no database, but long enough to look like one", out);
	fclose(out);
	store = opened(4);
	assert_int_equal(see_all(store).windows, 0);
	store_close(store);
}

static void test_no_folder(void **state)
{
	struct store *store;

	assert_int_not_equal(store_open(&store, "/no/such/folder", 4), 0);
	assert_non_null(strstr(store_error(store), "/no/such/folder"));
	store_close(store);
}

static void test_newer_version(void **state)
{
	struct store *store = opened(4);
	char path[128];
	sqlite3 *db;

	store_close(store);
	snprintf(path, sizeof(path), "%s/hwprofd.db", folder);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "PRAGMA user_version = 9", NULL, NULL,
				      NULL), SQLITE_OK);
	sqlite3_close(db);
	assert_int_equal(store_open(&store, folder, 4), -EPROTO);
	assert_non_null(strstr(store_error(store), "version 9"));
	store_close(store);
}

/* Within a boot the clock goes on; in another one it is not set back. */
static void test_clock(void **state)
{
	struct store *store = opened(4);
	int64_t now = store_now(store), future = now + 1000000;
	char path[128];
	sqlite3 *db;

	assert_int_equal(write_window(store, future / 60, 1, 50, NULL), 0);
	store_close(store);
	store = opened(4);
	assert_in_range(store_now(store), now, now + 100);
	store_close(store);
	/* The same, as another boot sees it: the system's time was set back. */
	snprintf(path, sizeof(path), "%s/hwprofd.db", folder);
	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, "UPDATE boots SET boot_id = 'other'",
				      NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
	store = opened(4);
	assert_true(store_now(store) >= future / 60 * 60 + 60);
	store_close(store);
}

/* A full file system: without room for anything, and with room again. */
static void test_full_disk(void **state)
{
	char filler[128];
	struct store *store;
	int i, error = 0, fd;

	if (mount("none", folder, "tmpfs", 0, "size=1m")) {
		skip();
		return;
	}
	store = opened(64);
	snprintf(filler, sizeof(filler), "%s/filler", folder);
	fd = open(filler, O_WRONLY | O_CREAT, 0600);
	while (write(fd, filler, sizeof(filler)) > 0)
		;
	close(fd);
	for (i = 0; i < 20 && !error; i++)
		error = write_window(store, 100 + i, i, PART_BYTES, NULL);
	assert_true(error == -ENOSPC || error == -EIO);
	unlink(filler);
	assert_int_equal(write_window(store, 500, 1, 50, NULL), 0);
	assert_int_equal(see_all(store).torn, 0);
	assert_int_equal(see_all(store).last, 500 * 60);
	store_close(store);
	umount(folder);
}

static void fill_disk(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT, 0600);
	char bytes[4096] = { 1 };

	assert_true(fd >= 0);
	while (write(fd, bytes, sizeof(bytes)) > 0)
		;
	close(fd);
}

/*
 * A write that fails on a full disk costs nothing: the windows that are there
 * are of more use than none.
 */
static void test_full_disk_keeps(void **state)
{
	struct store_counts before, after;
	unsigned int failures = 0;
	char filler[128];
	struct store *store;
	struct seen seen;
	int i;

	if (mount("none", folder, "tmpfs", 0, "size=4m")) {
		skip();
		return;
	}
	store = opened(64);
	for (i = 0; i < 60; i++)
		assert_int_equal(write_window(store, 100 + i, i, PART_BYTES,
					      NULL), 0);
	snprintf(filler, sizeof(filler), "%s/filler", folder);
	fill_disk(filler);
	for (i = 0; i < 30; i++) {
		seen = see_all(store);
		store_count(store, &before);
		if (!write_window(store, 200 + i, i, 20 * PART_BYTES, NULL))
			continue;
		failures++;
		store_count(store, &after);
		assert_int_equal(see_all(store).windows, seen.windows);
		assert_int_equal(see_all(store).first, seen.first);
		assert_int_equal(after.evicted, before.evicted);
	}
	assert_true(failures > 0);
	assert_int_equal(see_all(store).torn, 0);
	unlink(filler);
	assert_int_equal(write_window(store, 500, 1, 50, NULL), 0);
	store_close(store);
	umount(folder);
}

int main(void)
{
#define IN_FOLDER(test)	cmocka_unit_test_setup_teardown(test, make, clean)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_parts),
		IN_FOLDER(test_times),
		IN_FOLDER(test_replace),
		IN_FOLDER(test_bound),
		IN_FOLDER(test_too_large),
		IN_FOLDER(test_smaller_bound),
		IN_FOLDER(test_kills),
		IN_FOLDER(test_damage),
		IN_FOLDER(test_no_database),
		cmocka_unit_test(test_no_folder),
		IN_FOLDER(test_newer_version),
		IN_FOLDER(test_clock),
		IN_FOLDER(test_full_disk),
		IN_FOLDER(test_full_disk_keeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
