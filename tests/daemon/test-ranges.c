// SPDX-License-Identifier: GPL-2.0-only
/* Ranges by window of time: /api/v1/ranges. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "jobs.h"
#include "recordings.h"
#include "timeline.h"
#include "windows.h"

enum { TEXT = 65536 };

static const struct build_id id = { .size = 20, .bytes = { 0xab, [19] = 1 } };
static const struct recorded_code code = {
	.path = "/no/prog", .id = &id, .start = 0x400000, .size = 0x10000,
	.head = 0x400100, .callee = 0x400300,
};

static struct timeline *begin(void)
{
	struct timeline *timeline;
	struct config config;

	config_default(&config);
	timeline = timeline_new(NULL, &config);
	assert_non_null(timeline);
	return timeline;
}

/* Adds a window that ended @ago seconds ago, with ranges of so many units. */
static void add(struct timeline *timeline, uint64_t ago, uint64_t units)
{
	struct fixture fixture;

	recordings_make_ranges(&fixture, &code, units);
	window_add(timeline, ago, &fixture);
}

static void take_parts(struct timeline *timeline, struct job *job)
{
	assert_int_equal(timeline_parts(timeline, 0, INT64_MAX,
					HWPROF_KIND_RANGES, "", &job->parts),
			 0);
}

/* Runs the job, and frees its parts. */
static enum answer run(struct job *job, char text[TEXT])
{
	struct worker worker;
	enum answer answer;
	ssize_t size;

	assert_int_equal(worker_start(&worker, job_ranges, job,
				      WORKER_READS_FILES, -1, 60), 0);
	parts_free(&job->parts);
	answer = worker_wait(&worker);
	size = pread(worker.out, text, TEXT - 1, 0);
	assert_true(size >= 0);
	text[size] = 0;
	close(worker.out);
	return answer;
}

/* Asks for all ranges. */
static enum answer ask(struct timeline *timeline, char text[TEXT])
{
	struct job job = { .query.kind = HWPROF_KIND_RANGES };

	take_parts(timeline, &job);
	return run(&job, text);
}

/* Copies a text without blanks, so that it can be looked for. */
static void tighten(char *text)
{
	char *to = text;

	for (; *text; text++)
		if (!strchr(" \n", *text))
			*to++ = *text;
	*to = 0;
}

static void assert_has(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("%s is not in %s", part, text);
}

static void test_columns(void **state)
{
	struct timeline *timeline = begin();
	char text[TEXT];

	add(timeline, 20, 380);
	add(timeline, 40, 80);
	assert_int_equal(ask(timeline, text), ANSWER_OK);
	tighten(text);
	/* The earlier window first; the root has what is in no hot range. */
	assert_has(text, "\"events\":200,\"own\":[20,80,100]}");
	assert_has(text, "\"events\":500,\"own\":[20,380,100]}]");
	assert_has(text, "\"least\":700,");
	assert_has(text, "\"own\":460,");
	assert_has(text, "\"own\":200,");
	timeline_free(timeline);
}

/* Recordings of one minute of the store are one column. */
static void test_same_window(void **state)
{
	struct job job = { .query.kind = HWPROF_KIND_RANGES };
	struct timeline *timeline = begin();
	char text[TEXT];
	size_t i;

	add(timeline, 20, 180);
	add(timeline, 40, 180);
	take_parts(timeline, &job);
	for (i = 0; i < job.parts.count; i++) {
		job.parts.all[i].from = 60;
		job.parts.all[i].to = 120;
	}
	assert_int_equal(run(&job, text), ANSWER_OK);
	tighten(text);
	assert_has(text, "\"columns\":[{\"from\":60,\"to\":120,\"events\":600,"
			 "\"own\":[40,360,200]}]");
	timeline_free(timeline);
}

static void test_nothing(void **state)
{
	struct timeline *timeline = begin();
	char text[TEXT];

	assert_int_equal(ask(timeline, text), ANSWER_NOTHING);
	assert_has(text, "nothing was collected of that");
	timeline_free(timeline);
}

/* A recording that cannot be read is left out, and so is its window. */
static void test_damage(void **state)
{
	struct job job = { .query.kind = HWPROF_KIND_RANGES };
	struct timeline *timeline = begin();
	char text[TEXT];
	size_t i = 0;

	add(timeline, 20, 380);
	add(timeline, 40, 80);
	take_parts(timeline, &job);
	while (job.parts.all[i].head.kind != HWPROF_KIND_RANGES)
		i++;
	memset(job.parts.all[i].bytes, 'x', 8);
	assert_int_equal(run(&job, text), ANSWER_OK);
	tighten(text);
	assert_has(text, "\"columns\":[{");
	assert_has(text, "\"events\":500,\"own\":[20,380,100]}]");
	assert_null(strstr(text, "\"events\":200"));
	timeline_free(timeline);
}

static void test_too_many(void **state)
{
	struct timeline *timeline = begin();
	char text[TEXT];
	uint64_t i;

	for (i = 0; i < 121; i++)
		add(timeline, 20 + i, 80);
	assert_int_equal(ask(timeline, text), ANSWER_WRONG);
	assert_has(text, "ask for less time");
	timeline_free(timeline);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_same_window),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
