// SPDX-License-Identifier: GPL-2.0-only
/* Requests that wait: their bound, and what is dropped. Nobody takes them. */
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "jobs.h"
#include "push.h"
#include "push_spool.h"
#include "wire.h"

#define SECOND	1000000000ULL

enum {
	SOME = 4000,		/* branches of a profile */
	TOO_MANY = 20000,	/* of one that is larger than the bound */
	ROUNDS_MAX = 40,
	BASE = 0x400000,
};

static const struct build_id id = { .size = 20, .bytes = { 0xcd, [19] = 1 } };

static struct config config;

static int configure(void **state)
{
	config_default(&config);
	strcpy(config.push_parca, "http://127.0.0.1:1");
	strcpy(config.push_kinds, "edges");
	config.push_seconds = 1;
	config.push_spool_mib = 1;
	return 0;
}

/* A recording of so many branches that the profile is large. */
static void make_recording(struct fixture *fixture, uint64_t edges)
{
	struct hwprof_row_edge row = {
		.row = {
			.type = HWPROF_ROW_EDGE, .size = sizeof(row),
			.space = 7, .session = 1, .pid = 7,
		},
		.kind = HWPROF_BRANCH_COND, .basis = HWPROF_BASIS_BRANCHES,
	};
	uint64_t i;

	fixture_begin(fixture, "edges,lbr,rows");
	fixture_comm(fixture, 1, 7, "prog", true);
	fixture_map(fixture, 2, 7, BASE, 1 << 24, 0, "/no/prog", &id);
	for (i = 0; i < edges; i++) {
		row.from = BASE + 64 * i + i * i % 61;
		row.to = row.end = BASE + i * 7919 % (1 << 24);
		row.count = 1 + i * i % 9973;
		fixture_row(fixture, 10, row.from, row.to, row.count,
			    &row.row);
	}
	fixture_end(fixture);
}

static int held[2];		/* names are resolved when its writer goes */

/* The resolver of what is tested: nobody answers. */
int getaddrinfo(const char *node, const char *service,
		const struct addrinfo *hints, struct addrinfo **result)
{
	char byte;

	(void)node;
	(void)service;
	(void)hints;
	(void)result;
	return read(held[0], &byte, 1) ? EAI_FAIL : EAI_AGAIN;
}

static void make_parts(struct parts *parts, uint64_t edges)
{
	const struct job job = { .recording = true };
	struct fixture fixture;
	struct worker worker;
	FILE *file;

	make_recording(&fixture, edges);
	file = fopen(fixture.path, "r");
	assert_non_null(file);
	assert_int_equal(worker_start(&worker, job_merge, &job, WORKER_NO_FILES,
				      fileno(file), 60), 0);
	assert_int_equal(worker_wait(&worker), ANSWER_OK);
	fclose(file);
	fixture_remove(&fixture);
	*parts = (struct parts){ .count = 0 };
	assert_int_equal(parts_read(parts, worker.out,
				    lseek(worker.out, 0, SEEK_END)), 0);
	close(worker.out);
}

static struct push_counts counts_of(const struct push *push)
{
	struct push_counts counts[PUSH_TARGETS];

	push_count(push, counts);
	return counts[PUSH_PARCA];
}

/* Adds a window, and waits until there is a request more, or one dropped. */
static struct push_counts add_window(struct push *push,
				     const struct parts *parts)
{
	struct push_counts before = counts_of(push), after = before;
	uint64_t now = wire_now();

	push_add(push, now - SECOND, now, parts);
	while (after.waiting + after.dropped ==
	       before.waiting + before.dropped) {
		push_run(push);
		usleep(5000);
		after = counts_of(push);
	}
	return after;
}

static void test_bound(void **state)
{
	struct push *push = push_new(&config, NULL, NULL);
	struct push_counts counts = { .sent = 0 };
	struct parts parts;
	unsigned int rounds;

	make_parts(&parts, SOME);
	for (rounds = 0; rounds < ROUNDS_MAX && counts.dropped < 2; rounds++) {
		counts = add_window(push, &parts);
		assert_true(counts.waiting_bytes <= 1 << 20);
		assert_int_equal(counts.waiting + counts.dropped, rounds + 1);
	}
	assert_int_equal(counts.dropped, 2);
	assert_true(counts.waiting > 0);
	assert_int_equal(counts.sent, 0);
	assert_true(counts.failed > 0);
	/* Without a receiver nothing is kept, but for what is being sent. */
	*config.push_parca = 0;
	while (counts_of(push).waiting) {
		push_run(push);
		usleep(5000);
	}
	assert_int_equal(counts_of(push).waiting_bytes, 0);
	parts_free(&parts);
	push_free(push);
}

static void count_spooled(void *context, enum push_to to,
			  struct push_waiting *waiting)
{
	uint64_t *count = context;

	assert_int_equal(to, PUSH_PARCA);
	assert_int_equal(waiting->kind, HWPROF_KIND_EDGES);
	assert_true(waiting->begin < waiting->end);
	(*count)++;
	free(waiting);
}

static uint64_t drain_spool(const char *path, uint64_t most, int *error)
{
	uint64_t count = 0;

	*error = push_spool_read(path, most, count_spooled, &count);
	return count;
}

/* Requests that wait at the end are there at the next start, and only then. */
static void test_spool(void **state)
{
	char folder[] = "/tmp/hwprof-test-XXXXXX", path[64];
	uint64_t now = wire_now();
	struct push_counts counts;
	struct parts parts;
	struct push *push;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/push.spool", folder);
	push = push_new(&config, NULL, folder);
	make_parts(&parts, 10);
	counts = add_window(push, &parts);
	assert_int_equal(counts.waiting, 1);
	/* One more that has not become a request yet. */
	push_add(push, now - SECOND, now, &parts);
	push_finish(push);
	assert_int_equal(access(path, F_OK), 0);
	push_free(push);
	push = push_new(&config, NULL, folder);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(counts_of(push).waiting, 2);
	assert_true(counts_of(push).waiting_bytes > 0);
	push_finish(push);
	push_free(push);
	/* Nobody is to get them any more. */
	*config.push_parca = 0;
	push = push_new(&config, NULL, folder);
	assert_int_equal(counts_of(push).waiting, 0);
	assert_int_equal(counts_of(push).dropped, 2);
	push_finish(push);
	assert_int_equal(access(path, F_OK), -1);
	push_free(push);
	parts_free(&parts);
	rmdir(folder);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	fclose(file);
}

/* A spool that is cut off, or makes no sense, is read as far as it does. */
static void test_damaged_spool(void **state)
{
	struct push_waiting *first[PUSH_TARGETS] = { NULL };
	char path[] = "/tmp/hwprof-test-XXXXXX", bytes[4096];
	size_t size, cut;
	FILE *file;
	int error;

	close(mkstemp(path));
	first[PUSH_PARCA] = calloc(1, sizeof(**first) + 100);
	*first[PUSH_PARCA] = (struct push_waiting){
		.kind = HWPROF_KIND_EDGES, .begin = 1, .end = 2, .size = 100,
	};
	assert_int_equal(push_spool_write(path, first), 0);
	file = fopen(path, "r");
	size = fread(bytes, 1, sizeof(bytes), file);
	fclose(file);
	assert_int_equal(drain_spool(path, 1 << 20, &error), 1);
	assert_int_equal(error, 0);
	for (cut = 1; cut < size; cut++) {
		write_file(path, bytes, cut);
		assert_int_equal(drain_spool(path, 1 << 20, &error), 0);
		assert_int_equal(error, -EBADMSG);
	}
	memset(bytes, 0xff, 4);
	write_file(path, bytes, size);
	assert_int_equal(drain_spool(path, 1 << 20, &error), 0);
	assert_int_equal(error, -EBADMSG);
	assert_int_equal(drain_spool(path, 1 << 20, &error), 0);
	assert_int_equal(error, 0);
	free(first[PUSH_PARCA]);
}

static void test_too_large(void **state)
{
	struct push *push = push_new(&config, NULL, NULL);
	struct push_counts counts;
	struct parts parts;

	make_parts(&parts, TOO_MANY);
	counts = add_window(push, &parts);
	assert_int_equal(counts.dropped, 1);
	assert_int_equal(counts.waiting_bytes, 0);
	parts_free(&parts);
	push_free(push);
}

/* Windows of more bytes than may wait are not taken. */
static void test_pending(void **state)
{
	struct part_head head = { .kind = HWPROF_KIND_EDGES, .size = 2 << 20 };
	struct push *push = push_new(&config, NULL, NULL);
	struct parts parts = { .count = 0 };

	assert_int_equal(parts_add(&parts, &head, calloc(1, head.size)), 0);
	push_add(push, wire_now() - SECOND, wire_now(), &parts);
	assert_int_equal(counts_of(push).dropped, 1);
	assert_int_equal(push_timeout(push, 1000), 1000);
	parts_free(&parts);
	push_free(push);
}

static void test_nobody(void **state)
{
	struct part_head head = { .kind = HWPROF_KIND_EDGES, .size = 8 };
	struct push *push;
	struct parts parts = { .count = 0 };

	config_default(&config);
	push = push_new(&config, NULL, NULL);
	assert_int_equal(parts_add(&parts, &head, calloc(1, head.size)), 0);
	push_add(push, wire_now() - SECOND, wire_now(), &parts);
	assert_false(push_run(push));
	assert_int_equal(counts_of(push).dropped, 0);
	assert_int_equal(push_timeout(push, 1000), 1000);
	parts_free(&parts);
	push_free(push);
}

/* Runs until a try has failed. */
static void wait_for_failure(struct push *push, uint64_t failures)
{
	while (counts_of(push).failed < failures) {
		push_run(push);
		usleep(5000);
	}
}

/*
 * A name that nobody resolves delays its own requests alone: a try ends when
 * its time is up, and so does the program.
 */
static void test_no_resolver(void **state)
{
	struct push *push;
	struct parts parts;

	assert_int_equal(pipe2(held, O_CLOEXEC), 0);
	strcpy(config.push_parca, "http://nobody.example:1");
	config.request_seconds = 1;
	push = push_new(&config, NULL, NULL);
	make_parts(&parts, SOME);
	add_window(push, &parts);
	alarm(120);		/* it would wait for ever */
	wait_for_failure(push, 1);
	alarm(0);
	assert_int_equal(counts_of(push).waiting, 1);
	/* The next try is under way, or about to be. */
	push_run(push);
	push_free(push);
	parts_free(&parts);
	close(held[1]);
}

/* Without its token a profile is not sent, and not given up, either. */
static void test_no_token(void **state)
{
	struct push *push = push_new(&config, NULL, NULL);
	struct parts parts;

	strcpy(config.push_token, "/no/such/token");
	make_parts(&parts, SOME);
	add_window(push, &parts);
	wait_for_failure(push, 1);
	assert_int_equal(counts_of(push).waiting, 1);
	assert_int_equal(counts_of(push).rejected, 0);
	/* It is tried again, but not at once. */
	assert_true(push_timeout(push, 60000) > 0);
	parts_free(&parts);
	push_free(push);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_bound, configure),
		cmocka_unit_test_setup(test_spool, configure),
		cmocka_unit_test_setup(test_damaged_spool, configure),
		cmocka_unit_test_setup(test_too_large, configure),
		cmocka_unit_test_setup(test_pending, configure),
		cmocka_unit_test_setup(test_nobody, configure),
		cmocka_unit_test_setup(test_no_resolver, configure),
		cmocka_unit_test_setup(test_no_token, configure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
