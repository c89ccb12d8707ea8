// SPDX-License-Identifier: GPL-2.0-only
/* Sessions of libhwprof: what they profile, report and refuse. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "hwprof.h"
#include "known.h"

EVENT_ALL_NEED("step")

static const struct hwprof_loop *loop_at(const struct hwprof_profile *profile,
					 uint64_t head)
{
	size_t i;

	for (i = 0; i < hwprof_loops_count(profile); i++)
		if (hwprof_loops_get(profile, i)->head == head)
			return hwprof_loops_get(profile, i);
	return NULL;
}

/*
 * Returns true if the loops of `known` ran @times times, and nothing was lost.
 * Prints the counts otherwise.
 */
static bool is_known(const struct hwprof_profile *profile, unsigned int times)
{
	const struct hwprof_totals *totals = hwprof_profile_totals(profile);
	const struct hwprof_loop *outer = loop_at(profile, KNOWN_OUTER_HEAD);
	const struct hwprof_loop *inner = loop_at(profile, KNOWN_INNER_HEAD);

	if (outer && inner && totals->produced == totals->delivered &&
	    outer->back_edges_seen == times * KNOWN_OUTER_BACK &&
	    inner->back_edges_seen == times * KNOWN_INNER_BACK &&
	    inner->parent == outer && inner->function &&
	    !strcmp(inner->function, "known_inner"))
		return true;
	hwprof_profile_json(profile, NULL, stdout);
	return false;
}

/*
 * Returns a child that the session profiles, and that waits to execute `known`.
 */
static struct child attach_known(struct hwprof_session *session)
{
	struct child child = child_known();
	const struct hwprof_target target = {.id = child.pid, .on_exec = true};

	if (hwprof_session_attach(session, &target) ||
	    hwprof_session_start(session))
		printf("# %s\n", hwprof_session_error(session));
	return child;
}

static void run_known(struct hwprof_session *session)
{
	struct child child = attach_known(session);

	child_go(&child);
	waitpid(child.pid, NULL, 0);
}

TEST(exact)
{
	struct hwprof_profile *first, *second;
	struct hwprof_session *session;

	ASSERT_EQ(0, hwprof_session_open(&session, "loops,step", NULL));
	EXPECT_EQ(HWPROF_KIND_LOOPS, hwprof_session_kind(session));
	run_known(session);
	ASSERT_EQ(0, hwprof_session_snapshot(session, &first));
	EXPECT_TRUE(is_known(first, 1));
	/* Rows that were read are still in the next profile. */
	run_known(session);
	ASSERT_EQ(0, hwprof_session_snapshot(session, &second));
	EXPECT_TRUE(is_known(second, 2));
	EXPECT_TRUE(is_known(first, 1));
	EXPECT_EQ(0, hwprof_session_reset(session));
	hwprof_profile_free(second);
	ASSERT_EQ(0, hwprof_session_snapshot(session, &second));
	EXPECT_EQ(0, hwprof_loops_count(second));
	hwprof_session_close(session);
	/* Profiles outlive their session. */
	EXPECT_TRUE(is_known(first, 1));
	hwprof_profile_free(first);
	hwprof_profile_free(second);
}

/* Rows of back edges, and rows of totals. */
struct seen {
	uint64_t back_edges, totals, others;
	unsigned int left;		/* rows until it stops; 0: never */
};

static int see(void *context, const struct hwprof_sample *sample)
{
	struct seen *seen = context;

	if (!sample->rows || !sample->row)
		return -EPROTO;
	if (sample->row->type == HWPROF_ROW_LOOP)
		seen->back_edges += sample->period;
	else if (sample->row->type == HWPROF_ROW_TOTALS)
		seen->totals++;
	else
		seen->others++;
	return seen->left && !--seen->left ? 42 : 0;
}

TEST(rows)
{
	struct pollfd readable = { .events = POLLIN };
	struct seen seen = { .left = 1 };
	struct hwprof_profile *profile;
	struct hwprof_session *session;
	const struct hwprof_totals *totals;

	ASSERT_EQ(0, hwprof_session_open(&session, "loops,step,interval_ms=100",
					 NULL));
	readable.fd = hwprof_session_fd(session);
	ASSERT_LE(0, readable.fd);
	EXPECT_EQ(readable.fd, hwprof_session_fd(session));
	run_known(session);
	EXPECT_EQ(1, poll(&readable, 1, 60000));
	/* It stops when told to, and continues. */
	EXPECT_EQ(42, hwprof_session_rows(session, see, &seen));
	EXPECT_EQ(1, seen.back_edges + seen.totals > 0);
	EXPECT_EQ(0, hwprof_session_rows(session, see, &seen));
	EXPECT_EQ(0, seen.others);
	/* The profile includes rows that were read, and others. */
	ASSERT_EQ(0, hwprof_session_snapshot(session, &profile));
	EXPECT_TRUE(is_known(profile, 1));
	totals = hwprof_profile_totals(profile);
	EXPECT_LE(seen.back_edges, totals->delivered);
	EXPECT_LT(0, seen.back_edges);
	hwprof_profile_free(profile);
	hwprof_session_close(session);
}

static pid_t start_spin(void)
{
	pid_t pid = fork();
	char path[4096];

	if (pid)
		return pid;
	strcpy(path, known_program());
	strcpy(strrchr(path, '/') + 1, "spin");
	execl(path, "spin", NULL);
	_exit(98);
}

/* A process that existed before: /proc has its maps. */
TEST(attached)
{
	struct hwprof_profile *profile;
	struct hwprof_session *session;
	struct hwprof_target target = { .id = start_spin() };
	uint64_t produced[3] = { 0 };
	unsigned int i;

	sleep(1);
	ASSERT_EQ(0, hwprof_session_open(&session, "loops,step", NULL));
	ASSERT_EQ(0, hwprof_session_attach(session, &target));
	ASSERT_EQ(0, hwprof_session_start(session));
	for (i = 0; i < 3; i++) {
		/* The last one is after the stop. */
		sleep(i < 2);
		ASSERT_EQ(0, i < 2 ? 0 : hwprof_session_stop(session));
		ASSERT_EQ(0, hwprof_session_snapshot(session, &profile));
		produced[i] = hwprof_profile_totals(profile)->delivered;
		ASSERT_LT(0, hwprof_loops_count(profile));
		EXPECT_STREQ("known_inner",
			     hwprof_loops_get(profile, 0)->function);
		hwprof_profile_free(profile);
	}
	EXPECT_LT(0, produced[0]);
	EXPECT_LT(produced[0], produced[1]);
	EXPECT_LE(produced[1], produced[2]);
	ASSERT_EQ(0, hwprof_session_snapshot(session, &profile));
	EXPECT_EQ(produced[2], hwprof_profile_totals(profile)->delivered);
	hwprof_profile_free(profile);
	EXPECT_EQ(0, hwprof_session_start(session));
	sleep(1);
	ASSERT_EQ(0, hwprof_session_snapshot(session, &profile));
	EXPECT_LT(produced[2], hwprof_profile_totals(profile)->delivered);
	hwprof_profile_free(profile);
	hwprof_session_close(session);
	kill(target.id, SIGKILL);
	waitpid(target.id, NULL, 0);
}

/* Each kind returns its own things, and 0 of others. */
TEST(kinds)
{
	int kind;

	for (kind = 0; kind < HWPROF_KINDS; kind++) {
		struct hwprof_profile *profile;
		struct hwprof_session *session;
		char event[32];

		snprintf(event, sizeof(event), "%s,step",
			 hwprof_kind_name(kind));
		ASSERT_EQ(0, hwprof_session_open(&session, event, NULL));
		run_known(session);
		ASSERT_EQ(0, hwprof_session_snapshot(session, &profile));
		EXPECT_EQ(kind, hwprof_profile_kind(profile));
		EXPECT_LT(0, hwprof_profile_totals(profile)->produced);
		EXPECT_EQ(kind == HWPROF_KIND_LOOPS,
			  hwprof_loops_count(profile) > 0);
		EXPECT_EQ(kind == HWPROF_KIND_RANGES,
			  hwprof_ranges_count(profile) > 0);
		EXPECT_EQ(kind == HWPROF_KIND_CALLS,
			  hwprof_calls_pair_count(profile) > 0);
		EXPECT_EQ(kind == HWPROF_KIND_CCT,
			  hwprof_contexts_count(profile) > 0);
		EXPECT_EQ(kind == HWPROF_KIND_PATHS,
			  hwprof_paths_count(profile) > 0);
		hwprof_profile_free(profile);
		/* The same rows once more. */
		ASSERT_EQ(0, hwprof_session_snapshot(session, &profile));
		EXPECT_LT(0, hwprof_profile_totals(profile)->produced);
		EXPECT_EQ(kind == HWPROF_KIND_CCT,
			  hwprof_contexts_count(profile) > 0);
		hwprof_profile_free(profile);
		hwprof_session_close(session);
	}
}

/* A CPU: everything that runs there, and nothing else. */
TEST(system_wide)
{
	const struct hwprof_target target = {
		.kind = HWPROF_TARGET_SYSTEM, .cpus = "0",
	};
	struct hwprof_profile *profile;
	struct hwprof_session *session;
	struct child child;

	ASSERT_EQ(0, hwprof_session_open(&session, "loops,step", NULL));
	ASSERT_EQ(0, hwprof_session_attach(session, &target));
	ASSERT_EQ(0, hwprof_session_start(session));
	stay_on(0);
	child = child_known();
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	ASSERT_EQ(0, hwprof_session_snapshot(session, &profile));
	EXPECT_LT(0, hwprof_profile_totals(profile)->produced);
	hwprof_profile_free(profile);
	hwprof_session_close(session);
}

/* Without a source in the event, no target is stepped all the time. */
TEST(careful)
{
	int kind;

	for (kind = 0; kind < HWPROF_KINDS; kind++) {
		const struct hwprof_event *event;
		struct hwprof_session *session;
		uint64_t burst;

		ASSERT_EQ(0, hwprof_session_open(&session,
						 hwprof_kind_name(kind), NULL));
		event = hwprof_session_event(session);
		EXPECT_EQ(10, hwprof_event_field(event, "budget_permille"));
		burst = kind == HWPROF_KIND_VALUES ? 4 : 200;
		EXPECT_EQ(hwprof_event_field(event, "step") ? burst : 0,
			  hwprof_event_field(event, "burst"));
		EXPECT_EQ(1, hwprof_event_field(event, "step") +
			     hwprof_event_field(event, "lbr") +
			     hwprof_event_field(event, "sample"));
		hwprof_session_close(session);
	}
}

static int refusal(const char *event,
		   const struct hwprof_session_options *options,
		   const char *words)
{
	struct hwprof_session *session;
	int error = hwprof_session_open(&session, event, options);

	if (error && !strstr(hwprof_session_error(session), words)) {
		printf("# %s\n", hwprof_session_error(session));
		error = 1;
	}
	hwprof_session_close(session);
	return error;
}

TEST(refused_events)
{
	const struct hwprof_session_options both = {
		.period = 1, .frequency = 1,
	};
	const struct hwprof_session_options period = { .period = 1000 };

	EXPECT_EQ(-EINVAL, refusal("loop", NULL, "loop"));
	EXPECT_EQ(-EINVAL, refusal("", NULL, "missing"));
	EXPECT_EQ(-EOPNOTSUPP, refusal("branches", NULL, "no profile"));
	EXPECT_EQ(-EOPNOTSUPP,
		  refusal("loops,mem", NULL, "not in this version"));
	EXPECT_EQ(-EINVAL, refusal("loops", &both, "exclude"));
	EXPECT_EQ(-EINVAL, refusal("loops,step", &period, "contradicts"));
	EXPECT_EQ(0, refusal("loops,burst=200", &period, ""));
	EXPECT_EQ(0, refusal("loops,burst=200", NULL, ""));
}

TEST(refused_targets)
{
	struct hwprof_target target = { .id = 0x7ffffff0 };
	struct hwprof_session *session;

	ASSERT_EQ(0, hwprof_session_open(&session, "loops,step", NULL));
	EXPECT_EQ(-ESRCH, hwprof_session_attach(session, &target));
	EXPECT_NE(NULL, strstr(hwprof_session_error(session), "no process"));
	target.kind = HWPROF_TARGET_THREAD;
	EXPECT_EQ(-ESRCH, hwprof_session_attach(session, &target));
	target = (struct hwprof_target){ .cpus = "0-" };
	EXPECT_EQ(-EINVAL, hwprof_session_attach(session, &target));
	EXPECT_NE(NULL, strstr(hwprof_session_error(session), "'0-'"));
	target.cpus = "3-1";
	EXPECT_EQ(-EINVAL, hwprof_session_attach(session, &target));
	target.cpus = "";
	EXPECT_EQ(-EINVAL, hwprof_session_attach(session, &target));
	target.cpus = "4000";
	EXPECT_GT(0, hwprof_session_attach(session, &target));
	target = (struct hwprof_target){
		.kind = HWPROF_TARGET_CGROUP, .id = STDERR_FILENO,
	};
	EXPECT_GT(0, hwprof_session_attach(session, &target));
	/* The session still works. */
	run_known(session);
	EXPECT_EQ(0, hwprof_session_stop(session));
	hwprof_session_close(session);
}

static bool tells_mask(const struct hwprof_profile *profile, const char *text)
{
	const char *told = hwprof_profile_mask(profile, 0);

	return told ? !strcmp(told, text) && !hwprof_profile_mask(profile, 1) :
		      !strcmp(text, "all");
}

/* Returns the units of one run of `known` under the mask. */
static uint64_t units_under(struct hwprof_session *session, const char *text)
{
	struct hwprof_profile *profile;
	struct hwprof_mask mask;
	uint64_t units = UINT64_MAX;
	char message[256];

	if (hwprof_mask_parse(&mask, text, message, sizeof(message)) ||
	    hwprof_session_mask(session, &mask) ||
	    hwprof_session_reset(session))
		return units;
	run_known(session);
	if (hwprof_session_snapshot(session, &profile))
		return units;
	if (tells_mask(profile, text))
		units = hwprof_profile_totals(profile)->produced;
	hwprof_profile_free(profile);
	return units;
}

TEST(masks)
{
	struct hwprof_mask mask = {
		.flags = HWPROF_MASK_SET, .kinds = 1 << HWPROF_BRANCH_CALL,
	};
	struct hwprof_session *session;
	uint64_t all;

	ASSERT_EQ(0, hwprof_session_open(&session, "edges,step", NULL));
	all = units_under(session, "all");
	EXPECT_LT(units_under(session, "kind=cond"), all);
	EXPECT_EQ(all, units_under(session, "kind=branch"));
	EXPECT_EQ(all, units_under(session, "part=0/2") +
		       units_under(session, "part=1/2"));
	mask.widths = 8;
	EXPECT_EQ(-EOPNOTSUPP, hwprof_session_mask(session, &mask));
	EXPECT_STREQ("the mask tests loads and stores, which the event does not see",
		     hwprof_session_error(session));
	mask = (struct hwprof_mask){ .flags = 0 };
	EXPECT_EQ(0, hwprof_session_mask(session, &mask));
	EXPECT_EQ(HWPROF_MASK_HASH, mask.flags);
	EXPECT_EQ(4, mask.changes);
	hwprof_session_close(session);
	ASSERT_EQ(0, hwprof_session_open(&session, "loops,step", NULL));
	mask = (struct hwprof_mask){ .flags = HWPROF_MASK_SET, .ip_mask = 1 };
	EXPECT_EQ(-EINVAL, hwprof_session_mask(session, &mask));
	EXPECT_STREQ("the mask leaves out branches, and the event's profile must see each",
		     hwprof_session_error(session));
	hwprof_session_close(session);
}

/* A session does not get what perf refuses. */
TEST(not_allowed)
{
	const struct hwprof_target init = { .id = 1 };
	const struct hwprof_target all = { .kind = HWPROF_TARGET_SYSTEM };
	struct hwprof_session *session;

	if (setgid(1000) || setuid(1000))
		SKIP(return, "not root");
	ASSERT_EQ(0, hwprof_session_open(&session, "loops,step", NULL));
	EXPECT_EQ(-EACCES, hwprof_session_attach(session, &init));
	EXPECT_NE(NULL, strstr(hwprof_session_error(session), "paranoid"));
	EXPECT_EQ(-EACCES, hwprof_session_attach(session, &all));
	hwprof_session_close(session);
}

TEST_HARNESS_MAIN
