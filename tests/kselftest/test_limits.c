// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of sessions and their memory, and the folder of each session in sysfs.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "device.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

enum { TEXT = 64, MANY = 16 };

static int session_read(unsigned int session, const char *name, char *text)
{
	char path[TEXT * 2];

	snprintf(path, sizeof(path), "/sys/class/misc/hwprof/sessions/%u/%s",
		 session, name);
	return text_read(path, text, TEXT);
}

static unsigned long long session_number(unsigned int session, const char *name)
{
	char text[TEXT];

	return session_read(session, name, text) ? ~0ULL :
						   strtoull(text, NULL, 10);
}

/* --- limits --------------------------------------------------------------- */

static const char * const names[] = {
	"sessions", "sessions_per_user", "memory_mib", "memory_mib_per_user",
};

FIXTURE(limits)
{
	char before[4][TEXT];
};

FIXTURE_SETUP(limits)
{
	int i;

	ASSERT_TRUE(event_sessions_are(0));
	for (i = 0; i < 4; i++) {
		ASSERT_EQ(0, limit_read(names[i], self->before[i], TEXT));
		EXPECT_LT(0, atoi(self->before[i]));
	}
}

FIXTURE_TEARDOWN(limits)
{
	int i;

	for (i = 0; i < 4; i++)
		EXPECT_EQ(0, limit_write(names[i], self->before[i]));
	EXPECT_TRUE(event_sessions_are(0));
}

static void become(uid_t user)
{
	if (setresgid(user, user, user) || setresuid(user, user, user))
		_exit(90);
}

/* Opens a session of the device, of 1 MiB. */
static int open_session(void)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);

	return device_open(&config);
}

/* Opens the device for a table for unwinding, and no session. */
static int open_tables(void)
{
	const struct hwprof_unwind_row row = {
		.cfa = 1, .kind = HWPROF_UNWIND_SP,
	};
	int fd = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	err = device_add_table(fd, &row, 1);
	return err < 0 ? err : fd;
}

/* Opens up to that many. Returns the first error. */
static int open_many(int (*make)(void), int *opened)
{
	int fd;

	for (*opened = 0; *opened < MANY; ++*opened) {
		fd = make();
		if (fd < 0)
			return fd;
	}
	return 0;
}

/*
 * Lets the user open so many, and then get the error. The user keeps them until
 * told.
 */
static pid_t user_gets(uid_t user, int (*make)(void), int many, int error,
		       int *end)
{
	int ready[2], go[2], opened, got;
	char byte;
	pid_t pid;

	if (pipe(ready) || pipe(go))
		abort();
	pid = fork();
	if (!pid) {
		become(user);
		close(go[1]);
		got = open_many(make, &opened);
		if (got != error || opened != many)
			printf("# user %d: %d, then %d\n", user, opened, got);
		fflush(stdout);
		if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) < 0)
			_exit(91);
		_exit(got != error || opened != many);
	}
	if (read(ready[0], &byte, 1) != 1)
		abort();
	close(ready[0]);
	close(ready[1]);
	close(go[0]);
	*end = go[1];
	return pid;
}

static int end_user(pid_t pid, int end)
{
	int status;

	if (write(end, "", 1) != 1)
		perror("ending a user");
	close(end);
	waitpid(pid, &status, 0);
	return status;
}

TEST_F(limits, files)
{
	int status;

	EXPECT_EQ(-EINVAL, limit_write("sessions", "many"));
	EXPECT_EQ(-EINVAL, limit_write("sessions", "-1"));
	EXPECT_EQ(-ERANGE, limit_write("sessions", "4294967296"));
	EXPECT_EQ(0, limit_write("sessions", "4294967295"));
	if (!fork()) {
		become(1000);
		_exit(limit_write("sessions", "1") != -EACCES);
	}
	wait(&status);
	EXPECT_EQ(0, status);
}

TEST_F(limits, sessions_of_all)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	int end;
	pid_t pid;

	ASSERT_EQ(0, limit_write("sessions", "5"));
	pid = user_gets(0, open_session, 5, -ENFILE, &end);
	EXPECT_EQ(-ENFILE, event_open(&attr, 0, -1, -1, 0));
	EXPECT_EQ(0, end_user(pid, end));
	EXPECT_TRUE(event_sessions_are(0));
}

/* Other users leave one in eight to root. */
static void check_reserve(struct __test_metadata *_metadata, int (*make)(void))
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t user, root;
	int ends[2];

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &all));
	ASSERT_EQ(0, limit_write("sessions", "16"));
	user = user_gets(1000, make, 14, -ENFILE, &ends[0]);
	root = user_gets(0, make, 2, -ENFILE, &ends[1]);
	EXPECT_EQ(0, end_user(user, ends[0]));
	EXPECT_EQ(0, end_user(root, ends[1]));
	EXPECT_TRUE(event_sessions_are(0));
}

TEST_F(limits, sessions_for_root)
{
	check_reserve(_metadata, open_session);
}

TEST_F(limits, tables_for_root)
{
	check_reserve(_metadata, open_tables);
}

/* At its limit a user gets no more; other users and root are not affected. */
static void check_limit_of_a_user(struct __test_metadata *_metadata,
				  int (*make)(void))
{
	pid_t first, second, root;
	int ends[3];

	ASSERT_EQ(0, limit_write("sessions_per_user", "3"));
	first = user_gets(1000, make, 3, -EMFILE, &ends[0]);
	second = user_gets(1001, make, 3, -EMFILE, &ends[1]);
	root = user_gets(0, make, MANY, 0, &ends[2]);
	EXPECT_EQ(0, end_user(first, ends[0]));
	EXPECT_EQ(0, end_user(second, ends[1]));
	EXPECT_EQ(0, end_user(root, ends[2]));
	EXPECT_TRUE(event_sessions_are(0));
	first = user_gets(1000, make, 3, -EMFILE, &ends[0]);
	EXPECT_EQ(0, end_user(first, ends[0]));
	EXPECT_TRUE(event_sessions_are(0));
}

/* A user has tables for unwinding in as many files as there may be sessions. */
TEST_F(limits, tables_of_a_user)
{
	check_limit_of_a_user(_metadata, open_tables);
}

TEST_F(limits, sessions_of_a_user)
{
	check_limit_of_a_user(_metadata, open_session);
}

/* The same limit holds for sessions of perf events. */
TEST_F(limits, perf_events_of_a_user)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	int status;

	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", 2));
	ASSERT_EQ(0, limit_write("sessions_per_user", "1"));
	if (!fork()) {
		become(1000);
		if (event_open(&attr, 0, -1, -1, 0) < 0)
			_exit(1);
		attr.config = EVENT_CALLS;
		_exit(event_open(&attr, 0, -1, -1, 0) != -EMFILE);
	}
	wait(&status);
	EXPECT_EQ(0, status);
}

/* --- accounting ----------------------------------------------------------- */

#define CGROUPS		"/tmp/cgroups"
#define CGROUP		CGROUPS "/hwprof-test"

enum {
	CGROUP_MIB	= 32,
	RING_MIB	= 4,
	TABLE_MIB	= 4,
	TABLE_ROWS	= (TABLE_MIB << 20) / sizeof(struct hwprof_unwind_row),
	/* An xarray has 64 entries in a node of more than 512 bytes. */
	NODES_BYTES	= HWPROF_UNWIND_TABLES_MAX / 64 * 512,
	/* The kernel sums statistics up each 2 seconds. */
	STAT_SECONDS	= 3,
	STAT_TRIES	= 10,
};

static long long cgroup_memory(void)
{
	char text[TEXT];

	return text_read(CGROUP "/memory.current", text, TEXT) ? -1 :
							       atoll(text);
}

/* Slabs that the kernel can reclaim: nodes of xarrays are such, tables not. */
static long long cgroup_reclaimable(void)
{
	FILE *file = fopen(CGROUP "/memory.stat", "r");
	long long bytes = -1;
	char line[TEXT * 2];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "slab_reclaimable %lld", &bytes) == 1)
			break;
	if (file)
		fclose(file);
	return bytes;
}

/* Makes a cgroup that counts memory. Returns false if the kernel cannot. */
static bool make_cgroup(void)
{
	mkdir(CGROUPS, 0700);
	return !mount("none", CGROUPS, "cgroup2", 0, NULL) &&
	       !text_write(CGROUPS "/cgroup.subtree_control", "+memory") &&
	       !mkdir(CGROUP, 0700);
}

/*
 * Runs @check in a process in a new cgroup. Returns that process's status, or
 * -1 if this kernel does not count memory.
 */
static int in_cgroup(int (*check)(void))
{
	int status = -1;

	if (make_cgroup()) {
		if (!fork())
			_exit(text_write(CGROUP "/cgroup.procs", "0") ?
			      80 : check());
		wait(&status);
		rmdir(CGROUP);
	}
	umount(CGROUPS);
	return status;
}

static int session_and_rings(void)
{
	struct hwprof_config config = device_config(EVENT_LOOPS |
						    EVENT_MEMORY(CGROUP_MIB));
	const long long some = (CGROUP_MIB - 4LL) << 20;
	long long before = cgroup_memory(), session, rings;
	int fd = device_open(&config);

	session = cgroup_memory() - before;
	if (fd < 0 || device_ring(fd, RING_MIB << 20, 0) < 1)
		return 81;
	rings = cgroup_memory() - before - session;
	printf("# session: %lld, rings: %lld\n", session, rings);
	fflush(stdout);
	return session < some ? 1 : rings < RING_MIB << 20 ? 2 : 0;
}

/* A container's memory limit includes memory that the module keeps for it. */
TEST_F(limits, memory_of_a_cgroup)
{
	int status = in_cgroup(session_and_rings);

	if (status < 0)
		SKIP(return, "no cgroup2 with a memory controller");
	EXPECT_EQ(0, status);
	EXPECT_TRUE(event_sessions_are(0));
}

/* Adds as many tables as the file takes. Returns false if one was refused. */
static bool fill_with_tables(int fd, const struct hwprof_unwind_row *row)
{
	int number;

	do
		number = device_add_table(fd, row, 1);
	while (number > 0);
	return number == -ENOSPC;
}

static int tables_and_nodes(void)
{
	struct hwprof_unwind_row *rows = calloc(TABLE_ROWS, sizeof(*rows));
	int i, fd = open(HWPROF_DEVICE, O_RDWR);
	long long before, table, nodes;

	for (i = 0; rows && i < TABLE_ROWS; i++)
		rows[i] = (struct hwprof_unwind_row) {
			.start = i, .cfa = 1, .kind = HWPROF_UNWIND_SP,
		};
	before = cgroup_memory();
	if (!rows || device_add_table(fd, rows, TABLE_ROWS) < 1)
		return 81;
	table = cgroup_memory() - before;
	before = cgroup_reclaimable();
	if (!fill_with_tables(fd, rows))
		return 82;
	for (i = 0; i < STAT_TRIES; i++) {
		sleep(STAT_SECONDS);
		nodes = cgroup_reclaimable() - before;
		if (nodes >= NODES_BYTES)
			break;
	}
	printf("# table: %lld, nodes: %lld\n", table, nodes);
	fflush(stdout);
	return table < TABLE_MIB << 20 ? 1 : nodes < NODES_BYTES ? 2 : 0;
}

/* It includes tables for unwinding, and the nodes of the array of tables. */
TEST_F(limits, tables_of_a_cgroup)
{
	int status = in_cgroup(tables_and_nodes);

	if (status < 0)
		SKIP(return, "no cgroup2 with a memory controller");
	EXPECT_EQ(0, status);
}

TEST_F(limits, memory_of_a_user)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };
	pid_t first, second;
	int ends[2];

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &all));
	ASSERT_EQ(0, limit_write("memory_mib_per_user", "4"));
	first = user_gets(1000, open_session, 4, -ENOMEM, &ends[0]);
	second = user_gets(1001, open_session, 4, -ENOMEM, &ends[1]);
	EXPECT_EQ(0, end_user(first, ends[0]));
	EXPECT_EQ(0, end_user(second, ends[1]));
}

TEST_F(limits, memory_of_all)
{
	pid_t pid;
	int end;

	ASSERT_EQ(0, limit_write("memory_mib", "6"));
	pid = user_gets(0, open_session, 6, -ENOMEM, &end);
	EXPECT_EQ(0, end_user(pid, end));
}

/* --- sessions ------------------------------------------------------------- */

TEST(device_session)
{
	struct hwprof_config config =
		device_config(EVENT_LOOPS | EVENT_MEMORY(2));
	struct child child = child_known();
	struct tally tally = { 0 };
	struct recording events;
	struct perf_event_attr attr;
	char text[TEXT];
	unsigned int session;
	int fd;

	ASSERT_TRUE(event_sessions_are(0));
	fd = device_open(&config);
	ASSERT_LE(0, fd);
	session = config.session;
	attr = device_feeder(&config);
	EXPECT_EQ(0, session_number(session, "perf_events"));
	ASSERT_EQ(0, recording_begin(&events, &attr, &child, 0, NULL));
	waitpid(child.pid, NULL, 0);
	EXPECT_EQ(0, device_snapshot(fd, 65536, &tally));

	EXPECT_EQ(getpid(), session_number(session, "owner"));
	EXPECT_EQ(getuid(), session_number(session, "user"));
	EXPECT_EQ(events.count, session_number(session, "perf_events"));
	EXPECT_EQ(2 << 20, session_number(session, "memory"));
	EXPECT_EQ(0, session_number(session, "throttled"));
	EXPECT_EQ(tally.totals.produced, session_number(session, "produced"));
	EXPECT_EQ(tally.period, session_number(session, "delivered"));
	EXPECT_EQ(0, session_number(session, "lost"));
	EXPECT_EQ(0, session_number(session, "evicted"));
	EXPECT_EQ(0, session_number(session, "pending"));
	EXPECT_EQ(tally.totals.events, session_number(session, "events"));
	EXPECT_EQ(0, session_read(session, "front", text));
	EXPECT_STREQ("device", text);
	EXPECT_EQ(0, session_read(session, "engine", text));
	EXPECT_STREQ("loops", text);
	EXPECT_EQ(0, session_read(session, "source", text));
	EXPECT_STREQ("step", text);

	recording_close(&events);
	close(fd);
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(-ENOENT, session_read(session, "owner", text));
}

/* A session of several profiles names all of them. */
TEST(multi_session)
{
	struct hwprof_config config =
		device_config(EVENT_PATHS | EVENT_LOOPS | EVENT_CCT);
	char text[TEXT];
	int fd;

	ASSERT_TRUE(event_sessions_are(0));
	fd = device_open(&config);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, session_read(config.session, "engine", text));
	EXPECT_STREQ("loops,paths,cct", text);
	close(fd);
	EXPECT_TRUE(event_sessions_are(0));
}

/* A count of perf has a folder, too. */
TEST(perf_session)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	struct hwprof_config config = device_config(EVENT_CALLS);
	char text[TEXT];
	int event, fd;

	attr.disabled = 0;
	fd = device_open(&config);	/* numbers are given in turn */
	event = event_open(&attr, 0, -1, -1, 0);
	ASSERT_LE(0, fd);
	ASSERT_LE(0, event);
	known_run();
	EXPECT_EQ(0, session_read(config.session + 1, "front", text));
	EXPECT_STREQ("perf", text);
	EXPECT_LE(KNOWN_BACK, session_number(config.session + 1, "produced"));
	EXPECT_EQ(0, session_number(config.session + 1, "memory"));
	close(event);
	close(fd);
}

/*
 * A step feeds no more sessions than docs/sources.md says. The others see
 * nothing, and tell how many branches that were.
 */
TEST(sessions_of_a_program)
{
	enum { MOST = 10, ALL = 14 };
	struct hwprof_config config = device_config(EVENT_CALLS);
	int device = device_open(&config);	/* numbers are given in turn */
	struct perf_event_attr attr;
	int fd[ALL], i;

	ASSERT_LE(0, device);
	for (i = 0; i < ALL; i++) {
		attr = event_attr_sampling(EVENT_LOOPS, 1000000);
		attr.config |= (1000000ULL + i) << 32;	/* span: no two alike */
		attr.disabled = 0;
		fd[i] = event_open(&attr, 0, -1, -1, 0);
		ASSERT_LE(0, fd[i]);
	}
	known_run();
	for (i = ALL; i--;)	/* the last ones get no room */
		ASSERT_EQ(0, ioctl(fd[i], PERF_EVENT_IOC_DISABLE, 0));
	for (i = 0; i < ALL; i++) {
		uint64_t lost = session_number(config.session + 1 + i,
					       "lost_events");

		if (i < MOST) {
			EXPECT_LE(KNOWN_BACK, event_count(fd[i]));
			EXPECT_EQ(0, lost);
		} else {
			EXPECT_EQ(0, event_count(fd[i]));
			EXPECT_LE(KNOWN_BACK, lost);
		}
		close(fd[i]);
	}
	close(device);
}

/*
 * Starts a process that makes a session and keeps it. Sets @session to its
 * number.
 */
static pid_t holder_start(void (*prepare)(void), unsigned int *session)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);
	int pipes[2];
	pid_t pid;

	if (pipe(pipes))
		return -1;
	pid = fork();
	if (!pid) {
		prepare();
		if (device_open(&config) < 0 ||
		    session_number(config.session, "owner") !=
			    (unsigned)getpid() ||
		    session_number(config.session, "user") != 1000 ||
		    write(pipes[1], &config.session, sizeof(*session)) < 0)
			_exit(1);
		pause();
	}
	close(pipes[1]);
	if (read(pipes[0], session, sizeof(*session)) != sizeof(*session))
		pid = -1;
	close(pipes[0]);
	return pid;
}

/* Returns true if reading the session's folder is refused. */
static bool is_secret(unsigned int session, uid_t from)
{
	char text[TEXT];
	int status;
	pid_t pid = fork();

	if (!pid) {
		become(from);
		_exit(session_read(session, "produced", text) != -EACCES);
	}
	waitpid(pid, &status, 0);
	return status == 0;
}

static void become_user(void)
{
	become(1000);
}

/* The folder is for its user and root, and for nobody else. */
TEST(whose_folder)
{
	unsigned int session;
	pid_t pid = holder_start(become_user, &session);

	ASSERT_LT(0, pid);
	EXPECT_EQ(1000, session_number(session, "user"));
	EXPECT_TRUE(is_secret(session, 1001));
	EXPECT_FALSE(is_secret(session, 1000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_TRUE(event_sessions_are(0));
}

static void become_setuid(void)
{
	if (setresuid(1000, 0, 0))
		_exit(1);
}

/* The folder of a setuid program's session is not for the caller. */
TEST(folder_of_setuid)
{
	unsigned int session;
	pid_t pid = holder_start(become_setuid, &session);

	ASSERT_LT(0, pid);
	EXPECT_TRUE(is_secret(session, 1000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_TRUE(event_sessions_are(0));
}

static void *read_for_ever(void *session)
{
	char text[TEXT];

	while (!session_read(*(unsigned int *)session, "pending", text))
		;
	return NULL;
}

/* A reader of a session that ends sees it end. */
TEST(read_while_it_ends)
{
	int round;

	for (round = 0; round < 20; round++) {
		struct hwprof_config config = device_config(EVENT_LOOPS);
		int fd = device_open(&config);
		pthread_t reader;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, pthread_create(&reader, NULL, read_for_ever,
					    &config.session));
		usleep(2000);
		close(fd);
		pthread_join(reader, NULL);
	}
	EXPECT_TRUE(event_sessions_are(0));
}

TEST_HARNESS_MAIN
