// SPDX-License-Identifier: GPL-2.0-only
/* Rings of /dev/hwprof: rows that come by themselves, and readers of all kinds. */
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

enum { PAGE = 4096, BIG = 1 << 20, BUFFER = 1 << 20 };

FIXTURE(ring)
{
	struct hwprof_config config;
	int fd;
	struct hwprof_ring_page *page;
	size_t size;
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

FIXTURE_SETUP(ring)
{
	ASSERT_TRUE(event_sessions_are(0));
	/* Where that is slow, flushes take longer than an interval. */
	self->config = device_config(EVENT_LOOPS | EVENT_MEMORY(4));
	self->config.config1 = EVENT_INTERVAL(10);
	self->fd = device_open(&self->config);
	ASSERT_LE(0, self->fd);
	self->tally.see = see_known;
	self->tally.context = self;
}

FIXTURE_TEARDOWN(ring)
{
	recording_close(&self->events);
	if (self->page)
		munmap(self->page, PAGE + self->size);
	close(self->fd);
	EXPECT_TRUE(event_sessions_are(0));
}

static void make_ring(struct __test_metadata *_metadata,
		      FIXTURE_DATA(ring) *self, size_t size, size_t watermark)
{
	self->size = size;
	ASSERT_EQ(0, device_ring(self->fd, size, watermark));
	self->page = device_map(self->fd, size);
	ASSERT_NE(NULL, self->page);
	EXPECT_EQ(HWPROF_RING_VERSION, self->page->version);
	EXPECT_EQ(size, self->page->data_size);
	EXPECT_EQ(PAGE, self->page->data_offset);
	EXPECT_EQ(1024, offsetof(struct hwprof_ring_page, data_head));
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

/* Until all that the events have counted is there, or nothing more comes. */
static void drain_all(FIXTURE_DATA(ring) *self)
{
	struct pollfd poll_fd = { self->fd, POLLIN, 0 };

	while (self->tally.period < recording_count(&self->events) &&
	       poll(&poll_fd, 1, 10000) == 1)
		device_drain(self->page, &self->tally);
	device_drain(self->page, &self->tally);
}

/* The same without the file, which says when. */
static void drain_mapping(FIXTURE_DATA(ring) *self)
{
	int try;

	for (try = 0; try < 1000; try++) {
		device_drain(self->page, &self->tally);
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
	EXPECT_FALSE(self->tally.broken);
	EXPECT_FALSE(self->tally.mixed);
}

TEST_F(ring, refusals)
{
	int other = open(HWPROF_DEVICE, O_RDWR);

	EXPECT_EQ(-ENODATA, device_ring(other, PAGE, 0));
	EXPECT_EQ(NULL, device_map(other, PAGE));
	EXPECT_EQ(ENODATA, errno);
	close(other);
	EXPECT_EQ(-EINVAL, device_ring(self->fd, 0, 0));
	EXPECT_EQ(-EINVAL, device_ring(self->fd, PAGE / 2, 0));
	EXPECT_EQ(-EINVAL, device_ring(self->fd, 3 * PAGE, 0));
	EXPECT_EQ(-EINVAL, device_ring(self->fd, 2UL << 30, 0));
	EXPECT_EQ(-EINVAL, device_ring(self->fd, PAGE, PAGE + 1));
	EXPECT_EQ(0, device_ring(self->fd, PAGE, 0));
	EXPECT_EQ(-EBUSY, device_ring(self->fd, PAGE, 0));
	EXPECT_EQ(NULL, device_map(self->fd, 2 * PAGE));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(NULL, device_map(self->fd, 0));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, PAGE, PROT_READ, MAP_SHARED, self->fd,
				   PAGE));
	EXPECT_EQ(MAP_FAILED, mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE, self->fd, 0));
}

TEST_F(ring, rows_come)
{
	struct child child;

	make_ring(_metadata, self, BIG, 0);
	child = start(_metadata, self);
	drain_all(self);
	waitpid(child.pid, NULL, 0);
	drain_all(self);
	check(_metadata, self);
	EXPECT_EQ(0, self->page->waited);
}

/* Of a page: rows wait for room, and add up meanwhile. */
TEST_F(ring, small)
{
	struct child child;

	make_ring(_metadata, self, PAGE, 0);
	child = start(_metadata, self);
	waitpid(child.pid, NULL, 0);
	EXPECT_LT(0, self->page->waited);
	drain_all(self);
	check(_metadata, self);
}

/* What finds no room in the ring can be fetched, too; each row comes once. */
TEST_F(ring, and_snapshots)
{
	struct child child;

	make_ring(_metadata, self, PAGE, 0);
	child = start(_metadata, self);
	while (waitpid(child.pid, NULL, WNOHANG) == 0) {
		EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &self->tally));
		device_drain(self->page, &self->tally);
	}
	EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &self->tally));
	device_drain(self->page, &self->tally);
	check(_metadata, self);
}

TEST_F(ring, watermark)
{
	struct pollfd poll_fd = { self->fd, POLLIN, 0 };
	struct epoll_event event = { .events = EPOLLIN };
	int epoll = epoll_create1(EPOLL_CLOEXEC);
	struct child child;

	EXPECT_EQ(1, poll(&poll_fd, 1, 0));
	EXPECT_EQ(POLLERR, poll_fd.revents);	/* there is no ring */
	make_ring(_metadata, self, BIG, 3 * PAGE);
	ASSERT_EQ(0, epoll_ctl(epoll, EPOLL_CTL_ADD, self->fd, &event));
	EXPECT_EQ(0, poll(&poll_fd, 1, 0));
	EXPECT_EQ(0, epoll_wait(epoll, &event, 1, 0));
	child = start(_metadata, self);
	EXPECT_EQ(1, epoll_wait(epoll, &event, 1, -1));
	EXPECT_EQ(EPOLLIN, event.events);
	EXPECT_LE(3 * PAGE, self->page->data_head);
	EXPECT_EQ(1, poll(&poll_fd, 1, 0));
	waitpid(child.pid, NULL, 0);
	close(epoll);
}

/* A tail from anywhere: the reader has nothing of it, and the kernel no harm. */
TEST_F(ring, hostile_reader)
{
	struct child child;
	unsigned int seed = 1;

	make_ring(_metadata, self, PAGE, 0);
	child = start(_metadata, self);
	while (waitpid(child.pid, NULL, WNOHANG) == 0) {
		memset(self->page, rand_r(&seed), 2 * PAGE);
		self->page->data_tail = ((uint64_t)rand_r(&seed) << 32) *
					rand_r(&seed);
	}
}

/* --- the mapping's ways ------------------------------------------------------------- */

TEST_F(ring, closed_file)
{
	struct child child;

	make_ring(_metadata, self, BIG, 0);
	child = start(_metadata, self);
	close(self->fd);
	self->fd = -1;
	waitpid(child.pid, NULL, 0);
	drain_mapping(self);
	check(_metadata, self);
	EXPECT_EQ(1, event_sessions());		/* who maps it has it open */
}

TEST_F(ring, unmapped_while_running)
{
	struct child child;
	int i;

	make_ring(_metadata, self, BIG, 0);
	child = start(_metadata, self);
	for (i = 0; i < 20; i++) {
		usleep(5000);
		device_drain(self->page, &self->tally);
		munmap(self->page, PAGE + self->size);
		self->page = device_map(self->fd, self->size);
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

	make_ring(_metadata, self, BIG, 0);
	EXPECT_EQ(MAP_FAILED, mremap(self->page, PAGE + BIG, PAGE + 2 * BIG,
				     MREMAP_MAYMOVE));
	room = mmap(NULL, PAGE + BIG, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	child = start(_metadata, self);
	moved = mremap(self->page, PAGE + BIG, PAGE + BIG,
		       MREMAP_MAYMOVE | MREMAP_FIXED, room);
	ASSERT_EQ(room, moved);
	self->page = moved;
	waitpid(child.pid, NULL, 0);
	drain_all(self);
	check(_metadata, self);
}

/* A child reads what its parent has mapped. */
TEST_F(ring, forked_reader)
{
	struct child child;
	int status;
	pid_t pid;

	make_ring(_metadata, self, BIG, 0);
	child = start(_metadata, self);
	waitpid(child.pid, NULL, 0);
	pid = fork();
	if (!pid) {
		drain_all(self);
		_exit(self->inner_back != runs() * KNOWN_INNER_BACK);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(self->page->data_head, self->page->data_tail);
}

static void run_until_told(void *told)
{
	while (!__atomic_load_n((int *)told, __ATOMIC_RELAXED))
		run_often((void *)known_program());
}

static const char CPU1[] = "/sys/devices/system/cpu/cpu1/online";

/* A CPU goes, with what it has learnt, and comes back. */
TEST_F(ring, cpus_that_go)
{
	int *told = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct child child;
	int i;

	if (access(CPU1, W_OK))
		SKIP(return, "no CPU can go");
	make_ring(_metadata, self, BIG, 0);
	child = start_to(_metadata, self, run_until_told, told);
	for (i = 0; i < 3; i++) {
		EXPECT_EQ(0, text_write(CPU1, "0"));
		usleep(50000);
		device_drain(self->page, &self->tally);
		EXPECT_EQ(0, text_write(CPU1, "1"));
		usleep(50000);
		device_drain(self->page, &self->tally);
	}
	__atomic_store_n(told, 1, __ATOMIC_RELAXED);
	waitpid(child.pid, NULL, 0);
	drain_all(self);
	EXPECT_LT(0, self->outer_entries);
	EXPECT_EQ((uint64_t)self->outer_entries * KNOWN_INNER_BACK,
		  self->inner_back);
	EXPECT_EQ(recording_count(&self->events), self->tally.period);
	EXPECT_FALSE(self->tally.broken);
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
	if (device_ring(fd, PAGE, 0) || !device_map(fd, PAGE) ||
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

/* It counts as locked memory, and is given back. */
TEST_F(ring, memory)
{
	struct rlimit limit = { 3 << 20, 3 << 20 };
	struct hwprof_config config;
	int i, fd;

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	for (i = 0; i < 10; i++) {
		config = device_config(EVENT_LOOPS);
		fd = device_open(&config);
		ASSERT_LE(0, fd);
		EXPECT_EQ(-ENOMEM, device_ring(fd, 2 << 20, 0));
		EXPECT_EQ(0, device_ring(fd, 1 << 20, 0));
		close(fd);
		EXPECT_TRUE(event_sessions_are(1));
	}
}

TEST_HARNESS_MAIN
