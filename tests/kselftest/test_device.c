// SPDX-License-Identifier: GPL-2.0-only
/* /dev/hwprof: refusals, who may feed a session, and what a session reports. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "device.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

enum { BUFFER = 1 << 20, PAGE = 4096 };

/* --- refusals ------------------------------------------------------------- */

static int try_config(struct hwprof_config config)
{
	int fd = device_open(&config);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_fields(uint64_t config, uint64_t config1, uint64_t config2)
{
	struct hwprof_config asked = device_config(config);

	asked.config1 = config1;
	asked.config2 = config2;
	return try_config(asked);
}

TEST(fields)
{
	EXPECT_EQ(0, try_fields(EVENT_LOOPS, 0, 0));
	EXPECT_EQ(0, try_fields(EVENT_LOOPS | EVENT_ROWS, 0, 0));
	EXPECT_EQ(0, try_fields(EVENT_RANGES, 0, 0));
	EXPECT_EQ(0, try_fields(EVENT_CALLS, 0, 0));
	EXPECT_EQ(0, try_fields(EVENT_CCT, 0, 0));
	EXPECT_EQ(0, try_fields(EVENT_PATHS, 0, 0));
	EXPECT_EQ(0, try_fields(EVENT_VALUES, 0, 0));
	EXPECT_EQ(0, try_fields(EVENT_EDGES, 0, 0));
	EXPECT_EQ(0, try_fields(EVENT_LOOPS | EVENT_EDGES, 0, 0));
	EXPECT_EQ(-EOPNOTSUPP, try_fields(EVENT_BRANCHES, 0, 0));
	EXPECT_EQ(-EINVAL, try_fields(0, 0, 0));
	EXPECT_EQ(-EINVAL, try_fields(EVENT_LOOPS | EVENT_VALUES, 0, 0));
	EXPECT_EQ(-EINVAL, try_fields(EVENT_LOOPS, 1 << 30, 0));
	EXPECT_EQ(-EINVAL, try_fields(EVENT_LOOPS, 0, 1));
	EXPECT_EQ(-EINVAL, try_fields(EVENT_LOOPS, 0, 1ULL << 32));
	EXPECT_EQ(-EOPNOTSUPP, try_fields(EVENT_LOOPS | 1 << 11, 0, 0));
}

TEST(config_words)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);
	int bit;

	config.session = 1;
	EXPECT_EQ(-EINVAL, try_config(config));
	config = device_config(EVENT_LOOPS);
	config.reserved = 1;
	EXPECT_EQ(-EINVAL, try_config(config));
	for (bit = 7; bit < 32; bit++) {
		config = device_config(EVENT_LOOPS);
		config.flags |= 1U << bit;
		EXPECT_EQ(-EINVAL, try_config(config));
	}
	config = device_config(EVENT_LOOPS);
	config.flags = HWPROF_CONFIG_EXCLUDE_USER;
	EXPECT_EQ(-EOPNOTSUPP, try_config(config));
	/* A period makes no sense if every branch is seen. */
	config = device_config(EVENT_LOOPS);
	config.period = 1000;
	EXPECT_EQ(-EINVAL, try_config(config));
	config = device_config(EVENT_RANGES | EVENT_SAMPLE);
	config.flags |= HWPROF_CONFIG_FREQ;
	EXPECT_EQ(-EINVAL, try_config(config));
	config.period = 100;
	EXPECT_EQ(0, try_config(config));
}

/* A caller may know less than the kernel, or more if the rest is 0. */
TEST(sizes)
{
	struct {
		struct hwprof_config config;
		uint64_t more[4];
	} big = { .config = device_config(EVENT_LOOPS) };
	int fd;

	big.config.size = 0;
	EXPECT_EQ(-EINVAL, try_config(big.config));
	big.config.size = HWPROF_CONFIG_SIZE_VER0 - 1;
	EXPECT_EQ(-EINVAL, try_config(big.config));
	big.config.size = PAGE + 1;
	EXPECT_EQ(-E2BIG, device_open(&big.config));
	EXPECT_EQ(sizeof(big.config), big.config.size);
	big.config.size = sizeof(big);
	fd = device_open(&big.config);
	EXPECT_LE(0, fd);
	close(fd);
	big.config.session = 0;
	big.more[3] = 1;
	EXPECT_EQ(-E2BIG, device_open(&big.config));
	EXPECT_EQ(sizeof(big.config), big.config.size);
	EXPECT_EQ(HWPROF_CONFIG_SIZE_VER0, sizeof(struct hwprof_config));
	EXPECT_EQ(HWPROF_SNAPSHOT_SIZE_VER0, sizeof(struct hwprof_snapshot));
}

TEST(ioctls)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);
	int fd = open(HWPROF_DEVICE, O_RDWR);
	static char buffer[PAGE];
	struct hwprof_snapshot snapshot = {
		.size = sizeof(snapshot),
		.buffer = (uintptr_t)buffer,
		.buffer_size = sizeof(buffer),
	};
	bool more;

	ASSERT_LE(0, fd);
	EXPECT_EQ(-ENODATA, device_read(fd, buffer, PAGE, &more));
	EXPECT_EQ(-ENODATA, device_reset(fd));
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_CONFIG, NULL));
	EXPECT_EQ(EFAULT, errno);
	ASSERT_EQ(0, ioctl(fd, HWPROF_IOC_CONFIG, &config));
	EXPECT_NE(0, config.session);
	config.session = 0;
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_CONFIG, &config));
	EXPECT_EQ(EBUSY, errno);
	EXPECT_EQ(-EMSGSIZE, device_read(fd, buffer, PAGE - 1, &more));
	EXPECT_EQ(-EFAULT, device_read(fd, NULL, PAGE, &more));
	snapshot.flags = 1;
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_SNAPSHOT, &snapshot));
	EXPECT_EQ(EINVAL, errno);
	snapshot.flags = 0;
	snapshot.reserved = 1;
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_SNAPSHOT, &snapshot));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_RESET, 1));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, _IO('$', 0x7f), 0));
	EXPECT_EQ(ENOTTY, errno);
	EXPECT_EQ(-1, read(fd, buffer, 1));
	EXPECT_EQ(0, device_reset(fd));
	close(fd);
}

/* --- who may feed a session ----------------------------------------------- */

FIXTURE(device)
{
	struct hwprof_config config;
	int fd;
	struct recording events;
	struct tally tally;
	uint64_t inner_back, outer_back;
	int64_t inner_entries, outer_entries;
	uint32_t pid;
	bool foreign;
};

static void see_known(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_loop *loop = (const void *)sample->row;
	FIXTURE_DATA(device) *self = tally->context;

	if (loop->head == KNOWN_INNER_HEAD) {
		self->inner_back += loop->back_edges;
		self->inner_entries += loop->entries;
	} else if (loop->head == KNOWN_OUTER_HEAD) {
		self->outer_back += loop->back_edges;
		self->outer_entries += loop->entries;
	} else {
		return;
	}
	if (self->pid && self->pid != sample->pid)
		self->foreign = true;
}

FIXTURE_SETUP(device)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->config = device_config(EVENT_LOOPS | EVENT_MEMORY(4));
	self->fd = device_open(&self->config);
	ASSERT_LE(0, self->fd);
	self->tally.see = see_known;
	self->tally.context = self;
	EXPECT_EQ(1, event_sessions());
}

FIXTURE_TEARDOWN(device)
{
	recording_close(&self->events);
	close(self->fd);
	EXPECT_TRUE(event_sessions_are(0));
}

TEST_F(device, feeders)
{
	struct perf_event_attr attr = device_feeder(&self->config);

	EXPECT_EQ(0, event_try(attr));
	attr.config = EVENT_LOOPS | EVENT_ROWS | EVENT_MEMORY(4);
	EXPECT_EQ(0, event_try(attr));
	attr.config = EVENT_CALLS;
	EXPECT_EQ(-EINVAL, event_try(attr));
	attr.config = EVENT_MEMORY(5);
	EXPECT_EQ(-EINVAL, event_try(attr));
	attr.config = EVENT_EDGES;
	EXPECT_EQ(-EINVAL, event_try(attr));
	attr.config = 0;
	attr.config1 = 200;
	EXPECT_EQ(-EINVAL, event_try(attr));
	attr.config1 = 0;
	attr.sample_period = 1;
	EXPECT_EQ(-EINVAL, event_try(attr));
	attr.sample_period = 0;
	attr.exclude_kernel = 0;
	EXPECT_EQ(-EINVAL, event_try(attr));
	attr.exclude_kernel = 1;
	attr.exclude_hv = 0;
	EXPECT_EQ(-EINVAL, event_try(attr));
	attr.exclude_hv = 1;
	attr.precise_ip = 1;
	EXPECT_EQ(-EOPNOTSUPP, event_try(attr));
	attr.precise_ip = 0;
	attr.inherit = 0;
	EXPECT_EQ(0, event_try(attr));
	EXPECT_EQ(1, event_sessions());
}

TEST_F(device, nobodys_number)
{
	struct perf_event_attr attr = device_feeder(&self->config);
	struct perf_event_attr own = event_attr(EVENT_LOOPS);
	int fd;

	attr.config2 += 1ULL << 32;
	EXPECT_EQ(-EPERM, event_try(attr));
	attr.config2 = ~0ULL << 32;
	EXPECT_EQ(-EPERM, event_try(attr));
	/* Sessions of perf take no other events. */
	fd = event_open(&own, 0, -1, -1, 0);
	ASSERT_LE(0, fd);
	attr.config2 = (uint64_t)(self->config.session + 1) << 32;
	EXPECT_EQ(-EPERM, event_try(attr));
	close(fd);
}

/* A closed session takes none, either. */
TEST_F(device, closed_file)
{
	struct perf_event_attr attr = device_feeder(&self->config);
	int event = event_open(&attr, 0, -1, -1, 0);

	ASSERT_LE(0, event);
	close(self->fd);
	self->fd = -1;
	EXPECT_EQ(1, event_sessions());
	EXPECT_EQ(-EPERM, event_try(attr));
	close(event);
	EXPECT_TRUE(event_sessions_are(0));
}

/*
 * Neither a child nor another program in the same process may feed: it might be
 * sudo.
 */
TEST_F(device, another_process)
{
	struct perf_event_attr attr = device_feeder(&self->config);
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(event_try(attr) == -EPERM ? 0 : 1);
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
}

static const char FEED[] = "--feed";

/* test_device --feed NUMBER: exits with 0 if feeding is refused. */
static void __attribute__((constructor)) feed_as_asked(int count, char **words)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);

	if (count < 3 || strcmp(words[1], FEED))
		return;
	config.session = strtoul(words[2], NULL, 10);
	_exit(event_try(device_feeder(&config)) == -EPERM ? 0 : 1);
}

TEST_F(device, another_program)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);
	pid_t pid = fork();
	char number[16];
	int status, fd;

	if (!pid) {
		fd = open(HWPROF_DEVICE, O_RDWR);	/* stays open */
		if (ioctl(fd, HWPROF_IOC_CONFIG, &config) ||
		    event_try(device_feeder(&config)))
			_exit(2);
		snprintf(number, sizeof(number), "%u", config.session);
		execl("/proc/self/exe", "test_device", FEED, number, NULL);
		_exit(3);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
}

/* --- reports -------------------------------------------------------------- */

static int read_all(FIXTURE_DATA(device) *self, size_t size)
{
	return device_snapshot(self->fd, size, &self->tally);
}

/* Opens events on each CPU that feed the session from the child. */
static void feed(struct __test_metadata *_metadata, FIXTURE_DATA(device) *self,
		 struct child *child)
{
	struct perf_event_attr attr = device_feeder(&self->config);

	ASSERT_EQ(0, recording_open(&self->events, &attr, child->pid, 0, NULL));
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
}

static void run_known(struct __test_metadata *_metadata,
		      FIXTURE_DATA(device) *self)
{
	struct child child = child_known();
	int status;

	feed(_metadata, self, &child);
	child_go(&child);
	waitpid(child.pid, &status, 0);
	EXPECT_EQ(0, status);
	self->pid = child.pid;
}

static void check_known(struct __test_metadata *_metadata,
			FIXTURE_DATA(device) *self)
{
	EXPECT_EQ(KNOWN_INNER_BACK, self->inner_back);
	EXPECT_EQ(KNOWN_OUTER_BACK, self->outer_back);
	EXPECT_EQ(KNOWN_OUTER, self->inner_entries);
	EXPECT_EQ(1, self->outer_entries);
	EXPECT_FALSE(self->foreign);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(self->config.session, self->tally.session);
}

TEST_F(device, program)
{
	run_known(_metadata, self);
	EXPECT_EQ(0, read_all(self, BUFFER));
	check_known(_metadata, self);
	EXPECT_EQ(recording_count(&self->events), self->tally.period);
	EXPECT_EQ(4 << 20, self->tally.totals.memory);
}

/* Rows come once; totals come always. */
TEST_F(device, nothing_new)
{
	struct tally again = { 0 };

	run_known(_metadata, self);
	EXPECT_EQ(0, read_all(self, BUFFER));
	EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &again));
	EXPECT_EQ(0, again.samples);
	EXPECT_EQ(self->tally.period, again.totals.delivered);
}

TEST_F(device, small_buffers)
{
	run_known(_metadata, self);
	EXPECT_EQ(0, read_all(self, HWPROF_SNAPSHOT_MIN));
	check_known(_metadata, self);
}

/* A session whose events were closed may still be read. */
TEST_F(device, events_closed)
{
	run_known(_metadata, self);
	recording_close(&self->events);
	EXPECT_EQ(0, read_all(self, BUFFER));
	check_known(_metadata, self);
}

/* Rows that cannot be written completely come next time. */
TEST_F(device, bad_buffer)
{
	char *buffer = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	bool more;

	ASSERT_NE(MAP_FAILED, buffer);
	run_known(_metadata, self);
	mprotect(buffer + PAGE, PAGE, PROT_NONE);
	EXPECT_EQ(-EFAULT, device_read(self->fd, buffer + PAGE, PAGE, &more));
	EXPECT_EQ(-EFAULT,
		  device_read(self->fd, buffer + PAGE - 256, PAGE, &more));
	EXPECT_EQ(0, read_all(self, HWPROF_SNAPSHOT_MIN));
	check_known(_metadata, self);
	munmap(buffer, 2 * PAGE);
}

/* If the kernel cannot write the size, the rows come next time, too. */
TEST_F(device, bad_request)
{
	struct hwprof_snapshot *request =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *buffer = malloc(BUFFER);

	ASSERT_NE(MAP_FAILED, request);
	*request = (struct hwprof_snapshot){
		.size = sizeof(*request), .buffer = (uintptr_t)buffer,
		.buffer_size = BUFFER,
	};
	run_known(_metadata, self);
	mprotect(request, PAGE, PROT_READ);
	EXPECT_EQ(-1, ioctl(self->fd, HWPROF_IOC_SNAPSHOT, request));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, read_all(self, BUFFER));
	check_known(_metadata, self);
	munmap(request, PAGE);
	free(buffer);
}

static void run_twice(void *program)
{
	pid_t pid = fork();

	if (!pid) {
		execl(program, "known", NULL);
		_exit(98);
	}
	waitpid(pid, NULL, 0);
}

/* Perf's front and the device report the same for the same program. */
TEST_F(device, same_as_perf)
{
	struct child child = child_start(run_twice, (void *)known_program());
	struct perf_event_attr rows =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS | EVENT_MEMORY(4),
				    1);
	struct recording recording;
	struct tally tally = { 0 };

	/* The first one alone would see what it does before it waits. */
	child_await_sleep(&child);
	feed(_metadata, self, &child);
	ASSERT_EQ(0, recording_begin(&recording, &rows, &child, 64, &tally));
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	EXPECT_EQ(0, read_all(self, BUFFER));
	check_known(_metadata, self);
	EXPECT_TRUE(tally_is_whole(&tally));
	EXPECT_EQ(tally.totals.produced, self->tally.totals.produced);
	EXPECT_EQ(tally.period, self->tally.period);
	recording_close(&recording);
}

/* For each engine, the rows add up to the events' count. */
TEST(engines)
{
	static const uint64_t engines[] = {
		EVENT_LOOPS, EVENT_CALLS, EVENT_PATHS, EVENT_VALUES,
		EVENT_RANGES, EVENT_CCT, EVENT_LOOPS | EVENT_CALLS,
		EVENT_LOOPS | EVENT_CALLS | EVENT_PATHS | EVENT_CCT,
	};
	unsigned int i;

	for (i = 0; i < sizeof(engines) / sizeof(engines[0]); i++) {
		struct hwprof_config config =
			device_config(engines[i] | EVENT_MEMORY(8));
		struct child child = child_known();
		struct perf_event_attr attr;
		struct recording events;
		struct tally tally = { 0 };
		int fd = device_open(&config);

		ASSERT_LE(0, fd);
		attr = device_feeder(&config);
		ASSERT_EQ(0, recording_begin(&events, &attr, &child, 0, NULL));
		waitpid(child.pid, NULL, 0);
		EXPECT_EQ(0, device_snapshot(fd, HWPROF_SNAPSHOT_MIN, &tally));
		EXPECT_LT(0, tally.period);
		EXPECT_EQ(recording_count(&events), tally.period);
		EXPECT_TRUE(tally_is_whole(&tally)) {
			TH_LOG("of engine %u", i);
		}
		recording_close(&events);
		close(fd);
	}
}

/* Returns the number of programs, each of which runs twice. */
static unsigned int often(void)
{
	return fewer_times(12);
}

static void run_often(void *program)
{
	unsigned int i;

	for (i = 0; i < often(); i++)
		run_twice(program);
}

/*
 * Snapshots of programs that run and exit: nothing is missing or reported
 * twice.
 */
TEST_F(device, while_it_runs)
{
	struct child child = child_start(run_often, (void *)known_program());

	feed(_metadata, self, &child);
	child_go(&child);
	do {
		EXPECT_EQ(0, read_all(self, HWPROF_SNAPSHOT_MIN));
	} while (waitpid(child.pid, NULL, WNOHANG) == 0);
	EXPECT_EQ(0, read_all(self, BUFFER));
	EXPECT_EQ(often() * KNOWN_INNER_BACK, self->inner_back);
	EXPECT_EQ(often() * KNOWN_OUTER_BACK, self->outer_back);
	EXPECT_EQ(often() * KNOWN_OUTER, self->inner_entries);
	EXPECT_EQ(often(), self->outer_entries);
	EXPECT_TRUE(tally_is_whole(&self->tally));
}

/* Many programs in turn, between intervals, before a read. */
TEST_F(device, nobody_reads)
{
	struct child child = child_start(run_often, (void *)known_program());

	feed(_metadata, self, &child);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	EXPECT_EQ(0, read_all(self, BUFFER));
	EXPECT_EQ(often() * KNOWN_INNER_BACK, self->inner_back);
	EXPECT_EQ(often(), self->outer_entries);
	EXPECT_EQ(self->tally.totals.produced,
		  self->tally.period + self->tally.totals.evicted +
		  self->tally.totals.lost);
}

TEST_F(device, from_the_beginning)
{
	struct tally none = { 0 };

	run_known(_metadata, self);
	EXPECT_EQ(0, device_reset(self->fd));
	EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &none));
	EXPECT_EQ(0, none.samples);
	EXPECT_EQ(0, none.totals.produced);
	EXPECT_EQ(0, none.totals.events);
	recording_close(&self->events);
	run_known(_metadata, self);
	EXPECT_EQ(0, read_all(self, BUFFER));
	check_known(_metadata, self);
}

/* A reset in the middle of a snapshot also drops its unread rest. */
TEST_F(device, from_the_middle)
{
	static char buffer[HWPROF_SNAPSHOT_MIN];
	struct child child = child_start(run_often, (void *)known_program());
	bool more = false;

	feed(_metadata, self, &child);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	EXPECT_LT(0, device_read(self->fd, buffer, sizeof(buffer), &more));
	EXPECT_TRUE(more);
	EXPECT_EQ(0, device_reset(self->fd));
	recording_close(&self->events);
	run_known(_metadata, self);
	EXPECT_EQ(0, read_all(self, BUFFER));
	check_known(_metadata, self);
}

/*
 * The record of a process that has ended is free when its rows were fetched.
 * Freed again, it may be that of another process, which may be about to use it.
 */
TEST_F(device, ended_processes_are_forgotten_once)
{
	unsigned int calls;

	if (!calls_begin("hwprof:space_free"))
		SKIP(return, "no probes of functions");
	run_known(_metadata, self);
	EXPECT_EQ(0, read_all(self, BUFFER));
	calls = calls_so_far();
	EXPECT_LT(0, calls);
	EXPECT_EQ(0, read_all(self, BUFFER));
	EXPECT_EQ(calls, calls_so_far());
	calls_end();
}

static void run_in_a_child_and_on(void *file)
{
	close(*(int *)file);
	if (fork() == 0) {
		known_run();
		_exit(0);
	}
	wait(NULL);
	for (;;)
		known_run();
}

/* Nobody can fetch rows any more, so nothing is kept of a process's end. */
TEST_F(device, ended_processes_are_forgotten_without_a_reader)
{
	struct child child;
	int tries = 500;

	if (!calls_begin("hwprof:space_free"))
		SKIP(return, "no probes of functions");
	child = child_start(run_in_a_child_and_on, &self->fd);
	feed(_metadata, self, &child);
	child_go(&child);
	recording_read_until(&self->events, 2 * KNOWN_BACK);
	EXPECT_EQ(0, calls_so_far());
	close(self->fd);
	self->fd = -1;
	while (!calls_so_far() && tries--)
		usleep(10000);
	EXPECT_LT(0, calls_so_far());
	calls_end();
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
}

/* --- the file in other processes ------------------------------------------ */

TEST_F(device, inherited_file)
{
	struct tally rest = { 0 };
	pid_t pid;
	int status;

	run_known(_metadata, self);
	pid = fork();
	if (!pid) {
		close(self->events.fd[0]);
		_exit(read_all(self, BUFFER) ||
		      self->inner_back != KNOWN_INNER_BACK);
	}
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &rest));
	EXPECT_EQ(0, rest.samples);
	EXPECT_EQ(rest.totals.produced, rest.totals.delivered);
}

static void send_file(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(fd))] = { 0 };
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) != 1)
		perror("sending a file");
}

static int receive_file(int socket)
{
	int fd = -1;
	char byte, control[CMSG_SPACE(sizeof(fd))];
	struct iovec data = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};

	if (recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message))
		memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/*
 * Its creator is killed. The process that was given the file may read, but not
 * feed.
 */
TEST_F(device, passed_file)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);
	int sockets[2], status, fd;
	pid_t pid;

	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_STREAM, 0, sockets));
	pid = fork();
	if (!pid) {
		struct perf_event_attr attr;

		fd = device_open(&config);
		attr = device_feeder(&config);
		attr.disabled = 0;
		event_open(&attr, 0, -1, -1, 0);
		known_run();
		send_file(sockets[1], fd);
		pause();
	}
	fd = receive_file(sockets[0]);
	ASSERT_LE(0, fd);
	EXPECT_EQ(2, event_sessions());
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, device_snapshot(fd, BUFFER, &self->tally));
	EXPECT_LE(KNOWN_BACK, self->tally.period);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(2, event_sessions());
	close(fd);
	EXPECT_TRUE(event_sessions_are(1));
	close(sockets[0]);
	close(sockets[1]);
}

/* Closed while it is fed: the events and the program continue. */
TEST_F(device, closed_while_running)
{
	struct child child = child_start(run_often, (void *)known_program());
	int status;

	feed(_metadata, self, &child);
	child_go(&child);
	usleep(50000);
	close(self->fd);
	self->fd = -1;
	waitpid(child.pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_LE(often() * KNOWN_BACK, recording_count(&self->events));
}

/* --- everything at once --------------------------------------------------- */

struct storm {
	int fd;
	bool over;
	int failed;
};

static void *snapshots(void *context)
{
	struct storm *storm = context;
	struct tally tally = { 0 };
	int error;

	while (!__atomic_load_n(&storm->over, __ATOMIC_RELAXED)) {
		error = device_snapshot(storm->fd, HWPROF_SNAPSHOT_MIN, &tally);
		if (error)
			storm->failed = error ? error : 1;
	}
	return NULL;
}

static void *resets(void *context)
{
	struct storm *storm = context;
	int error;

	while (!__atomic_load_n(&storm->over, __ATOMIC_RELAXED)) {
		error = device_reset(storm->fd);
		if (error && error != -EAGAIN)
			storm->failed = error;
		usleep(10000);
	}
	return NULL;
}

/* Readers and resets while programs start and exit: nothing breaks. */
TEST_F(device, readers_and_resets)
{
	struct child child = child_start(run_often, (void *)known_program());
	struct storm storm = { .fd = self->fd };
	pthread_t threads[3];
	int i;

	feed(_metadata, self, &child);
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, i ? snapshots : resets,
			       &storm);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	__atomic_store_n(&storm.over, true, __ATOMIC_RELAXED);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(0, storm.failed);
	EXPECT_EQ(0, device_reset(self->fd));
	recording_close(&self->events);
	run_known(_metadata, self);
	EXPECT_EQ(0, read_all(self, BUFFER));
	check_known(_metadata, self);
}

static uint64_t nonsense(unsigned int *seed)
{
	uint64_t bits = (uint64_t)rand_r(seed) << 33 ^
			(uint64_t)rand_r(seed) << 16 ^ rand_r(seed);

	/* All bits, few, or one: entirely random words are refused at once. */
	switch (rand_r(seed) % 4) {
	case 0:
		return bits;
	case 1:
		return bits & 0xff;
	case 2:
		return 1ULL << bits % 64;
	}
	return 0;
}

/* Every request gets an answer. */
TEST(hostile_input)
{
	/* Sizes of the ioctls' structs, by command. */
	static const uint32_t right[] = { 48, 40, 8, 24, 24, 24 };
	const unsigned int times = fewer_times(4000);
	unsigned int seed = 1, i, made = 0;
	uint64_t words[16];
	size_t word;
	int fd = -1;

	ASSERT_TRUE(event_sessions_are(0));
	for (i = 0; i < times; i++) {
		uint32_t *sizes = (uint32_t *)words;
		int command = rand_r(&seed) % 6;

		for (word = 0; word < 16; word++)
			words[word] = nonsense(&seed);
		if (rand_r(&seed) % 8)
			sizes[0] = right[command];
		if (rand_r(&seed) % 2)
			sizes[1] = 0;
		/* Sessions of little memory, with one or two odd fields. */
		if (command == 0) {
			if (rand_r(&seed) % 2)
				words[1] = 0;
			words[1] &= ~(0xff0ULL << 16);
			words[1] |= 2ULL << rand_r(&seed) % 6;
		}
		for (word = 2; command == 0 && word < 6; word++)
			if (rand_r(&seed) % 4)
				words[word] = 0;
		/* Few rows or maps, with valid addresses. */
		if (command >= 4 && rand_r(&seed) % 4) {
			words[1] = (uintptr_t)(words + 4);
			sizes[4] %= 5;
			sizes[5] = command == 5 ? getpid() : 0;
		}
		if (fd < 0)
			fd = open(HWPROF_DEVICE, O_RDWR);
		ASSERT_LE(0, fd);
		made += !ioctl(fd, _IO('$', 0x40 + command), words) && !command;
		if (rand_r(&seed) % 16 == 0) {
			close(fd);
			fd = -1;
		}
	}
	if (fd >= 0)
		close(fd);
	EXPECT_LT(0, made);
	TH_LOG("%u sessions were made", made);
	EXPECT_TRUE(event_sessions_are(0));
}

/* --- others --------------------------------------------------------------- */

TEST_F(device, width)
{
	char *const words[] = {"./device32", NULL};
	int error, status;
	pid_t pid;

	if (access(words[0], X_OK))
		SKIP(return, "not built: gcc-12-multilib is not installed");
	error = posix_spawn(&pid, words[0], NULL, NULL, words, NULL);
	if (error == ENOEXEC)
		SKIP(return, "this kernel runs no 32-bit programs");
	ASSERT_EQ(0, error);
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
}

/*
 * An ordinary user may profile what perf allows, within its limit of locked
 * memory.
 */
TEST(ordinary_user)
{
	struct hwprof_config config = device_config(EVENT_LOOPS | EVENT_STEP),
			     other;
	struct rlimit limit = { 3 << 20, 3 << 20 };
	struct perf_event_attr attr;
	int fd;

	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", 2));
	ASSERT_TRUE(event_sessions_are(0));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	config.config |= EVENT_MEMORY(2);
	fd = device_open(&config);
	ASSERT_LE(0, fd);
	attr = device_feeder(&config);
	EXPECT_EQ(0, event_try(attr));
	EXPECT_EQ(-EACCES, event_open(&attr, -1, 0, -1, 0));
	EXPECT_EQ(-EACCES, event_open(&attr, 1, -1, -1, 0));
	other = device_config(EVENT_LOOPS | EVENT_MEMORY(2));
	EXPECT_EQ(-ENOMEM, device_open(&other));
	close(fd);
}

/* A session does not give access to the memory of all programs. */
TEST(ordinary_user_and_values_of_all)
{
	struct hwprof_config config = device_config(EVENT_VALUES | EVENT_STEP);
	struct perf_event_attr attr;
	int fd;

	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	fd = device_open(&config);
	ASSERT_LE(0, fd);
	attr = device_feeder(&config);
	EXPECT_EQ(-EACCES, event_open(&attr, -1, 0, -1, 0));
	EXPECT_EQ(0, event_try(attr));
	close(fd);
}

/* perf decides about the kernel's code, whatever the session says. */
TEST(ordinary_user_and_the_kernel)
{
	struct hwprof_config config =
		device_config(EVENT_RANGES | EVENT_SAMPLE);
	struct perf_event_attr attr;
	int fd;

	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", 2));
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	config.flags = 0;
	fd = device_open(&config);
	ASSERT_LE(0, fd);
	attr = device_feeder(&config);
	EXPECT_EQ(-EINVAL, event_try(attr));
	attr.exclude_hv = attr.exclude_kernel = 0;
	EXPECT_EQ(-EACCES, event_try(attr));
	close(fd);
}

static void run_and_exec(void *program)
{
	known_run();
	execl(program, "known", NULL);
	_exit(98);
}

struct parts { uint64_t before, after; };	/* back edges before and after
					 * an exec */

static void see_part(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_loop *loop = (const void *)sample->row;
	struct parts *parts = tally->context;

	if (loop->head == (uintptr_t)known_inner)
		parts->before += loop->back_edges;
	else if (loop->head == KNOWN_INNER_HEAD)
		parts->after += loop->back_edges;
}

static bool copy_known(const char *to, mode_t mode)
{
	char command[8192];

	snprintf(command, sizeof(command), "cp '%s' %s", known_program(), to);
	return !system(command) && !chmod(to, mode);
}

/* An exec that changes rights ends what is seen, but keeps what was seen. */
TEST(ordinary_user_and_setuid)
{
	static const char *const programs[] = {"/tmp/known",
					       "/tmp/known_setuid"};
	int setuid, fd, status;

	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", 2));
	ASSERT_TRUE(copy_known(programs[0], 0755));
	ASSERT_TRUE(copy_known(programs[1], 04755));
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	ASSERT_EQ(0, prctl(PR_SET_DUMPABLE, 1));	/* allows its child to
					 * be seen */
	for (setuid = 0; setuid < 2; setuid++) {
		struct hwprof_config config =
			device_config(EVENT_LOOPS | EVENT_MEMORY(2));
		struct parts parts = { 0, 0 };
		struct tally tally = { .see = see_part, .context = &parts };
		struct recording events = { 0 };
		struct perf_event_attr attr;
		struct child child;

		fd = device_open(&config);
		ASSERT_LE(0, fd);
		attr = device_feeder(&config);
		child = child_start(run_and_exec, (void *)programs[setuid]);
		EXPECT_EQ(0,
			  recording_open(&events, &attr, child.pid, 0, NULL));
		recording_control(&events, PERF_EVENT_IOC_ENABLE);
		child_go(&child);
		waitpid(child.pid, &status, 0);
		EXPECT_EQ(0, status);
		EXPECT_EQ(0, device_snapshot(fd, BUFFER, &tally));
		EXPECT_EQ(KNOWN_INNER_BACK, parts.before);
		EXPECT_EQ(setuid ? 0 : KNOWN_INNER_BACK, parts.after);
		EXPECT_TRUE(tally_is_whole(&tally));
		EXPECT_EQ(recording_count(&events), tally.period);
		recording_close(&events);
		close(fd);
	}
}

TEST_HARNESS_MAIN
