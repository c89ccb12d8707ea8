// SPDX-License-Identifier: GPL-2.0-only
/* Sessions without the module: rings, rows and maps made by hand. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "live/live_session.h"

enum {
	PAGE = 4096,
	HEAD = 0x1000, TAIL = 0x1040,
};

/* Makes a session as hwprof_session_open() does, but without the device. */
static struct hwprof_session *make_session(enum hwprof_kind kind)
{
	struct hwprof_session *session = calloc(1, sizeof(*session));
	const struct perf_event_attr attr = {
		.sample_type = EVENTS_SAMPLE_TYPE, .sample_id_all = 1,
	};

	session->device = -1;
	session->kind = kind;
	session->file = file_new(-1, "session");
	session->record = malloc(SESSION_RECORD_MAX);
	assert_int_equal(file_add_event(session->file, &attr,
					(struct byte_reader){ NULL, NULL }), 0);
	session->gathering = profile_gathering(profile_kind_of(kind),
						  &session->options.profile,
					       session->file);
	assert_non_null(session->gathering);
	return session;
}

static struct hwprof_profile *snapshot(struct hwprof_session *session)
{
	struct hwprof_profile *gathering = session->gathering, *profile;

	assert_int_equal(processes_settle(gathering->facts.processes,
					  session->now), 0);
	assert_int_equal(profile_snapshot(&profile, gathering,
					  &session->options.profile), 0);
	return profile;
}

/* --- rings ---------------------------------------------------------------- */

enum { RINGS = 3 };

static struct hwprof_ring_page *ring_of(struct hwprof_session *session,
					int ring)
{
	return (void *)((char *)session->rings + ring * 2 * PAGE);
}

/* Makes the smallest rings, so that rows wrap. */
static void make_rings(struct hwprof_session *session)
{
	int i;

	session->ring_size = PAGE;
	session->ring_count = RINGS;
	assert_int_equal(
		posix_memalign(&session->rings, PAGE, RINGS * 2 * PAGE), 0);
	memset(session->rings, 0, RINGS * 2 * PAGE);
	for (i = 0; i < RINGS; i++) {
		ring_of(session, i)->data_offset = PAGE;
		ring_of(session, i)->data_size = PAGE;
	}
}

static void free_session(struct hwprof_session *session)
{
	free(session->rings);
	session->rings = NULL;
	hwprof_session_close(session);
}

static void put_bytes(struct hwprof_ring_page *ring, const void *bytes,
		      size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		((char *)ring)[PAGE + (ring->data_head + i) % PAGE] =
			((const char *)bytes)[i];
	ring->data_head += size;
}

static void put_row(struct hwprof_ring_page *ring, uint64_t time,
		    const struct hwprof_row *row)
{
	put_bytes(ring, &time, sizeof(time));
	put_bytes(ring, row, row->size);
}

static int add_period(void *context, const struct hwprof_sample *sample)
{
	assert_int_equal(sample->ip, HEAD);
	assert_int_equal(sample->addr, TAIL);
	assert_int_equal(sample->pid, 7);
	*(uint64_t *)context += sample->period;
	return sample->period == 3 ? 42 : 0;
}

/* Goes three times around each ring, one row at a time. */
static void test_rings(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_LOOPS);
	struct hwprof_row_loop row = fixture_loop(1, 7, HEAD, TAIL, 5, 1);
	uint64_t sum = 0, count = 3 * RINGS * PAGE / sizeof(row), i;
	struct hwprof_profile *profile;

	make_rings(session);
	for (i = 0; i < count; i++) {
		struct hwprof_ring_page *ring = ring_of(session, i % RINGS);

		put_row(ring, i + 1, &row.row);
		assert_int_equal(hwprof_session_rows(session, add_period, &sum),
				 0);
		assert_int_equal(ring->data_tail, ring->data_head);
	}
	assert_int_equal(sum, 5 * count);
	profile = snapshot(session);
	assert_int_equal(hwprof_loops_count(profile), 1);
	assert_int_equal(hwprof_loops_get(profile, 0)->back_edges_seen, sum);
	hwprof_profile_free(profile);
	free_session(session);
}

/*
 * A reader that stops: the next rows, and those of other rings, come with the
 * next call.
 */
static void test_stop(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_LOOPS);
	struct hwprof_row_loop row = fixture_loop(1, 7, HEAD, TAIL, 3, 1);
	uint64_t sum = 0;
	int i;

	make_rings(session);
	for (i = 0; i < RINGS; i++) {
		put_row(ring_of(session, i), 1, &row.row);
		put_row(ring_of(session, i), 2, &row.row);
	}
	for (i = 1; i <= 2 * RINGS; i++) {
		assert_int_equal(hwprof_session_rows(session, add_period, &sum),
				 42);
		assert_int_equal(sum, 3 * i);
	}
	assert_int_equal(hwprof_session_rows(session, add_period, &sum), 0);
	free_session(session);
}

/*
 * Among totals of several rings, those with the highest counts are the run's.
 */
static void test_totals_of_rings(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_LOOPS);
	struct hwprof_row_totals row = {
		.row.type = HWPROF_ROW_TOTALS, .row.size = sizeof(row),
		.row.session = 1,
	};
	struct hwprof_profile *profile;
	int i;

	make_rings(session);
	for (i = 0; i < RINGS; i++) {
		row.events = row.produced = row.lost = 10 + (i + 1) % RINGS;
		put_row(ring_of(session, i), i, &row.row);
	}
	assert_int_equal(hwprof_session_rows(session, NULL, NULL), 0);
	profile = snapshot(session);
	assert_int_equal(hwprof_profile_totals(profile)->events, 12);
	hwprof_profile_free(profile);
	free_session(session);
}

/* A row that reaches beyond the head. */
static void test_cut_ring(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_LOOPS);
	struct hwprof_row_loop row = fixture_loop(1, 7, HEAD, TAIL, 3, 1);
	struct hwprof_ring_page *ring;

	make_rings(session);
	ring = ring_of(session, RINGS - 1);
	put_row(ring, 1, &row.row);
	ring->data_head -= 8;
	assert_int_equal(hwprof_session_rows(session, NULL, NULL), -EBADMSG);
	ring->data_head = ring->data_tail + 8;
	assert_int_equal(hwprof_session_rows(session, NULL, NULL), -EBADMSG);
	assert_non_null(strstr(hwprof_session_error(session), "cut off"));
	free_session(session);
}

/* --- snapshots ------------------------------------------------------------ */

static void take(struct hwprof_session *session, const struct hwprof_row *row)
{
	struct hwprof_sample sample = {
		.time = ++session->now, .rows = true, .row = row,
	};

	row_describe(&sample);
	assert_int_equal(profile_take(session->gathering, &sample), 0);
}

/* The second snapshot includes the first, which remains unchanged. */
static void test_snapshots(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_LOOPS);
	struct hwprof_row_loop row = fixture_loop(1, 7, HEAD, TAIL, 5, 1);
	struct hwprof_profile *first, *second, *none;

	take(session, &row.row);
	first = snapshot(session);
	take(session, &row.row);
	second = snapshot(session);
	profile_reset(session->gathering);
	none = snapshot(session);
	free_session(session);
	assert_int_equal(hwprof_loops_get(first, 0)->back_edges_seen, 5);
	assert_int_equal(hwprof_loops_get(second, 0)->back_edges_seen, 10);
	assert_int_equal(hwprof_loops_count(none), 0);
	assert_int_equal(hwprof_profile_totals(none)->rows, 0);
	hwprof_profile_free(first);
	hwprof_profile_free(second);
	hwprof_profile_free(none);
}

static struct hwprof_row_context context_row(uint64_t id, uint64_t parent,
					     uint32_t kind)
{
	return (struct hwprof_row_context){
		.row = {
			.type = HWPROF_ROW_CONTEXT,
			.size = sizeof(struct hwprof_row_context),
			.space = 1, .session = 1, .pid = 7,
		},
		.id = id, .parent = parent, .kind = kind,
		.callee = 0x1000 * id, .calls = 1, .branches = 1,
		.basis = HWPROF_BASIS_EXACT,
	};
}

/*
 * A caller whose row came before the last snapshot is still known in the next
 * one.
 */
static void test_tree(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_CCT);
	struct hwprof_row_context root = context_row(1, 0, HWPROF_CONTEXT_ROOT);
	struct hwprof_row_context child =
		context_row(2, 1, HWPROF_CONTEXT_CALL);
	struct hwprof_profile *profile;

	take(session, &root.row);
	profile = snapshot(session);
	assert_int_equal(hwprof_contexts_count(profile), 1);
	hwprof_profile_free(profile);
	take(session, &child.row);
	profile = snapshot(session);
	assert_int_equal(hwprof_contexts_count(profile), 2);
	assert_ptr_equal(hwprof_contexts_get(profile, 1)->parent,
			 hwprof_contexts_get(profile, 0));
	assert_int_equal(hwprof_contexts_get(profile, 0)->all_branches, 2);
	assert_null(hwprof_profile_warning(profile, 1));
	hwprof_profile_free(profile);
	free_session(session);
}

/* Paths without a beginning have no place, but count. */
static void test_unseen(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_PATHS);
	const struct hwprof_row_path row = {
		.row = {
			.type = HWPROF_ROW_PATH, .size = sizeof(row),
			.space = 1, .session = 1, .pid = 7,
		},
		.count = 5, .flags = HWPROF_PATH_UNSEEN,
		.basis = HWPROF_BASIS_EXACT,
	};
	struct hwprof_profile *profile;
	uint64_t i;

	for (i = 1; i <= 3; i++) {
		take(session, &row.row);
		profile = snapshot(session);
		assert_int_equal(hwprof_paths_summary(profile)->unseen, 5 * i);
		hwprof_profile_free(profile);
	}
	profile_reset(session->gathering);
	profile = snapshot(session);
	assert_int_equal(hwprof_paths_summary(profile)->unseen, 0);
	hwprof_profile_free(profile);
	free_session(session);
}

/* --- maps ----------------------------------------------------------------- */

static void test_maps(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_LOOPS);
	uint64_t address = (uintptr_t)test_maps;
	struct hwprof_row_loop row = fixture_loop(1, getpid(), address,
						  address + 16, 5, 1);
	pid_t self = getpid();
	const struct attached attached = {
		.targets = &self, .target_count = 1,
	};
	struct hwprof_profile *profile;
	const struct hwprof_loop *loop;

	assert_int_equal(session_tell_maps(session, &attached), 0);
	take(session, &row.row);
	profile = snapshot(session);
	free_session(session);
	assert_int_equal(hwprof_loops_count(profile), 1);
	loop = hwprof_loops_get(profile, 0);
	assert_string_equal(loop->function, "test_maps");
	assert_int_equal(loop->function_offset, 0);
	assert_int_equal(loop->pid, 0);
	hwprof_profile_free(profile);
}

/* Names belong to the processes, which live as long as the profile. */
static void test_names(void **state)
{
	struct hwprof_session *session = make_session(HWPROF_KIND_LOOPS);
	struct hwprof_row_loop row = fixture_loop(1, getpid(), 64, 80, 5, 1);
	pid_t self = getpid();
	const struct attached attached = {
		.targets = &self, .target_count = 1,
	};
	struct hwprof_profile *profile;

	assert_int_equal(session_tell_maps(session, &attached), 0);
	take(session, &row.row);
	profile = snapshot(session);
	free_session(session);
	assert_int_equal(hwprof_loops_get(profile, 0)->pid, self);
	assert_string_equal(hwprof_loops_get(profile, 0)->comm, "test-session");
	hwprof_profile_free(profile);
}

/* --- refusals ------------------------------------------------------------- */

static void expect_refusal(const char *event,
			   const struct hwprof_session_options *options,
			   int error, const char *words)
{
	struct hwprof_session *session;
	int got = hwprof_session_open(&session, event, options);
	const char *said = hwprof_session_error(session);

	if (got != error || !strstr(said, words))
		fail_msg("%s: %d, %s", event, got, said);
	hwprof_session_close(session);
}

static void test_refused(void **state)
{
	const struct hwprof_session_options hot = { .profile.hot = 2 };
	const struct hwprof_session_options main_only = {
		.profile.function = "main",
	};

	expect_refusal("ranges", &hot, -EINVAL, "hot");
	expect_refusal("ranges", &main_only, -EINVAL, "not of a function");
	expect_refusal("lops", NULL, -EINVAL, "lops");
	expect_refusal("branches", NULL, -EOPNOTSUPP, "branches");
	expect_refusal("loops,calls", NULL, -EOPNOTSUPP, "several profiles");
	hwprof_session_close(NULL);
	assert_string_equal(hwprof_session_error(NULL), "out of memory");
	if (access(HWPROF_DEVICE, F_OK))
		expect_refusal("loops", NULL, -ENOENT, "modprobe");
}

static int refusal_of_cpus(const char *cpus)
{
	struct events_kind kind = { .name = "none" };
	const pid_t nobody = 0x7ffffff0;
	struct events_options options = {
		.kinds = &kind, .kind_count = 1,
		.targets = &nobody, .target_count = 1, .cpus = cpus,
	};
	struct events *events;
	int error = events_open(&events, &options);

	assert_true(error < 0);
	if (error == -EINVAL)
		assert_non_null(strstr(events->message, "0-3,8"));
	events_close(events);
	return error;
}

static void test_cpus(void **state)
{
	static const char *const wrong[] = {
		"", "a", "0-", "-1", "3-1", "0,", ",0", "0 1", "0-3-5", "+1",
		"99999", "4096", "0,x", "0-4096",
	};
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (refusal_of_cpus(wrong[i]) != -EINVAL)
			fail_msg("'%s' was taken", wrong[i]);
	/* These CPUs exist, but the test has no targets. */
	assert_int_not_equal(refusal_of_cpus("0"), -EINVAL);
	assert_int_not_equal(refusal_of_cpus("0-1,0"), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rings),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_totals_of_rings),
		cmocka_unit_test(test_cut_ring),
		cmocka_unit_test(test_snapshots),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_unseen),
		cmocka_unit_test(test_maps),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_cpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
