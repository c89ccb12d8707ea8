// SPDX-License-Identifier: GPL-2.0-only
/* From windows in memory to minutes, ten minutes and hours, and back. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "check.h"
#include "fixture.h"
#include "jobs.h"
#include "listing.h"
#include "recordings.h"
#include "timeline.h"
#include "windows.h"
#include "wire.h"

#define SECOND	1000000000ULL

static char folder[64];

static const struct build_id id = { .size = 20, .bytes = { 0xab, [19] = 1 } };
static const struct recorded_code code = {
	.path = "/no/prog", .id = &id, .start = 0x400000, .size = 0x10000,
	.head = 0x400100, .callee = 0x400300,
};

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

/* Sets @parts to those that a worker writes for a job. */
static void run_job(worker_fn fn, const struct job *job, int keep,
		    struct parts *parts)
{
	struct worker worker;

	assert_int_equal(worker_start(&worker, fn, job, WORKER_READS_FILES,
				      keep, 60), 0);
	if (worker_wait(&worker) != ANSWER_OK) {
		char message[WORKER_MESSAGE];

		worker_message(&worker, message);
		fail_msg("%s", message);
	}
	*parts = (struct parts){ .count = 0 };
	assert_int_equal(parts_read(parts, worker.out,
				    lseek(worker.out, 0, SEEK_END)), 0);
	close(worker.out);
}

/* Adds a window that ended @ago seconds ago. */
static void add_made(struct timeline *timeline, uint64_t ago, uint64_t units,
		     void (*make)(struct fixture *fixture,
				  const struct recorded_code *code,
				  uint64_t units))
{
	struct fixture fixture;

	make(&fixture, &code, units);
	window_add(timeline, ago, &fixture);
}

static void add_window(struct timeline *timeline, uint64_t ago, uint64_t units)
{
	add_made(timeline, ago, units, recordings_make);
}

/* Does all that is due. Returns how often. */
static int run_due(struct timeline *timeline, bool all)
{
	struct timeline_task task;
	struct parts merged;
	int count;

	for (count = 0; timeline_due(timeline, all, &task) > 0; count++) {
		const struct job job = {
			.parts = task.parts,
			.drop_whole = task.window.level > STORE_MINUTE,
		};

		if (timeline_is_single(&task)) {
			timeline_finish(timeline, &task, &task.parts);
			continue;
		}
		run_job(job_merge, &job, -1, &merged);
		timeline_finish(timeline, &task, &merged);
		parts_free(&merged);
	}
	return count;
}

static uint64_t units_of(struct timeline *timeline, int kind, const char *build)
{
	struct parts parts = { .count = 0 };
	uint64_t units = 0;
	size_t i;

	assert_int_equal(timeline_parts(timeline, 0, INT64_MAX, kind, build,
					&parts), 0);
	for (i = 0; i < parts.count; i++)
		units += parts.all[i].head.units;
	parts_free(&parts);
	return units;
}

static struct timeline *start(struct store **store, struct config *config)
{
	struct timeline *timeline;

	config_default(config);
	assert_int_equal(store_open(store, folder, 16), 0);
	timeline = timeline_new(*store, config);
	assert_non_null(timeline);
	return timeline;
}

/* Packs bytes into a part beside @parts. */
static void add_bytes(struct parts *parts, const void *bytes, size_t size)
{
	struct part_head head = { .kind = HWPROF_KIND_LOOPS };
	size_t room = ZSTD_compressBound(size);
	void *packed = malloc(room);

	assert_non_null(packed);
	head.size = ZSTD_compress(packed, room, bytes, size, 1);
	assert_int_equal(parts_add(parts, &head, packed), 0);
}

static enum answer merge_parts(const struct parts *parts)
{
	const struct job job = { .parts = *parts };
	struct worker worker;
	enum answer answer;

	assert_int_equal(worker_start(&worker, job_merge, &job, WORKER_NO_FILES,
				      -1, 60), 0);
	answer = worker_wait(&worker);
	close(worker.out);
	return answer;
}

/*
 * A damaged part costs itself alone. One that cannot be read for another reason
 * may be in order, so that windows with it are not replaced.
 */
static void test_unreadable(void **state)
{
	static const char damaged[64] = "no recording";
	/* The magic number of old recordings. */
	static const char foreign[104] = "PERFFILE";
	struct timeline *timeline;
	struct parts parts = { .count = 0 };
	struct config config;
	struct store *store;

	timeline = start(&store, &config);
	add_window(timeline, 1, 100);
	assert_int_equal(timeline_parts(timeline, 0, INT64_MAX, -1, "", &parts),
			 0);
	assert_int_equal(merge_parts(&parts), ANSWER_OK);
	add_bytes(&parts, damaged, sizeof(damaged));
	assert_int_equal(merge_parts(&parts), ANSWER_OK);
	add_bytes(&parts, foreign, sizeof(foreign));
	/* One that can be read comes behind it. */
	add_bytes(&parts, damaged, sizeof(damaged));
	assert_int_equal(merge_parts(&parts), ANSWER_FAILED);
	parts_free(&parts);
	timeline_free(timeline);
	store_close(store);
}

/* A minute that is over is stored once, and is not counted twice. */
static void test_minutes(void **state)
{
	struct config config;
	struct store *store;
	struct timeline *timeline = start(&store, &config);
	struct timeline_counts counts;
	struct store_counts stored;

	add_window(timeline, 200, 10);
	add_window(timeline, 199, 5);
	add_window(timeline, 1, 100);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 115);
	assert_in_range(run_due(timeline, false), 1, 2);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 115);
	assert_int_equal(run_due(timeline, false), 0);
	/* The end: the minute that is not over, too. */
	assert_int_equal(run_due(timeline, true), 1);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 115);
	timeline_count(timeline, &counts);
	assert_int_equal(counts.received, 3);
	assert_int_equal(counts.dropped, 0);
	assert_int_equal(counts.totals.lost, 21);
	assert_int_equal(counts.totals.delivered, 345);
	timeline_free(timeline);
	/* The next start has it from the store. */
	timeline = timeline_new(store, &config);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 115);
	assert_int_equal(units_of(timeline, HWPROF_KIND_CALLS, "ab"), 115);
	assert_int_equal(units_of(timeline, HWPROF_KIND_CALLS, "cd"), 0);
	add_window(timeline, 0, 3);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 118);
	run_due(timeline, true);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 118);
	store_count(store, &stored);
	assert_in_range(stored.windows, 3, 4);
	timeline_free(timeline);
	store_close(store);
}

static int note_level(void *context, const struct window *window)
{
	((int *)context)[window->level]++;
	return 0;
}

/* Old minutes become ten minutes, and these an hour. */
static void test_ages(void **state)
{
	int levels[STORE_LEVELS] = { 0 };
	struct config config;
	struct store *store;
	struct timeline *timeline = start(&store, &config);
	unsigned int ago;

	for (ago = 200; ago < 1400; ago += 60)
		add_window(timeline, ago, 10);
	assert_in_range(run_due(timeline, false), 20, 21);
	store_windows(store, 0, INT64_MAX, note_level, levels);
	assert_in_range(levels[STORE_MINUTE], 20, 21);
	config.keep_minutes = config.keep_ten_minutes = 0;
	timeline_configure(timeline, &config);
	run_due(timeline, false);
	memset(levels, 0, sizeof(levels));
	store_windows(store, 0, INT64_MAX, note_level, levels);
	assert_true(levels[STORE_TEN_MINUTES] + levels[STORE_HOUR] > 0);
	assert_in_range(levels[STORE_MINUTE], 0, 10);
	/* Nothing counts twice that is still in memory. */
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 200);
	timeline_free(timeline);
	timeline = timeline_new(store, &config);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 200);
	timeline_free(timeline);
	store_close(store);
}

/* Without a store, memory is bounded, and what goes is counted. */
static void test_memory(void **state)
{
	struct timeline_counts counts;
	struct config config;
	struct timeline *timeline;
	int i;

	config_default(&config);
	config.memory_mib = 0;
	timeline = timeline_new(NULL, &config);
	for (i = 5; i >= 0; i--)
		add_window(timeline, 60 * i, 1);
	timeline_count(timeline, &counts);
	assert_int_equal(counts.received, 6);
	assert_int_equal(counts.memory_windows + counts.dropped, 6);
	assert_in_range(counts.memory_windows, 1, 2);
	assert_int_equal(run_due(timeline, true), 0);
	timeline_free(timeline);
}

/* The only window of a minute needs no merging, but two do. */
static void test_single(void **state)
{
	struct timeline_task task;
	struct config config;
	struct store *store;
	struct timeline *timeline = start(&store, &config);

	add_window(timeline, 200, 10);
	assert_int_equal(timeline_due(timeline, false, &task), 1);
	assert_true(timeline_is_single(&task));
	timeline_postpone(timeline, &task);
	add_window(timeline, 200, 20);
	sleep(3);
	assert_int_equal(timeline_due(timeline, false, &task), 1);
	assert_false(timeline_is_single(&task));
	timeline_postpone(timeline, &task);
	timeline_free(timeline);
	store_close(store);
}

/* Windows that nobody could merge just now are due again. */
static void test_postpone(void **state)
{
	struct timeline_task task;
	struct config config;
	struct store *store;
	struct timeline *timeline = start(&store, &config);

	add_window(timeline, 200, 10);
	assert_int_equal(timeline_due(timeline, false, &task), 1);
	timeline_postpone(timeline, &task);
	assert_int_equal(timeline_due(timeline, false, &task), 0);
	sleep(3);
	assert_int_equal(run_due(timeline, false), 1);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 10);
	timeline_free(timeline);
	store_close(store);
}

/* A question that would fill the memory is refused. */
static void test_too_much(void **state)
{
	struct parts parts, found = { .count = 0 };
	struct config config;
	struct timeline *timeline;
	int i;

	config_default(&config);
	config.memory_mib = 1024;
	timeline = timeline_new(NULL, &config);
	for (i = 3; i >= 0; i--) {
		struct part_head head = { .size = TIMELINE_PARTS_MAX / 3 };
		uint64_t end = wire_now() - i * 60 * SECOND;

		parts = (struct parts){ .count = 0 };
		assert_int_equal(parts_add(&parts, &head,
					   calloc(1, head.size)), 0);
		assert_int_equal(timeline_add(timeline, end - SECOND, end,
					      &parts), 0);
	}
	assert_int_equal(timeline_parts(timeline, 0, INT64_MAX, -1, "",
					&found), -EFBIG);
	parts_free(&found);
	assert_int_equal(timeline_parts(timeline, 0, INT64_MAX,
					HWPROF_KIND_CALLS, "", &found), 0);
	assert_int_equal(found.count, 0);
	timeline_free(timeline);
}

/* A window that cannot be merged is dropped in time, and does not block. */
static void test_unmergeable(void **state)
{
	struct timeline_task task;
	struct config config;
	struct store *store;
	struct timeline *timeline = start(&store, &config);

	add_window(timeline, 200, 10);
	assert_int_equal(timeline_due(timeline, false, &task), 1);
	timeline_finish(timeline, &task, NULL);
	assert_int_equal(run_due(timeline, false), 0);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 10);
	timeline_free(timeline);
	store_close(store);
}

/* Minutes that cannot be merged do not keep others from it. */
static void test_unmergeable_minutes(void **state)
{
	struct timeline_task task;
	struct config config;
	struct store *store;
	struct timeline *timeline = start(&store, &config);
	unsigned int ago;
	int64_t first;

	for (ago = 2500; ago >= 700; ago -= 300)
		add_window(timeline, ago, 10);
	run_due(timeline, true);
	config.keep_minutes = 0;
	timeline_configure(timeline, &config);
	assert_int_equal(timeline_due(timeline, false, &task), 1);
	assert_true(task.merged_count > 0);
	first = task.window.begin;
	timeline_finish(timeline, &task, NULL);
	assert_int_equal(timeline_due(timeline, false, &task), 1);
	assert_true(task.window.begin > first);
	timeline_finish(timeline, &task, NULL);
	timeline_free(timeline);
	timeline = timeline_new(store, &config);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 70);
	timeline_free(timeline);
	store_close(store);
}

/* --- whole recordings ----------------------------------------------------- */

static size_t wholes_of(struct timeline *timeline, int kind)
{
	struct parts parts = { .count = 0 };
	size_t count = 0, i;

	assert_int_equal(timeline_parts(timeline, 0, INT64_MAX, kind, "",
					&parts), 0);
	for (i = 0; i < parts.count; i++)
		count += parts.all[i].head.kind == HWPROF_KIND_VALUES;
	parts_free(&parts);
	return count;
}

/* Recordings of values stay whole, beside others, as long as minutes do. */
static void test_whole(void **state)
{
	struct config config;
	struct store *store;
	struct timeline *timeline = start(&store, &config);

	add_made(timeline, 1300, 50, recordings_make_values);
	add_window(timeline, 1300, 10);
	assert_int_equal(wholes_of(timeline, HWPROF_KIND_VALUES), 1);
	run_due(timeline, true);
	assert_int_equal(wholes_of(timeline, HWPROF_KIND_VALUES), 1);
	assert_int_equal(wholes_of(timeline, PARTS_MERGED), 0);
	assert_int_equal(wholes_of(timeline, HWPROF_KIND_LOOPS), 0);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 10);
	config.keep_minutes = 0;
	timeline_configure(timeline, &config);
	assert_true(run_due(timeline, false) > 0);
	assert_int_equal(wholes_of(timeline, HWPROF_KIND_VALUES), 0);
	assert_int_equal(units_of(timeline, HWPROF_KIND_LOOPS, ""), 10);
	timeline_free(timeline);
	store_close(store);
}

/* --- lists ---------------------------------------------------------------- */

static size_t count_of(const char *text, const char *word)
{
	size_t count = 0;

	while ((text = strstr(text, word))) {
		text += strlen(word);
		count++;
	}
	return count;
}

/* Makes a list to its end. Returns how many steps that took. */
static unsigned int finish_list(struct window_list *listing)
{
	unsigned int steps = 1;
	int more;

	while ((more = window_list_step(listing)) > 0)
		steps++;
	assert_int_equal(more, 0);
	return steps;
}

static void test_lists(void **state)
{
	struct query query = {
		.what = QUERY_WINDOWS, .kind = -1, .to = INT64_MAX,
	};
	struct config config;
	struct store *store;
	struct timeline *timeline = start(&store, &config);
	struct window_list *listing;
	unsigned int ago;

	for (ago = 700; ago < 1900; ago += 60)
		add_window(timeline, ago, 10);
	run_due(timeline, true);
	listing = window_list_new(timeline, &query);
	/* Others have their turn between. */
	assert_true(finish_list(listing) > 4);
	assert_int_equal(count_of(window_list_text(listing), "\"loops\": 10"),
			 20);
	window_list_free(listing);
	query.what = QUERY_BUILDS;
	listing = window_list_new(timeline, &query);
	assert_true(finish_list(listing) > 4);
	assert_int_equal(count_of(window_list_text(listing), "\"loops\": 200"),
			 1);
	window_list_free(listing);
	/* Windows are merged before the list is at its end. */
	query.what = QUERY_WINDOWS;
	listing = window_list_new(timeline, &query);
	assert_int_equal(window_list_step(listing), 1);
	assert_int_equal(window_list_step(listing), 1);
	config.keep_minutes = 0;
	timeline_configure(timeline, &config);
	assert_true(run_due(timeline, false) > 0);
	finish_list(listing);
	assert_int_equal(count_of(window_list_text(listing), "\"minute\""), 0);
	assert_in_range(count_of(window_list_text(listing), "\"level\""), 2, 3);
	window_list_free(listing);
	/* A list that nobody waits for any more. */
	listing = window_list_new(timeline, &query);
	assert_int_equal(window_list_step(listing), 1);
	window_list_free(listing);
	timeline_free(timeline);
	store_close(store);
}

int main(void)
{
#define IN_FOLDER(test)	cmocka_unit_test_setup_teardown(test, make, clean)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_minutes),
		IN_FOLDER(test_ages),
		IN_FOLDER(test_unreadable),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_too_much),
		IN_FOLDER(test_unmergeable),
		IN_FOLDER(test_unmergeable_minutes),
		IN_FOLDER(test_single),
		IN_FOLDER(test_postpone),
		IN_FOLDER(test_whole),
		IN_FOLDER(test_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
