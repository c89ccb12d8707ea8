// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live sessions and recordings that converge, with a module made up of two
 * ioctls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "check.h"
#include "fixture.h"
#include "live/converging.h"
#include "live/live_session.h"

enum { SESSION = 3, HEAD = 0x1000, TAIL = 0x1040, ID = 11 };

/* --- the module ----------------------------------------------------------- */

static struct {
	struct hwprof_tuning tuning;
	int error;			/* of changes; 0: they succeed */
	unsigned int changed;
	uint64_t now;
	uint64_t edges;			/* of the loop, in no row yet */
	uint64_t site;			/* added to the loop's head */
	struct hwprof_row_totals totals;
} module;

static void reset_module(void)
{
	memset(&module, 0, sizeof(module));
	module.now = 100;
	module.tuning.session = SESSION;
	module.tuning.period = 1000;
	module.totals = (struct hwprof_row_totals){
		.row.type = HWPROF_ROW_TOTALS,
		.row.size = sizeof(module.totals), .row.session = SESSION,
		.basis = HWPROF_BASIS_BRANCHES, .source = HWPROF_SOURCE_LBR,
	};
}

static struct hwprof_row_totals totals_now(void)
{
	struct hwprof_row_totals totals = module.totals;

	totals.changes = module.tuning.changes;
	totals.delivered = totals.produced;
	return totals;
}

/* The program runs for some windows, each with an edge of one loop. */
static void run_windows(unsigned int windows, uint64_t site)
{
	module.edges += windows;
	module.site = site;
	module.totals.windows += windows;
	module.totals.produced += windows;
	module.now += 1000;
}

static struct hwprof_row_loop loop_row(void)
{
	struct hwprof_row_loop row =
		fixture_loop(1, 7, HEAD + module.site, TAIL + module.site,
			     module.edges, module.edges);

	row.row.session = SESSION;
	row.basis = HWPROF_BASIS_BRANCHES;
	row.sum_back_sq = row.sum_entry_sq = row.sum_cross = module.edges;
	return row;
}

static int tune(struct hwprof_tuning *request)
{
	if (request->session && request->session != SESSION)
		return ENOENT;
	if (request->flags && module.error)
		return module.error;
	if (request->flags & HWPROF_TUNE_PERIOD)
		module.tuning.period = request->period;
	if (request->flags) {
		module.tuning.changes++;
		module.changed++;
	}
	*request = module.tuning;
	return 0;
}

static char *put(char *at, const struct hwprof_row *row)
{
	memcpy(at, &module.now, sizeof(module.now));
	memcpy(at + sizeof(module.now), row, row->size);
	return at + sizeof(module.now) + row->size;
}

static int snapshot(struct hwprof_snapshot *request)
{
	struct hwprof_row_totals totals = totals_now();
	struct hwprof_row_loop row = loop_row();
	char *buffer = (char *)(uintptr_t)request->buffer, *at = buffer;

	module.now++;
	if (module.edges)
		at = put(at, &row.row);
	at = put(at, &totals.row);
	module.edges = 0;
	request->filled = at - buffer;
	request->more = 0;
	return 0;
}

/* In the place of the C library's. */
int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *argument;
	int error = ENOTTY;

	va_start(args, request);
	argument = va_arg(args, void *);
	va_end(args);
	if (request == HWPROF_IOC_TUNE)
		error = tune(argument);
	else if (request == HWPROF_IOC_SNAPSHOT)
		error = snapshot(argument);
	else if (request == HWPROF_IOC_RESET)
		error = 0;
	errno = error;
	return error ? -1 : 0;
}

/* --- a live session ------------------------------------------------------- */

/* Makes a session as hwprof_session_open() does. */
static struct hwprof_session *make_session(const char *event)
{
	struct hwprof_session *session = calloc(1, sizeof(*session));
	const struct perf_event_attr attr = {
		.sample_type = EVENTS_SAMPLE_TYPE, .sample_id_all = 1,
	};

	reset_module();
	session->device = open("/dev/null", O_RDWR | O_CLOEXEC);
	session->kind = HWPROF_KIND_LOOPS;
	session->config.session = SESSION;
	assert_int_equal(hwprof_event_parse(&session->event, event,
					    session->message,
					    sizeof(session->message)), 0);
	session->file = file_new(-1, "session");
	session->record = malloc(SESSION_RECORD_MAX);
	assert_int_equal(file_add_event(session->file, &attr,
					(struct byte_reader){ NULL, NULL }), 0);
	session->gathering = profile_gathering(profile_kind_of(session->kind),
					       &session->options.profile,
					       session->file);
	assert_non_null(session->gathering);
	return session;
}

/* Takes a snapshot. Returns the edges of the first loop, and its warning. */
static uint64_t edges_of(struct hwprof_session *session, bool *alike,
			 struct hwprof_distances *distances)
{
	const struct hwprof_distances *of;
	struct hwprof_profile *profile;
	uint64_t edges;
	size_t i;

	assert_int_equal(hwprof_session_snapshot(session, &profile), 0);
	edges = hwprof_loops_count(profile) ?
		hwprof_loops_get(profile, 0)->back_edges_seen : 0;
	*alike = false;
	for (i = 0; hwprof_profile_warning(profile, i); i++)
		*alike |= !!strstr(hwprof_profile_warning(profile, i),
				   "from before and after add up");
	of = hwprof_profile_distances(profile);
	*distances = of ? *of : (struct hwprof_distances){ .sessions = 0 };
	hwprof_profile_free(profile);
	return edges;
}

/* Runs batches until the period is twice as long. */
static void converge(struct hwprof_session *session)
{
	struct hwprof_distances distances;
	bool alike;
	int i;

	assert_int_equal(hwprof_session_converge(session, NULL), 0);
	for (i = 0; i < 5; i++) {
		assert_int_equal(module.tuning.period, 1000);
		run_windows(100, 0);
		assert_int_equal(edges_of(session, &alike, &distances),
				 100 * (i + 1));
		assert_false(alike);
	}
	assert_int_equal(module.tuning.period, 2000);
	assert_int_equal(module.changed, 1);
}

/* Windows of the longer distance count twice. */
static void test_session(void **state)
{
	struct hwprof_session *session = make_session("loops,lbr");
	struct hwprof_distances distances;
	bool alike;

	converge(session);
	run_windows(50, 0);
	assert_int_equal(edges_of(session, &alike, &distances), 500 + 2 * 50);
	assert_false(alike);
	assert_int_equal(distances.sessions, 1);
	assert_int_equal(distances.lengthened, 1);
	assert_true(distances.factor == 2);
	/* Something new: back to what was asked for. */
	run_windows(50, 0x100);
	edges_of(session, &alike, &distances);
	assert_int_equal(module.tuning.period, 1000);
	run_windows(10, 0);
	assert_int_equal(edges_of(session, &alike, &distances),
			 500 + 2 * 50 + 10);
	assert_int_equal(distances.shortened, 1);
	hwprof_session_close(session);
}

/* After a reset, the distance of now is the first one. */
static void test_reset(void **state)
{
	struct hwprof_session *session = make_session("loops,lbr");
	struct hwprof_distances distances;
	bool alike;

	converge(session);
	assert_int_equal(hwprof_session_reset(session), 0);
	module.totals.windows = module.totals.produced = 0;
	run_windows(100, 0);
	assert_int_equal(edges_of(session, &alike, &distances), 100);
	assert_int_equal(distances.sessions, 0);
	run_windows(200, 0);
	edges_of(session, &alike, &distances);
	run_windows(100, 0);
	edges_of(session, &alike, &distances);
	assert_int_equal(module.tuning.period, 4000);
	run_windows(10, 0);
	assert_int_equal(edges_of(session, &alike, &distances), 400 + 2 * 10);
	assert_false(alike);
	hwprof_session_close(session);
}

/* A change that has to wait is made later; others are errors. */
static void test_refused(void **state)
{
	struct hwprof_session *session = make_session("loops,lbr");
	struct hwprof_distances distances;
	struct hwprof_profile *profile;
	bool alike;
	int i;

	assert_int_equal(hwprof_session_converge(session, NULL), 0);
	module.error = EAGAIN;
	for (i = 0; i < 7; i++) {
		run_windows(100, 0);
		edges_of(session, &alike, &distances);
	}
	assert_int_equal(module.changed, 0);
	module.error = EPERM;
	run_windows(100, 0);
	assert_int_equal(hwprof_session_snapshot(session, &profile), -EPERM);
	module.error = 0;
	run_windows(1, 0);
	edges_of(session, &alike, &distances);
	assert_int_equal(module.tuning.period, 2000);
	hwprof_session_close(session);
}

/* Somebody else changes something, between totals or just before a change. */
static void test_others(void **state)
{
	struct hwprof_session *session = make_session("loops,lbr");
	struct hwprof_distances distances;
	bool alike;
	int i;

	converge(session);
	module.tuning.changes++;
	run_windows(10, 0);
	assert_int_equal(edges_of(session, &alike, &distances), 510);
	assert_true(alike);
	assert_false(distances.weighed);
	for (i = 0; i < 10; i++) {
		run_windows(100, 0);
		edges_of(session, &alike, &distances);
	}
	assert_int_equal(module.changed, 1);
	hwprof_session_close(session);
}

static void test_wrong(void **state)
{
	const struct hwprof_converge wrong = { .threshold = 2 };
	struct hwprof_session *session = make_session("loops,lbr");

	assert_int_equal(hwprof_session_converge(session, &wrong), -EINVAL);
	module.tuning.period = 0;
	assert_int_equal(hwprof_session_converge(session, NULL), -EINVAL);
	module.tuning.period = 1000;
	module.tuning.changes = 1;
	assert_int_equal(hwprof_session_converge(session, NULL), -EBUSY);
	module.tuning.changes = 0;
	assert_int_equal(hwprof_session_converge(session, NULL), 0);
	assert_int_equal(hwprof_session_converge(session, NULL), -EBUSY);
	hwprof_session_close(session);

	/* Time outside of a filter has no windows. */
	session = make_session("loops,lbr");
	session->filter = strdup("filter 0x10/0x10@/no/file");
	module.tuning.budget_permille = 10;
	assert_int_equal(hwprof_session_converge(session, NULL), -EINVAL);
	module.tuning.budget_permille = 0;
	assert_int_equal(hwprof_session_converge(session, NULL), 0);
	hwprof_session_close(session);

	session = make_session("loops,lbr");
	session->ran = true;
	assert_int_equal(hwprof_session_converge(session, NULL), -EBUSY);
	hwprof_session_close(session);
	session = make_session("loops,step");
	assert_int_equal(hwprof_session_converge(session, NULL), -EOPNOTSUPP);
	assert_non_null(strstr(hwprof_session_error(session), "everything"));
	hwprof_session_close(session);
}

/* --- a recording ---------------------------------------------------------- */

static const uint64_t ids[] = { ID };

static struct converging *make_converging(void)
{
	struct writer_event kind = {
		.attr = {
			.sample_type = EVENTS_SAMPLE_TYPE, .sample_id_all = 1,
		},
		.name = "hwprof/loops,lbr,rows/u", .ids = ids, .id_count = 1,
	};
	const struct hwprof_converge options = {
		.threshold = 0.01, .intervals = 3, .known = 2, .floor = 64,
	};
	struct converging *it;

	reset_module();
	it = converging_new(&options, &kind, 1, false,
			    open("/dev/null", O_RDWR | O_CLOEXEC));
	assert_non_null(it);
	return it;
}

/* Makes a ring's record of a row. Returns the size. */
static size_t record_of(char *at, const struct hwprof_row *row)
{
	struct {
		struct perf_event_header header;
		uint64_t id, ip;
		uint32_t pid, tid;
		uint64_t time, addr;
		uint32_t cpu, reserved;
		uint64_t period;
		uint32_t raw;
	} __attribute__((packed)) fields = {
		.header.type = PERF_RECORD_SAMPLE,
		.header.size = sizeof(fields) + row->size + 4,
		.id = ID, .time = module.now, .raw = row->size + 4,
	};

	memcpy(at, &fields, sizeof(fields));
	memcpy(at + sizeof(fields), row, row->size);
	memset(at + sizeof(fields) + row->size, 0, 4);
	return fields.header.size;
}

/* Gives the ring's content in pieces of @piece bytes. */
static void give(struct converging *it, size_t piece)
{
	struct hwprof_row_totals totals = totals_now();
	struct hwprof_row_loop row = loop_row();
	char ring[4096];
	size_t size = 0, at, part;

	if (module.edges)
		size += record_of(ring, &row.row);
	size += record_of(ring + size, &totals.row);
	module.edges = 0;
	converging_begin(it);
	for (at = 0; at < size; at += part) {
		part = size - at < piece ? size - at : piece;
		converging_take(it, ring + at, part);
	}
	assert_int_equal(converging_step(it), 0);
}

/* However the ring cuts records. The first totals say when a change was. */
static void test_recording(void **state)
{
	static const size_t pieces[] = { 4096, 200, 7, 1 };
	size_t i, count, batch;

	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct converging *it = make_converging();
		const struct distance *all;
		uint64_t begin;

		for (batch = 0; batch < 5; batch++) {
			run_windows(100, 0);
			give(it, pieces[i]);
		}
		assert_int_equal(module.tuning.period, 2000);
		all = distances_of(converging_distances(it), SESSION, &count);
		assert_int_equal(count, 2);
		assert_int_equal(all[1].begin, DISTANCE_NEVER);
		give(it, pieces[i]);
		assert_int_equal(all[1].begin, module.now);
		assert_int_equal(all[1].period, 2000);
		/* Rings of other CPUs may have earlier ones. */
		begin = module.now -= 30;
		give(it, pieces[i]);
		assert_int_equal(all[1].begin, begin);
		module.now += 20;
		give(it, pieces[i]);
		assert_int_equal(all[1].begin, begin);
		assert_null(converging_warning(it));
		converging_close(it);
	}
}

static void test_recording_others(void **state)
{
	struct converging *it = make_converging();
	size_t batch, count;

	for (batch = 0; batch < 5; batch++) {
		run_windows(100, 0);
		give(it, 4096);
	}
	module.tuning.changes++;
	for (batch = 0; batch < 5; batch++) {
		run_windows(100, 0);
		give(it, 4096);
	}
	assert_int_equal(module.changed, 1);
	assert_non_null(strstr(converging_warning(it), "somebody else"));
	distances_of(converging_distances(it), SESSION, &count);
	assert_int_equal(count, 2);
	converging_close(it);
}

/* Sessions that are over, that were changed, or that cannot be. */
static void test_recording_odd(void **state)
{
	struct converging *it = make_converging();
	struct hwprof_row_loop row = loop_row();
	char ring[1024];
	size_t size;

	row.row.session = SESSION + 1;
	size = record_of(ring, &row.row);
	converging_begin(it);
	converging_take(it, ring, size);
	assert_int_equal(converging_step(it), 0);
	assert_null(converging_warning(it));
	module.tuning.changes = 4;
	run_windows(100, 0);
	give(it, 4096);
	assert_non_null(converging_warning(it));
	assert_int_equal(converging_distances(it)->count, 0);
	converging_close(it);
}

/* Whatever a ring has: damaged records are left out. */
static void test_recording_hostile(void **state)
{
	unsigned int run, i;

	for (run = 0; run < 300; run++) {
		struct converging *it = make_converging();
		struct hwprof_row_loop row;
		char ring[1024];
		size_t size;

		srandom(run);
		run_windows(100, 0);
		row = loop_row();
		size = record_of(ring, &row.row);
		for (i = random() % 8; i; i--)
			ring[random() % size] = random();
		converging_begin(it);
		converging_take(it, ring, random() % size + 1);
		converging_take(it, ring, size);
		assert_int_equal(converging_step(it), 0);
		converging_close(it);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_session),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_wrong),
		cmocka_unit_test(test_recording),
		cmocka_unit_test(test_recording_others),
		cmocka_unit_test(test_recording_odd),
		cmocka_unit_test(test_recording_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
