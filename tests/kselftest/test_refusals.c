// SPDX-License-Identifier: GPL-2.0-only
/* Refusals of event_init, each with its errno, and what it accepts. */
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "text.h"

EVENT_ALL_NEED("step")

static int try_config(uint64_t config, uint64_t config1, uint64_t config2)
{
	struct perf_event_attr attr = event_attr(config);

	attr.config1 = config1;
	attr.config2 = config2;
	return event_try(attr);
}

static int try_all_of(uint64_t config, uint64_t config2)
{
	struct perf_event_attr attr = event_attr(
		config & EVENT_SAMPLE ? config : config | EVENT_STEP);
	int fd;

	attr.config2 = config2;
	fd = event_open(&attr, -1, 0, -1, 0);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_all(uint64_t config)
{
	return try_all_of(config, 0);
}

static void become_user(struct __test_metadata *_metadata)
{
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
}

TEST(things)
{
	uint64_t two;

	EXPECT_EQ(0, try_config(EVENT_LOOPS, 0, 0));
	EXPECT_EQ(0, try_config(EVENT_BRANCHES, 0, 0));
	EXPECT_EQ(0, try_config(EVENT_RANGES, 0, 0));
	EXPECT_EQ(0, try_config(EVENT_CALLS, 0, 0));
	EXPECT_EQ(0, try_config(EVENT_CCT, 0, 0));
	EXPECT_EQ(0, try_config(EVENT_PATHS, 0, 0));
	EXPECT_EQ(0, try_config(EVENT_VALUES, 0, 0));
	EXPECT_EQ(-EINVAL, try_config(0, 0, 0));
	for (two = 2; two < 7; two++)
		EXPECT_EQ(-EINVAL, try_config(EVENT_BRANCHES | 1 << two, 0, 0));
	/* Contexts need every call, or a stack of them. Bursts have neither. */
	EXPECT_EQ(-EOPNOTSUPP, try_config(EVENT_CCT | EVENT_LBR, 0, 0));
	EXPECT_EQ(0, try_config(EVENT_CCT | EVENT_SAMPLE, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, try_config(EVENT_CCT, 200, 0));
	EXPECT_EQ(-EINVAL, try_config(EVENT_CCT, 0, 1));
}

TEST(sources)
{
	uint64_t step = 1 << 8, bit;

	EXPECT_EQ(0, try_config(EVENT_LOOPS | step, 0, 0));
	for (bit = 9; bit < 12; bit++) {
		EXPECT_EQ(-EOPNOTSUPP,
			  try_config(EVENT_LOOPS | 1 << bit, 0, 0));
		EXPECT_EQ(-EINVAL,
			  try_config(EVENT_LOOPS | step | 1 << bit, 0, 0));
	}
}

/* Bits that belong to no field. */
TEST(unknown_bits)
{
	static const uint64_t known[] = {
		0xffffffffffffffff, 0x0000ffff1fffffff, 0xffffffffffffffff
	};
	int bit;

	for (bit = 0; bit < 64; bit++) {
		uint64_t one = 1ULL << bit;

		if (!(known[0] & one)) {
			EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS | one, 0, 0));
		}
		if (!(known[1] & one)) {
			EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, one, 0));
		}
		if (!(known[2] & one)) {
			EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, 0, one));
		}
	}
}

/* Neither a clock nor the default trigger has modifiers. */
TEST(trigger_of_nothing)
{
	uint64_t burst = 200, code = 0xc0ULL << 48, cmask = 1 << 24;
	int bit;

	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, code, 0));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, code, cmask));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, burst, cmask));
	for (bit = 13; bit < 16; bit++)
		EXPECT_EQ(-EINVAL,
			  try_config(EVENT_LOOPS | 1 << bit, burst, 0));
	for (bit = 28; bit < 32; bit++)
		EXPECT_EQ(-EINVAL,
			  try_config(EVENT_LOOPS | 1ULL << bit, burst, 0));
}

/* Budgets are for windows and samples: complete stepping has a fixed cost. */
TEST(budgets)
{
	uint64_t burst = 200, step = 1 << 8, sample = 1 << 10;
	int source = try_config(EVENT_LOOPS, burst, 0);

	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, EVENT_BUDGET(10), 0));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS | step, EVENT_BUDGET(10), 0));
	EXPECT_EQ(-EINVAL, try_config(EVENT_BRANCHES, EVENT_BUDGET(10), 0));
	EXPECT_EQ(0, try_config(EVENT_RANGES | sample, EVENT_BUDGET(1), 0));
	EXPECT_EQ(0, try_config(EVENT_RANGES | sample, EVENT_BUDGET(1000), 0));
	EXPECT_EQ(-EINVAL,
		  try_config(EVENT_RANGES | sample, EVENT_BUDGET(1001), 0));
	EXPECT_EQ(-EINVAL,
		  try_config(EVENT_RANGES | sample, EVENT_BUDGET(1023), 0));
	EXPECT_EQ(source, try_config(EVENT_LOOPS, burst | EVENT_BUDGET(10), 0));
	EXPECT_EQ(-EINVAL,
		  try_config(EVENT_LOOPS, burst | EVENT_BUDGET(1001), 0));
}

/* Tries an event whose attribute ends with @word at that place. */
static int try_word(struct perf_event_attr attr, unsigned int place,
		    uint64_t word)
{
	union {
		struct perf_event_attr attr;
		uint64_t words[64];
	} longer = { };
	int fd;

	longer.attr = attr;
	longer.attr.size = place + sizeof(word);
	longer.words[place / sizeof(word)] = word;
	fd = event_open(&longer.attr, 0, -1, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/*
 * A kernel that does not know the word refuses it in perf. One that does gives
 * it to the PMU; perf's own events ignore it.
 */
static void check_word(struct __test_metadata *_metadata, unsigned int place)
{
	int perf = try_word(dummy_attr(), place, 1);

	EXPECT_TRUE(perf == 0 || perf == -E2BIG) {
		TH_LOG("error %d", perf);
	}
	EXPECT_EQ(perf == 0 ? -EINVAL : -E2BIG,
		  try_word(event_attr(EVENT_LOOPS), place, 1));
	EXPECT_EQ(0, try_word(event_attr(EVENT_LOOPS), place, 0));
}

/* config3, since Linux 6.3. */
TEST(fourth_word)
{
	check_word(_metadata, 128);
}

/* config4, since Linux 6.19. */
TEST(fifth_word)
{
	check_word(_metadata, 136);
}

TEST(bursts)
{
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, 1, 0));
	EXPECT_EQ(0, try_config(EVENT_LOOPS, 2, 0));
	EXPECT_EQ(0, try_config(EVENT_LOOPS, 16383, 0));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, 16384, 0));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS | 1 << 9, 200, 0));
	EXPECT_EQ(-EOPNOTSUPP, try_config(EVENT_BRANCHES, 200, 0));
}

TEST(interval_and_memory)
{
	EXPECT_EQ(0, try_config(EVENT_LOOPS, EVENT_INTERVAL(10), 0));
	EXPECT_EQ(0, try_config(EVENT_LOOPS | EVENT_MEMORY(2) | 1024ULL << 32,
				0, 0));
}

/* The error of ranges, in millionths: up to all of it, and only for ranges. */
TEST(epsilon)
{
	EXPECT_EQ(0, try_config(EVENT_RANGES, 0, 1));
	EXPECT_EQ(0, try_config(EVENT_RANGES, 0, 1000000));
	EXPECT_EQ(-EINVAL, try_config(EVENT_RANGES, 0, 1000001));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, 0, 1));
	EXPECT_EQ(-EINVAL, try_config(EVENT_BRANCHES, 0, 10000));
	EXPECT_EQ(-EINVAL, try_config(EVENT_CALLS, 0, 10000));
	EXPECT_EQ(-EINVAL, try_config(EVENT_PATHS, 0, 10000));
}

/* Only ranges have streams. */
TEST(range_of)
{
	uint64_t of;

	for (of = 0; of < HWPROF_RANGES_OF_COUNT; of++) {
		EXPECT_EQ(0, try_config(EVENT_RANGES, 0, EVENT_RANGE_OF(of)));
		EXPECT_EQ(of ? -EOPNOTSUPP : 0,
			  try_config(EVENT_RANGES | EVENT_SAMPLE, 0,
				     EVENT_RANGE_OF(of)));
	}
	EXPECT_EQ(-EINVAL, try_config(EVENT_RANGES, 0, EVENT_RANGE_OF(of)));
	EXPECT_EQ(-EINVAL, try_config(EVENT_RANGES, 0, EVENT_RANGE_OF(15)));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, 0, EVENT_RANGE_OF(1)));
	EXPECT_EQ(-EOPNOTSUPP, try_config(EVENT_RANGES | EVENT_LBR, 0,
					  EVENT_RANGE_OF(1)));
}

TEST(precise)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 100);

	EXPECT_EQ(0, event_try(attr));
	attr.precise_ip = 1;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
}

TEST(sigtrap)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 100);

	attr.sigtrap = 1;
	attr.remove_on_exec = 1;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
}

TEST(what_samples_lack)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 100);
	uint64_t type = attr.sample_type;

	attr.sample_type = type | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY |
				  PERF_SAMPLE_BRANCH_USER;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
	attr.branch_sample_type = 0;
	attr.sample_type = type | PERF_SAMPLE_REGS_USER;
	attr.sample_regs_user = 1;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
	attr.sample_regs_user = 0;
	attr.sample_type = type | PERF_SAMPLE_REGS_INTR;
	attr.sample_regs_intr = 1;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
	attr.sample_regs_intr = 0;
	attr.sample_type = type | PERF_SAMPLE_STACK_USER;
	attr.sample_stack_user = 1024;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
	attr.sample_stack_user = 0;
	/* A row is not about memory that happens to be mapped now. */
	attr.config |= EVENT_ROWS;
	attr.sample_type = type | PERF_SAMPLE_DATA_PAGE_SIZE;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
	attr.sample_type = type | PERF_SAMPLE_PHYS_ADDR;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
}

TEST(exclude_user)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);

	attr.exclude_user = 1;
	attr.exclude_kernel = 0;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
}

/* A refused event leaves nothing behind. */
TEST(no_session_is_left)
{
	ASSERT_TRUE(event_sessions_are(0));
	EXPECT_EQ(-EINVAL, try_config(0, 0, 0));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS, EVENT_BUDGET(10), 0));
	EXPECT_EQ(0, event_sessions());
}

TEST(paranoid_level)
{
	struct perf_event_attr kernel = event_attr(EVENT_LOOPS);

	kernel.exclude_kernel = 0;
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", 2));
	become_user(_metadata);
	EXPECT_EQ(0, try_config(EVENT_LOOPS, 0, 0));
	EXPECT_EQ(0, try_config(EVENT_BRANCHES, 0, 0));
	EXPECT_EQ(-EACCES, event_try(kernel));
	EXPECT_EQ(-EACCES, try_all(EVENT_LOOPS));
	EXPECT_EQ(-EACCES, try_all(EVENT_RANGES | EVENT_SAMPLE));
}

/*
 * perf would allow it, but stepping all programs requires the right to attach.
 */
TEST(branches_of_all)
{
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	EXPECT_EQ(0, try_all(EVENT_BRANCHES));
	become_user(_metadata);
	EXPECT_EQ(0, try_all(EVENT_RANGES | EVENT_SAMPLE));
	EXPECT_EQ(-EACCES, try_all(EVENT_LOOPS | EVENT_STEP));
	EXPECT_EQ(-EACCES, try_all(EVENT_BRANCHES));
	EXPECT_EQ(0, try_config(EVENT_BRANCHES, 0, 0));
}

/*
 * The same holds for everything that only stepping sees; ranges of code also
 * come from samples.
 */
TEST(accesses_of_all)
{
	uint64_t of;

	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	EXPECT_EQ(0, try_all_of(EVENT_RANGES,
				EVENT_RANGE_OF(HWPROF_RANGE_LOAD_VALUE)));
	become_user(_metadata);
	for (of = 0; of < HWPROF_RANGES_OF_COUNT; of++) {
		EXPECT_EQ(-EACCES,
			  try_all_of(EVENT_RANGES, EVENT_RANGE_OF(of)));
		EXPECT_EQ(0, try_config(EVENT_RANGES, 0, EVENT_RANGE_OF(of)));
	}
}

static int try_of(uint64_t config, uint64_t burst, pid_t pid, int cpu)
{
	struct perf_event_attr attr = event_attr(config);
	int fd;

	attr.config1 = burst;
	fd = event_open(&attr, pid, cpu, -1, 0);
	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

/* Another user's program is stepped only on explicit request. */
TEST(unasked_stepping)
{
	pid_t child = fork();

	if (!child) {
		pause();
		_exit(0);
	}
	EXPECT_EQ(0, try_of(EVENT_LOOPS, 0, 0, -1));
	EXPECT_EQ(0, try_of(EVENT_LOOPS, 0, child, -1));
	EXPECT_EQ(-EINVAL, try_of(EVENT_LOOPS, 0, 1, -1));
	EXPECT_EQ(-EINVAL, try_of(EVENT_LOOPS, 0, getppid(), -1));
	EXPECT_EQ(-EINVAL, try_of(EVENT_LOOPS, 0, -1, 0));
	EXPECT_EQ(0, try_of(EVENT_LOOPS | EVENT_STEP, 0, getppid(), -1));
	EXPECT_EQ(0, try_of(EVENT_LOOPS | EVENT_STEP, 0, -1, 0));
	EXPECT_EQ(0, try_of(EVENT_LOOPS, 200, getppid(), -1));
	EXPECT_EQ(0, try_of(EVENT_LOOPS, 200, -1, 0));
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

/* Another user's process may not be looked at. */
TEST(foreign_process)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);

	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", 2));
	become_user(_metadata);
	EXPECT_EQ(-EACCES, event_open(&attr, 1, -1, -1, 0));
}

static void wait_for_ever(void *context)
{
	pause();
}

TEST(locked_memory)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS, 1);
	struct rlimit limit = { 3 << 20, 3 << 20 };
	int small, big, other;

	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", 2));
	ASSERT_TRUE(event_sessions_are(0));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	become_user(_metadata);

	attr.config |= EVENT_MEMORY(4);			/* MiB */
	EXPECT_EQ(-ENOMEM, event_try(attr));
	attr.config = EVENT_LOOPS | EVENT_ROWS | EVENT_MEMORY(2);
	small = event_open(&attr, 0, -1, -1, 0);
	EXPECT_LE(0, small);
	other = event_open(&attr, 0, -1, -1, 0);	/* the same session */
	EXPECT_LE(0, other);
	attr.config ^= 1ULL << 40;
	EXPECT_EQ(-ENOMEM, event_try(attr));
	close(small);
	close(other);

	/* The memory is returned. */
	attr.config = EVENT_LOOPS | EVENT_ROWS | EVENT_MEMORY(3);
	for (small = 0; small < 500; small++) {
		big = event_try(attr);
		if (!big)
			break;
		usleep(10000);
	}
	EXPECT_EQ(0, big);
}

/* More memory than the machine has, again and again: no process is killed. */
TEST(more_memory_than_there_is)
{
	struct perf_event_attr attr = event_attr_sampling(
		EVENT_LOOPS | EVENT_ROWS | EVENT_MEMORY(4095), 1);
	struct child child = child_start(wait_for_ever, NULL);
	int i, fd[8], opened = 0;

	child_go(&child);
	ASSERT_TRUE(event_sessions_are(0));
	EXPECT_EQ(-ENOMEM, event_try(attr));
	/* As many as fit. Each one is a session. */
	attr.config = EVENT_LOOPS | EVENT_ROWS | EVENT_MEMORY(400);
	for (i = 0; i < 8; i++) {
		attr.config += 1ULL << 32;		/* span */
		fd[opened] = event_open(&attr, 0, -1, -1, 0);
		if (fd[opened] < 0)
			break;
		opened++;
	}
	EXPECT_GT(8, opened);
	EXPECT_EQ(-ENOMEM, fd[opened]);
	while (opened)
		close(fd[--opened]);
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, waitpid(child.pid, NULL, WNOHANG));
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
}

/* --- reasons in the kernel's log ------------------------------------------ */

#define DEBUG_CONTROL	"/proc/dynamic_debug/control"

/* Returns true if the log has gained the sentence since it was read last. */
static bool log_says(int log, const char *sentence)
{
	char record[1024];
	bool said = false;
	ssize_t size;

	while ((size = read(log, record, sizeof(record) - 1)) > 0) {
		record[size] = 0;
		said |= !!strstr(record, sentence);
	}
	return said;
}

/* The errno of stock perf does not say which rule an event breaks. */
TEST(reasons)
{
	struct perf_event_attr attr = event_attr_sampling(EVENT_LOOPS, 1);
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	if (log < 0 || text_write(DEBUG_CONTROL, "module hwprof +pm"))
		SKIP(return, "this kernel has no dynamic debugging");
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	ASSERT_LE(0, lseek(log, 0, SEEK_END));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS | EVENT_STEP | EVENT_LBR, 0,
				      0));
	EXPECT_TRUE(log_says(log, "hwprof: the event names more than one"));
	attr.sample_type |= PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_ANY;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
	EXPECT_TRUE(log_says(log, "asks for branch records"));
	become_user(_metadata);
	EXPECT_EQ(-EACCES, try_all(EVENT_LOOPS | EVENT_STEP));
	EXPECT_TRUE(log_says(log, "takes the right to attach to all tasks"));
}

TEST_HARNESS_MAIN
