// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows: whose they are, when they come, and what happens to those that cannot.
 */
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "capability.h"
#include "event.h"
#include "known.h"

EVENT_ALL_NEED("step")

/* Rows of the known loops, here and in the program that a child executes. */
struct seen {
	uint32_t pid;			/* the child, to which the rows
					 * belong */
	uint64_t before, after;		/* periods before and after its exec */
	uint64_t last_before, first_after;	/* times of rows */
	uint64_t exec;
	uint64_t exit;			/* of the child's first thread, not of
					 * one that has its number later */
	uint64_t others;		/* known rows of other processes */
};

static void see_row(struct tally *tally, const struct sample *sample)
{
	bool is_program = sample->ip - KNOWN_TEXT < 64;
	bool is_here = sample->ip == (uint64_t)known_inner ||
		       sample->ip == (uint64_t)known_outer;
	struct seen *seen = tally->context;

	if (!is_program && !is_here)
		return;
	if (sample->pid != seen->pid || sample->row->pid != seen->pid) {
		seen->others += sample->period;
	} else if (is_program) {
		seen->after += sample->period;
		if (!seen->first_after || sample->time < seen->first_after)
			seen->first_after = sample->time;
	} else {
		seen->before += sample->period;
		if (sample->time > seen->last_before)
			seen->last_before = sample->time;
	}
}

static void see_exec(struct tally *tally, uint32_t pid, uint64_t time)
{
	struct seen *seen = tally->context;

	if (pid == seen->pid)
		seen->exec = time;
}

static void see_exit(struct tally *tally, uint32_t tid, uint64_t time)
{
	struct seen *seen = tally->context;

	if (tid == seen->pid && !seen->exit)
		seen->exit = time;
}

FIXTURE(rows)
{
	struct recording recording;
	struct tally tally;
	struct seen seen;
	struct child child;
	clockid_t clock;		/* of the times; 0: perf's own */
	uint64_t killed;		/* when the child was, by it */
};

FIXTURE_SETUP(rows)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->tally.see = see_row;
	self->tally.see_exec = see_exec;
	self->tally.see_exit = see_exit;
	self->tally.context = &self->seen;
}

FIXTURE_TEARDOWN(rows)
{
	recording_close(&self->recording);
	EXPECT_TRUE(event_sessions_are(0));
}

#define START(run, context)						\
	do {								\
		self->child = child_start(run, context);		\
		self->seen.pid = self->child.pid;			\
		self->seen.exit = 0;					\
	} while (0)

static void open_rows(struct __test_metadata *_metadata,
		      FIXTURE_DATA(rows) *self, uint64_t config,
		      unsigned int interval_ms, pid_t pid, unsigned int pages)
{
	struct perf_event_attr attr =
		event_attr_sampling(config | EVENT_ROWS, 1);

	if (!(config & EVENT_MEMORY(0xffff)))
		attr.config |= EVENT_MEMORY(8);
	attr.config1 = EVENT_INTERVAL(interval_ms);
	attr.task = 1;
	attr.use_clockid = self->clock != 0;
	attr.clockid = self->clock;
	ASSERT_EQ(0, recording_open(&self->recording, &attr, pid, pages,
				    &self->tally));
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
}

/* Asserts that all units are accounted for, and all rows are here. */
static void check_all(struct __test_metadata *_metadata,
		      FIXTURE_DATA(rows) *self)
{
	const struct hwprof_row_totals *totals = &self->tally.totals;

	EXPECT_EQ(recording_count(&self->recording), totals->produced);
	EXPECT_TRUE(tally_is_whole(&self->tally));
}

static void run_once(void *context)
{
	known_run();
}

static void run_and_exec(void *program)
{
	known_run();
	execl(program, "known", NULL);
}

static void run_on(void *context)
{
	for (;;)
		known_run();
}

static void run_and_sleep(void *context)
{
	known_run();
	pause();
}

enum {
	THREADS	 = 4,
	LATER_US = 500000,
};

static void *thread_run(void *context)
{
	known_run();
	return NULL;
}

static void *thread_run_on(void *context)
{
	run_on(context);
	return NULL;
}

static void run_threads(void *context)
{
	pthread_t thread[THREADS];
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, thread_run, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

enum { FORKS = 6 };

static void run_threads_and_forks(void *context)
{
	int i;

	run_threads(NULL);
	for (i = 0; i < FORKS; i++) {
		if (fork() == 0) {
			known_run();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

static void end(struct child *child)
{
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

/* --- whose they are ------------------------------------------------------- */

static void check_exec(struct __test_metadata *_metadata,
		       FIXTURE_DATA(rows) *self)
{
	check_all(_metadata, self);
	EXPECT_EQ(0, self->seen.others);
	EXPECT_LT(0, self->seen.exec);
	EXPECT_LE(self->seen.last_before, self->seen.exec);
	EXPECT_GE(self->seen.first_after, self->seen.exec);
}

static void run_exec(struct __test_metadata *_metadata,
		     FIXTURE_DATA(rows) *self, void (*run)(void *program))
{
	START(run, (void *)known_program());
	open_rows(_metadata, self, EVENT_LOOPS, 0, self->child.pid, 64);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check_exec(_metadata, self);
	EXPECT_EQ(KNOWN_BACK, self->seen.before);
	EXPECT_EQ(KNOWN_BACK, self->seen.after);
}

TEST_F(rows, of_a_program_that_execs)
{
	run_exec(_metadata, self, run_and_exec);
}

TEST_F(rows, of_a_program_that_execs_by_another_clock)
{
	self->clock = CLOCK_MONOTONIC;
	run_exec(_metadata, self, run_and_exec);
}

TEST_F(rows, of_branches_and_exec)
{
	START(run_and_exec, (void *)known_program());
	open_rows(_metadata, self, EVENT_BRANCHES, 0, self->child.pid, 512);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check_exec(_metadata, self);
}

/* --- when they come ------------------------------------------------------- */

/* The task runs when its events are disabled: its rows come at once. */
TEST_F(rows, of_a_running_task)
{
	EVENT_NEED_FUNCTION("perf_ioctl");
	START(run_on, NULL);
	child_go(&self->child);
	open_rows(_metadata, self, EVENT_LOOPS, 0, self->child.pid, 64);
	recording_read_until(&self->recording, KNOWN_BACK);
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	EXPECT_LT(0, self->seen.before);
	check_all(_metadata, self);
	end(&self->child);
}

/*
 * perf hangs up when the last task exits, and stock perf reads only what is
 * there then. This reader is on the task's CPU, and never waits for it.
 */
static void read_until_hang_up(struct __test_metadata *_metadata,
			       FIXTURE_DATA(rows) *self,
			       void (*run)(void *context), uint64_t memory_mib,
			       unsigned int interval_ms)
{
	struct sched_param first = { .sched_priority = 1 }, none = { 0 };
	struct pollfd poll_fd;

	stay_on(0);
	START(run, NULL);
	open_rows(_metadata, self, EVENT_LOOPS | EVENT_MEMORY(memory_mib),
		  interval_ms, self->child.pid, 256);
	ASSERT_EQ(0, sched_setscheduler(0, SCHED_FIFO, &first));
	child_go(&self->child);
	poll_fd.fd = self->recording.fd[0];
	do {
		poll_fd.events = POLLIN;
		ASSERT_EQ(1, poll(&poll_fd, 1, -1));
	} while (!(poll_fd.revents & POLLHUP));
	recording_drain(&self->recording);
	check_all(_metadata, self);
	sched_setscheduler(0, SCHED_OTHER, &none);
	waitpid(self->child.pid, NULL, 0);
}

TEST_F(rows, before_perf_hangs_up)
{
	read_until_hang_up(_metadata, self, run_once, 8, 60000);
	EXPECT_EQ(KNOWN_BACK, self->seen.before);
}

TEST_F(rows, of_threads_and_forks_before_perf_hangs_up)
{
	read_until_hang_up(_metadata, self, run_threads_and_forks, 8, 60000);
	EXPECT_EQ(THREADS * KNOWN_BACK, self->seen.before);
	EXPECT_EQ(FORKS * KNOWN_BACK, self->seen.others);
}

TEST_F(rows, of_much_memory_before_perf_hangs_up)
{
	read_until_hang_up(_metadata, self, run_threads_and_forks, 16, 60000);
	EXPECT_EQ(THREADS * KNOWN_BACK, self->seen.before);
	EXPECT_EQ(FORKS * KNOWN_BACK, self->seen.others);
}

/* The threads are killed while they run, and end side by side. */
static void exit_with_threads(void *context)
{
	pthread_t thread;
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_create(&thread, NULL, thread_run_on, NULL);
	known_run();
	_exit(0);
}

TEST_F(rows, of_killed_threads_before_perf_hangs_up)
{
	read_until_hang_up(_metadata, self, exit_with_threads, 8, 60000);
}

/* When the last task exits, tables are just being merged, or rows written. */
TEST_F(rows, of_flushes_under_way_before_perf_hangs_up)
{
	unsigned int i;

	for (i = 0; i < short_times(20) && __test_passed(_metadata); i++) {
		self->tally = (struct tally) { .see = NULL };
		read_until_hang_up(_metadata, self, run_once, 16, 1);
		recording_close(&self->recording);
	}
}

static void sleep_until_disabled(struct __test_metadata *_metadata,
				 FIXTURE_DATA(rows) *self)
{
	START(run_and_sleep, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 60000, self->child.pid, 64);
	child_go(&self->child);
	recording_read_until(&self->recording, KNOWN_BACK);
	child_await_sleep(&self->child);
	recording_drain(&self->recording);
	EXPECT_EQ(0, self->seen.before);
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	end(&self->child);
	EXPECT_EQ(KNOWN_BACK, self->seen.before);
	check_all(_metadata, self);
}

/* It sleeps when its events are disabled. */
TEST_F(rows, of_a_sleeping_task_at_disable)
{
	EVENT_NEED_FUNCTION("perf_ioctl");
	sleep_until_disabled(_metadata, self);
}

enum { DISABLERS = 64 };

static int kept;			/* an event whose lock is kept */

static void *disable_kept(void *unused)
{
	ioctl(kept, PERF_EVENT_IOC_DISABLE, 0);
	return NULL;
}

/* Threads of a process with rows disable an event, and wait for its lock. */
static void disable_and_wait(void *unused)
{
	struct perf_event_attr attr = event_attr_sampling(
		EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	pthread_t thread;
	int i;

	if (event_open(&attr, 0, -1, -1, 0) < 0)
		event_give_up("no event");
	for (i = 0; i < DISABLERS; i++)
		if (pthread_create(&thread, NULL, disable_kept, NULL))
			event_give_up("no thread");
	pause();
}

static void sleep_for_good(void *unused)
{
	pause();
}

/* Others that disable events and never get done do not keep rows back. */
TEST_F(rows, of_a_sleeping_task_at_disable_beside_others)
{
	struct child target, keeper, others;

	EVENT_NEED_FUNCTION("perf_ioctl");
	target = child_start(sleep_for_good, NULL);
	kept = dummy_open(target.pid);
	ASSERT_LE(0, kept);
	keeper = child_start(dummy_keep_lock, &kept);
	others = child_start(disable_and_wait, NULL);
	child_go(&keeper);
	child_await_state(&keeper, "SZ");
	if (waitpid(keeper.pid, NULL, WNOHANG)) {
		end(&others);
		end(&target);
		SKIP(return, "no userfaultfd");
	}
	child_go(&others);
	while (child_waiting_threads(&others) < DISABLERS)
		usleep(10000);
	sleep_until_disabled(_metadata, self);
	end(&keeper);
	end(&others);
	end(&target);
	close(kept);
}

/* It sleeps: its rows come after an interval. */
TEST_F(rows, of_a_sleeping_task)
{
	START(run_and_sleep, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 50, self->child.pid, 64);
	child_go(&self->child);
	while (self->seen.before < KNOWN_BACK)
		recording_read_for(&self->recording, 10);
	recording_read_for(&self->recording, 100);
	EXPECT_EQ(KNOWN_BACK, self->seen.before);
	check_all(_metadata, self);
	end(&self->child);
}

TEST_F(rows, of_a_killed_task)
{
	START(run_on, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 0, self->child.pid, 64);
	child_go(&self->child);
	recording_read_until(&self->recording, KNOWN_BACK);
	kill(self->child.pid, SIGKILL);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_LT(0, self->seen.before);
	check_all(_metadata, self);
}

/*
 * Readers of perf's forget a process when its first thread exits, so its rows
 * must not be later.
 */
static void check_exit(struct __test_metadata *_metadata,
		       FIXTURE_DATA(rows) *self)
{
	EXPECT_LT(0, self->seen.before);
	EXPECT_LT(0, self->seen.exit);
	EXPECT_LE(self->seen.last_before, self->seen.exit);
	check_all(_metadata, self);
}

static void check_times(struct __test_metadata *_metadata,
			FIXTURE_DATA(rows) *self, void (*run)(void *context))
{
	START(run, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 0, self->child.pid, 64);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	check_exit(_metadata, self);
}

TEST_F(rows, no_later_than_the_exit)
{
	check_times(_metadata, self, run_once);
}

/*
 * Perf stops no event of a CPU at an exit. It may report the exit before the
 * memory goes, which takes a while, and the module hears of it after that.
 */
static void check_times_of_cpus(struct __test_metadata *_metadata,
				FIXTURE_DATA(rows) *self,
				void (*run)(void *context))
{
	START(run, NULL);
	open_rows(_metadata, self, EVENT_LOOPS | EVENT_STEP, 0, -1, 64);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	check_exit(_metadata, self);
}

TEST_F(rows, no_later_than_the_exit_by_events_of_cpus)
{
	EVENT_NEED_FUNCTION("perf_event_exit_task");
	EVENT_LONG_ON_DEBUG();
	check_times_of_cpus(_metadata, self, run_once);
}

static void see_last(struct tally *tally, const struct sample *sample)
{
	struct seen *seen = tally->context;

	if (sample->row->pid != seen->pid)
		return;
	seen->before += sample->period;
	if (sample->time > seen->last_before)
		seen->last_before = sample->time;
}

/* Rows wait for a ring, which there is not before their process has ended. */
static void read_late(struct __test_metadata *_metadata,
		      FIXTURE_DATA(rows) *self)
{
	struct perf_event_attr attr = dummy_attr();
	struct timespec killed = { 0 };
	struct recording exits;

	START(run_on, NULL);
	attr.sample_period = attr.task = 1;
	attr.use_clockid = self->clock != 0;
	attr.clockid = self->clock;
	ASSERT_EQ(0, recording_open(&exits, &attr, self->child.pid, 1,
				    &self->tally));
	open_rows(_metadata, self, EVENT_LOOPS, 20, self->child.pid, 0);
	child_go(&self->child);
	while (recording_count(&self->recording) < KNOWN_BACK)
		usleep(10000);
	usleep(200000);		/* until the rows of an interval wait */
	clock_gettime(self->clock, &killed);
	self->killed = killed.tv_sec * 1000000000ULL + killed.tv_nsec;
	end(&self->child);
	usleep(self->clock ? 2000000 : 100000);
	ASSERT_EQ(0, recording_map(&self->recording, 64));
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	recording_drain(&exits);
	recording_close(&exits);
}

enum { LATE_TRIES = 20 };

static void check_late(struct __test_metadata *_metadata,
		       FIXTURE_DATA(rows) *self)
{
	int i;

	EVENT_NEED_FUNCTION("perf_ioctl");
	self->tally.see = see_last;
	/* The totals of an interval without rows may wait instead. */
	for (i = 0; i < LATE_TRIES && !self->seen.before; i++) {
		recording_close(&self->recording);
		ASSERT_TRUE(event_sessions_are(0));
		read_late(_metadata, self);
	}
	EXPECT_LT(0, self->seen.before);
	EXPECT_LT(0, self->seen.exit);
	EXPECT_LE(self->seen.last_before, self->seen.exit);
	if (self->clock)	/* a program cannot read perf's own */
		EXPECT_GE(self->seen.last_before, self->killed);
}

TEST_F(rows, no_later_than_the_exit_in_a_late_ring)
{
	check_late(_metadata, self);
}

TEST_F(rows, no_later_than_the_exit_in_a_late_ring_by_another_clock)
{
	self->clock = CLOCK_MONOTONIC;
	check_late(_metadata, self);
}

TEST_F(rows, no_later_than_the_exit_in_a_late_ring_by_the_raw_clock)
{
	self->clock = CLOCK_MONOTONIC_RAW;
	check_late(_metadata, self);
}

static void spin_on_first_cpu(void *unused)
{
	stay_on(0);
	for (;;)
		;
}

/* A thread that gets the CPU late, and so exits late when it is killed. */
static void *sleep_nicely(void *asleep)
{
	stay_on(0);
	setpriority(PRIO_PROCESS, 0, 19);	/* of this thread alone */
	pthread_barrier_wait(asleep);
	pause();
	return NULL;
}

static void run_beside_sleeper(void *unused)
{
	static pthread_barrier_t asleep;
	pthread_t thread;

	pthread_barrier_init(&asleep, NULL, 2);
	pthread_create(&thread, NULL, sleep_nicely, &asleep);
	pthread_barrier_wait(&asleep);
	known_run();
}

typedef void (*check_t)(struct __test_metadata *_metadata,
			FIXTURE_DATA(rows) *self, void (*run)(void *context));

static void check_first_thread(struct __test_metadata *_metadata,
			       FIXTURE_DATA(rows) *self, check_t check)
{
	struct child other = child_start(spin_on_first_cpu, NULL);

	child_go(&other);
	check(_metadata, self, run_beside_sleeper);
	kill(other.pid, SIGKILL);
	waitpid(other.pid, NULL, 0);
}

TEST_F(rows, no_later_than_the_exit_of_the_first_thread)
{
	EVENT_LONG_ON_DEBUG();
	check_first_thread(_metadata, self, check_times);
}

TEST_F(rows, no_later_than_the_exit_of_the_first_thread_by_events_of_cpus)
{
	EVENT_NEED_FUNCTION("perf_event_exit_task");
	EVENT_LONG_ON_DEBUG();
	check_first_thread(_metadata, self, check_times_of_cpus);
}

enum {
	EXITS		= 20,
	HAMMERED	= 4 << 20,	/* bytes */
	HAMMER_STACK	= 64 << 10,
};

/* Locks the memory that it shares with its parent, again and again. */
static int hammer(void *unused)
{
	void *at;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (getppid() != 1) {
		at = mmap(NULL, HAMMERED, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
		munmap(at, HAMMERED);
	}
	return 0;
}

/* In the middle of an exit something looks at the memory, and has to wait. */
static void exit_and_wait(void *unused)
{
	static char stack[HAMMER_STACK] __attribute__((aligned(16)));
	int i;

	for (i = 0; i < EXITS; i++) {
		pid_t pid = fork();

		if (!pid) {
			clone(hammer, stack + sizeof(stack), CLONE_VM, NULL);
			usleep(1000);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
}

struct firsts {
	uint32_t tids[3 * EXITS];	/* of rows that begin with sequence 0 */
	unsigned int count, again;	/* how many of these were there
					 * before */
};

static void see_first(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_branches *row = (const void *)sample->row;
	struct firsts *firsts = tally->context;
	unsigned int i;

	if (row->row.type != HWPROF_ROW_BRANCHES || row->sequence)
		return;
	for (i = 0; i < firsts->count; i++)
		if (firsts->tids[i] == row->tid) {
			firsts->again++;
			return;
		}
	if (firsts->count < sizeof(firsts->tids) / sizeof(firsts->tids[0]))
		firsts->tids[firsts->count++] = row->tid;
}

/* A thread that waits while it exits is not a new one afterwards. */
TEST_F(rows, of_exits_that_wait)
{
	struct firsts firsts = { .count = 0 };

	EVENT_LONG_ON_DEBUG();
	self->tally.see = see_first;
	self->tally.context = &firsts;
	START(exit_and_wait, NULL);
	open_rows(_metadata, self, EVENT_BRANCHES, 0, self->child.pid, 1024);
	child_go(&self->child);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_LT(EXITS, firsts.count);
	EXPECT_EQ(0, firsts.again);
	EXPECT_EQ(0, self->tally.lost);
}

static void of_everything(struct __test_metadata *_metadata,
			  FIXTURE_DATA(rows) *self, uint64_t thing)
{
	START(run_once, NULL);
	open_rows(_metadata, self, thing, 0, -1, 512);
	child_go(&self->child);
	recording_wait(&self->recording, self->child.pid);
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	check_all(_metadata, self);
}

TEST_F(rows, of_everything)
{
	EVENT_NEED_FUNCTION("perf_ioctl");
	of_everything(_metadata, self, EVENT_LOOPS | EVENT_STEP);
	EXPECT_EQ(KNOWN_BACK, self->seen.before);
}

TEST_F(rows, of_all_branches)
{
	EVENT_LONG_ON_DEBUG();
	EVENT_NEED_FUNCTION("perf_ioctl");
	of_everything(_metadata, self, EVENT_BRANCHES | EVENT_STEP);
}

/*
 * Returns a program whose exec fails when nothing of the process is left: its
 * segment has more bytes in the file than in memory.
 */
static int broken_program(void)
{
	const struct {
		Elf64_Ehdr head;
		Elf64_Phdr segment;
	} program = {
		.head = {
			.e_ident = ELFMAG "\2\1\1",
			.e_type = ET_EXEC, .e_machine = EM_X86_64,
			.e_version = EV_CURRENT,
			.e_phoff = sizeof(program.head),
			.e_ehsize = sizeof(program.head),
			.e_phentsize = sizeof(program.segment), .e_phnum = 1,
		},
		.segment = {
			.p_type = PT_LOAD, .p_flags = PF_R | PF_X,
			.p_vaddr = KNOWN_TEXT & ~0xfffULL, .p_filesz = 2048,
			.p_memsz = 1024, .p_align = 4096,
		},
	};
	int fd = memfd_create("broken", 0);

	if (fd < 0 || ftruncate(fd, 4096) ||
	    pwrite(fd, &program, sizeof(program), 0) != sizeof(program))
		event_give_up("memfd");
	return fd;
}

static void exec_broken(int program)
{
	char *none[] = { NULL };

	fexecve(program, none, none);
	_exit(1);
}

/* Returns the wait status of a child that executes it. */
static int fail_exec(int program)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		exec_broken(program);
	waitpid(pid, &status, 0);
	return status;
}

/* More processes than the session has records. */
enum { BROKEN = 400 };

TEST_F(rows, of_execs_that_fail)
{
	int i, program = broken_program(), broken = short_times(BROKEN);

	EVENT_LONG_ON_DEBUG();
	EVENT_NEED_FUNCTION("perf_ioctl");
	START(run_once, NULL);
	open_rows(_metadata, self, EVENT_LOOPS | EVENT_STEP | EVENT_MEMORY(1),
		  100, -1, 64);
	for (i = 0; i < broken; i++) {
		int status = fail_exec(program);

		ASSERT_TRUE(WIFSIGNALED(status));
		ASSERT_EQ(SIGSEGV, WTERMSIG(status));
		recording_drain(&self->recording);
	}
	child_go(&self->child);
	recording_wait(&self->recording, self->child.pid);
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	EXPECT_LT(0, self->seen.before);
	EXPECT_EQ(0, self->tally.totals.lost_events);
	close(program);
}

/* 1 MiB has some 300 records. */
enum { CROWD = 600, CROWDS = 5 };

/* The last process of a crowd runs, and again when the others are gone. */
static void run_in_crowd(void *unused)
{
	pid_t crowd[CROWD], last;
	int i, ways[2][2];
	char byte;

	if (pipe(ways[0]) || pipe(ways[1]))
		event_give_up("pipe");
	for (i = 0; i < CROWD; i++) {
		crowd[i] = fork();
		if (!crowd[i]) {
			write(ways[0][1], "", 1);
			for (;;)
				pause();
		}
		read(ways[0][0], &byte, 1);
	}
	last = fork();
	if (!last) {
		known_run();
		write(ways[0][1], "", 1);
		read(ways[1][0], &byte, 1);
		known_run();
		_exit(0);
	}
	read(ways[0][0], &byte, 1);
	for (i = 0; i < CROWD; i++)
		kill(crowd[i], SIGKILL);
	for (i = 0; i < CROWD; i++)
		waitpid(crowd[i], NULL, 0);
	write(ways[1][1], "", 1);
	waitpid(last, NULL, 0);
}

/* A process that found no record gets one when others have left theirs. */
TEST_F(rows, of_a_process_after_a_crowd)
{
	int i;

	if (on_debug_kernel())
		SKIP(return, "a crowd takes minutes there");
	/* One time in 35, a record where the last one looks stays free. */
	for (i = 0; i < CROWDS && self->tally.totals.lost < KNOWN_BACK; i++) {
		recording_close(&self->recording);
		memset(&self->tally.totals, 0, sizeof(self->tally.totals));
		memset(&self->seen, 0, sizeof(self->seen));
		START(run_in_crowd, NULL);
		open_rows(_metadata, self, EVENT_LOOPS | EVENT_MEMORY(1), 0,
			  self->child.pid, 64);
		child_go(&self->child);
		EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	}
	EXPECT_LE(KNOWN_BACK, self->tally.totals.lost);
	EXPECT_EQ(0, self->seen.before);
	EXPECT_EQ(KNOWN_BACK, self->seen.others);
}

enum { EXECS = 100 };

/* Processes of which a row was seen, and what became of them. */
struct execs {
	struct execed {
		uint32_t pid, space[2];	/* of its two programs */
		uint64_t exec, last[2];	/* the last rows of these */
	} of[EXECS + 1];	/* and the test itself */
	unsigned int count;
};

static struct execed *execed_of(struct execs *execs, uint32_t pid)
{
	unsigned int i;

	for (i = 0; i < execs->count; i++)
		if (execs->of[i].pid == pid)
			return &execs->of[i];
	if (execs->count > EXECS)
		event_give_up("too many processes");
	execs->of[i].pid = pid;
	execs->count++;
	return &execs->of[i];
}

static void see_space(struct tally *tally, const struct sample *sample)
{
	struct execed *of = execed_of(tally->context, sample->row->pid);
	uint32_t space = sample->row->space;
	int i = of->space[0] && of->space[0] != space;

	of->space[i] = space;
	if (sample->time > of->last[i])
		of->last[i] = sample->time;
}

/* Returns when the program that ended first had its last row. */
static uint64_t last_old(const struct execed *of)
{
	return of->last[0] < of->last[1] ? of->last[0] : of->last[1];
}

static void see_exec_of(struct tally *tally, uint32_t pid, uint64_t time)
{
	execed_of(tally->context, pid)->exec = time;
}

static void exec_often(void *program)
{
	int i;

	for (i = 0; i < EXECS; i++) {
		if (!fork()) {
			execl(program, "known", NULL);
			_exit(1);
		}
		wait(NULL);
	}
}

/* Samples of the kernel see some programs for the first time as they end. */
TEST_F(rows, of_programs_first_seen_in_their_exec)
{
	struct perf_event_attr attr = event_attr_sampling(
		EVENT_CCT | EVENT_SAMPLE | EVENT_ROWS | EVENT_MEMORY(8),
		200000);
	struct execs execs = {};
	unsigned int i, execed = 0;

	EVENT_LONG_ON_DEBUG();
	self->tally.see = see_space;
	self->tally.see_exec = see_exec_of;
	self->tally.see_exit = NULL;
	self->tally.context = &execs;
	attr.exclude_kernel = 0;
	START(exec_often, (void *)known_program());
	ASSERT_EQ(0, recording_open(&self->recording, &attr, self->child.pid,
				    64, &self->tally));
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	for (i = 0; i < execs.count; i++) {
		struct execed *of = &execs.of[i];

		if (!of->space[1] || !of->exec)
			continue;
		execed++;
		EXPECT_LE(last_old(of), of->exec);
	}
	EXPECT_LT(0, execed);
	printf("# of %u processes %u were seen in two programs\n",
	       execs.count, execed);
}

static void run_and_fail_to_exec(void *program)
{
	known_run();
	exec_broken(*(int *)program);
}

/* Perf reports the exec, though it fails. Later rows are another program's. */
TEST_F(rows, no_later_than_an_exec_that_fails)
{
	int program = broken_program();

	START(run_and_fail_to_exec, &program);
	open_rows(_metadata, self, EVENT_LOOPS, 0, self->child.pid, 64);
	child_go(&self->child);
	recording_wait(&self->recording, self->child.pid);
	EXPECT_EQ(KNOWN_BACK, self->seen.before);
	EXPECT_LT(0, self->seen.exec);
	EXPECT_LE(self->seen.last_before, self->seen.exec);
	check_all(_metadata, self);
	close(program);
}

/* It begins as execs do, and fails early: this is no program. */
static void fail_to_exec_often(void)
{
	char *none[] = { NULL };
	int i, file = memfd_create("text", 0);

	if (file < 0 || write(file, "text", 4) != 4)
		event_give_up("memfd");
	for (i = 0; i < 2000; i++)
		fexecve(file, none, none);
	close(file);
}

static void *rename_first_thread(void *renamed)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/comm", getpid());
	file = open(path, O_WRONLY);
	while (!__atomic_load_n((bool *)renamed, __ATOMIC_RELAXED))
		if (write(file, "name", 4) != 4)
			event_give_up("comm");
	close(file);
	return NULL;
}

/* Perf reports a new name of a thread that tries to exec, and lives on. */
static void run_renamed(void *context)
{
	bool renamed = false;
	pthread_t thread;

	known_run();
	pthread_create(&thread, NULL, rename_first_thread, &renamed);
	fail_to_exec_often();
	__atomic_store_n(&renamed, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	usleep(LATER_US);
	known_run();
}

TEST_F(rows, of_a_thread_that_is_renamed_while_it_tries_to_exec)
{
	EVENT_LONG_ON_DEBUG();
	START(run_renamed, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 20, self->child.pid, 64);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(2 * KNOWN_BACK, self->seen.before);
	EXPECT_LE(self->seen.last_before, self->seen.exit);
	EXPECT_GT(self->seen.last_before, self->seen.exit - LATER_US * 1000ULL);
	check_all(_metadata, self);
}

/* --- threads -------------------------------------------------------------- */

static void *thread_run_and_exec(void *program)
{
	run_and_exec(program);
	return NULL;
}

static void exec_in_thread(void *program)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_run_and_exec, program);
	pause();
}

/* Perf reports that the first thread exits, and then that it has executed. */
TEST_F(rows, of_a_thread_that_execs)
{
	run_exec(_metadata, self, exec_in_thread);
	EXPECT_LE(self->seen.last_before, self->seen.exit);
}

TEST_F(rows, of_threads)
{
	START(run_threads, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 0, self->child.pid, 64);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(THREADS * KNOWN_BACK, self->seen.before);
	check_all(_metadata, self);
}

static void *thread_last(void *leader)
{
	pthread_join(*(pthread_t *)leader, NULL);
	known_run();
	_exit(0);
}

static void run_leader_first(void *context)
{
	static pthread_t leader, thread;

	leader = pthread_self();
	pthread_create(&thread, NULL, thread_last, &leader);
	known_run();
	pthread_exit(NULL);
}

TEST_F(rows, of_a_leader_that_exits_first)
{
	START(run_leader_first, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 0, self->child.pid, 64);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(2 * KNOWN_BACK, self->seen.before);
	check_all(_metadata, self);
}

/* One event and ring for the task, on any CPU. */
TEST_F(rows, without_cpu)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS, 1);

	START(run_once, NULL);
	attr.inherit = 0;
	attr.enable_on_exec = 0;
	self->recording.pages = 64;
	self->recording.tally = &self->tally;
	ASSERT_EQ(0, recording_add(&self->recording, &attr, self->child.pid,
				   -1));
	recording_control(&self->recording, PERF_EVENT_IOC_ENABLE);
	child_go(&self->child);
	EXPECT_EQ(0, recording_wait(&self->recording, self->child.pid));
	EXPECT_EQ(KNOWN_BACK, self->seen.before);
	check_all(_metadata, self);
}

/* --- rows that cannot come ------------------------------------------------ */

enum { PROGRAMS = 5 };

static void run_programs(void *program)
{
	int i;

	for (i = 0; i < PROGRAMS; i++) {
		if (fork() == 0) {
			execl(program, "known", NULL);
			_exit(98);
		}
		wait(NULL);
	}
}

static void see_programs(struct tally *tally, const struct sample *sample)
{
	struct seen *seen = tally->context;

	if (sample->ip - KNOWN_TEXT < 64)
		seen->after += sample->period;
}

/* A ring that is not read fills up. Rows are kept until somebody reads. */
TEST_F(rows, that_nobody_reads)
{
	EVENT_LONG_ON_DEBUG();
	START(run_programs, (void *)known_program());
	self->tally.see = see_programs;
	open_rows(_metadata, self, EVENT_LOOPS, 100, self->child.pid, 1);
	child_go(&self->child);
	waitpid(self->child.pid, NULL, 0);
	/* The totals come last, and later each time that they find no room. */
	while (self->tally.totals.produced < PROGRAMS * KNOWN_BACK)
		recording_read_for(&self->recording, 10);
	recording_read_for(&self->recording, 500);
	EXPECT_LT(0, self->tally.lost);		/* perf's count of refusals */
	EXPECT_EQ(PROGRAMS * KNOWN_BACK, self->seen.after);
	check_all(_metadata, self);
}

static void run_short(void *context)
{
	int i;

	for (i = 0; i < PROGRAMS; i++) {
		if (fork() == 0)
			_exit(0);
		wait(NULL);
	}
}

/*
 * Lets the child run PROGRAMS processes. Returns how often it and they slept. A
 * process that waits for its rows sleeps 50 times.
 */
static long sleeps(FIXTURE_DATA(rows) *self)
{
	struct rusage before, after;

	getrusage(RUSAGE_CHILDREN, &before);
	child_go(&self->child);
	waitpid(self->child.pid, NULL, 0);
	getrusage(RUSAGE_CHILDREN, &after);
	return after.ru_nvcsw - before.ru_nvcsw;
}

/* Maps only the first page of each ring, or takes that away again. */
static void map_headers(struct __test_metadata *_metadata,
			FIXTURE_DATA(rows) *self, void **headers, bool map)
{
	const size_t size = sysconf(_SC_PAGESIZE);
	unsigned int i;

	for (i = 0; i < self->recording.count; i++) {
		if (!map) {
			munmap(headers[i], size);
			continue;
		}
		headers[i] = mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_SHARED, self->recording.fd[i], 0);
		ASSERT_NE(MAP_FAILED, headers[i]);
	}
}

/*
 * Perf drops samples for a ring without data pages, and counts none of them as
 * lost. Rows wait for a ring that takes them.
 */
TEST_F(rows, that_a_ring_without_data_pages_does_not_take)
{
	void *headers[EVENTS_MAX];

	START(run_and_sleep, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 20, self->child.pid, 0);
	map_headers(_metadata, self, headers, true);
	child_go(&self->child);
	child_await_sleep(&self->child);
	usleep(LATER_US);
	map_headers(_metadata, self, headers, false);
	ASSERT_EQ(0, recording_map(&self->recording, 64));
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->recording);
	EXPECT_EQ(KNOWN_BACK, self->seen.before);
	check_all(_metadata, self);
	end(&self->child);
}

/* Without a ring nothing waits. */
TEST_F(rows, without_ring)
{
	START(run_short, NULL);
	open_rows(_metadata, self, EVENT_LOOPS, 0, self->child.pid, 0);
	EXPECT_GT(PROGRAMS * 25, sleeps(self));
}

/*
 * In a session of all CPUs, a process does not wait for whoever does not read
 * the rings, neither at its exec nor at its exit. Its rows are kept.
 */
TEST_F(rows, of_everything_that_nobody_reads)
{
	EVENT_LONG_ON_DEBUG();
	EVENT_NEED_FUNCTION("perf_ioctl");
	self->tally.see = see_programs;
	open_rows(_metadata, self, EVENT_LOOPS | EVENT_STEP, 100, -1, 1);
	START(run_programs, (void *)known_program());
	sleeps(self);
	/* The rings are full now. */
	START(run_programs, (void *)known_program());
	EXPECT_GT(PROGRAMS * 25, sleeps(self));
	recording_control(&self->recording, PERF_EVENT_IOC_DISABLE);
	while (self->seen.after < 2 * PROGRAMS * KNOWN_BACK)
		recording_read_for(&self->recording, 10);
	/* Rows of a full ring are tried again once a second at least. */
	while (self->tally.totals.pending)
		recording_read_for(&self->recording, 10);
	recording_read_for(&self->recording, 500);
	EXPECT_LT(0, self->tally.lost);
	EXPECT_EQ(2 * PROGRAMS * KNOWN_BACK, self->seen.after);
	check_all(_metadata, self);
}

enum { ROUNDS = 12 };

static void run_many_programs(void *program)
{
	int i;

	stay_on(0);
	for (i = 0; i < ROUNDS; i++)
		run_programs(program);
}

/* Samples the process, may not attach to it, and never reads its rows. */
static void watch_and_stop(void *pid)
{
	struct perf_event_attr attr = event_attr_sampling(
		EVENT_CCT | EVENT_SAMPLE | EVENT_ROWS | EVENT_MEMORY(4),
		200000);
	struct tally tally = {};
	struct recording recording = { .pages = 1, .tally = &tally };

	attr.exclude_kernel = 0;
	if (!capability_drop(CAP_SYS_PTRACE) ||
	    recording_add(&recording, &attr, *(pid_t *)pid, 0))
		_exit(1);
	recording_control(&recording, PERF_EVENT_IOC_ENABLE);
	raise(SIGSTOP);
}

/*
 * Samples take no right to attach, and so no right to delay: a process that is
 * not the reader's child does not wait for it.
 */
TEST_F(rows, of_a_reader_that_may_not_delay)
{
	struct child watcher;
	int status;

	EVENT_LONG_ON_DEBUG();
	START(run_many_programs, (void *)known_program());
	watcher = child_start(watch_and_stop, &self->child.pid);
	child_go(&watcher);
	ASSERT_EQ(watcher.pid, waitpid(watcher.pid, &status, WUNTRACED));
	ASSERT_TRUE(WIFSTOPPED(status));
	/* Each has a row of 170 bytes: the ring is full after 24 of them. */
	EXPECT_GT(ROUNDS * PROGRAMS * 10, sleeps(self));
	kill(watcher.pid, SIGKILL);
	waitpid(watcher.pid, NULL, 0);
}

/* --- closed events -------------------------------------------------------- */

static void read_for_ever(void *context)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct recording recording;
	struct tally tally = {};

	if (recording_open(&recording, &attr, *(pid_t *)context, 8, &tally))
		_exit(1);
	recording_control(&recording, PERF_EVENT_IOC_ENABLE);
	for (;;)
		recording_read_for(&recording, 10);
}

TEST_F(rows, of_a_reader_that_is_killed)
{
	struct child reader;
	int i;

	START(run_on, NULL);
	child_go(&self->child);
	for (i = 0; i < 3; i++) {
		reader = child_start(read_for_ever, &self->child.pid);
		child_go(&reader);
		EXPECT_TRUE(event_sessions_are(1));
		usleep(50000);
		end(&reader);
		EXPECT_TRUE(event_sessions_are(0));
	}
	EXPECT_EQ(0, kill(self->child.pid, 0));
	end(&self->child);
}

/*
 * Events of several sessions are closed in any order while a task runs. Each
 * row wakes the reader, which perf does from an interrupt of the event's own.
 */
TEST_F(rows, of_events_closed_in_any_order)
{
	const size_t size = 2 * sysconf(_SC_PAGESIZE);
	int round, i, fd[12], count = ARRAY_SIZE(fd);
	void *ring[ARRAY_SIZE(fd)];

	START(run_on, NULL);
	child_go(&self->child);
	for (round = 0; round < 10; round++) {
		for (i = 0; i < count; i++) {
			struct perf_event_attr attr = event_attr_sampling(
				i % 2 ? EVENT_LOOPS : EVENT_BRANCHES, 1000);

			if (i % 3)
				attr.config |= EVENT_ROWS;
			attr.config |= (uint64_t)(i / 6 + 1) << 40;
			attr.config1 = EVENT_INTERVAL(1);
			attr.wakeup_events = 1;
			attr.inherit = 0;
			fd[i] = event_open(&attr, self->child.pid, -1, -1, 0);
			ASSERT_LE(0, fd[i]);
			ring[i] = mmap(NULL, size, PROT_READ | PROT_WRITE,
				       MAP_SHARED, fd[i], 0);
			ASSERT_NE(MAP_FAILED, ring[i]);
			ioctl(fd[i], PERF_EVENT_IOC_ENABLE, 0);
		}
		usleep(round * 1000);
		for (i = 0; i < count; i++) {
			int one = (i * 5 + round) % count;

			munmap(ring[one], size);
			close(fd[one]);
		}
	}
	EXPECT_EQ(0, kill(self->child.pid, 0));
	end(&self->child);
}

TEST_HARNESS_MAIN
