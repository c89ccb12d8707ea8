// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters in the group of an event with sampled contexts: each context has
 * what they counted there, and the sum is what perf counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "text.h"

EVENT_ALL_NEED("sample")

/* A throttled trigger would leave more than its period at the end. */
static void __attribute__((constructor)) unthrottle(void)
{
	sample_rate_write(1000000);
}

#define METRICS(count)	((uint64_t)(count) << 26)	/* in config1 */
#define TRIGGER(event)	((uint64_t)(event) << 48)
#define INSTRUCTIONS	0xc0				/* of Intel */

enum {
	PERIOD		= 20011,	/* instructions */
	CLOCK		= 100000,	/* ns */
	TURNS		= 1000000,	/* many times the period */
	ROUNDS		= 2,
	TOUCHES		= 8,
	PAGES		= 512,
	TOUCHING_NS	= 100000000,
	CHILDREN	= 4,
	FUNCTION_SIZE	= 256,
	INTERVAL_MS	= 20,
};

/* --- code to be counted --------------------------------------------------- */

/* Aligned, so that addresses distinguish them. */
#define FUNCTION __attribute__((noinline, aligned(FUNCTION_SIZE)))

/* Has a branch about every third instruction. */
static FUNCTION void many(void)
{
	long turns = TURNS;

	do
		__asm__ volatile("nop");
	while (--turns);
	__asm__ volatile("");
}

/* Has a branch about every thirty instructions. */
static FUNCTION void few(void)
{
	long turns = TURNS / 10;

	do
		__asm__ volatile(".rept 28\n\tnop\n\t.endr");
	while (--turns);
	__asm__ volatile("");
}

static void run_both(void *context)
{
	int round;

	for (round = 0; round < ROUNDS; round++) {
		many();
		few();
	}
}

/* Its pages are new each time. */
static FUNCTION void touch(char *pages)
{
	size_t size = PAGES * (size_t)getpagesize(), at;

	for (at = 0; at < size; at += getpagesize())
		*(volatile char *)(pages + at) = 1;
	madvise(pages, size, MADV_DONTNEED);
}

/* Runs for many ticks, also of a kernel without timers of high resolution. */
static void run_touching(void *context)
{
	uint64_t end = thread_cpu_ns() + TOUCHING_NS;
	size_t size = PAGES * (size_t)getpagesize();
	void *pages = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int round;

	if (pages == MAP_FAILED)
		abort();
	madvise(pages, size, MADV_NOHUGEPAGE);
	for (round = 0; round < TOUCHES || thread_cpu_ns() < end; round++) {
		touch(pages);
		many();
	}
	munmap(pages, size);
}

static void run_family(void *context)
{
	int i;

	for (i = 0; i < CHILDREN; i++) {
		if (fork())
			continue;
		run_both(NULL);
		_exit(0);
	}
	run_both(NULL);
	while (wait(NULL) > 0)
		;
}

/* --- sums of rows --------------------------------------------------------- */

struct sums {
	uint64_t all[HWPROF_METRICS_MAX];
	uint64_t many[HWPROF_METRICS_MAX];
	uint64_t few[HWPROF_METRICS_MAX];
	bool wrong_count;
	unsigned int count;		/* of metrics in each row */
};

static void add(uint64_t *to, const __u64 *from)
{
	int i;

	for (i = 0; i < HWPROF_METRICS_MAX; i++)
		to[i] += from[i];
}

static bool is_in(uint64_t ip, void (*function)(void))
{
	return ip - (uint64_t)function < FUNCTION_SIZE;
}

static void add_row(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_context *row = (const void *)sample->row;
	struct sums *sums = tally->context;

	sums->wrong_count |= row->row.size != sizeof(*row) ||
			     row->metric_count != sums->count;
	add(sums->all, row->metrics);
	if (is_in(row->callee, many))
		add(sums->many, row->metrics);
	if (is_in(row->callee, few))
		add(sums->few, row->metrics);
}

/* --- groups --------------------------------------------------------------- */

static struct perf_event_attr leader_attr(unsigned int metrics,
					  uint64_t trigger)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CCT | EVENT_SAMPLE | EVENT_ROWS,
				    trigger ? PERIOD : CLOCK);

	attr.config1 = METRICS(metrics) | TRIGGER(trigger) |
		       EVENT_INTERVAL(INTERVAL_MS);
	return attr;
}

static struct perf_event_attr counter_attr(uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = event_attr(config);

	attr.type = type;
	attr.disabled = 0;
	return attr;
}

static bool has_counters(void)
{
	struct perf_event_attr attr =
		counter_attr(PERF_TYPE_HARDWARE,
			     PERF_COUNT_HW_BRANCH_INSTRUCTIONS);
	int fd = event_open(&attr, 0, -1, -1, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* An event with its ring and two counters, or one such group per CPU. */
struct groups {
	struct recording leaders;
	struct recording counters[2];
	struct tally tally;
	struct sums sums;
};

static void groups_begin(struct groups *groups)
{
	*groups = (struct groups) {
		.leaders = { .pages = 256, .tally = &groups->tally },
		.sums.count = 2,
		.tally.see = add_row, .tally.context = &groups->sums,
	};
}

static int add_counter(struct groups *groups, unsigned int number,
		       struct perf_event_attr attr, pid_t pid, int cpu,
		       bool inherit)
{
	struct recording *counters = &groups->counters[number];
	int leader = groups->leaders.fd[groups->leaders.count - 1], fd;

	attr.inherit = inherit;
	fd = event_open(&attr, pid, cpu, leader, 0);
	if (fd >= 0)
		counters->fd[counters->count++] = fd;
	return fd;
}

static void add_group(struct __test_metadata *_metadata, struct groups *groups,
		      uint64_t trigger, pid_t pid, int cpu, bool inherit)
{
	struct perf_event_attr attr = leader_attr(2, trigger);
	uint32_t type = trigger ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE;

	attr.inherit = inherit;
	ASSERT_EQ(0, recording_add(&groups->leaders, &attr, pid, cpu));
	ASSERT_LE(0, add_counter(groups, 0,
				 counter_attr(type, trigger ?
					      PERF_COUNT_HW_INSTRUCTIONS :
					      PERF_COUNT_SW_PAGE_FAULTS),
				 pid, cpu, inherit));
	ASSERT_LE(0, add_counter(
			     groups, 1,
			     counter_attr(
				     type,
				     trigger ? PERF_COUNT_HW_BRANCH_INSTRUCTIONS
					     : PERF_COUNT_SW_TASK_CLOCK),
			     pid, cpu, inherit));
}

static void groups_close(struct groups *groups)
{
	recording_close(&groups->leaders);
	recording_close(&groups->counters[0]);
	recording_close(&groups->counters[1]);
}

/* Asserts that all rows arrived, and that they add up to the totals. */
static void check_rows(struct __test_metadata *_metadata,
		       struct groups *groups)
{
	int i;

	EXPECT_TRUE(tally_is_whole(&groups->tally));
	EXPECT_FALSE(groups->sums.wrong_count);
	for (i = 0; i < HWPROF_METRICS_MAX; i++)
		EXPECT_EQ(groups->sums.all[i], groups->tally.totals.metrics[i]);
}

/* Each event lacks what came after its last sample, at most @rest. */
static void check_sums(struct __test_metadata *_metadata,
		       struct groups *groups, uint64_t rest)
{
	int i;

	check_rows(_metadata, groups);
	EXPECT_EQ(0, groups->tally.totals.unmeasured);
	for (i = 0; i < 2; i++) {
		uint64_t count = recording_count(&groups->counters[i]);

		EXPECT_LT(0, groups->sums.all[i]);
		EXPECT_LE(groups->sums.all[i], count);
		EXPECT_GE(groups->sums.all[i] + rest, count);
	}
}

static void run_child(struct groups *groups, struct child *child)
{
	recording_control(&groups->leaders, PERF_EVENT_IOC_ENABLE);
	child_go(child);
	recording_wait(&groups->leaders, child->pid);
}

/*
 * The trigger counts instructions, too, so at most one period of them is
 * missing.
 */
TEST(of_a_task)
{
	struct child child = child_start(run_both, NULL);
	struct groups groups;

	if (!has_counters())
		SKIP(return, "no counters");
	groups_begin(&groups);
	add_group(_metadata, &groups, INSTRUCTIONS, child.pid, -1, false);
	run_child(&groups, &child);
	check_sums(_metadata, &groups, PERIOD + PERIOD / 10);
	/* A period that began in the one may end in the other. */
	EXPECT_LT(groups.sums.many[0], 5 * groups.sums.many[1]);
	EXPECT_GT(groups.sums.few[0], 15 * groups.sums.few[1]);
	EXPECT_LT(ROUNDS * (uint64_t)TURNS, groups.sums.many[0]);
	EXPECT_LT(ROUNDS * (uint64_t)TURNS * 2, groups.sums.few[0]);
	groups_close(&groups);
}

TEST(of_a_family)
{
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct child child = child_start(run_family, NULL);
	struct groups groups;

	if (!has_counters())
		SKIP(return, "no counters");
	groups_begin(&groups);
	for (cpu = 0; cpu < cpus; cpu++)
		add_group(_metadata, &groups, INSTRUCTIONS, child.pid, cpu,
			  true);
	run_child(&groups, &child);
	check_sums(_metadata, &groups, (CHILDREN + 1) * cpus *
				       (uint64_t)(PERIOD + PERIOD / 10));
	EXPECT_GT(groups.sums.few[0], 15 * groups.sums.few[1]);
	EXPECT_LT((CHILDREN + 1) * ROUNDS * (uint64_t)TURNS,
		  groups.sums.many[0]);
	groups_close(&groups);
}

/* Any counter works, and the clock. */
TEST(by_the_clock)
{
	struct child child = child_start(run_touching, NULL);
	struct groups groups;

	groups_begin(&groups);
	add_group(_metadata, &groups, 0, child.pid, -1, false);
	run_child(&groups, &child);
	check_rows(_metadata, &groups);
	EXPECT_EQ(0, groups.tally.totals.unmeasured);
	/* The count after the last tick is unknown. */
	EXPECT_GE(event_count(groups.counters[0].fd[0]), groups.sums.all[0]);
	EXPECT_LT(event_count(groups.counters[0].fd[0]) / 2,
		  groups.sums.all[0]);
	EXPECT_LE(TOUCHES * PAGES / 2, groups.sums.all[0]);
	groups_close(&groups);
}

/* --- irregular groups ----------------------------------------------------- */

/*
 * Runs in this task until the clock has sampled it, which is late if others use
 * the CPU, and until all rows have come, some of them after an interval.
 */
static void run_here(struct groups *groups)
{
	uint64_t before = recording_count(&groups->leaders), count;

	do {
		recording_control(&groups->leaders, PERF_EVENT_IOC_ENABLE);
		run_touching(NULL);
		recording_control(&groups->leaders, PERF_EVENT_IOC_DISABLE);
		count = recording_count(&groups->leaders);
	} while (count == before);
	while (groups->tally.period != count ||
	       groups->tally.totals.delivered != count)
		recording_read_for(&groups->leaders, 1);
}

static void open_here(struct __test_metadata *_metadata, struct groups *groups)
{
	groups_begin(groups);
	add_group(_metadata, groups, 0, 0, -1, false);
}

/* Asserts that no row has counts from now on. */
static void expect_no_more(struct __test_metadata *_metadata,
			   struct groups *groups)
{
	uint64_t before = groups->sums.all[0] + groups->sums.all[1];
	uint64_t samples = groups->tally.totals.unmeasured;

	run_here(groups);
	check_rows(_metadata, groups);
	EXPECT_LT(samples, groups->tally.totals.unmeasured);
	EXPECT_EQ(before, groups->sums.all[0] + groups->sums.all[1]);
}

TEST(fewer_counters)
{
	struct groups groups;

	EVENT_NEED_FUNCTION("perf_ioctl");
	open_here(_metadata, &groups);
	close(groups.counters[1].fd[0]);
	groups.counters[1].count = 0;
	expect_no_more(_metadata, &groups);
	EXPECT_EQ(groups.tally.totals.events,
		  groups.tally.totals.unmeasured);
	groups_close(&groups);
}

TEST(more_counters)
{
	struct groups groups;
	int fd;

	EVENT_NEED_FUNCTION("perf_ioctl");
	open_here(_metadata, &groups);
	fd = add_counter(&groups, 1,
			 counter_attr(PERF_TYPE_SOFTWARE,
				      PERF_COUNT_SW_CONTEXT_SWITCHES),
			 0, -1, false);
	ASSERT_LE(0, fd);
	expect_no_more(_metadata, &groups);
	groups_close(&groups);
}

/* Later it continues: what it did not count is in no row. */
TEST(counter_that_is_off)
{
	struct groups groups;

	EVENT_NEED_FUNCTION("perf_ioctl");
	open_here(_metadata, &groups);
	ioctl(groups.counters[0].fd[0], PERF_EVENT_IOC_DISABLE, 0);
	expect_no_more(_metadata, &groups);
	ioctl(groups.counters[0].fd[0], PERF_EVENT_IOC_ENABLE, 0);
	run_here(&groups);
	check_rows(_metadata, &groups);
	EXPECT_LT(0, groups.sums.all[0]);
	EXPECT_GE(event_count(groups.counters[0].fd[0]), groups.sums.all[0]);
	groups_close(&groups);
}

/*
 * Other counters move up. A place only has metrics if its counter is the same
 * as before.
 */
TEST(counter_that_is_replaced)
{
	struct groups groups;

	EVENT_NEED_FUNCTION("perf_ioctl");
	open_here(_metadata, &groups);
	run_here(&groups);
	check_rows(_metadata, &groups);
	EXPECT_LT(0, groups.sums.all[0]);
	EXPECT_EQ(0, groups.tally.totals.unmeasured);
	close(groups.counters[0].fd[0]);
	groups.counters[0].count = 0;
	ASSERT_LE(0, add_counter(&groups, 0,
				 counter_attr(PERF_TYPE_SOFTWARE,
					      PERF_COUNT_SW_PAGE_FAULTS),
				 0, -1, false));
	expect_no_more(_metadata, &groups);
	groups_close(&groups);
}

/* The counter begins at 0 again, and so do increases. */
TEST(counter_that_is_reset)
{
	struct groups groups;
	uint64_t count;

	EVENT_NEED_FUNCTION("perf_ioctl");
	open_here(_metadata, &groups);
	run_here(&groups);
	count = event_count(groups.counters[0].fd[0]);
	ioctl(groups.counters[0].fd[0], PERF_EVENT_IOC_RESET, 0);
	run_here(&groups);
	check_rows(_metadata, &groups);
	count += event_count(groups.counters[0].fd[0]);
	EXPECT_GE(count, groups.sums.all[0]);
	EXPECT_EQ(0, groups.tally.totals.unmeasured);
	groups_close(&groups);
}

/* --- refusals ------------------------------------------------------------- */

static int try_config(uint64_t config, uint64_t metrics)
{
	struct perf_event_attr attr = event_attr(config);

	attr.config1 = METRICS(metrics);
	return event_try(attr);
}

TEST(refusals)
{
	uint64_t metrics;

	for (metrics = 0; metrics <= HWPROF_METRICS_MAX; metrics++)
		EXPECT_EQ(0, try_config(EVENT_CCT | EVENT_SAMPLE, metrics));
	for (; metrics < 8; metrics++)
		EXPECT_EQ(-EINVAL, try_config(EVENT_CCT | EVENT_SAMPLE,
					      metrics));
	EXPECT_EQ(-EINVAL, try_config(EVENT_RANGES | EVENT_SAMPLE, 1));
	EXPECT_EQ(-EINVAL, try_config(EVENT_CCT | EVENT_STEP, 1));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS | EVENT_LBR, 1));
}

TEST_HARNESS_MAIN
