// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings of /dev/hwprof: rows that arrive by themselves, and all kinds of
 * readers.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "device.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

static const char CPU1[] = "/sys/devices/system/cpu/cpu1/online";

enum { PAGE = 4096, BIG = 1 << 20, BUFFER = 1 << 20 };

FIXTURE(ring)
{
	struct hwprof_config config;
	int fd;
	struct hwprof_ring_page *page;	/* the first ring */
	size_t size;
	int rings;
	struct recording events;
	struct tally tally;
	uint64_t inner_back;
	int64_t outer_entries;
};

static void see_known(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_loop *loop = (const void *)sample->row;
	FIXTURE_DATA(ring) *self = tally->context;

	if (loop->head == KNOWN_INNER_HEAD)
		self->inner_back += loop->back_edges;
	else if (loop->head == KNOWN_OUTER_HEAD)
		self->outer_entries += loop->entries;
}

/* Returns the size of all rings. */
static size_t all_bytes(const FIXTURE_DATA(ring) *self)
{
	return self->rings * (PAGE + self->size);
}

static void open_session(struct __test_metadata *_metadata,
			 FIXTURE_DATA(ring) *self, unsigned int interval_ms)
{
	self->config = device_config(EVENT_LOOPS | EVENT_MEMORY(4));
	self->config.config1 = EVENT_INTERVAL(interval_ms);
	self->fd = device_open(&self->config);
	ASSERT_LE(0, self->fd);
}

/* Reopens the session so that rows come only when programs end. */
static void reopen_for_ends(struct __test_metadata *_metadata,
			    FIXTURE_DATA(ring) *self)
{
	close(self->fd);
	open_session(_metadata, self, 60000);
}

FIXTURE_SETUP(ring)
{
	ASSERT_TRUE(event_sessions_are(0));
	/* On slow machines, flushes take longer than an interval. */
	open_session(_metadata, self, 10);
	self->tally.see = see_known;
	self->tally.context = self;
}

FIXTURE_TEARDOWN(ring)
{
	recording_close(&self->events);
	if (self->page)
		munmap(self->page, all_bytes(self));
	close(self->fd);
	EXPECT_TRUE(event_sessions_are(0));
}

static void make_rings(struct __test_metadata *_metadata,
		       FIXTURE_DATA(ring) *self, size_t size, size_t watermark)
{
	int i;

	self->size = size;
	self->rings = device_ring(self->fd, size, watermark);
	ASSERT_LE(sysconf(_SC_NPROCESSORS_CONF), self->rings);
	self->page = device_map(self->fd, size, self->rings);
	ASSERT_NE(NULL, self->page);
	EXPECT_EQ(1024, offsetof(struct hwprof_ring_page, data_head));
	for (i = 0; i < self->rings; i++) {
		struct hwprof_ring_page *page = device_nth(self->page, i);

		EXPECT_EQ(HWPROF_RING_VERSION, page->version);
		EXPECT_EQ(size, page->data_size);
		EXPECT_EQ(PAGE, page->data_offset);
	}
}

static void drain(FIXTURE_DATA(ring) *self)
{
	device_drain(self->page, self->rings, &self->tally);
}

static bool is_empty(const FIXTURE_DATA(ring) *self)
{
	int i;

	for (i = 0; i < self->rings; i++) {
		const struct hwprof_ring_page *page = device_nth(self->page, i);

		if (page->data_head != page->data_tail)
			return false;
	}
	return true;
}

/* Returns how often rows found no room, in all rings. */
static uint64_t waited(const FIXTURE_DATA(ring) *self)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < self->rings; i++)
		sum += device_nth(self->page, i)->waited;
	return sum;
}

static unsigned int runs(void)
{
	return fewer_times(6);
}

static void run_often(void *program)
{
	unsigned int i;
	pid_t pid;

	for (i = 0; i < runs(); i++) {
		pid = fork();
		if (!pid) {
			execl(program, "known", NULL);
			_exit(98);
		}
		waitpid(pid, NULL, 0);
	}
}

static struct child start_to(struct __test_metadata *_metadata,
			     FIXTURE_DATA(ring) *self,
			     void (*run)(void *context), void *context)
{
	struct child child = child_start(run, context);
	struct perf_event_attr attr = device_feeder(&self->config);

	EXPECT_EQ(0, recording_open(&self->events, &attr, child.pid, 0, NULL));
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	return child;
}

static struct child start(struct __test_metadata *_metadata,
			  FIXTURE_DATA(ring) *self)
{
	return start_to(_metadata, self, run_often, (void *)known_program());
}

/*
 * Reads until everything that the events counted has come, or nothing more
 * comes.
 */
static void drain_all(FIXTURE_DATA(ring) *self)
{
	struct pollfd poll_fd = { self->fd, POLLIN, 0 };

	while (self->tally.period < recording_count(&self->events) &&
	       poll(&poll_fd, 1, 10000) == 1)
		drain(self);
	drain(self);
}

/* Does the same without the file, which would tell when to read. */
static void drain_mapping(FIXTURE_DATA(ring) *self)
{
	int try;

	for (try = 0; try < 1000; try++) {
		drain(self);
		if (self->tally.period == recording_count(&self->events))
			break;
		usleep(10000);
	}
}

static void check(struct __test_metadata *_metadata, FIXTURE_DATA(ring) *self)
{
	EXPECT_EQ(runs() * KNOWN_INNER_BACK, self->inner_back);
	EXPECT_EQ(runs(), self->outer_entries);
	EXPECT_EQ(recording_count(&self->events), self->tally.period);
	EXPECT_FALSE(self->tally.mixed);
}

/* Returns 0 or a negative errno. */
static int map_at(int fd, size_t size, long offset, int flags)
{
	void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, fd, offset);

	if (map == MAP_FAILED)
		return -errno;
	munmap(map, size);
	return 0;
}

TEST_F(ring, refusals)
{
	int other = open(HWPROF_DEVICE, O_RDWR), rings;

	EXPECT_EQ(-ENODATA, device_ring(other, PAGE, 0));
	EXPECT_EQ(NULL, device_map(other, PAGE, 1));
	EXPECT_EQ(ENODATA, errno);
	close(other);
	EXPECT_EQ(-EINVAL, device_ring(self->fd, 0, 0));
	EXPECT_EQ(-EINVAL, device_ring(self->fd, PAGE / 2, 0));
	EXPECT_EQ(-EINVAL, device_ring(self->fd, 3 * PAGE, 0));
	EXPECT_EQ(-EINVAL, device_ring(self->fd, 2UL << 30, 0));
	EXPECT_EQ(-EINVAL, device_ring(self->fd, PAGE, PAGE + 1));
	rings = device_ring(self->fd, PAGE, 0);
	ASSERT_LT(0, rings);
	EXPECT_EQ(-EBUSY, device_ring(self->fd, PAGE, 0));
	EXPECT_EQ(NULL, device_map(self->fd, 2 * PAGE, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, device_map(self->fd, 0, 1));
	EXPECT_EQ(NULL, device_map(self->fd, PAGE, rings + 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-EINVAL, map_at(self->fd, 2 * PAGE, PAGE, MAP_SHARED));
	EXPECT_EQ(-EINVAL, map_at(self->fd, 2 * PAGE, rings * 2 * PAGE,
				  MAP_SHARED));
	EXPECT_EQ(-EINVAL, map_at(self->fd, 2 * PAGE, 1L << 52, MAP_SHARED));
	EXPECT_EQ(-EINVAL, map_at(self->fd, 2 * PAGE, 0, MAP_PRIVATE));
	EXPECT_EQ(0, map_at(self->fd, 2 * PAGE, (rings - 1) * 2 * PAGE,
			    MAP_SHARED));
}

TEST_F(ring, rows_come)
{
	struct child child;

	make_rings(_metadata, self, BIG, 0);
	child = start(_metadata, self);
	drain_all(self);
	waitpid(child.pid, NULL, 0);
	drain_all(self);
	check(_metadata, self);
	EXPECT_EQ(0, waited(self));
}

static void run_there(void *cpu)
{
	stay_on(*(int *)cpu);
	execl(known_program(), "known", NULL);
	_exit(98);
}

/* The rows of a program come through the ring of the CPU on which it ends. */
TEST_F(ring, of_each_cpu)
{
	struct child child;
	int cpu;

	if (access(CPU1, W_OK))
		SKIP(return, "there is one CPU");
	reopen_for_ends(_metadata, self);
	make_rings(_metadata, self, BIG, 0);
	for (cpu = 0; cpu < 2; cpu++) {
		child = start_to(_metadata, self, run_there, &cpu);
		waitpid(child.pid, NULL, 0);
		recording_close(&self->events);
		device_drain(device_nth(self->page, cpu), 1, &self->tally);
		EXPECT_EQ((cpu + 1) * KNOWN_INNER_BACK, self->inner_back);
		EXPECT_TRUE(is_empty(self));
	}
}

/* A ring of one page: rows wait for room, and add up meanwhile. */
TEST_F(ring, small)
{
	struct child child;

	make_rings(_metadata, self, PAGE, 0);
	child = start(_metadata, self);
	waitpid(child.pid, NULL, 0);
	EXPECT_LT(0, waited(self));
	drain_all(self);
	check(_metadata, self);
}

/* Rows without room in the ring can also be fetched. Each row comes once. */
TEST_F(ring, and_snapshots)
{
	struct child child;

	make_rings(_metadata, self, PAGE, 0);
	child = start(_metadata, self);
	while (waitpid(child.pid, NULL, WNOHANG) == 0) {
		EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &self->tally));
		drain(self);
	}
	EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &self->tally));
	drain(self);
	check(_metadata, self);
}

static void run_until_told(void *told)
{
	while (!__atomic_load_n((int *)told, __ATOMIC_RELAXED))
		run_often((void *)known_program());
}

static void tell(int *told)
{
	__atomic_store_n(told, 1, __ATOMIC_RELAXED);
}

static void run_on_first_until_told(void *told)
{
	stay_on(0);
	run_until_told(told);
}

TEST_F(ring, watermark)
{
	struct pollfd poll_fd = { self->fd, POLLIN, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	int *told = shared_memory(sizeof(*told));
	struct child child;

	EXPECT_EQ(1, poll(&poll_fd, 1, 0));
	EXPECT_EQ(POLLERR, poll_fd.revents);	/* there is no ring yet */
	reopen_for_ends(_metadata, self);
	poll_fd.fd = self->fd;
	make_rings(_metadata, self, BIG, 3 * PAGE);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &event));
	EXPECT_EQ(0, poll(&poll_fd, 1, 0));
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	child = start_to(_metadata, self, run_on_first_until_told, told);
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, -1));
	EXPECT_EQ(EPOLLIN, event.events);
	EXPECT_LE(3 * PAGE, self->page->data_head);
	EXPECT_EQ(1, poll(&poll_fd, 1, 0));
	tell(told);
	waitpid(child.pid, NULL, 0);
	close(epoll);
}

/* An arbitrary tail gains the reader nothing, and does not harm the kernel. */
TEST_F(ring, hostile_reader)
{
	struct child child;
	unsigned int seed = 1;
	char *at;

	make_rings(_metadata, self, PAGE, 0);
	child = start(_metadata, self);
	while (waitpid(child.pid, NULL, WNOHANG) == 0) {
		at = (char *)self->page +
		     rand_r(&seed) % self->rings * 2 * PAGE;
		memset(at, rand_r(&seed), 2 * PAGE);
		((struct hwprof_ring_page *)at)->data_tail =
			((uint64_t)rand_r(&seed) << 32) * rand_r(&seed);
	}
}

/* --- lifetime of the mapping ---------------------------------------------- */

TEST_F(ring, closed_file)
{
	struct child child;

	make_rings(_metadata, self, BIG, 0);
	child = start(_metadata, self);
	close(self->fd);
	self->fd = -1;
	waitpid(child.pid, NULL, 0);
	drain_mapping(self);
	check(_metadata, self);
	EXPECT_EQ(1, event_sessions());		/* the mapping keeps the file
					 * open */
}

TEST_F(ring, unmapped_while_running)
{
	struct child child;
	int i;

	make_rings(_metadata, self, BIG, 0);
	child = start(_metadata, self);
	for (i = 0; i < 20; i++) {
		usleep(5000);
		drain(self);
		munmap(self->page, all_bytes(self));
		self->page = device_map(self->fd, self->size, self->rings);
		ASSERT_NE(NULL, self->page);
	}
	waitpid(child.pid, NULL, 0);
	drain_all(self);
	check(_metadata, self);
}

TEST_F(ring, mremap)
{
	void *moved, *room;
	struct child child;
	size_t bytes;

	make_rings(_metadata, self, BIG, 0);
	bytes = all_bytes(self);
	EXPECT_EQ(MAP_FAILED, mremap(self->page, bytes, bytes + PAGE + BIG,
				     MREMAP_MAYMOVE));
	room = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	child = start(_metadata, self);
	moved = mremap(self->page, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED,
		       room);
	ASSERT_EQ(room, moved);
	self->page = moved;
	waitpid(child.pid, NULL, 0);
	drain_all(self);
	check(_metadata, self);
}

/* A child reads the rings that its parent mapped. */
TEST_F(ring, forked_reader)
{
	struct child child;
	int status;
	pid_t pid;

	make_rings(_metadata, self, BIG, 0);
	child = start(_metadata, self);
	waitpid(child.pid, NULL, 0);
	pid = fork();
	if (!pid) {
		drain_all(self);
		_exit(self->inner_back != runs() * KNOWN_INNER_BACK);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_TRUE(is_empty(self));
}

/* A CPU goes, with its counts, and returns. */
TEST_F(ring, cpus_that_go)
{
	int *told = shared_memory(sizeof(*told)), i;
	struct child child;

	if (access(CPU1, W_OK))
		SKIP(return, "no CPU can go");
	make_rings(_metadata, self, BIG, 0);
	child = start_to(_metadata, self, run_until_told, told);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, text_write(CPU1, "0"));
		usleep(50000);
		drain(self);
		EXPECT_EQ(0, text_write(CPU1, "1"));
		usleep(50000);
		drain(self);
	}
	tell(told);
	waitpid(child.pid, NULL, 0);
	drain_all(self);
	EXPECT_LT(0, self->outer_entries);
	EXPECT_EQ((uint64_t)self->outer_entries * KNOWN_INNER_BACK,
		  self->inner_back);
	EXPECT_EQ(recording_count(&self->events), self->tally.period);
	EXPECT_FALSE(self->tally.mixed);
}

static void record_until_killed(void)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);
	struct perf_event_attr attr;
	int fd;

	config.config1 = EVENT_INTERVAL(10);
	fd = device_open(&config);
	attr = device_feeder(&config);
	attr.disabled = 0;
	if (device_ring(fd, PAGE, 0) < 0 || !device_map(fd, PAGE, 1) ||
	    event_open(&attr, 0, -1, -1, 0) < 0)
		_exit(1);
	for (;;)
		known_run();
}

TEST_F(ring, killed_owner)
{
	int i, status;

	for (i = 0; i < 10; i++) {
		pid_t pid = fork();

		if (!pid)
			record_until_killed();
		usleep(20000 + 1000 * i);
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
		EXPECT_EQ(SIGKILL, WTERMSIG(status));
	}
	EXPECT_TRUE(event_sessions_are(1));
}

/* Rings count as locked memory, which is returned. */
TEST_F(ring, memory)
{
	struct rlimit limit = { 3 << 20, 3 << 20 };
	struct hwprof_config config;
	size_t size = 1 << 20;
	int i, fd, cpus;

	for (cpus = sysconf(_SC_NPROCESSORS_CONF); cpus > 1;
	     cpus = (cpus + 1) / 2)
		size /= 2;
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	for (i = 0; i < 10; i++) {
		config = device_config(EVENT_LOOPS);
		fd = device_open(&config);
		ASSERT_LE(0, fd);
		EXPECT_EQ(-ENOMEM, device_ring(fd, 2 << 20, 0));
		EXPECT_LT(0, device_ring(fd, size, 0));
		close(fd);
		EXPECT_TRUE(event_sessions_are(1));
	}
}

TEST_HARNESS_MAIN
