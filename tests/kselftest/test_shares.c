// SPDX-License-Identifier: GPL-2.0-only
/*
 * The module has a number of records of filters' ranges, of looks at maps, and
 * of stepped threads. Each user has a share of them, and root a reserve. Users
 * who have used up theirs take nothing of another user's.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "text.h"

EVENT_ALL_NEED("step")

enum {
	SHARE		= 128,
	FULL		= 3,		/* full shares leave root's reserve */
	WAKES		= 4,		/* of a thread */
	FIRST_USER	= 1000,
	SPAN_SHIFT	= 32,
	RUN		= 100,		/* branches of run() */
};

/* Ranges of a file: all of it, or a part. */
#define WHOLE	"0x0/0x10000000"
#define PART	"0x1000/0x100"

static void set_filter(int fd, const char *range)
{
	if (event_filter_own_file(fd, range))
		event_give_up("no filter set");
}

/* Opens an event of a process, of a session of its own for each @number. */
static int open_filtered(pid_t pid, unsigned int number)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	int fd;

	attr.config |= (uint64_t)(1024 + number) << SPAN_SHIFT;
	fd = event_open(&attr, pid, -1, -1, 0);
	if (fd < 0)
		event_give_up("no event");
	set_filter(fd, WHOLE);
	return fd;
}

static void become(uid_t user)
{
	if (setresgid(user, user, user) || setresuid(user, user, user) ||
	    prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		_exit(90);
}

static void __attribute__((noinline)) run(void)
{
	int i;

	for (i = 0; i <= RUN; i++)
		__asm__ volatile("" : "+r" (i));
}

static bool counts_run(int fd)
{
	bool counted;

	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	run();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	counted = event_count(fd) >= RUN;
	close(fd);
	return counted;
}

static bool counts_filtered(void)
{
	return counts_run(open_filtered(0, 0));
}

/* Returns what the function says in a new process of the user. */
static bool is_so_for(uid_t user, bool (*is_so)(void))
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		become(user);
		_exit(is_so());
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
	    WEXITSTATUS(status) > 1)
		event_give_up("a process that counts has failed");
	return WEXITSTATUS(status);
}

/* Returns true if a new process of the user gets what it needs for a filter. */
static bool is_served(uid_t user)
{
	return is_so_for(user, counts_filtered);
}

/* --- those who use up their share ----------------------------------------- */

/* A process in as many sessions as there are records for a user. */
static void use_records(void)
{
	int i;

	for (i = 0; i < SHARE; i++)
		open_filtered(0, i);
	prctl(PR_TASK_PERF_EVENTS_ENABLE, 0, 0, 0, 0);
}

static int bytes[SHARE][2], threads[2];

/* Each byte wakes the thread, which sleeps again in the same call. */
static void *receive(void *own)
{
	pid_t thread = gettid();
	char buffer[4096];

	if (write(threads[1], &thread, sizeof(thread)) != sizeof(thread) ||
	    recv(((int *)own)[1], buffer, sizeof(buffer), MSG_WAITALL) <= 0)
		_exit(91);
	return NULL;
}

static void sleep_in_threads(void *context)
{
	pthread_t thread;
	int i;

	for (i = 0; i < SHARE; i++)
		if (pthread_create(&thread, NULL, receive, bytes[i]))
			_exit(92);
	pause();
}

/*
 * As many threads as there are looks for a user are to look at their maps, when
 * they are back from a call. Perf may let two that run after each other
 * exchange their events, and then the second one learns nothing. So each is
 * woken several times.
 */
static void use_looks(void)
{
	struct child process, sleeper[SHARE];
	int i, fd;

	for (i = 0; i < SHARE; i++)
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, bytes[i]))
			event_give_up("no sockets");
	if (pipe(threads))
		event_give_up("no pipe");
	process = child_start(sleep_in_threads, NULL);
	fd = open_filtered(process.pid, 0);
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	child_go(&process);
	for (i = 0; i < SHARE; i++)
		if (read(threads[0], &sleeper[i].pid, sizeof(pid_t)) !=
		    sizeof(pid_t))
			event_give_up("no thread");
	for (i = 0; i < SHARE; i++)
		child_await_sleep(&sleeper[i]);
	set_filter(fd, PART);
	for (i = 0; i < WAKES * SHARE; i++) {
		if (send(bytes[i % SHARE][0], "", 1, 0) != 1)
			event_give_up("no byte sent");
		child_await_sleep(&sleeper[i % SHARE]);
	}
}

enum {
	THREADS		= 4500,		/* more than a user has records for */
	STACK		= 16384,	/* the linker saves registers on it */
	WATCHED		= 64,		/* threads of others */
};

static int open_plain(void)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	int fd = event_open(&attr, 0, -1, -1, 0);

	if (fd < 0)
		event_give_up("no event");
	return fd;
}

static int asleep;

/* These threads have no TLS of their own: nothing here may need it. */
static int sleep_for_good(void *unused)
{
	__atomic_add_fetch(&asleep, 1, __ATOMIC_RELAXED);
	pause();
	return 0;
}

/* A process that is stepped has many threads, which sleep for good. */
static void use_stepped_threads(void)
{
	char *stacks = mmap(NULL, THREADS * STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open_plain(), i;

	if (stacks == MAP_FAILED)
		event_give_up("no stacks");
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (i = 1; i <= THREADS; i++)
		if (clone(sleep_for_good, stacks + i * STACK,
			  CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND |
			  CLONE_THREAD | CLONE_SYSVSEM, NULL) < 0)
			event_give_up("no thread");
	while (__atomic_load_n(&asleep, __ATOMIC_RELAXED) < THREADS)
		usleep(1000);
}

static pthread_barrier_t all_counted;

/* The thread keeps its record until all have counted. */
static void *count_in_thread(void *counted)
{
	*(bool *)counted = counts_run(open_plain());
	pthread_barrier_wait(&all_counted);
	return NULL;
}

/* Returns true if each of many threads is stepped. */
static bool threads_count(void)
{
	pthread_t thread[WATCHED];
	bool counted[WATCHED];
	int i, sum = 0;

	if (pthread_barrier_init(&all_counted, NULL, WATCHED))
		_exit(94);
	for (i = 0; i < WATCHED; i++)
		if (pthread_create(&thread[i], NULL, count_in_thread,
				   &counted[i]))
			_exit(95);
	for (i = 0; i < WATCHED; i++) {
		pthread_join(thread[i], NULL);
		sum += counted[i];
	}
	printf("# %d of %d threads are stepped\n", sum, WATCHED);
	fflush(stdout);
	return sum == WATCHED;
}

/* Returns a process of the user that has used up a share, until it is ended. */
static pid_t begin(uid_t user, void (*use)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		abort();
	fflush(NULL);
	pid = fork();
	if (!pid) {
		setpgid(0, 0);
		become(user);
		use();
		if (write(ready[1], "", 1) != 1)
			_exit(93);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		event_give_up("a share could not be used up");
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* @sessions: how many a user has whose share is used up. */
static void check_shares(struct __test_metadata *_metadata, void (*use)(void),
			 unsigned int sessions)
{
	pid_t pid[FULL];
	char before[64];
	int i;

	ASSERT_TRUE(event_sessions_are(0));
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	/* Shares are larger than what a user may have of sessions. */
	ASSERT_EQ(0, limit_read("sessions_per_user", before, sizeof(before)));
	ASSERT_EQ(0, limit_write("sessions_per_user", "1000"));
	EXPECT_TRUE(is_served(FIRST_USER));
	for (i = 0; i < FULL; i++) {
		EXPECT_TRUE(is_served(FIRST_USER + i)) TH_LOG("user %d", i);
		/* The session of is_served() ends later. */
		EXPECT_TRUE(event_sessions_are(i * sessions));
		pid[i] = begin(FIRST_USER + i, use);
		EXPECT_FALSE(is_served(FIRST_USER + i)) TH_LOG("user %d", i);
		EXPECT_TRUE(is_served(0));
	}
	EXPECT_FALSE(is_served(FIRST_USER + FULL));
	EXPECT_TRUE(is_served(0));
	for (i = 0; i < FULL; i++)
		end(pid[i]);
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_TRUE(is_served(FIRST_USER));
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, limit_write("sessions_per_user", before));
}

TEST(records)
{
	check_shares(_metadata, use_records, SHARE);
}

TEST(looks)
{
	check_shares(_metadata, use_looks, 1);
}

TEST(stepped_threads)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t pid[2];

	ASSERT_TRUE(event_sessions_are(0));
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	ASSERT_EQ(0, sysctl_write("threads-max", 4 * THREADS));
	ASSERT_EQ(0, setrlimit(RLIMIT_NPROC, &all));
	pid[0] = begin(FIRST_USER, use_stepped_threads);
	/* Threads without a record are in the session's account. */
	EXPECT_LT(0, event_lost());
	EXPECT_FALSE(is_so_for(FIRST_USER, threads_count));
	EXPECT_TRUE(is_so_for(FIRST_USER + 1, threads_count));
	EXPECT_TRUE(is_so_for(0, threads_count));
	/* The shares of two users leave no more than root's reserve. */
	pid[1] = begin(FIRST_USER + 1, use_stepped_threads);
	EXPECT_TRUE(is_so_for(0, threads_count));
	end(pid[0]);
	end(pid[1]);
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_TRUE(is_so_for(FIRST_USER, threads_count));
}

TEST_HARNESS_MAIN
