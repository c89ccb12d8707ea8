// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF programs in sessions: who may have them, what they are called for, and
 * what their verdicts do. Code with known branches, loads and stores says how
 * often they must be called.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "bpf.h"
#include "device.h"
#include "edges.h"
#include "known.h"

EVENT_ALL_NEED("step")

#ifdef __x86_64__

enum {
	R		= EDGES_ROUNDS,
	BUFFER		= 1 << 20,
	USER		= 1000,		/* somebody without capabilities */
	FIRST		= HWPROF_PROGRAM_WORD_FIRST,
	BRANCH_KIND	= FIRST + 2,
	PERIOD_NS	= 100000,
	LONG_NS		= 500 * PERIOD_NS,
	BURST		= 20,
	KINDS		= 10,		/* of branches */
};

#define KIND(kind)	(1U << HWPROF_PROGRAM_##kind)
#define ALL_BRANCHES	KIND(BRANCH)

/* x86/edges.S */
void edges_run(void);
extern const char edge_cond[], edge_jump[], edge_call[], edge_behind[],
		  edge_back[], edge_even_ret[], edge_odd_ret[];

static const struct {
	const char *from;
	uint64_t count;
} known[] = {
	{ edge_cond, R / 4 },
	{ edge_jump, 3 * R / 4 },
	{ edge_call, R },
	{ edge_even_ret, R / 2 },
	{ edge_odd_ret, R / 2 },
	{ edge_back, R - 1 },
};

enum { KNOWN = sizeof(known) / sizeof(known[0]) };

static uint64_t at(const char *label)
{
	return (uintptr_t)label;
}

/* --- a session, a target, a program -------------------------------------- */

FIXTURE(programs)
{
	struct hwprof_config config;
	int fd, map;
	struct bpf_code code;
	struct recording events;
	struct tally tally;
	struct child child;
	/* Counts in rows of edges, and of whole paths. */
	uint64_t kinds[KINDS], paths;
};

static void see_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_edge *edge = (const void *)sample->row;
	const struct hwprof_row_path *path = (const void *)sample->row;
	FIXTURE_DATA(programs) *self = tally->context;

	if (edge->row.type == HWPROF_ROW_EDGE && edge->kind < KINDS)
		self->kinds[edge->kind] += edge->count;
	else if (path->row.type == HWPROF_ROW_PATH)
		self->paths += path->flags & HWPROF_PATH_UNSEEN ? 0 :
			       path->count;
}

FIXTURE_SETUP(programs)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->tally.see = see_row;
	self->tally.context = self;
	self->map = bpf_counts(64);
	ASSERT_LE(0, self->map);
	self->fd = -1;
	bpf_begin(&self->code);
}

FIXTURE_TEARDOWN(programs)
{
	recording_close(&self->events);
	close(self->fd);
	close(self->map);
	EXPECT_TRUE(event_sessions_are(0));
}

static void open_session(struct __test_metadata *_metadata,
			 FIXTURE_DATA(programs) *self, uint64_t config,
			 uint64_t config1, uint64_t period)
{
	self->config = device_config(config | EVENT_MEMORY(4));
	self->config.config1 = config1;
	self->config.period = period;
	self->fd = device_open(&self->config);
	ASSERT_LE(0, self->fd);
}

/* Loads the program, and gives it to the session. Returns 0 or an errno. */
static int give(FIXTURE_DATA(programs) *self, unsigned int kinds)
{
	int program = bpf_load(&self->code, BPF_PROG_TYPE_RAW_TRACEPOINT);
	int err = program;

	if (program >= 0) {
		err = bpf_give(self->fd, program, kinds);
		close(program);
	}
	return err;
}

static void feed(struct __test_metadata *_metadata,
		 FIXTURE_DATA(programs) *self, struct child child)
{
	struct perf_event_attr attr = device_feeder(&self->config);

	self->child = child;
	ASSERT_EQ(0, recording_open(&self->events, &attr, child.pid, 0, NULL));
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
}

/* Once the child has been told to go. */
static void await_end(struct __test_metadata *_metadata,
		      FIXTURE_DATA(programs) *self)
{
	int status;

	waitpid(self->child.pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &self->tally));
	EXPECT_TRUE(tally_is_whole(&self->tally));
}

static void finish(struct __test_metadata *_metadata,
		   FIXTURE_DATA(programs) *self)
{
	child_go(&self->child);
	await_end(_metadata, self);
}

static void run(void *context)
{
	stay_on(0);
	edges_run();
}

/* --- refusals ------------------------------------------------------------ */

static int ask(int fd, struct hwprof_program request)
{
	return ioctl(fd, HWPROF_IOC_PROGRAM, &request) ? -errno : 0;
}

static int ask_account(int fd, struct hwprof_program_account account)
{
	return ioctl(fd, HWPROF_IOC_PROGRAM_ACCOUNT, &account) ? -errno : 0;
}

static int program_of_type(enum bpf_prog_type type)
{
	struct bpf_code code;

	bpf_begin(&code);
	bpf_return(&code, 0);
	return bpf_load(&code, type);
}

TEST_F(programs, requests)
{
	int program = program_of_type(BPF_PROG_TYPE_RAW_TRACEPOINT);
	struct hwprof_program good = {
		.size = sizeof(good), .fd = program, .kinds = ALL_BRANCHES,
	}, bad;

	ASSERT_LE(0, program);
	self->fd = open(HWPROF_DEVICE, O_RDWR);
	EXPECT_EQ(-ENODATA, ask(self->fd, good));
	close(self->fd);
	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	EXPECT_EQ(0, ask(self->fd, good));
	EXPECT_EQ(0, ask(self->fd, good));
	bad = good, bad.size = HWPROF_PROGRAM_SIZE_VER0 - 1;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.flags = 1;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.reserved = 1;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.kinds = 0;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.kinds = 1U << HWPROF_PROGRAM_KINDS;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.limit_us = HWPROF_PROGRAM_LIMIT_US_MAX + 1;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.fd = -2;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.fd = 1000;
	EXPECT_EQ(-EBADF, ask(self->fd, bad));
	bad = good, bad.fd = self->fd;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.fd = self->map;
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	bad = good, bad.fd = program_of_type(BPF_PROG_TYPE_SOCKET_FILTER);
	EXPECT_EQ(-EINVAL, ask(self->fd, bad));
	close(bad.fd);
	close(program);
	EXPECT_EQ(HWPROF_PROGRAM_SIZE_VER0, sizeof(good));
}

TEST_F(programs, accounts)
{
	struct hwprof_program_account good = { .size = sizeof(good) }, bad;

	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	EXPECT_EQ(0, ask_account(self->fd, good));
	EXPECT_EQ(HWPROF_PROGRAM_NONE, bpf_account(self->fd, 0).state);
	bad = good, bad.kind = HWPROF_PROGRAM_KINDS;
	EXPECT_EQ(-EINVAL, ask_account(self->fd, bad));
	bad = good, bad.flags = 1;
	EXPECT_EQ(-EINVAL, ask_account(self->fd, bad));
	bad = good, bad.size = HWPROF_PROGRAM_ACCOUNT_SIZE_VER0 - 1;
	EXPECT_EQ(-EINVAL, ask_account(self->fd, bad));
	EXPECT_EQ(HWPROF_PROGRAM_ACCOUNT_SIZE_VER0, sizeof(good));
}

/* It would sleep with interrupts off. */
TEST_F(programs, one_that_may_sleep)
{
	int program;

	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	bpf_return(&self->code, 0);
	program = bpf_load_sleepable(&self->code);
	if (program < 0)
		SKIP(return, "the kernel loads no raw tracepoint program that may sleep");
	EXPECT_EQ(-EINVAL, bpf_give(self->fd, program, ALL_BRANCHES));
	close(program);
}

/* A program that reads behind the words would read the kernel's stack. */
TEST_F(programs, words)
{
	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	bpf_return_if(&self->code, HWPROF_PROGRAM_WORD_LAST, 1, 0);
	bpf_return(&self->code, 0);
	EXPECT_EQ(0, give(self, ALL_BRANCHES));
	bpf_begin(&self->code);
	bpf_return_if(&self->code, HWPROF_PROGRAM_WORDS, 1, 0);
	bpf_return(&self->code, 0);
	EXPECT_EQ(-EINVAL, give(self, ALL_BRANCHES));
}

static void expect_kinds(struct __test_metadata *_metadata,
			 FIXTURE_DATA(programs) *self, unsigned int kinds)
{
	unsigned int i;

	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++)
		EXPECT_EQ(kinds >> i & 1 ? 0 : -EOPNOTSUPP,
			  give(self, 1U << i))
			TH_LOG("kind %u", i);
	close(self->fd);
}

TEST_F(programs, kinds)
{
	const unsigned int branches = KIND(BRANCH) | KIND(CALL) | KIND(RETURN);
	const unsigned int accesses = KIND(LOAD) | KIND(STORE);
	const unsigned int windows = KIND(WINDOW_BEGIN) | KIND(WINDOW_END);

	bpf_return(&self->code, 0);
	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	expect_kinds(_metadata, self, branches | accesses);
	open_session(_metadata, self, EVENT_LOOPS | EVENT_EDGES, 0, 0);
	expect_kinds(_metadata, self, branches | accesses | KIND(LOOP_EXIT));
	open_session(_metadata, self, EVENT_PATHS | EVENT_LOOPS, 0, 0);
	expect_kinds(_metadata, self, branches | accesses | KIND(LOOP_EXIT) |
		     KIND(PATH_END));
	open_session(_metadata, self, EVENT_LOOPS | EVENT_PATHS, BURST,
		     PERIOD_NS);
	expect_kinds(_metadata, self, branches | accesses | windows |
		     KIND(PATH_END));
	open_session(_metadata, self, EVENT_RANGES | EVENT_SAMPLE, 0,
		     PERIOD_NS);
	expect_kinds(_metadata, self, KIND(SAMPLE));
}

/* Its samples interrupt the kernel, which may be inside a map. */
TEST_F(programs, never_in_the_kernel)
{
	self->config = device_config(EVENT_RANGES | EVENT_SAMPLE);
	self->config.flags &= ~HWPROF_CONFIG_EXCLUDE_KERNEL;
	self->config.period = PERIOD_NS;
	self->fd = device_open(&self->config);
	ASSERT_LE(0, self->fd);
	bpf_return(&self->code, 0);
	EXPECT_EQ(-EINVAL, give(self, KIND(SAMPLE)));
}

/* CPUs that feed the session must not see the change. */
TEST_F(programs, too_late)
{
	struct child child = child_start(run, NULL);

	open_session(_metadata, self, EVENT_LOOPS, 0, 0);
	feed(_metadata, self, child);
	bpf_return(&self->code, 0);
	EXPECT_EQ(0, give(self, ALL_BRANCHES));
	EXPECT_EQ(-EBUSY, give(self, KIND(LOAD)));
	EXPECT_EQ(-EBUSY, give(self, KIND(STORE)));
	EXPECT_EQ(-EBUSY, give(self, KIND(LOOP_EXIT)));
	finish(_metadata, self);
}

/*
 * A process without capabilities cannot use a program that it was passed:
 * neither in a session of its own nor in one that was passed, too.
 */
TEST_F(programs, rights)
{
	int program = program_of_type(BPF_PROG_TYPE_RAW_TRACEPOINT), status, fd;
	struct hwprof_config own = device_config(EVENT_EDGES);
	pid_t pid;

	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	pid = fork();
	if (!pid) {
		if (bpf_give(self->fd, program, ALL_BRANCHES) != -EPERM)
			_exit(1);
		if (setresgid(USER, USER, USER) || setresuid(USER, USER, USER))
			_exit(2);
		fd = device_open(&own);
		_exit(fd < 0 ? 3 :
		      bpf_give(fd, program, ALL_BRANCHES) != -EPERM ? 4 :
		      bpf_give(fd, -1, ALL_BRANCHES) != -EPERM ? 5 : 0);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	/* Dropped rights are another matter. */
	pid = fork();
	if (!pid) {
		fd = device_open(&own);
		if (fd < 0 || setresuid(USER, USER, USER))
			_exit(1);
		_exit(bpf_give(fd, program, ALL_BRANCHES) != -EACCES);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	close(program);
}

/* --- events -------------------------------------------------------------- */

static void count_known(FIXTURE_DATA(programs) *self)
{
	unsigned int i;

	for (i = 0; i < KNOWN; i++)
		bpf_count_set(self->map, at(known[i].from), 0);
}

static void check_account(struct __test_metadata *_metadata,
			  FIXTURE_DATA(programs) *self, unsigned int kind)
{
	struct hwprof_program_account account = bpf_account(self->fd, kind);

	EXPECT_EQ(HWPROF_PROGRAM_RUNS, account.state);
	EXPECT_LT(0, account.runs);
	EXPECT_EQ(0, account.missed);
	EXPECT_LT(0, account.time_ns);
}

/* Each branch is counted once, as the session's own profile has it. */
TEST_F(programs, branches)
{
	struct hwprof_program_account account;
	unsigned int i;

	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	count_known(self);
	bpf_add(&self->code, self->map, FIRST, -1);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, ALL_BRANCHES));
	feed(_metadata, self, child_start(run, NULL));
	finish(_metadata, self);
	for (i = 0; i < KNOWN; i++)
		EXPECT_EQ(known[i].count,
			  bpf_count(self->map, at(known[i].from)))
			TH_LOG("known branch %u", i);
	check_account(_metadata, self, HWPROF_PROGRAM_BRANCH);
	account = bpf_account(self->fd, HWPROF_PROGRAM_BRANCH);
	EXPECT_EQ(self->tally.totals.events - self->tally.totals.gaps,
		  account.runs);
	EXPECT_EQ(0, account.dropped);
	EXPECT_EQ(self->tally.totals.produced, recording_count(&self->events));
}

/* Words that all events have. */
TEST_F(programs, head)
{
	struct child child = child_start(run, NULL);
	struct hwprof_program request = {
		.size = sizeof(request), .kinds = ALL_BRANCHES,
		.cookie = 0x123456789abcdef0,
	};
	uint64_t task = (uint64_t)child.pid << 32 | child.pid, runs;

	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	bpf_count_set(self->map, task, 0);
	bpf_count_set(self->map, request.cookie, 0);
	bpf_count_set(self->map, HWPROF_PROGRAM_BRANCH, 0);
	bpf_count_set(self->map, self->config.session + 1000, 0);
	bpf_add(&self->code, self->map, HWPROF_PROGRAM_WORD_TASK, -1);
	bpf_add(&self->code, self->map, HWPROF_PROGRAM_WORD_COOKIE,
		HWPROF_PROGRAM_WORD_WEIGHT);
	bpf_add(&self->code, self->map, HWPROF_PROGRAM_WORD_KIND,
		HWPROF_PROGRAM_WORD_SESSION);
	bpf_return(&self->code, 0);
	request.fd = bpf_load(&self->code, BPF_PROG_TYPE_RAW_TRACEPOINT);
	ASSERT_LE(0, request.fd);
	ASSERT_EQ(0, ask(self->fd, request));
	close(request.fd);
	feed(_metadata, self, child);
	finish(_metadata, self);
	runs = bpf_account(self->fd, HWPROF_PROGRAM_BRANCH).runs;
	EXPECT_EQ(request.cookie,
		  bpf_account(self->fd, HWPROF_PROGRAM_BRANCH).cookie);
	EXPECT_EQ(runs, bpf_count(self->map, task));
	EXPECT_EQ(runs, bpf_count(self->map, request.cookie));
	EXPECT_EQ(runs * self->config.session,
		  bpf_count(self->map, HWPROF_PROGRAM_BRANCH));
}

TEST_F(programs, calls)
{
	open_session(_metadata, self, EVENT_LOOPS, 0, 0);
	count_known(self);
	bpf_add(&self->code, self->map, FIRST, -1);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, KIND(CALL) | KIND(RETURN)));
	feed(_metadata, self, child_start(run, NULL));
	finish(_metadata, self);
	EXPECT_EQ(R, bpf_count(self->map, at(edge_call)));
	EXPECT_EQ(R / 2, bpf_count(self->map, at(edge_even_ret)));
	EXPECT_EQ(R / 2, bpf_count(self->map, at(edge_odd_ret)));
	EXPECT_EQ(0, bpf_count(self->map, at(edge_back)));
	EXPECT_EQ(0, bpf_count(self->map, at(edge_cond)));
	check_account(_metadata, self, HWPROF_PROGRAM_RETURN);
}

/* A call loads its target, and stores where it returns to. */
TEST_F(programs, accesses)
{
	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	count_known(self);
	bpf_count_set(self->map, at(edge_behind), 0);
	bpf_add(&self->code, self->map, FIRST, -1);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, KIND(LOAD)));
	bpf_begin(&self->code);
	bpf_add(&self->code, self->map, HWPROF_PROGRAM_WORD_LAST, -1);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, KIND(STORE)));
	feed(_metadata, self, child_start(run, NULL));
	finish(_metadata, self);
	EXPECT_EQ(R, bpf_count(self->map, at(edge_call)));
	EXPECT_EQ(R / 2, bpf_count(self->map, at(edge_even_ret)));
	EXPECT_EQ(R, bpf_count(self->map, at(edge_behind)));
	EXPECT_EQ(0, bpf_count(self->map, at(edge_back)));
	EXPECT_EQ(0, self->tally.totals.lost);
	check_account(_metadata, self, HWPROF_PROGRAM_LOAD);
	check_account(_metadata, self, HWPROF_PROGRAM_STORE);
}

/* Loads come to a session that learns from them as often as to its program. */
TEST_F(programs, values)
{
	open_session(_metadata, self, EVENT_VALUES, 0, 0);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, KIND(LOAD)));
	feed(_metadata, self, child_start(run, NULL));
	finish(_metadata, self);
	check_account(_metadata, self, HWPROF_PROGRAM_LOAD);
	EXPECT_EQ(self->tally.totals.produced,
		  bpf_account(self->fd, HWPROF_PROGRAM_LOAD).runs);
}

static void loop_exits(struct __test_metadata *_metadata,
		       FIXTURE_DATA(programs) *self, uint64_t config)
{
	open_session(_metadata, self, config, 0, 0);
	bpf_count_set(self->map, KNOWN_INNER_HEAD, 0);
	bpf_count_set(self->map, KNOWN_OUTER_HEAD, 0);
	bpf_add(&self->code, self->map, FIRST, FIRST + 2);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, KIND(LOOP_EXIT)));
	feed(_metadata, self, child_known());
	finish(_metadata, self);
	EXPECT_EQ(KNOWN_OUTER * KNOWN_INNER,
		  bpf_count(self->map, KNOWN_INNER_HEAD));
	EXPECT_EQ(KNOWN_OUTER, bpf_count(self->map, KNOWN_OUTER_HEAD));
	check_account(_metadata, self, HWPROF_PROGRAM_LOOP_EXIT);
}

TEST_F(programs, exits_of_loops)
{
	loop_exits(_metadata, self, EVENT_LOOPS);
}

TEST_F(programs, exits_beside_other_profiles)
{
	loop_exits(_metadata, self, EVENT_LOOPS | EVENT_CALLS | EVENT_EDGES);
}

TEST_F(programs, ends_of_paths)
{
	open_session(_metadata, self, EVENT_PATHS, 0, 0);
	bpf_return(&self->code, HWPROF_PROGRAM_DROP);	/* means nothing */
	ASSERT_EQ(0, give(self, KIND(PATH_END)));
	feed(_metadata, self, child_start(run, NULL));
	finish(_metadata, self);
	EXPECT_EQ(self->paths,
		  bpf_account(self->fd, HWPROF_PROGRAM_PATH_END).runs);
	EXPECT_LT(R, self->paths);
	check_account(_metadata, self, HWPROF_PROGRAM_PATH_END);
	EXPECT_EQ(0, bpf_account(self->fd, HWPROF_PROGRAM_PATH_END).dropped);
}

/* --- verdicts ------------------------------------------------------------ */

TEST_F(programs, drops)
{
	struct hwprof_program_account account;

	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	bpf_return_if(&self->code, BRANCH_KIND, HWPROF_BRANCH_RET,
		      HWPROF_PROGRAM_DROP);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, ALL_BRANCHES));
	feed(_metadata, self, child_start(run, NULL));
	finish(_metadata, self);
	account = bpf_account(self->fd, HWPROF_PROGRAM_BRANCH);
	EXPECT_LE(R, account.dropped);
	EXPECT_EQ(0, self->kinds[HWPROF_BRANCH_RET]);
	EXPECT_LE(R, self->kinds[HWPROF_BRANCH_CALL]);
	/* A gap follows for each. */
	EXPECT_LE(R, self->tally.totals.gaps);
	EXPECT_EQ(self->tally.totals.produced, recording_count(&self->events));
}

/* A session can be there for its program alone. */
TEST_F(programs, drops_all)
{
	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	bpf_return(&self->code, HWPROF_PROGRAM_DROP);
	ASSERT_EQ(0, give(self, ALL_BRANCHES));
	feed(_metadata, self, child_start(run, NULL));
	finish(_metadata, self);
	EXPECT_EQ(0, self->tally.totals.produced);
	EXPECT_EQ(bpf_account(self->fd, HWPROF_PROGRAM_BRANCH).runs,
		  bpf_account(self->fd, HWPROF_PROGRAM_BRANCH).dropped);
}

TEST_F(programs, slow_one_is_taken_away)
{
	struct hwprof_program request = {
		.size = sizeof(request), .kinds = ALL_BRANCHES, .limit_us = 1,
	};
	struct hwprof_program_account account;

	open_session(_metadata, self, EVENT_EDGES, 0, 0);
	bpf_waste(&self->code, 4000);
	bpf_return(&self->code, HWPROF_PROGRAM_DROP);
	request.fd = bpf_load(&self->code, BPF_PROG_TYPE_RAW_TRACEPOINT);
	ASSERT_LE(0, request.fd);
	ASSERT_EQ(0, ask(self->fd, request));
	close(request.fd);
	feed(_metadata, self, child_start(run, NULL));
	finish(_metadata, self);
	account = bpf_account(self->fd, HWPROF_PROGRAM_BRANCH);
	EXPECT_EQ(HWPROF_PROGRAM_TAKEN, account.state);
	EXPECT_LE(3, account.runs);
	EXPECT_GT(1000, account.runs);
	EXPECT_EQ(account.runs, account.overruns);
	EXPECT_EQ(account.runs, account.dropped);
	EXPECT_LE(4 * R, self->tally.totals.produced);
	EXPECT_EQ(0, system("dmesg | grep -q 'program took longer than 1 us'"));
	/* Another one can take its place. */
	bpf_begin(&self->code);
	bpf_return(&self->code, 0);
	EXPECT_EQ(0, give(self, ALL_BRANCHES));
	EXPECT_EQ(HWPROF_PROGRAM_RUNS,
		  bpf_account(self->fd, HWPROF_PROGRAM_BRANCH).state);
}

/* --- windows ------------------------------------------------------------- */

/*
 * Runs for long enough for many windows, also where each takes long. @context:
 * NULL, or a shared unsigned int: while it is 0, the program goes on, up to a
 * hundred times as long.
 */
static void run_long(void *context)
{
	unsigned int i, times = fewer_times(400), *enough = context;
	uint64_t begin = thread_cpu_ns(), now = begin;

	stay_on(0);
	for (i = 0; i < times || now < begin + LONG_NS ||
		    (enough && now < begin + 100ULL * LONG_NS &&
		     !__atomic_load_n(enough, __ATOMIC_RELAXED)); i++) {
		edges_run();
		now = thread_cpu_ns();
	}
}

static uint64_t window_count(FIXTURE_DATA(programs) *self)
{
	return bpf_account(self->fd, HWPROF_PROGRAM_WINDOW_BEGIN).runs;
}

static uint64_t branch_count(FIXTURE_DATA(programs) *self)
{
	return bpf_account(self->fd, HWPROF_PROGRAM_BRANCH).runs;
}

static bool has_windows(FIXTURE_DATA(programs) *self)
{
	return window_count(self) >= 2;
}

/*
 * Has bursts whose branches get @verdict, until there are @enough of them or
 * the program ends. Returns true if there were enough.
 */
static bool bursts(struct __test_metadata *_metadata,
		   FIXTURE_DATA(programs) *self, int verdict,
		   bool (*enough)(FIXTURE_DATA(programs) *self))
{
	unsigned int *ends = shared_memory(sizeof(*ends));
	siginfo_t ended = { 0 };
	bool had;

	open_session(_metadata, self, EVENT_EDGES, BURST, PERIOD_NS);
	bpf_return(&self->code, verdict);
	EXPECT_EQ(0, give(self, ALL_BRANCHES));
	bpf_begin(&self->code);
	bpf_return(&self->code, 0);
	EXPECT_EQ(0, give(self, KIND(WINDOW_BEGIN)));
	EXPECT_EQ(0, give(self, KIND(WINDOW_END)));
	feed(_metadata, self, child_start(run_long, ends));
	child_go(&self->child);
	while (!(had = enough(self)) && !ended.si_pid) {
		usleep(1000);
		waitid(P_PID, self->child.pid, &ended,
		       WEXITED | WNOHANG | WNOWAIT);
	}
	__atomic_store_n(ends, 1, __ATOMIC_RELAXED);
	await_end(_metadata, self);
	munmap(ends, sizeof(*ends));
	check_account(_metadata, self, HWPROF_PROGRAM_BRANCH);
	EXPECT_EQ(bpf_account(self->fd, HWPROF_PROGRAM_WINDOW_BEGIN).runs,
		  bpf_account(self->fd, HWPROF_PROGRAM_WINDOW_END).runs);
	return had;
}

TEST_F(programs, windows)
{
	EXPECT_TRUE(bursts(_metadata, self, 0, has_windows));
	EXPECT_LE(window_count(self), self->tally.totals.windows);
	EXPECT_LT(2 * window_count(self), branch_count(self));
}

/* The first branch of a burst is where it begins; the second one ends it. */
TEST_F(programs, end_of_bursts)
{
	EXPECT_TRUE(bursts(_metadata, self, HWPROF_PROGRAM_END, has_windows));
	EXPECT_LE(branch_count(self), window_count(self));
}

/*
 * Branches are counted first: those that come meanwhile are left out, and the
 * windows that begin meanwhile are not.
 */
static bool has_long_bursts(FIXTURE_DATA(programs) *self)
{
	uint64_t branches = branch_count(self), windows = window_count(self);

	return windows >= 10 && branches >= 3 * BURST * windows;
}

/*
 * They grow to twice the greatest burst, or until the program leaves its CPU,
 * which it does often on a busy machine. Without the verdict, bursts have BURST
 * branches on average.
 */
TEST_F(programs, longer_bursts)
{
	EXPECT_TRUE(bursts(_metadata, self, HWPROF_PROGRAM_EXTEND,
			   has_long_bursts));
}

/* The weight is the trigger's period. */
TEST_F(programs, samples)
{
	struct hwprof_program_account account;
	uint64_t usual, sooner;

	open_session(_metadata, self, EVENT_RANGES | EVENT_SAMPLE, 0,
		     PERIOD_NS);
	bpf_count_set(self->map, PERIOD_NS, 0);
	bpf_count_set(self->map, PERIOD_NS / 2, 0);
	bpf_add(&self->code, self->map, HWPROF_PROGRAM_WORD_WEIGHT, -1);
	bpf_return(&self->code, HWPROF_PROGRAM_SOONER);
	ASSERT_EQ(0, give(self, KIND(SAMPLE)));
	feed(_metadata, self, child_start(run_long, NULL));
	finish(_metadata, self);
	account = bpf_account(self->fd, HWPROF_PROGRAM_SAMPLE);
	usual = bpf_count(self->map, PERIOD_NS);
	sooner = bpf_count(self->map, PERIOD_NS / 2);
	EXPECT_LT(0, usual);
	EXPECT_LT(0, sooner);
	EXPECT_EQ(account.runs, usual + sooner);
	EXPECT_EQ(self->tally.totals.events, account.runs + account.missed);
	EXPECT_EQ(0, account.dropped);
}

/* --- while it runs ------------------------------------------------------- */

static void run_on(void *context)
{
	for (;;)
		edges_run();
}

/* Programs come and go under a program that is stepped, and nothing breaks. */
TEST_F(programs, come_and_go)
{
	unsigned int i, times = fewer_times(200);

	open_session(_metadata, self, EVENT_LOOPS | EVENT_EDGES, 0, 0);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, KIND(LOAD) | KIND(STORE) | KIND(LOOP_EXIT)));
	feed(_metadata, self, child_start(run_on, NULL));
	child_go(&self->child);
	for (i = 0; i < times; i++) {
		ASSERT_EQ(0, give(self, i & 1 ? KIND(BRANCH) | KIND(LOAD) :
					KIND(CALL) | KIND(LOOP_EXIT)));
		if (i % 8 == 7)
			ASSERT_EQ(0, bpf_give(self->fd, -1, KIND(BRANCH) |
					      KIND(CALL) | KIND(LOAD)));
	}
	/* The file may be closed before. */
	close(self->fd);
	kill(self->child.pid, SIGKILL);
	waitpid(self->child.pid, NULL, 0);
}

/* --- branch records ------------------------------------------------------ */

static void open_lbr(struct __test_metadata *_metadata,
		     FIXTURE_DATA(programs) *self, int verdict)
{
	open_session(_metadata, self, EVENT_EDGES | EVENT_LBR, 0, 1000);
	bpf_return_if(&self->code, BRANCH_KIND, HWPROF_BRANCH_RET, verdict);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, ALL_BRANCHES));
	bpf_begin(&self->code);
	bpf_return(&self->code, 0);
	ASSERT_EQ(0, give(self, KIND(WINDOW_BEGIN)));
	ASSERT_EQ(0, give(self, KIND(WINDOW_END)));
	feed(_metadata, self, child_start(run_long, NULL));
	finish(_metadata, self);
}

TEST_F(programs, records)
{
	struct hwprof_program_account account;

	if (event_missing("lbr"))
		SKIP(return, "no branch records");
	open_lbr(_metadata, self, 0);
	account = bpf_account(self->fd, HWPROF_PROGRAM_BRANCH);
	EXPECT_LT(100, account.runs);
	EXPECT_EQ(self->tally.totals.events - self->tally.totals.gaps,
		  account.runs + account.missed);
	EXPECT_LT(0, window_count(self));
	EXPECT_EQ(window_count(self),
		  bpf_account(self->fd, HWPROF_PROGRAM_WINDOW_END).runs);
}

TEST_F(programs, dropped_records)
{
	if (event_missing("lbr"))
		SKIP(return, "no branch records");
	open_lbr(_metadata, self, HWPROF_PROGRAM_DROP);
	/* Perf throttles the trigger on a busy machine. */
	EXPECT_LT(100, bpf_account(self->fd, HWPROF_PROGRAM_BRANCH).dropped);
	/* The oldest branch of a window is no event, and begins an edge. */
	EXPECT_GE(self->tally.totals.windows, self->kinds[HWPROF_BRANCH_RET]);
	EXPECT_LT(100, self->kinds[HWPROF_BRANCH_CALL]);
}

#endif /* __x86_64__ */

TEST_HARNESS_MAIN
