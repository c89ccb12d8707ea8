// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules of perf for the records of an event: see the table in docs/rows.md.
 * A session must also cost nothing while its program sleeps.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

FIXTURE(rules)
{
	struct child child;
};

FIXTURE_SETUP(rules)
{
	ASSERT_TRUE(event_sessions_are(0));
}

FIXTURE_TEARDOWN(rules)
{
	if (self->child.pid) {
		kill(self->child.pid, SIGKILL);
		waitpid(self->child.pid, NULL, 0);
	}
	EXPECT_TRUE(event_sessions_are(0));
}

/* --- fields of rows ------------------------------------------------------- */

/*
 * Tries an event that gives rows with this field. Returns 0 or a negative
 * errno.
 */
static int try_rows(uint64_t sample_type)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS, 1);

	attr.sample_type |= sample_type;
	attr.inherit = 0;
	return event_try(attr);
}

TEST_F(rules, what_rows_may_carry)
{
	EXPECT_EQ(0, try_rows(PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			      PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
			      PERF_SAMPLE_ID | PERF_SAMPLE_CPU |
			      PERF_SAMPLE_PERIOD | PERF_SAMPLE_STREAM_ID |
			      PERF_SAMPLE_IDENTIFIER));
	EXPECT_EQ(0, try_rows(PERF_SAMPLE_CALLCHAIN));
	EXPECT_EQ(0, try_rows(PERF_SAMPLE_READ));
	EXPECT_EQ(0, try_rows(PERF_SAMPLE_WEIGHT));
	EXPECT_EQ(0, try_rows(PERF_SAMPLE_DATA_SRC));
	EXPECT_EQ(0, try_rows(PERF_SAMPLE_TRANSACTION));
}

/* perf would take these fields from the task that happens to run. */
TEST_F(rules, what_rows_may_not_carry)
{
	EXPECT_EQ(-EOPNOTSUPP, try_rows(PERF_SAMPLE_PHYS_ADDR));
	EXPECT_EQ(-EOPNOTSUPP, try_rows(PERF_SAMPLE_DATA_PAGE_SIZE));
	EXPECT_EQ(-EOPNOTSUPP, try_rows(PERF_SAMPLE_CODE_PAGE_SIZE));
}

TEST_F(rules, rows_carry_no_cgroup)
{
	if (!event_has_cgroups())
		SKIP(return, "perf knows no cgroups on this kernel");
	EXPECT_EQ(-EOPNOTSUPP, try_rows(PERF_SAMPLE_CGROUP));
}

TEST_F(rules, no_aux)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 1);

	attr.sample_type |= PERF_SAMPLE_AUX;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
}

/* --- members of groups ---------------------------------------------------- */

/* Bits behind aux_sample_size, since Linux 6.13; this header may lack them. */
enum { AUX_START_PAUSED = 1, AUX_PAUSE = 2, AUX_RESUME = 4 };

static void set_aux_action(struct perf_event_attr *attr, uint32_t bits)
{
	memcpy((char *)&attr->aux_sample_size + sizeof(attr->aux_sample_size),
	       &bits, sizeof(bits));
}

/* Tries an event as a member of a software event's group. */
static int try_member(struct perf_event_attr attr)
{
	int fd = dummy_open(0), member;

	if (fd < 0)
		return fd;
	attr.inherit = 0;
	member = event_open(&attr, 0, -1, fd, 0);
	if (member >= 0)
		close(member);
	close(fd);
	return member < 0 ? member : 0;
}

static int try_member_with(uint64_t config, uint64_t sample_type)
{
	struct perf_event_attr attr = event_attr_sampling(config, 1);

	attr.sample_type |= sample_type;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	attr.sample_regs_user = attr.sample_regs_intr = 1;
	attr.sample_stack_user = 64;
	return try_member(attr);
}

TEST_F(rules, what_members_may_not_carry)
{
	static const uint64_t refused[] = {
		PERF_SAMPLE_BRANCH_STACK, PERF_SAMPLE_REGS_USER,
		PERF_SAMPLE_REGS_INTR, PERF_SAMPLE_STACK_USER, PERF_SAMPLE_AUX,
	}, refused_in_rows[] = {
		PERF_SAMPLE_PHYS_ADDR, PERF_SAMPLE_DATA_PAGE_SIZE,
		PERF_SAMPLE_CODE_PAGE_SIZE,
	};
	unsigned int i;

	EXPECT_EQ(0, try_member_with(EVENT_LOOPS, 0));
	EXPECT_EQ(0, try_member_with(EVENT_LOOPS | EVENT_ROWS,
				     PERF_SAMPLE_READ));
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		EXPECT_EQ(-EOPNOTSUPP,
			  try_member_with(EVENT_LOOPS, refused[i]));
		EXPECT_EQ(-EOPNOTSUPP,
			  try_member_with(EVENT_LOOPS | EVENT_ROWS,
					  refused[i]));
	}
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, try_member_with(EVENT_LOOPS, refused_in_rows[i]));
		EXPECT_EQ(-EOPNOTSUPP,
			  try_member_with(EVENT_LOOPS | EVENT_ROWS,
					  refused_in_rows[i]));
	}
}

TEST_F(rules, what_members_may_not_do)
{
	const struct perf_event_attr plain =
		event_attr_sampling(EVENT_LOOPS, 1);
	struct perf_event_attr attr = plain;

	attr.precise_ip = 1;
	EXPECT_EQ(-EOPNOTSUPP, try_member(attr));
	attr = plain;
	attr.sigtrap = attr.remove_on_exec = 1;
	EXPECT_EQ(-EOPNOTSUPP, try_member(attr));
	attr = plain;
	attr.aux_output = 1;
	EXPECT_EQ(-EOPNOTSUPP, try_member(attr));
}

/* perf would stop and start the group's AUX event at each sample. */
TEST_F(rules, members_pause_nothing)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 1);
	struct perf_event_attr dummy = dummy_attr();
	uint32_t bit;

	set_aux_action(&dummy, AUX_START_PAUSED);
	if (event_try(dummy) == -EINVAL)
		SKIP(return, "this kernel pauses no AUX events");
	for (bit = AUX_START_PAUSED; bit <= AUX_RESUME; bit <<= 1) {
		set_aux_action(&attr, bit);
		EXPECT_EQ(-EOPNOTSUPP, try_member(attr));
	}
}

/* --- inactive events ------------------------------------------------------ */

/* As many siblings as an event may have whose rows have their counts. */
enum { SIBLINGS = 64, ROUNDS = 20, SITES = 1500 };

/* Calls from many sites, which makes many rows, and sleeps. */
static void call_and_sleep(void *unused)
{
	enum { CALL = 5, BEGIN = 16 };
	unsigned char *code = mmap(NULL, BEGIN + SITES * CALL + 1,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, at = BEGIN;

	if (code == MAP_FAILED)
		_exit(1);
	code[0] = 0xc3;				/* ret */
	for (i = 0; i < SITES; i++, at += CALL) {
		int32_t distance = -(at + CALL);

		code[at] = 0xe8;		/* call of the ret */
		memcpy(code + at + 1, &distance, sizeof(distance));
	}
	code[at] = 0xc3;
	for (;;) {
		((void (*)(void))(code + BEGIN))();
		usleep(30000);
	}
}

static void add_siblings(struct __test_metadata *_metadata, pid_t pid,
			 int leader, int *fd, int count)
{
	struct perf_event_attr attr = dummy_attr();
	int i;

	attr.read_format = PERF_FORMAT_GROUP;
	for (i = 0; i < count; i++) {
		fd[i] = event_open(&attr, pid, 0, leader, 0);
		ASSERT_LE(0, fd[i]);
	}
}

/*
 * Another CPU closes the group of an event whose rows carry the group's counts,
 * while the program sleeps. perf may walk the group only under the lock of its
 * context. Without the lock, the walk once became an endless loop with
 * interrupts off.
 */
TEST_F_TIMEOUT(rules, groups_that_change, 240)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CALLS | EVENT_STEP | EVENT_ROWS, 1);
	struct perf_event_mmap_page *page;
	int leader, round, i, fd[SIBLINGS];

	attr.config1 |= EVENT_INTERVAL(1);
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format |= PERF_FORMAT_GROUP;
	attr.inherit = 0;
	attr.disabled = 0;
	self->child = child_start(call_and_sleep, NULL);
	leader = event_open(&attr, self->child.pid, 0, -1, 0);
	ASSERT_LE(0, leader);
	page = mmap(NULL, 129 * getpagesize(), PROT_READ | PROT_WRITE,
		    MAP_SHARED, leader, 0);
	ASSERT_NE(MAP_FAILED, page);
	child_go(&self->child);
	for (round = 0; round < ROUNDS; round++) {
		add_siblings(_metadata, self->child.pid, leader, fd, SIBLINGS);
		usleep(20000);
		for (i = 0; i < SIBLINGS; i++) {
			close(fd[i]);
			page->data_tail = page->data_head;
		}
	}
	munmap(page, 129 * getpagesize());
	close(leader);
}

/* Runs the known loops, and waits. Returns how much was written then. */
static uint64_t written_after_run(struct perf_event_mmap_page *page)
{
	uint64_t before = page->data_tail = page->data_head;

	known_run();
	usleep(200000);
	return page->data_head - before;
}

/*
 * perf reads the counts of the group for each row, with interrupts off. Rows of
 * an event whose group is too large for that wait until it is smaller.
 */
TEST_F(rules, groups_that_are_too_large)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct perf_event_mmap_page *page;
	int leader, i, fd[SIBLINGS + 1];

	stay_on(0);
	attr.config1 |= EVENT_INTERVAL(1);
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.read_format |= PERF_FORMAT_GROUP;
	attr.inherit = 0;
	attr.disabled = 0;
	leader = event_open(&attr, 0, 0, -1, 0);
	ASSERT_LE(0, leader);
	page = mmap(NULL, 129 * getpagesize(), PROT_READ | PROT_WRITE,
		    MAP_SHARED, leader, 0);
	ASSERT_NE(MAP_FAILED, page);
	add_siblings(_metadata, 0, leader, fd, SIBLINGS);
	EXPECT_LT(0, written_after_run(page));
	add_siblings(_metadata, 0, leader, fd + SIBLINGS, 1);
	EXPECT_EQ(0, written_after_run(page));
	close(fd[SIBLINGS]);
	EXPECT_LT(0, written_after_run(page));
	for (i = 0; i < SIBLINGS; i++)
		close(fd[i]);
	munmap(page, 129 * getpagesize());
	close(leader);
}

static void run_known_loops(void *unused)
{
	known_run();
}

/* Such an event gets all its rows, the last ones while its task exits. */
TEST_F(rules, groups_of_what_exits)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct recording recording;
	struct tally tally = { .reads = true };
	struct child child = child_start(run_known_loops, NULL);

	attr.sample_type |= PERF_SAMPLE_READ;
	attr.inherit = 0;
	ASSERT_EQ(0, recording_begin(&recording, &attr, &child, 64, &tally));
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	EXPECT_TRUE(tally_is_whole(&tally));
	EXPECT_LE(KNOWN_INNER_BACK, tally.period);
	recording_close(&recording);
}

static void run_and_sleep(void *unused)
{
	known_run();
	pause();
}

/* The task sleeps when its events are disabled: their rows are not lost. */
TEST_F(rules, groups_of_what_sleeps)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct recording recording;
	struct tally tally = { .reads = true };

	EVENT_NEED_FUNCTION("perf_ioctl");
	attr.config1 = EVENT_INTERVAL(60000);
	attr.sample_type |= PERF_SAMPLE_READ;
	attr.inherit = 0;
	self->child = child_start(run_and_sleep, NULL);
	ASSERT_EQ(0, recording_begin(&recording, &attr, &self->child,
				     64, &tally));
	recording_read_until(&recording, KNOWN_BACK);
	child_await_sleep(&self->child);
	recording_drain(&recording);
	EXPECT_EQ(0, tally.period);
	recording_control(&recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&recording);
	EXPECT_LE(KNOWN_BACK, tally.period);
	recording_close(&recording);
}

/* --- tracing -------------------------------------------------------------- */

static void trace_write(const char *file, const char *text)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/%s", file);
	fd = open(path, O_WRONLY | O_TRUNC);
	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		event_give_up(path);
	close(fd);
}

/* Returns how many lines of the trace have a text. */
static unsigned int trace_lines(const char *text)
{
	FILE *file = fopen("/sys/kernel/tracing/trace", "r");
	unsigned int count = 0;
	char line[512];

	while (file && fgets(line, sizeof(line), file))
		count += !!strstr(line, text);
	if (file)
		fclose(file);
	return count;
}

/* Everything by which the kernel calls the module when time has passed. */
static const char * const clocks[] = {
	"timer/timer_expire_entry", "timer/hrtimer_expire_entry",
	"workqueue/workqueue_execute_start",
};

static void clocks_trace(const char *on)
{
	char file[128];
	size_t i;

	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		snprintf(file, sizeof(file), "events/%s/enable", clocks[i]);
		trace_write(file, on);
	}
}

/* Begins to trace these calls. Returns false on a kernel without tracing. */
static bool clocks_begin(void)
{
	if (access("/sys/kernel/tracing/events/workqueue", F_OK))
		return false;
	trace_write("trace", "");
	clocks_trace("1");
	return true;
}

/* Returns how many functions of the module were called. */
static unsigned int clocks_end(void)
{
	clocks_trace("0");
	return trace_lines("[hwprof]");
}

/* --- sleeping programs ---------------------------------------------------- */

enum { IDLE_SESSIONS = 8, FEW_INTERRUPTS = 50, LONG_RUNS = 20 };

/* Returns the number of interrupts that CPUs have sent for function calls. */
static uint64_t function_calls(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[4096], *at;
	uint64_t sum = 0;

	while (file && fgets(line, sizeof(line), file)) {
		at = strstr(line, "CAL:");
		if (!at)
			continue;
		for (at += 4; *at; ) {
			char *end;
			uint64_t count = strtoull(at, &end, 10);

			if (end == at)
				break;
			sum += count;
			at = end;
		}
	}
	if (file)
		fclose(file);
	return sum;
}

/* A program that runs makes rows, so that there is something to see here. */
TEST_F(rules, sessions_that_run)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct recording recording;
	struct tally tally = {};

	if (!clocks_begin())
		SKIP(return, "this kernel cannot trace");
	attr.config1 = EVENT_INTERVAL(1);
	self->child = child_start(run_and_sleep, NULL);
	ASSERT_EQ(0, recording_begin(&recording, &attr, &self->child,
				     64, &tally));
	recording_read_until(&recording, KNOWN_BACK);
	child_await_sleep(&self->child);
	recording_read_for(&recording, 100);
	EXPECT_LT(0, clocks_end());
	recording_close(&recording);
}

static void sleep_on(void *unused)
{
	for (;;)
		pause();
}

/* Three seconds contain many intervals, of 1 to 8 ms, of each session. */
TEST_F(rules, sessions_that_sleep)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CALLS | EVENT_STEP | EVENT_ROWS, 1);
	uint64_t before;
	int i, fd[IDLE_SESSIONS];
	bool traced;

	attr.inherit = 0;
	attr.disabled = 0;
	self->child = child_start(sleep_on, NULL);
	child_go(&self->child);
	sleep(1);
	for (i = 0; i < IDLE_SESSIONS; i++) {
		attr.config1 = EVENT_INTERVAL(i + 1);
		fd[i] = event_open(&attr, self->child.pid, -1, -1, 0);
		ASSERT_LE(0, fd[i]);
	}
	sleep(1);
	traced = clocks_begin();
	before = function_calls();
	sleep(3);
	EXPECT_GT(before + FEW_INTERRUPTS, function_calls());
	if (traced) {
		EXPECT_EQ(0, clocks_end());
	}
	for (i = 0; i < IDLE_SESSIONS; i++)
		close(fd[i]);
}

static void run_long_and_sleep(void *unused)
{
	int i;

	for (i = 0; i < LONG_RUNS; i++)
		known_run();
	pause();
}

/*
 * Rows for which a ring has no room wait for its reader. CPUs are interrupted
 * for them once a second, however short the interval is.
 */
TEST_F(rules, full_rings_of_one_that_sleeps)
{
	const uint64_t all = LONG_RUNS * KNOWN_BACK;
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct recording recording;
	struct tally tally = {};
	uint64_t before;

	attr.config1 = EVENT_INTERVAL(1);
	self->child = child_start(run_long_and_sleep, NULL);
	ASSERT_EQ(0, recording_begin(&recording, &attr, &self->child, 1,
				     &tally));
	child_await_sleep(&self->child);
	sleep(1);
	before = function_calls();
	sleep(3);
	EXPECT_GT(before + FEW_INTERRUPTS, function_calls());
	recording_drain(&recording);
	EXPECT_GT(all, tally.period);
	while (tally.period < all)
		recording_read_for(&recording, 1);
	recording_close(&recording);
}

/* --- context switches ----------------------------------------------------- */

/* Traces each call of @function, with its callers. */
static void trace_begin(const char *function)
{
	char probe[128];

	trace_write("trace", "");	/* empties it */
	snprintf(probe, sizeof(probe), "p:hwprof_test %s", function);
	trace_write("kprobe_events", probe);
	trace_write("options/stacktrace", "1");
	trace_write("events/kprobes/hwprof_test/enable", "1");
}

static void trace_end(void)
{
	trace_write("events/kprobes/hwprof_test/enable", "0");
	trace_write("options/stacktrace", "0");
	trace_write("kprobe_events", "");
}

/* Counts calls, and those made while a CPU switched tasks. */
static void count_calls(unsigned int *calls, unsigned int *in_switch)
{
	FILE *file = fopen("/sys/kernel/tracing/trace", "r");
	char line[512];

	*calls = *in_switch = 0;
	while (file && fgets(line, sizeof(line), file)) {
		*calls += !!strstr(line, "hwprof_test:");
		*in_switch += strstr(line, "=> finish_task_switch") ||
			      strstr(line, "=> __perf_event_task_sched_in");
	}
	if (file)
		fclose(file);
}

/* Opens an event on this task that claims the CPU's counters. */
static int open_pinned(void)
{
	struct perf_event_attr attr = dummy_attr();

	attr.pinned = 1;
	return event_open(&attr, 0, -1, -1, 0);
}

/*
 * perf stops a CPU-wide event for a moment to make room for a pinned one, while
 * it switches tasks and holds the lock of the run queue. No rows are written
 * then.
 */
TEST_F(rules, nothing_in_a_switch)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CALLS | EVENT_STEP | EVENT_ROWS, 1);
	struct recording recording;
	struct tally tally = {};
	unsigned int calls, in_switch;
	int pinned, i;

	if (access("/sys/kernel/tracing/kprobe_events", F_OK))
		SKIP(return, "this kernel has no kprobes");
	attr.inherit = 0;
	attr.config1 |= EVENT_INTERVAL(100);
	ASSERT_EQ(0, recording_open(&recording, &attr, -1, 64, &tally));
	recording_control(&recording, PERF_EVENT_IOC_ENABLE);
	pinned = open_pinned();
	ASSERT_LE(0, pinned);
	trace_begin("perf_output_begin_forward");
	for (i = 0; i < 500; i++)
		usleep(1000);
	recording_control(&recording, PERF_EVENT_IOC_DISABLE);
	count_calls(&calls, &in_switch);
	trace_end();
	EXPECT_LT(0, calls);
	EXPECT_EQ(0, in_switch);
	close(pinned);
	recording_close(&recording);
}

/* Rows that a CPU wrote because it switched tasks. */
struct switch_rows {
	unsigned int all;
	unsigned int most;		/* in one switch */
};

static unsigned int trace_cpu(const char *line)
{
	const char *at = strstr(line, " [");

	return at ? strtoul(at + 2, NULL, 10) % EVENT_CPUS : 0;
}

/* Frames of a stack come innermost first, after the line of their call. */
static struct switch_rows count_switch_rows(void)
{
	FILE *file = fopen("/sys/kernel/tracing/trace", "r");
	unsigned int here[EVENT_CPUS] = {}, cpu = 0;
	struct switch_rows rows = {};
	bool unbinds = false;
	char line[512];

	while (file && fgets(line, sizeof(line), file)) {
		if (strstr(line, "hwprof_test:")) {
			cpu = trace_cpu(line);
			unbinds = false;
		} else if (strstr(line, "sched_switch:")) {
			here[trace_cpu(line)] = 0;
		} else if (strstr(line, "=> lane_unbind")) {
			unbinds = true;
		} else if (unbinds && strstr(line, "=> __schedule")) {
			unbinds = false;
			rows.all++;
			if (++here[cpu] > rows.most)
				rows.most = here[cpu];
		}
	}
	if (file)
		fclose(file);
	return rows;
}

static void sleep_often(void *unused)
{
	int i;

	for (i = 0; i < 300; i++)
		usleep(1000);
}

/*
 * Branches have no profile to wait in. A thread's unfinished row is written
 * when the thread is switched out: one row, as docs/security.md says.
 */
TEST_F(rules, one_row_of_branches_in_a_switch)
{
	struct perf_event_attr attr = event_attr_sampling(
		EVENT_BRANCHES | EVENT_STEP | EVENT_ROWS, 1);
	struct recording recording;
	struct switch_rows rows;
	struct tally tally = {};
	struct child child;

	if (access("/sys/kernel/tracing/kprobe_events", F_OK))
		SKIP(return, "this kernel has no kprobes");
	child = child_start(sleep_often, NULL);
	ASSERT_EQ(0, recording_begin(&recording, &attr, &child, 64, &tally));
	trace_write("events/sched/sched_switch/enable", "1");
	trace_begin("perf_output_begin_forward");
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	trace_write("events/sched/sched_switch/enable", "0");
	rows = count_switch_rows();
	trace_end();
	EXPECT_LT(0, rows.all);
	EXPECT_EQ(1, rows.most);
	EXPECT_TRUE(tally_is_whole(&tally));
	recording_close(&recording);
}

/* --- whole groups that perf throttles ------------------------------------- */

/*
 * From Linux 6.16 on, perf stops all events of a group when one of them
 * overflows too often, and starts them again with the next tick.
 */
enum { RATE_LOW = 1000, CLOCK_NS = 20000, RUNS = 10, PAGES = 64 };

struct group {
	int leader;
	struct perf_event_mmap_page *page;	/* the leader's ring */
	struct recording recording;		/* of the event of ours */
	struct tally tally;
	uint64_t inner;			/* periods of the known inner loop */
};

static void see_inner(struct tally *tally, const struct sample *sample)
{
	struct group *group = tally->context;

	if (sample->ip == (uint64_t)known_inner)
		group->inner += sample->period;
}

/* A clock that overflows all the time, and leads the group. */
static void open_clock(struct __test_metadata *_metadata, struct group *group,
		       pid_t pid)
{
	struct perf_event_attr clock = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(clock),
		.config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = CLOCK_NS,
		.disabled = 1,
	};

	group->leader = event_open(&clock, pid, -1, -1, 0);
	ASSERT_LE(0, group->leader);
	group->page = mmap(NULL, (1 + PAGES) * getpagesize(),
			   PROT_READ | PROT_WRITE, MAP_SHARED, group->leader,
			   0);
	ASSERT_NE(MAP_FAILED, group->page);
}

static void open_group(struct __test_metadata *_metadata, struct group *group,
		       struct perf_event_attr attr, pid_t pid)
{
	struct recording *recording = &group->recording;

	*group = (struct group) { .leader = -1 };
	group->tally.see = see_inner;
	group->tally.context = group;
	open_clock(_metadata, group, pid);
	attr.inherit = 0;
	recording->tally = &group->tally;
	recording->pages = PAGES;
	recording->count = 1;
	recording->fd[0] = event_open(&attr, pid, -1, group->leader, 0);
	ASSERT_LE(0, recording->fd[0]);
	recording->ring[0] = NULL;
	if (!attr.sample_period)
		return;
	recording->ring[0] = mmap(NULL, (1 + PAGES) * getpagesize(),
				  PROT_READ | PROT_WRITE, MAP_SHARED,
				  recording->fd[0], 0);
	ASSERT_NE(MAP_FAILED, recording->ring[0]);
}

/*
 * How often the leader was throttled. Its records are not larger than the ring.
 */
static unsigned int throttled(const struct group *group)
{
	const char *data = (const char *)group->page + getpagesize();
	uint64_t size = PAGES * getpagesize(), at = group->page->data_tail;
	unsigned int count = 0;

	while (at != group->page->data_head) {
		const struct perf_event_header *header =
			(const void *)(data + at % size);

		count += header->type == PERF_RECORD_THROTTLE;
		at += header->size;
	}
	return count;
}

static void close_group(struct group *group)
{
	recording_close(&group->recording);
	munmap(group->page, (1 + PAGES) * getpagesize());
	close(group->leader);
}

static void run_often(void *unused)
{
	int run;

	stay_on(0);
	for (run = 0; run < RUNS; run++)
		known_run();
}

static void run_for_ever(void *unused)
{
	stay_on(0);
	for (;;)
		known_run();
}

/* On a machine that is busy the clock of a short run may come too seldom. */
static void await_throttling(const struct group *group, struct child *child)
{
	int i;

	for (i = 0; i < 20000 && !throttled(group); i++)
		usleep(1000);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

static void run_group(struct __test_metadata *_metadata, struct group *group,
		      struct child *child, int disabled, uint64_t config,
		      uint64_t period)
{
	struct perf_event_attr attr = period ?
		event_attr_sampling(config, period) : event_attr(config);
	char rate[32];

	attr.disabled = disabled;
	ASSERT_EQ(0, text_read("/proc/sys/kernel/perf_event_max_sample_rate",
			       rate, sizeof(rate)));
	ASSERT_EQ(0, sample_rate_write(RATE_LOW));
	*child = child_start(disabled ? run_for_ever : run_often, NULL);
	open_group(_metadata, group, attr, child->pid);
	ASSERT_EQ(0, ioctl(group->leader, PERF_EVENT_IOC_ENABLE, 0));
	child_go(child);
	if (disabled)
		await_throttling(group, child);
	else
		EXPECT_EQ(0, recording_wait(&group->recording, child->pid));
	child->pid = 0;
	EXPECT_EQ(0, sample_rate_write(atoi(rate)));
	EXPECT_LT(0, throttled(group));
}

/*
 * A clock that ticks with the CPU's tick alone is too slow to be throttled. A
 * kernel also falls back to that if it finds its timer wrong when it boots, as
 * an emulated one may be on a busy machine.
 */
static bool clock_is_slow(void)
{
	struct timespec resolution;

	return on_debug_kernel() ||
	       clock_getres(CLOCK_MONOTONIC, &resolution) ||
	       resolution.tv_nsec > 1000;
}

/* Rows go on, and so does the count: the one is the sum of the others. */
TEST_F(rules, rows_in_throttled_groups)
{
	struct group group;

	if (clock_is_slow())
		SKIP(return, "the clock is too slow to be throttled here");
	run_group(_metadata, &group, &self->child, 0,
		  EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	EXPECT_TRUE(tally_is_whole(&group.tally));
	EXPECT_EQ(RUNS * KNOWN_INNER_BACK, group.inner);
	EXPECT_EQ(group.tally.period, event_count(group.recording.fd[0]));
	close_group(&group);
}

/* An event that was never enabled has nothing to be stopped. */
TEST_F(rules, disabled_in_throttled_groups)
{
	struct group group;

	if (clock_is_slow())
		SKIP(return, "the clock is too slow to be throttled here");
	run_group(_metadata, &group, &self->child, 1, EVENT_LOOPS | EVENT_STEP,
		  0);
	EXPECT_EQ(0, event_count(group.recording.fd[0]));
	close_group(&group);
}

/* --- call chains that perf defers ----------------------------------------- */

/*
 * Bits behind sigtrap, since Linux 6.19; this machine's header need not know
 * them.
 */
#define DEFER_CALLCHAIN		(1U << 0)
#define DEFER_OUTPUT		(1U << 1)
#define RECORD_DEFERRED		22

enum { CHAIN_PAGES = 2048 };

struct chains {
	unsigned int samples, with_chain, deferred;
};

/* @attr gives no more than these, so that the chain is where it is. */
static struct perf_event_attr deferring(uint64_t config)
{
	struct perf_event_attr attr = event_attr_sampling(config, 1);

	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.sample_id_all = attr.comm = attr.comm_exec = 0;
	attr.inherit = 0;
	attr.__reserved_1 = DEFER_CALLCHAIN | DEFER_OUTPUT;
	return attr;
}

static struct chains count_chains(const struct perf_event_mmap_page *page,
				  uint64_t pages)
{
	const char *data = (const char *)page + getpagesize();
	uint64_t size = pages * getpagesize(), at = page->data_tail;
	struct chains chains = {};

	while (at != page->data_head) {
		const struct perf_event_header *header =
			(const void *)(data + at % size);
		uint64_t calls = *(const uint64_t *)
				 (data + (at + sizeof(*header) + 8) % size);

		if (header->type == PERF_RECORD_SAMPLE) {
			chains.samples++;
			chains.with_chain += !!calls;
		}
		chains.deferred += header->type == RECORD_DEFERRED;
		at += header->size;
	}
	return chains;
}

/* Returns false if this kernel does not defer. */
static bool defer(struct __test_metadata *_metadata, struct child *child,
		  uint64_t config, struct chains *chains)
{
	struct perf_event_attr attr = deferring(config);
	struct perf_event_mmap_page *page;
	int fd;

	*child = child_start(run_known_loops, NULL);
	fd = event_open(&attr, child->pid, -1, -1, 0);
	if (fd == -EINVAL)
		return false;
	ASSERT_LE(0, fd);
	page = mmap(NULL, (1 + CHAIN_PAGES) * getpagesize(),
		    PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ASSERT_NE(MAP_FAILED, page);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	child_go(child);
	ASSERT_EQ(child->pid, waitpid(child->pid, NULL, 0));
	child->pid = 0;
	*chains = count_chains(page, CHAIN_PAGES);
	munmap(page, (1 + CHAIN_PAGES) * getpagesize());
	close(fd);
	return true;
}

/*
 * A row is about no moment of the program: its chain is empty, now and later.
 */
TEST_F(rules, rows_defer_no_chains)
{
	struct chains chains;

	if (!defer(_metadata, &self->child,
		   EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, &chains))
		SKIP(return, "this kernel does not defer call chains");
	EXPECT_LT(0, chains.samples);
	EXPECT_EQ(0, chains.with_chain);
	EXPECT_EQ(0, chains.deferred);
}

/* A sample has its chain, which perf tells when the program goes on. */
TEST_F(rules, samples_defer_chains)
{
	struct chains chains;

	if (!defer(_metadata, &self->child, EVENT_LOOPS | EVENT_STEP, &chains))
		SKIP(return, "this kernel does not defer call chains");
	EXPECT_LT(0, chains.samples);
	EXPECT_EQ(chains.samples, chains.with_chain);
	EXPECT_LT(0, chains.deferred);
}

TEST_HARNESS_MAIN
