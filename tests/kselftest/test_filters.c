// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters in processes that fork, map files and exit: each process has the
 * ranges of its own memory, and a process that has none is said to lose events.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "device.h"
#include "text.h"

EVENT_ALL_NEED("step")

#ifdef __x86_64__

/* Code of the filters: it runs at any address. */
__asm__(".text\n\t.p2align 6\n\t.globl filters_run, filters_end\n"
	"filters_run:\n\tmov $100, %ecx\n1:\tdec %ecx\n\tjnz 1b\n\tret\n"
	"filters_end:\n");
void filters_run(void);
extern const char filters_end[];

enum {
	RUN		= 100,		/* branches that it takes */
	PROCESSES	= 128,		/* that the module keeps ranges of */
};

static const char *const copies[] = { "/tmp/filters.one", "/tmp/filters.two" };

/* Returns where the program's file has the code. */
static unsigned long code_offset(void)
{
	unsigned long code = (unsigned long)filters_run, begin, end, offset;
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];

	while (fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %*s %lx", &begin, &end, &offset) ==
		    3 && begin <= code && code < end) {
			fclose(maps);
			return code - begin + offset;
		}
	abort();
}

/* Adds the code's range in a file to a filter. */
static void add_range(char *filter, const char *file)
{
	sprintf(filter + strlen(filter), "filter 0x%lx/0x%lx@%s,",
		code_offset(),
		(unsigned long)filters_end - (unsigned long)filters_run, file);
}

static void own_filter(char *filter)
{
	char path[200] = "";

	filter[0] = 0;
	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		abort();
	add_range(filter, path);
}

static void copies_filter(char *filter)
{
	unsigned int i;

	filter[0] = 0;
	for (i = 0; i < 2; i++)
		add_range(filter, copies[i]);
}

static void copy_program(const char *path)
{
	int from = open("/proc/self/exe", O_RDONLY);
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0755);
	char buffer[4096];
	ssize_t bytes;

	while ((bytes = read(from, buffer, sizeof(buffer))) > 0)
		if (write(to, buffer, bytes) != bytes)
			abort();
	close(from);
	close(to);
}

/* Maps the code of a copy. */
static void (*map_copy(int number))(void)
{
	unsigned long offset = code_offset(), page = offset & ~4095UL;
	int fd = open(copies[number], O_RDONLY);
	char *code = mmap(NULL, 8192, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			  page);

	close(fd);
	if (code == MAP_FAILED)
		_exit(95);
	return (void (*)(void))(code + offset - page);
}

FIXTURE(filters)
{
	char filter[600];
	struct hwprof_config config;
	struct tally tally;
	int session;
};

FIXTURE_SETUP(filters)
{
	ASSERT_TRUE(event_sessions_are(0));
	own_filter(self->filter);
	self->config = device_config(EVENT_EDGES | EVENT_STEP);
	self->session = device_open(&self->config);
	ASSERT_LE(0, self->session);
	copy_program(copies[0]);
	copy_program(copies[1]);
}

FIXTURE_TEARDOWN(filters)
{
	close(self->session);
	EXPECT_TRUE(event_sessions_are(0));
}

/*
 * Opens an event of the process and its children on all CPUs that feeds the
 * session. Perf tells it about maps if @maps.
 */
static int open_filtered(FIXTURE_DATA(filters) *self, pid_t pid, bool maps)
{
	struct perf_event_attr attr = device_feeder(&self->config);
	int fd;

	attr.mmap = maps;
	fd = event_open(&attr, pid, -1, -1, 0);
	if (fd < 0 || ioctl(fd, PERF_EVENT_IOC_SET_FILTER, self->filter) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		event_give_up("no event with a filter");
	return fd;
}

/* Asserts that a program and its children run the code @runs times. */
static void check_runs(struct __test_metadata *_metadata,
		       FIXTURE_DATA(filters) *self,
		       void (*program)(void *context), unsigned int runs,
		       bool maps)
{
	struct child child = child_start(program, NULL);
	int status, fd = open_filtered(self, child.pid, maps);

	child_go(&child);
	ASSERT_EQ(child.pid, waitpid(child.pid, &status, 0));
	EXPECT_EQ(0, status);
	EXPECT_EQ(runs * RUN, event_count(fd));
	ASSERT_EQ(0, device_snapshot(self->session, 1 << 16, &self->tally));
	EXPECT_EQ(runs * RUN, self->tally.totals.produced);
	EXPECT_EQ(runs * RUN, self->tally.totals.delivered);
	EXPECT_EQ(0, self->tally.totals.lost_events);
	close(fd);
}

static void run(void *context)
{
	filters_run();
}

TEST_F(filters, of_a_program)
{
	check_runs(_metadata, self, run, 1, true);
}

/* --- forks ---------------------------------------------------------------- */

static void fork_and_wait(void (*program)(void *context))
{
	pid_t pid = fork();
	int status = 0;

	if (!pid) {
		program(NULL);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		_exit(98);
}

/*
 * On one CPU, the parent waits before its child has run. Perf exchanges their
 * events then, and so the child never gets events of its own.
 */
static void run_in_forks(void *context)
{
	int i;

	stay_on(0);
	for (i = 0; i < 8; i++)
		fork_and_wait(run);
}

/* Ranges can change while the event runs. */
TEST_F(filters, of_a_running_event)
{
	uint64_t before;
	int fd;

	copies_filter(self->filter);
	fd = open_filtered(self, 0, true);
	filters_run();
	EXPECT_EQ(0, event_count(fd));
	own_filter(self->filter);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, self->filter));
	while (!event_count(fd))
		filters_run();
	before = event_count(fd);
	filters_run();
	EXPECT_EQ(before + RUN, event_count(fd));
	copies_filter(self->filter);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, self->filter));
	filters_run();
	EXPECT_EQ(before + RUN, event_count(fd));
	close(fd);
}

TEST_F(filters, of_forks)
{
	check_runs(_metadata, self, run_in_forks, 8, true);
}

static void (*mapped[2])(void);

static void run_mapped(void *context)
{
	mapped[0]();
}

static void map_and_fork(void *context)
{
	int i;

	stay_on(0);
	mapped[0] = map_copy(0);
	for (i = 0; i < 4; i++)
		fork_and_wait(run_mapped);
}

/* Ranges of what the parent has mapped itself */
TEST_F(filters, of_forks_with_their_parents_maps)
{
	copies_filter(self->filter);
	check_runs(_metadata, self, map_and_fork, 4, true);
}

/* A child maps a file, and leaves a child of its own behind. */
static void map_and_leave(void *context)
{
	int ends[2];
	char byte;
	pid_t pid;

	if (pipe(ends))
		_exit(96);
	pid = fork();
	if (pid) {
		close(ends[1]);
		/* The last process has run, or never will. */
		if (read(ends[0], &byte, 1))
			_exit(94);
		waitpid(pid, NULL, 0);
		return;
	}
	mapped[0] = map_copy(0);
	if (fork() == 0)
		mapped[0]();
	_exit(0);
}

TEST_F(filters, of_orphans)
{
	copies_filter(self->filter);
	check_runs(_metadata, self, map_and_leave, 1, true);
}

/* --- maps ----------------------------------------------------------------- */

static pthread_barrier_t step;

static void *map_and_run(void *context)
{
	int number = (long)context;

	if (number)
		pthread_barrier_wait(&step);
	mapped[number] = map_copy(number);
	mapped[number]();
	if (!number)
		pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	/* Both are mapped: each runs both. */
	mapped[0]();
	mapped[1]();
	return NULL;
}

/* Two threads map one file each. */
static void map_in_threads(void *context)
{
	pthread_t threads[2];
	long i;

	pthread_barrier_init(&step, NULL, 2);
	for (i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, map_and_run, (void *)i);
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

TEST_F(filters, of_two_files_in_two_threads)
{
	copies_filter(self->filter);
	check_runs(_metadata, self, map_in_threads, 6, true);
}

/* The module looks at maps itself, with or without perf's records of them. */
TEST_F(filters, of_files_without_records_of_maps)
{
	copies_filter(self->filter);
	check_runs(_metadata, self, map_in_threads, 6, false);
}

static void map_elsewhere(void *context)
{
	long offset = code_offset() & 4095;

	mapped[0] = map_copy(0);
	mapped[0]();
	munmap((char *)mapped[0] - offset, 8192);
	mmap((char *)mapped[0] - offset, 8192, PROT_READ,
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	mapped[0] = map_copy(0);
	mapped[0]();
}

TEST_F(filters, of_a_file_that_moves)
{
	copies_filter(self->filter);
	check_runs(_metadata, self, map_elsewhere, 2, true);
}

/* --- limits --------------------------------------------------------------- */

static void run_and_wait(void *context)
{
	filters_run();
	for (;;)
		pause();
}

/* Records of processes that are gone are free, whatever their events do. */
TEST_F(filters, of_processes_that_exit_disabled)
{
	uint64_t count = RUN;
	unsigned int i;

	for (i = 0; i < PROCESSES + 8 && count == RUN; i++) {
		struct child child = child_start(run_and_wait, NULL);
		int fd = open_filtered(self, child.pid, false);

		child_go(&child);
		child_await_sleep(&child);
		count = event_count(fd);
		EXPECT_EQ(RUN, count) TH_LOG("process %u", i);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		kill(child.pid, SIGKILL);
		waitpid(child.pid, NULL, 0);
		close(fd);
	}
}

static void run_many(void *context)
{
	int i;

	for (i = 0; i < PROCESSES + 8; i++)
		if (!fork())
			run_and_wait(NULL);
	pause();
}

/* Nothing passes of more processes than that, and all events are lost. */
TEST_F(filters, of_too_many_processes)
{
	struct child child = child_start(run_many, NULL);
	int fd = open_filtered(self, child.pid, false);
	uint64_t count = 0, before;
	int seconds = 0;

	setpgid(child.pid, child.pid);
	child_go(&child);
	child_await_sleep(&child);
	do {
		before = count;
		sleep(1);
		count = event_count(fd);
	} while ((count != before || count < (PROCESSES - 1) * RUN) &&
		 ++seconds < 60);
	/* One is the parent's. */
	EXPECT_EQ((PROCESSES - 1) * RUN, count);
	ASSERT_EQ(0, device_snapshot(self->session, 1 << 16, &self->tally));
	EXPECT_EQ(count, self->tally.totals.produced);
	EXPECT_LE(9 * RUN, self->tally.totals.lost_events);
	kill(-child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	close(fd);
}

static int told[2];

static void run_many_and_tell(void *context)
{
	int i;

	for (i = 0; i < PROCESSES + 8; i++) {
		if (fork())
			continue;
		filters_run();
		if (write(told[1], "", 1) != 1)
			_exit(90);
		pause();
	}
	pause();
}

/* Returns how many events of too many processes are lost under the mask. */
static uint64_t lost_under(FIXTURE_DATA(filters) *self, uint64_t profile,
			   struct hwprof_mask mask)
{
	struct child child;
	uint64_t lost;
	int fd, i;
	char byte;

	if (pipe(told))
		event_give_up("no pipe");
	child = child_start(run_many_and_tell, NULL);
	close(self->session);
	self->config = device_config(profile | EVENT_STEP);
	self->session = device_open(&self->config);
	mask.size = sizeof(mask);
	mask.flags = HWPROF_MASK_SET;
	if (ioctl(self->session, HWPROF_IOC_MASK, &mask))
		event_give_up("no mask");
	fd = open_filtered(self, child.pid, false);
	setpgid(child.pid, child.pid);
	child_go(&child);
	for (i = 0; i < PROCESSES + 8; i++)
		if (read(told[0], &byte, 1) != 1)
			event_give_up("a child has not run");
	memset(&self->tally, 0, sizeof(self->tally));
	if (device_snapshot(self->session, 1 << 16, &self->tally))
		event_give_up("no snapshot");
	lost = self->tally.totals.lost_events;
	kill(-child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	close(told[0]);
	close(told[1]);
	close(fd);
	return lost;
}

/* Where ranges are not known, events that the mask leaves out are not lost. */
TEST_F(filters, of_too_many_masked_processes)
{
	const struct hwprof_mask signals = {
		.kinds = 1 << HWPROF_BRANCH_SIGNAL,
	};
	const struct hwprof_mask everything = { .size = 0 };

	EXPECT_LT(0, lost_under(self, EVENT_EDGES, everything));
	EXPECT_EQ(0, lost_under(self, EVENT_EDGES, signals));
	EXPECT_EQ(0, lost_under(self, EVENT_VALUES, signals));
}

/* Children that no event watches have no records. */
TEST_F(filters, of_children_without_events)
{
	struct child child = child_start(run_many, NULL);
	struct perf_event_attr attr = device_feeder(&self->config);
	int inherited = event_open(&attr, 0, -1, -1, 0), fd;

	ASSERT_LE(0, inherited);
	attr.inherit = 0;
	fd = event_open(&attr, child.pid, -1, -1, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, self->filter));
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	setpgid(child.pid, child.pid);
	child_go(&child);
	child_await_sleep(&child);
	EXPECT_EQ(0, event_count(fd));
	check_runs(_metadata, self, run, 1, true);
	kill(-child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	close(fd);
	close(inherited);
}

static int again[2];

static void run_again(void *context)
{
	char byte;

	filters_run();
	if (read(again[0], &byte, 1) != 1)
		_exit(90);
	filters_run();
}

/*
 * Processes live on, and their events are closed: others get their records. A
 * process that slept meanwhile still has its ranges.
 */
TEST_F(filters, of_processes_that_outlive_their_events)
{
	struct child child[PROCESSES + 8], sleeper;
	int i, fd, of_sleeper;

	ASSERT_EQ(0, pipe(again));
	sleeper = child_start(run_again, NULL);
	of_sleeper = open_filtered(self, sleeper.pid, false);
	child_go(&sleeper);
	child_await_sleep(&sleeper);
	for (i = 0; i < PROCESSES + 8; i++) {
		child[i] = child_start(run_and_wait, NULL);
		fd = open_filtered(self, child[i].pid, false);
		child_go(&child[i]);
		child_await_sleep(&child[i]);
		EXPECT_EQ(RUN, event_count(fd)) TH_LOG("process %d", i);
		close(fd);
	}
	ASSERT_EQ(1, write(again[1], "", 1));
	waitpid(sleeper.pid, NULL, 0);
	EXPECT_EQ(2 * RUN, event_count(of_sleeper));
	ASSERT_EQ(0, device_snapshot(self->session, 1 << 16, &self->tally));
	EXPECT_EQ((PROCESSES + 10) * RUN, self->tally.totals.produced);
	/* The end of the call that slept may come before the look. */
	EXPECT_GE(1, self->tally.totals.lost_events);
	for (i = 0; i < PROCESSES + 8; i++) {
		kill(child[i].pid, SIGKILL);
		waitpid(child[i].pid, NULL, 0);
	}
	close(of_sleeper);
}

/* --- threads that stay in the kernel -------------------------------------- */

/* Each byte wakes a receiver, which sleeps again in the same call. */
static int bytes[2];

static void receive_and_run(void *context)
{
	char buffer[4096];

	if (recv(bytes[1], buffer, sizeof(buffer), MSG_WAITALL) <= 0)
		_exit(93);
	filters_run();
}

static void wake_receiver(const struct child *child)
{
	if (send(bytes[0], "", 1, 0) != 1)
		event_give_up("no byte sent");
	child_await_sleep(child);
}

/*
 * Records end with their filter, whether their task has looked or not. More
 * than there are come and go, and other processes still get theirs.
 */
TEST_F(filters, of_a_sleeper_do_not_use_up_records)
{
	struct child child;
	int i, fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, bytes));
	child = child_start(receive_and_run, NULL);
	fd = open_filtered(self, child.pid, false);
	child_go(&child);
	child_await_sleep(&child);
	for (i = 0; i < 600; i++) {
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, ""));
		wake_receiver(&child);
		ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER,
				   self->filter));
		wake_receiver(&child);
	}
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	close(fd);
	close(self->session);
	self->config = device_config(EVENT_EDGES | EVENT_STEP);
	self->session = device_open(&self->config);
	ASSERT_LE(0, self->session);
	check_runs(_metadata, self, run, 1, true);
	close(bytes[0]);
	close(bytes[1]);
}

static int thread_pipe[2], go_pipe[2];

/* Waits until nothing holds the module. */
static bool module_is_free(void)
{
	int tries;

	for (tries = 0; tries < 6000 && module_references() > 0; tries++)
		usleep(10000);
	return !module_references();
}

static void close_and_receive(void *session)
{
	close(*(int *)session);
	receive_and_run(NULL);
}

/* Its look is not wanted any more when there are no sessions. */
TEST_F(filters, of_a_sleeper_do_not_hold_the_module)
{
	struct child child;
	int fd;

	EVENT_NEED_FUNCTION("task_work_cancel_match");
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, bytes));
	child = child_start(close_and_receive, &self->session);
	fd = open_filtered(self, child.pid, false);
	child_go(&child);
	child_await_sleep(&child);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, ""));
	wake_receiver(&child);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, self->filter));
	wake_receiver(&child);
	close(fd);
	close(self->session);
	EXPECT_TRUE(module_is_free());
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	self->session = -1;
}

static void *touch(void *page)
{
	pid_t thread = gettid();

	if (write(thread_pipe[1], &thread, sizeof(thread)) != sizeof(thread))
		_exit(92);
	*(volatile char *)page = 1;
	return NULL;
}

/* A thread waits for a page, and is woken without it. */
static void touch_no_page(void *context)
{
	struct uffdio_range range = { .len = 4096 };
	int faults;
	char *page = missing_page(&faults);
	pthread_t thread;
	char byte;

	if (!page)
		_exit(85);
	range.start = (uintptr_t)page;
	pthread_create(&thread, NULL, touch, page);
	while (read(go_pipe[0], &byte, 1) == 1)
		ioctl(faults, UFFDIO_WAKE, &range);
}

/* A stepped thread that is to be armed later does not hold the module. */
TEST_F(filters, nothing_of_a_stepped_sleeper_holds_the_module)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	struct child child, thread = { };
	int fd;

	EVENT_NEED_FUNCTION("task_work_cancel_match");
	close(self->session);
	self->session = -1;
	ASSERT_EQ(0, pipe(thread_pipe));
	ASSERT_EQ(0, pipe(go_pipe));
	child = child_start(touch_no_page, NULL);
	child_go(&child);
	close(thread_pipe[1]);
	if (read(thread_pipe[0], &thread.pid, sizeof(thread.pid)) !=
	    sizeof(thread.pid))
		SKIP(return, "no userfaultfd");
	child_await_sleep(&thread);
	fd = event_open(&attr, thread.pid, -1, -1, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	ASSERT_EQ(1, write(go_pipe[1], "", 1));
	child_await_sleep(&child);
	child_await_sleep(&thread);
	close(fd);
	EXPECT_TRUE(module_is_free());
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
}

static void *receive_for_good(void *context)
{
	pid_t thread = gettid();
	char buffer[4096];

	if (write(thread_pipe[1], &thread, sizeof(thread)) != sizeof(thread))
		_exit(92);
	recv(bytes[1], buffer, sizeof(buffer), MSG_WAITALL);
	return NULL;
}

static void run_beside_a_sleeper(void *context)
{
	pthread_t thread;
	char byte;

	pthread_create(&thread, NULL, receive_for_good, NULL);
	if (read(go_pipe[0], &byte, 1) != 1)
		_exit(91);
	filters_run();
	_exit(0);
}

/* The first thread that is to look never does. The second one does. */
TEST_F(filters, of_a_thread_beside_a_sleeper)
{
	struct child child, thread = { };
	int status, fd;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, bytes));
	ASSERT_EQ(0, pipe(thread_pipe));
	ASSERT_EQ(0, pipe(go_pipe));
	child = child_start(run_beside_a_sleeper, NULL);
	fd = open_filtered(self, child.pid, false);
	child_go(&child);
	ASSERT_EQ(sizeof(thread.pid),
		  read(thread_pipe[0], &thread.pid, sizeof(thread.pid)));
	child_await_sleep(&thread);
	child_await_sleep(&child);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, ""));
	wake_receiver(&thread);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER, self->filter));
	wake_receiver(&thread);
	ASSERT_EQ(1, write(go_pipe[1], "", 1));
	ASSERT_EQ(child.pid, waitpid(child.pid, &status, 0));
	EXPECT_EQ(0, status);
	ASSERT_EQ(0, device_snapshot(self->session, 1 << 16, &self->tally));
	/* The end of the call that slept may come before the look. */
	EXPECT_GT(RUN, self->tally.totals.lost_events);
	EXPECT_EQ(RUN, event_count(fd));
	close(fd);
}

#endif /* __x86_64__ */

/* --- code that is not in the ranges --------------------------------------- */

/* Returns the thread of the kernel with this name. */
static pid_t kernel_thread(const char *name)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	char path[300], comm[32];
	pid_t found = 0;

	while ((entry = readdir(folder))) {
		FILE *file;

		snprintf(path, sizeof(path), "/proc/%s/comm", entry->d_name);
		file = atoi(entry->d_name) ? fopen(path, "r") : NULL;
		if (!file)
			continue;
		if (fgets(comm, sizeof(comm), file) &&
		    !strncmp(comm, name, strlen(name)) &&
		    comm[strlen(name)] == '\n')
			found = atoi(entry->d_name);
		fclose(file);
	}
	closedir(folder);
	return found;
}

static void cpu_online(int cpu, const char *online)
{
	char path[80];
	int fd;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online",
		 cpu);
	fd = open(path, O_WRONLY);
	if (fd < 0 || write(fd, online, 1) != 1)
		event_give_up("a CPU goes neither on nor off");
	close(fd);
}

/* Samples the thread that takes a CPU down and up. Returns how many. */
static uint64_t sample_kernel(const char *filter)
{
	struct hwprof_config config =
		device_config(EVENT_RANGES | EVENT_SAMPLE);
	struct perf_event_attr attr;
	uint64_t count;
	int session, fd, i;

	config.flags = HWPROF_CONFIG_EXCLUDE_HV;
	config.period = 10000;
	session = device_open(&config);
	attr = device_feeder(&config);
	attr.exclude_kernel = 0;
	attr.inherit = 0;
	fd = event_open(&attr, kernel_thread("cpuhp/1"), -1, -1, 0);
	if (fd < 0 ||
	    (filter && ioctl(fd, PERF_EVENT_IOC_SET_FILTER, filter)) ||
	    ioctl(fd, PERF_EVENT_IOC_ENABLE, 0)) {
		printf("# session %d, event %d\n", session, fd);
		event_give_up("no event of a kernel thread");
	}
	for (i = 0; i < 5; i++) {
		cpu_online(1, "0");
		cpu_online(1, "1");
	}
	count = event_count(fd);
	close(fd);
	close(session);
	return count;
}

TEST(kernel_threads)
{
	if (!kernel_thread("cpuhp/1"))
		SKIP(return, "one CPU");
	EXPECT_NE(0, sample_kernel(NULL));
	EXPECT_EQ(0, sample_kernel("filter 0x1000/0x1000"));
	EXPECT_EQ(0, sample_kernel("filter 0x0/0x10@/proc/version"));
	EXPECT_NE(0, sample_kernel("filter 0xffffffff80000000/0x7fffffff"));
	EXPECT_TRUE(event_sessions_are(0));
}

#ifdef __x86_64__
static void run_long(void *context)
{
	int i;

	for (i = 0; i < 3000; i++) {
		getppid();
		filters_run();
	}
}

/* Branch records without a branch in the ranges tell nothing. */
TEST(records_of_others)
{
	struct hwprof_config config =
		device_config(EVENT_EDGES | EVENT_LBR);
	struct perf_event_attr attr;
	struct tally tally = {};
	struct child child;
	int session, fd;

	if (event_missing("lbr"))
		SKIP(return, "no branch records");
	config.flags = HWPROF_CONFIG_EXCLUDE_HV;
	/* A tick of a debug kernel has thousands of branches. */
	config.period = 10007;
	session = device_open(&config);
	ASSERT_LE(0, session);
	attr = device_feeder(&config);
	attr.exclude_kernel = 0;
	child = child_start(run_long, NULL);
	fd = event_open(&attr, child.pid, -1, -1, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_SET_FILTER,
			   "filter 0x1000/0x1000"));
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	ASSERT_EQ(0, device_snapshot(session, 1 << 16, &tally));
	EXPECT_NE(0, tally.totals.windows);
	EXPECT_EQ(0, tally.totals.produced);
	EXPECT_EQ(0, tally.totals.events);
	EXPECT_EQ(0, tally.totals.gaps);
	EXPECT_EQ(0, tally.totals.lost_events);
	close(fd);
	close(session);
	EXPECT_TRUE(event_sessions_are(0));
}
#endif

TEST_HARNESS_MAIN
