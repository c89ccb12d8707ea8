// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unloading while a process cannot end, or an event's trigger cannot be closed,
 * or is closed by the kernel. Work that is still to be done for the module
 * keeps it loaded, as unloading would wait for it.
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

static void sleep_for_good(void *context)
{
	pause();
}

static void run_known(void *context)
{
	known_run();
}

/*
 * The process has the last descriptor of an event of a target. It closes that
 * in its exit, and waits for perf's lock, which another process keeps.
 */
TEST(process_that_cannot_exit)
{
	struct perf_event_attr attr = event_attr_sampling(
		EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct child target = child_start(sleep_for_good, NULL);
	int kept = dummy_open(target.pid), last, fd;
	struct child keeper = child_start(dummy_keep_lock, &kept), child;

	ASSERT_LE(0, kept);
	last = dummy_open(target.pid);
	ASSERT_LE(0, last);
	child = child_start(run_known, NULL);
	close(last);
	fd = event_open(&attr, child.pid, -1, -1, 0);
	ASSERT_LE(0, fd);
	ASSERT_EQ(0, ioctl(fd, PERF_EVENT_IOC_ENABLE, 0));
	child_go(&keeper);
	child_await_state(&keeper, "SZ");
	if (waitpid(keeper.pid, NULL, WNOHANG)) {
		child_go(&child);
		waitpid(child.pid, NULL, 0);
		kill(target.pid, SIGKILL);
		SKIP(return, "no userfaultfd");
	}
	child_go(&child);
	child_await_state(&child, "DZ");
	EXPECT_EQ(0, waitpid(child.pid, NULL, WNOHANG));
	close(fd);
	usleep(200000);
	EXPECT_LT(0, module_references());
	kill(keeper.pid, SIGKILL);
	waitpid(keeper.pid, NULL, 0);
	waitpid(child.pid, NULL, 0);
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, module_references());
	kill(target.pid, SIGKILL);
	waitpid(target.pid, NULL, 0);
	close(kept);
}

/* --- triggers that cannot be closed --------------------------------------- */

enum {
	CLOSERS = 300,		/* more than a workqueue runs at a time */
	EVENTS = 2 * CLOSERS + 20,
};

static int sampling[EVENTS];

static void close_all(int count)
{
	int i;

	for (i = 0; i < count; i++)
		close(sampling[i]);
}

static void *close_one(void *fd)
{
	close(*(int *)fd);
	return NULL;
}

/* Each thread closes the last descriptor of an event. */
static void close_in_threads(void *context)
{
	pthread_t threads[CLOSERS];
	int i;

	for (i = 0; i < CLOSERS; i++)
		if (pthread_create(&threads[i], NULL, close_one, &sampling[i]))
			_exit(1);
	for (i = 0; i < CLOSERS; i++)
		pthread_join(threads[i], NULL);
}

static int ring_open(struct io_uring_params *params)
{
	memset(params, 0, sizeof(*params));
	return syscall(SYS_io_uring_setup, EVENTS, params);
}

static void *ring_map(int ring, size_t size, off_t what)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring,
			what);

	if (at == MAP_FAILED)
		event_give_up("io_uring");
	return at;
}

/*
 * Workers of io_uring close the last descriptors. Each takes the next one
 * before it waits, so there are two of them for each.
 */
static void close_in_workers(void *context)
{
	unsigned int workers[2] = { CLOSERS, CLOSERS }, *tail, *array, i;
	struct io_uring_params params;
	struct io_uring_sqe *requests;
	int ring = ring_open(&params);
	char *queue;

	queue = ring_map(ring, params.sq_off.array + params.sq_entries *
			 sizeof(*array), IORING_OFF_SQ_RING);
	requests = ring_map(ring, params.sq_entries * sizeof(*requests),
			    IORING_OFF_SQES);
	array = (void *)(queue + params.sq_off.array);
	tail = (void *)(queue + params.sq_off.tail);
	for (i = 0; i < EVENTS; i++) {
		requests[i] = (struct io_uring_sqe){
			.opcode = IORING_OP_CLOSE, .flags = IOSQE_ASYNC,
			.fd = sampling[i],
		};
		array[i] = i;
	}
	__atomic_store_n(tail, EVENTS, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_register, ring,
		    IORING_REGISTER_IOWQ_MAX_WORKERS, workers, 2) ||
	    syscall(SYS_io_uring_enter, ring, EVENTS, 0, 0, NULL, 0) != EVENTS)
		event_give_up("io_uring");
	/* This task makes the workers, while it waits. */
	while (syscall(SYS_io_uring_enter, ring, 0, EVENTS,
		       IORING_ENTER_GETEVENTS, NULL, 0))
		;
}

static void keep_lock_of(void *pid)
{
	int dummy = dummy_open(*(pid_t *)pid);

	if (dummy < 0)
		event_give_up("no event of perf's own");
	dummy_keep_lock(&dummy);
}

/* Forks a child, which inherits the events, and tells its number. */
static void sleep_with_heir(void *context)
{
	pid_t *heir = context, pid = fork();

	if (pid)
		*(volatile pid_t *)heir = pid;
	pause();
}

static void open_sampling(pid_t pid, int count)
{
	struct perf_event_attr attr = event_attr(EVENT_CCT | EVENT_SAMPLE);
	int i;

	for (i = 0; i < count; i++) {
		sampling[i] = event_open(&attr, pid, -1, -1, 0);
		if (sampling[i] < 0)
			event_give_up("no event");
	}
}

/* A target with a child that has its events, and who keep perf's locks. */
FIXTURE(kept) {
	struct child target;
	pid_t *heir;
	struct child of_target, of_heir, closer;
};

FIXTURE_VARIANT(kept) {
	void (*close)(void *context);	/* in CLOSERS threads */
	int events;
};

FIXTURE_VARIANT_ADD(kept, by_threads) {
	close_in_threads, CLOSERS,
};

FIXTURE_VARIANT_ADD(kept, by_workers) {
	close_in_workers, EVENTS,
};

FIXTURE_SETUP(kept)
{
	struct io_uring_params params;
	int ring = ring_open(&params);

	if (ring < 0 && variant->close == close_in_workers)
		SKIP(return, "no io_uring");
	close(ring);
	self->heir = shared_memory(sizeof(*self->heir));
	self->target = child_start(sleep_with_heir, self->heir);
	self->of_target = child_start(keep_lock_of, &self->target.pid);
	self->of_heir = child_start(keep_lock_of, self->heir);
	open_sampling(self->target.pid, variant->events);
	child_go(&self->target);
	while (!*(volatile pid_t *)self->heir)
		usleep(1000);
	self->closer = child_start(variant->close, NULL);
	close_all(variant->events);
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

FIXTURE_TEARDOWN(kept)
{
	kill(*self->heir, SIGKILL);
	end(self->target.pid);
	end(self->closer.pid);
}

/*
 * Events leave their target, and perf waits for the lock of the target's child
 * before it destroys them. Meanwhile somebody takes the target's lock, which
 * closing the triggers needs.
 */
TEST_F(kept, triggers_that_cannot_be_closed)
{
	int tries = 200, status;

	child_go(&self->of_heir);
	child_await_state(&self->of_heir, "SZ");
	if (waitpid(self->of_heir.pid, &status, WNOHANG)) {
		kill(self->of_target.pid, SIGKILL);
		ASSERT_EQ(1, WEXITSTATUS(status));
		SKIP(return, "no userfaultfd");
	}
	child_go(&self->closer);
	while (child_waiting_threads(&self->closer) < CLOSERS)
		usleep(10000);
	child_go(&self->of_target);
	child_await_state(&self->of_target, "SZ");
	end(self->of_heir.pid);
	while (module_references() && tries--)
		usleep(10000);
	EXPECT_LT(0, module_references());
	/* Nobody else's session waits for these. */
	EXPECT_TRUE(event_sessions_are(1));
	EXPECT_EQ(0, event_try(event_attr(EVENT_LOOPS | EVENT_STEP)));
	EXPECT_TRUE(event_sessions_are(1));
	end(self->of_target.pid);
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, module_references());
}

/* --- triggers that a kernel thread closes --------------------------------- */

enum {
	CIRCLE_MOST	= 200,		/* events in a message */
	/* More than the module closes of a user's at a time. */
	CIRCLE_EVENTS	= 40,
};

/* Sends descriptors, and both of the sockets, from the first to the second. */
static ssize_t send_in_a_circle(const int *fds, int count, const int sockets[2])
{
	int descriptors[CIRCLE_MOST + 2];
	union {
		char space[CMSG_SPACE(sizeof(descriptors))];
		struct cmsghdr header;
	} control = {
		.header = {
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
			.cmsg_len = CMSG_LEN((count + 2) * sizeof(*fds)),
		},
	};
	struct iovec data = { "", 1 };
	struct msghdr message = {
		.msg_iov = &data, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = CMSG_SPACE((count + 2) * sizeof(*fds)),
	};

	memcpy(descriptors, fds, count * sizeof(*fds));
	memcpy(descriptors + count, sockets, 2 * sizeof(*sockets));
	memcpy(CMSG_DATA(&control.header), descriptors,
	       (count + 2) * sizeof(*fds));
	return sendmsg(sockets[0], &message, 0);
}

/* Leaves events to a socket that nobody can reach. */
static void put_in_a_circle(const int *fds, int count)
{
	int sockets[2], i;

	if (socketpair(AF_UNIX, SOCK_DGRAM, 0, sockets) ||
	    send_in_a_circle(fds, count, sockets) != 1)
		event_give_up("nothing sent");
	for (i = 0; i < count; i++)
		close(fds[i]);
	close(sockets[0]);
	close(sockets[1]);
}

/* The kernel looks for circles when a socket goes. */
static void find_circles(void)
{
	close(socket(AF_UNIX, SOCK_DGRAM, 0));
}

/* Nobody can receive the descriptors, so the kernel closes them. */
TEST(triggers_that_the_kernel_closes)
{
	struct perf_event_attr attr = event_attr(EVENT_CCT | EVENT_SAMPLE);
	int fds[CIRCLE_EVENTS], i;

	for (i = 0; i < CIRCLE_EVENTS; i++) {
		fds[i] = event_open(&attr, 0, -1, -1, 0);
		ASSERT_LE(0, fds[i]);
	}
	put_in_a_circle(fds, CIRCLE_EVENTS);
	find_circles();
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, module_references());
}

/* --- triggers that wait for a worker -------------------------------------- */

enum {
	STUCK		= 8,		/* closings of a user's at a time */
	WAITING		= 1000,		/* and most that wait for those */
	USER		= 1000,
};

/* Memory in which the user's process and the test tell each other things. */
struct churn {
	volatile int turn;
	volatile int error, opened;	/* of events of the process itself */
	pid_t target[STUCK], heir[STUCK];
};

static void await_turn(const struct churn *churn, int turn)
{
	while (churn->turn < turn)
		usleep(1000);
}

static void become_user(void)
{
	if (setresgid(USER, USER, USER) || setresuid(USER, USER, USER) ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		event_give_up("no user");
}

/*
 * Opens events of this process and leaves them to the kernel, until it gets an
 * error, or has opened too many.
 */
static void open_and_leave(struct churn *churn)
{
	struct perf_event_attr attr = event_attr(EVENT_CCT | EVENT_SAMPLE);
	int fds[CIRCLE_MOST], count;

	while (churn->opened < 3 * WAITING) {
		for (count = 0; count < CIRCLE_MOST; count++) {
			fds[count] = event_open(&attr, 0, -1, -1, 0);
			if (fds[count] < 0) {
				churn->error = fds[count];
				return;
			}
			churn->opened++;
		}
		put_in_a_circle(fds, count);
		find_circles();
		usleep(200000);
	}
}

/* Has targets with children, and leaves the event of each when told. */
static void churn_events(void *context)
{
	struct perf_event_attr attr = event_attr(EVENT_CCT | EVENT_SAMPLE);
	struct churn *churn = context;
	struct child target;
	int fd[STUCK], i;

	become_user();
	for (i = 0; i < STUCK; i++) {
		target = child_start(sleep_with_heir, &churn->heir[i]);
		churn->target[i] = target.pid;
		fd[i] = event_open(&attr, target.pid, -1, -1, 0);
		if (fd[i] < 0)
			event_give_up("no event");
		child_go(&target);
		while (!*(volatile pid_t *)&churn->heir[i])
			usleep(1000);
	}
	churn->turn = 1;
	for (i = 0; i < STUCK; i++) {
		await_turn(churn, 2 + i);
		put_in_a_circle(&fd[i], 1);
		find_circles();
	}
	await_turn(churn, 2 + STUCK);
	open_and_leave(churn);
	churn->turn = 3 + STUCK;
	pause();
}

FIXTURE(waiting) {
	struct churn *churn;
	struct child user, of_target[STUCK], of_heir[STUCK];
};

FIXTURE_SETUP(waiting)
{
	int i;

	ASSERT_TRUE(event_sessions_are(0));
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	self->churn = shared_memory(sizeof(*self->churn));
	for (i = 0; i < STUCK; i++) {
		self->of_target[i] = child_start(keep_lock_of,
						 &self->churn->target[i]);
		self->of_heir[i] = child_start(keep_lock_of,
					       &self->churn->heir[i]);
	}
	self->user = child_start(churn_events, self->churn);
	child_go(&self->user);
	await_turn(self->churn, 1);
}

static void end_all(FIXTURE_DATA(waiting) *self)
{
	int i;

	for (i = 0; i < STUCK; i++) {
		end(self->of_heir[i].pid);
		end(self->of_target[i].pid);
		kill(self->churn->heir[i], SIGKILL);
		kill(self->churn->target[i], SIGKILL);
	}
	end(self->user.pid);
}

FIXTURE_TEARDOWN(waiting)
{
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, module_references());
}

/*
 * Returns whether so many workers wait, and go on waiting. If a machine has
 * other work, some may wait for a moment.
 */
static bool workers_are_stuck(int count)
{
	int look;

	for (look = 0; look < 20; look++) {
		if (waiting_tasks("/proc/[0-9]*/stat", "kworker/") < count)
			return false;
		usleep(20000);
	}
	return true;
}

/*
 * Makes a worker that closes the event's trigger wait for the target's lock, as
 * kept.triggers_that_cannot_be_closed does. Returns NULL, or why it cannot.
 */
static const char *make_one_stuck(FIXTURE_DATA(waiting) *self, int i)
{
	int tries = 500;

	child_go(&self->of_heir[i]);
	child_await_state(&self->of_heir[i], "SZ");
	if (waitpid(self->of_heir[i].pid, NULL, WNOHANG))
		return "no userfaultfd";
	self->churn->turn = 2 + i;
	while (!workers_are_stuck(i + 1))
		if (usleep(10000) || !tries--)
			return "here tasks close such events themselves";
	child_go(&self->of_target[i]);
	child_await_state(&self->of_target[i], "SZ");
	end(self->of_heir[i].pid);
	return NULL;
}

/*
 * A user has as many closings stuck as a workqueue does for a user, and leaves
 * more and more to it. Nobody else is affected. The user gets no more events
 * until some are closed.
 */
TEST_F(waiting, closings_have_a_bound)
{
	const struct perf_event_attr attr = event_attr(EVENT_CCT |
						       EVENT_SAMPLE);
	const char *why = NULL;
	int status, i;

	for (i = 0; i < STUCK && !why; i++)
		why = make_one_stuck(self, i);
	if (why) {
		end_all(self);
		SKIP(return, "%s", why);
	}
	self->churn->turn = 2 + STUCK;
	await_turn(self->churn, 3 + STUCK);
	EXPECT_EQ(-EMFILE, self->churn->error);
	EXPECT_LE(WAITING, self->churn->opened);
	EXPECT_EQ(0, event_try(attr));
	end_all(self);
	EXPECT_TRUE(event_sessions_are(0));
	if (!fork()) {
		become_user();
		_exit(event_try(attr) != 0);
	}
	wait(&status);
	EXPECT_EQ(0, status);
}

TEST_HARNESS_MAIN
