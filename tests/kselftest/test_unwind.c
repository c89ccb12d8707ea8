// SPDX-License-Identifier: GPL-2.0-only
/* Tables for unwinding: refusals, whom they apply to, and hostile ones. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "capability.h"
#include "device.h"
#include "text.h"

EVENT_ALL_NEED("sample")

enum {
	PAGE		= 4096,
	TEXT		= 128,
	PERIOD		= 100000,	/* ns of CPU time */
	TURNS		= 20000000,
	SPIN_TEXT	= 0x10000000,	/* of the program `spin` */
};

#define KERNEL		(1ULL << 63)

/* A function without a frame, alone in its page. */
#ifdef __x86_64__
void spin_bare(long turns);
__asm__(
"	.text\n"
"	.balign 4096\n"
"	.type spin_bare, @function\n"
"spin_bare:\n"
"1:	dec	%rdi\n"
"	jnz	1b\n"
"	ret\n"
"	.size spin_bare, . - spin_bare\n"
"	.balign 4096\n");
#else
static void spin_bare(long turns)
{
	while (turns--)
		__asm__ volatile("");
}
#endif

static const struct hwprof_unwind_row bare = {
	.cfa = 1, .kind = HWPROF_UNWIND_SP,
};

static struct hwprof_unwind_map map_of(uint64_t start, uint64_t end, int table)
{
	return (struct hwprof_unwind_map){
		.start = start, .end = end, .base = start, .table = table,
	};
}

/* Maps the page of spin_bare(), for this process and its children. */
static int map_bare(int fd, int table)
{
	const struct hwprof_unwind_map map =
		map_of((uintptr_t)spin_bare, (uintptr_t)spin_bare + PAGE,
		       table);

	return device_set_maps(fd, &map, 1, getpid());
}

/* --- a session with call stacks of samples -------------------------------- */

FIXTURE(unwind)
{
	struct hwprof_config config;
	int fd;
	struct recording events;
	struct tally tally;
};

FIXTURE_SETUP(unwind)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->config = device_config(EVENT_CCT | EVENT_SAMPLE |
				     EVENT_MEMORY(2));
	self->config.period = PERIOD;
	self->fd = device_open(&self->config);
	ASSERT_LE(0, self->fd);
	if (device_add_table(self->fd, &bare, 1) == -EOPNOTSUPP) {
		close(self->fd);
		SKIP(return, "this architecture has none");
	}
}

FIXTURE_TEARDOWN(unwind)
{
	recording_close(&self->events);
	close(self->fd);
	EXPECT_TRUE(event_sessions_are(0));
}

static uint64_t number(const FIXTURE_DATA(unwind) *self, const char *name)
{
	char path[TEXT], text[TEXT];

	snprintf(path, sizeof(path), "/sys/class/misc/hwprof/sessions/%u/%s",
		 self->config.session, name);
	return text_read(path, text, sizeof(text)) ? ~0ULL :
						     strtoull(text, NULL, 10);
}

static void run_bare(void *context)
{
	spin_bare(TURNS);
}

/* Returns how many callers were found by tables while a child spins. */
static uint64_t unwound_of_child(struct __test_metadata *_metadata,
				 FIXTURE_DATA(unwind) *self, pid_t pid)
{
	struct perf_event_attr attr = device_feeder(&self->config);
	struct child child = child_start(run_bare, NULL);
	uint64_t before = number(self, "unwound");

	EXPECT_EQ(0, recording_open(&self->events, &attr,
				    pid ? pid : child.pid, 0, &self->tally));
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	recording_close(&self->events);
	memset(&self->events, 0, sizeof(self->events));
	return number(self, "unwound") - before;
}

/* --- refusals ------------------------------------------------------------- */

TEST_F(unwind, tables)
{
	struct hwprof_unwind_row rows[2] = { bare, bare };
	struct hwprof_unwind_table table = {
		.size = sizeof(table), .rows = (uintptr_t)rows, .count = 1,
	};

	EXPECT_EQ(-EINVAL, device_add_table(self->fd, rows, 2));	/* not
					 * sorted */
	rows[1].start = 1;
	EXPECT_LT(0, device_add_table(self->fd, rows, 2));
	EXPECT_EQ(-EINVAL, device_add_table(self->fd, rows, 0));
	EXPECT_EQ(-E2BIG, device_add_table(self->fd, rows,
				   HWPROF_UNWIND_ROWS_MAX + 1));
	EXPECT_EQ(-EFAULT, device_add_table(self->fd, NULL, 1));
	rows[1].kind = HWPROF_UNWIND_OUTERMOST;
	EXPECT_EQ(-EINVAL, device_add_table(self->fd, rows, 2));
	rows[1].cfa = 0;
	EXPECT_LT(0, device_add_table(self->fd, rows, 2));
	rows[1].kind = HWPROF_UNWIND_BP;
	EXPECT_EQ(-EINVAL, device_add_table(self->fd, rows, 2));
	rows[1] = (struct hwprof_unwind_row){ .start = 1, .bp = 1 };
	EXPECT_EQ(-EINVAL, device_add_table(self->fd, rows, 2));
	rows[1] = (struct hwprof_unwind_row){
		.start = 1, .cfa = 1, .kind = HWPROF_UNWIND_OUTERMOST + 1,
	};
	EXPECT_EQ(-EINVAL, device_add_table(self->fd, rows, 2));
	table.flags = 1;
	EXPECT_EQ(-1, ioctl(self->fd, HWPROF_IOC_UNWIND_TABLE, &table));
	EXPECT_EQ(EINVAL, errno);
	table.flags = 0;
	table.table = 1;
	EXPECT_EQ(-1, ioctl(self->fd, HWPROF_IOC_UNWIND_TABLE, &table));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(HWPROF_UNWIND_TABLE_SIZE_VER0, sizeof(table));
	EXPECT_EQ(HWPROF_UNWIND_MAPS_SIZE_VER0,
		  sizeof(struct hwprof_unwind_maps));
}

TEST_F(unwind, maps)
{
	const int table = device_add_table(self->fd, &bare, 1);
	struct hwprof_unwind_map maps[2] = {
		map_of(PAGE, 2 * PAGE, table),
		map_of(2 * PAGE, 3 * PAGE, table),
	};

	EXPECT_EQ(0, device_set_maps(self->fd, maps, 2, getpid()));
	EXPECT_EQ(0, device_set_maps(self->fd, maps, 0, getpid()));
	EXPECT_EQ(-ESRCH, device_set_maps(self->fd, maps, 2, 0));
	EXPECT_EQ(-ESRCH, device_set_maps(self->fd, maps, 2, -1));
	EXPECT_EQ(-ESRCH, device_set_maps(self->fd, maps, 2, 2)); /* kthreadd */
	EXPECT_EQ(-EFAULT, device_set_maps(self->fd, NULL, 1, getpid()));
	EXPECT_EQ(-E2BIG,
		  device_set_maps(self->fd, maps, HWPROF_UNWIND_MAPS_MAX + 1,
				  getpid()));
	maps[0].end++;
	EXPECT_EQ(-EINVAL, device_set_maps(self->fd, maps, 2, getpid()));
	maps[0].end = maps[0].start;
	EXPECT_EQ(-EINVAL, device_set_maps(self->fd, maps, 2, getpid()));
	maps[0] = map_of(PAGE, 2 * PAGE, 0);
	EXPECT_EQ(-EINVAL, device_set_maps(self->fd, maps, 1, getpid()));
	maps[0].table = HWPROF_UNWIND_TABLES_MAX;
	EXPECT_EQ(-EINVAL, device_set_maps(self->fd, maps, 1, getpid()));
	maps[0].table = table;
	maps[0].base++;
	EXPECT_EQ(-EINVAL, device_set_maps(self->fd, maps, 1, getpid()));
	maps[0] = map_of(PAGE, PAGE + (1ULL << 32) + 1, table);
	EXPECT_EQ(-EINVAL, device_set_maps(self->fd, maps, 1, getpid()));
	maps[0] = map_of(KERNEL, KERNEL + PAGE, table);
	EXPECT_EQ(-EINVAL, device_set_maps(self->fd, maps, 1, getpid()));
	maps[0] = map_of(PAGE, 2 * PAGE, table);
	maps[0].reserved = 1;
	EXPECT_EQ(-EINVAL, device_set_maps(self->fd, maps, 1, getpid()));
}

/* A file has a limited number of tables, which end with it. */
TEST_F(unwind, too_many_tables)
{
	int round, count, number_ = 0;

	for (round = 0; round < 2; round++) {
		int fd = open(HWPROF_DEVICE, O_RDWR);

		ASSERT_LE(0, fd);
		for (count = 0; number_ >= 0; count++)
			number_ = device_add_table(fd, &bare, 1);
		EXPECT_EQ(-ENOSPC, number_);
		EXPECT_EQ(HWPROF_UNWIND_TABLES_MAX + 1, count);
		number_ = 0;
		close(fd);
	}
}

enum { MANY_ROWS = 1 << 17 };	/* 1 MiB */

/* Tables are limited by the user's locked memory, which is returned. */
TEST_F(unwind, memory_of_users)
{
	struct hwprof_unwind_row *rows = calloc(MANY_ROWS, sizeof(*rows));
	struct rlimit limit = { 3 << 20, 3 << 20 };
	int fd, i, last;

	for (i = 0; i < MANY_ROWS; i++)
		rows[i] = (struct hwprof_unwind_row){
			.start = i, .cfa = 1, .kind = HWPROF_UNWIND_SP,
		};
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &limit));
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	for (i = 0; i < 4; i++) {
		fd = open(HWPROF_DEVICE, O_RDWR);
		ASSERT_LE(0, fd);
		EXPECT_LT(0, device_add_table(fd, rows, MANY_ROWS));
		EXPECT_LT(0, device_add_table(fd, rows, MANY_ROWS));
		last = device_add_table(fd, rows, MANY_ROWS);
		EXPECT_EQ(-ENOMEM, last);
		rows[1].start = 0;	/* a refused table holds no memory */
		EXPECT_EQ(-EINVAL, device_add_table(fd, rows, 4));
		rows[1].start = 1;
		close(fd);
	}
	free(rows);
}

/* --- whom tables apply to ------------------------------------------------- */

TEST_F(unwind, forked)
{
	ASSERT_EQ(0, map_bare(self->fd, device_add_table(self->fd, &bare, 1)));
	EXPECT_LT(0, unwound_of_child(_metadata, self, 0));
	EXPECT_LE(number(self, "unwound"), number(self, "callers"));
	/* After the removal none are found. */
	ASSERT_EQ(0, device_set_maps(self->fd, NULL, 0, getpid()));
	EXPECT_EQ(0, unwound_of_child(_metadata, self, 0));
}

/*
 * A file without a session has tables for perf's sessions, but not for another
 * file's.
 */
TEST_F(unwind, of_another_file)
{
	int fd = open(HWPROF_DEVICE, O_RDWR);

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, map_bare(fd, device_add_table(fd, &bare, 1)));
	EXPECT_EQ(0, unwound_of_child(_metadata, self, 0));
	close(fd);
}

/* Events of perf's own sessions. */
TEST_F(unwind, of_perf)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CCT | EVENT_SAMPLE | EVENT_ROWS,
				    PERIOD);
	struct child child = child_start(run_bare, NULL);
	int fd = open(HWPROF_DEVICE, O_RDWR), event;
	uint32_t device = self->config.session;

	ASSERT_LE(0, fd);
	event = event_open(&attr, child.pid, -1, -1, 0);
	ASSERT_LE(0, event);
	ASSERT_EQ(0, map_bare(fd, device_add_table(fd, &bare, 1)));
	close(fd);		/* the session has the tables now */
	ioctl(event, PERF_EVENT_IOC_ENABLE, 0);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	self->config.session++;
	EXPECT_LT(0, number(self, "unwound"));
	self->config.session = device;
	EXPECT_EQ(0, number(self, "unwound"));
	event_sessions_add_up();
	close(event);
}

static pid_t start_spin(void)
{
	pid_t pid = fork();

	if (!pid) {
		execl("./spin", "spin", NULL);
		_exit(1);
	}
	usleep(100000);
	return pid;
}

/* Returns how many callers of it were found by tables in half a second. */
static uint64_t unwound_of_spin(struct __test_metadata *_metadata,
				FIXTURE_DATA(unwind) *self, pid_t pid)
{
	struct perf_event_attr attr = device_feeder(&self->config);
	uint64_t before = number(self, "unwound");

	EXPECT_EQ(0, recording_open(&self->events, &attr, pid, 0,
				    &self->tally));
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
	usleep(500000);
	recording_close(&self->events);
	memset(&self->events, 0, sizeof(self->events));
	return number(self, "unwound") - before;
}

/* An exec makes another image of the same program at the same address. */
TEST_F(unwind, after_an_exec)
{
	const struct hwprof_unwind_map map =
		map_of(SPIN_TEXT, SPIN_TEXT + PAGE,
		       device_add_table(self->fd, &bare, 1));
	pid_t first = start_spin(), second = start_spin();

	EXPECT_EQ(0, device_set_maps(self->fd, &map, 1, first));
	EXPECT_LT(0, unwound_of_spin(_metadata, self, first));
	EXPECT_EQ(0, unwound_of_spin(_metadata, self, second));
	kill(first, SIGKILL);
	kill(second, SIGKILL);
	while (wait(NULL) > 0)
		;
}

/*
 * Tries what another process with the file may do. Returns 0, or what went
 * wrong.
 */
static int try_as_another(const FIXTURE_DATA(unwind) *self, int plain)
{
	struct tally tally = { 0 };

	if (device_add_table(self->fd, &bare, 1) != -EPERM)
		return 1;
	if (device_set_maps(self->fd, NULL, 0, getppid()) != -EPERM)
		return 2;
	if (device_add_table(plain, &bare, 1) != -EPERM)
		return 3;
	if (device_set_maps(plain, NULL, 0, getppid()) != -EPERM)
		return 4;
	if (device_snapshot(self->fd, 1 << 20, &tally))
		return 5;
	return 0;
}

/* A process that got the file by a fork may read, but may not give tables. */
TEST_F(unwind, of_another_process)
{
	int plain = open(HWPROF_DEVICE, O_RDWR), status;
	pid_t pid;

	ASSERT_LE(0, plain);
	ASSERT_LT(0, device_add_table(plain, &bare, 1));
	pid = fork();
	if (!pid)
		_exit(try_as_another(self, plain));
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, WEXITSTATUS(status));
	EXPECT_TRUE(WIFEXITED(status));
	close(plain);
}

/* An ordinary user may not learn about other users' stacks. */
TEST_F(unwind, of_all_for_users)
{
	ASSERT_EQ(0, map_bare(self->fd, device_add_table(self->fd, &bare, 1)));
	EXPECT_LT(0, unwound_of_child(_metadata, self, -1));
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", -1));
	close(self->fd);
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	/* Lets it profile its children. */
	ASSERT_EQ(0, prctl(PR_SET_DUMPABLE, 1, 0, 0, 0));
	self->config.session = 0;
	self->fd = device_open(&self->config);
	ASSERT_LE(0, self->fd);
	ASSERT_EQ(0, map_bare(self->fd, device_add_table(self->fd, &bare, 1)));
	EXPECT_LT(0, unwound_of_child(_metadata, self, 0));
	EXPECT_EQ(0, unwound_of_child(_metadata, self, -1));
	/* From then on the session also sees other users. */
	EXPECT_EQ(0, unwound_of_child(_metadata, self, 0));
}

/* A daemon's session of all programs, and tables given without rights. */
static void tell_after_drop(void *context)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CCT | EVENT_SAMPLE | EVENT_ROWS,
				    PERIOD);
	int cpus = sysconf(_SC_NPROCESSORS_ONLN), cpu, fd, *told = context;

	attr.disabled = 0;
	for (cpu = 0; cpu < cpus; cpu++)
		if (event_open(&attr, -1, cpu, -1, 0) < 0)
			_exit(1);
	if (setresgid(1000, 1000, 1000) || setresuid(1000, 1000, 1000))
		_exit(2);
	fd = open(HWPROF_DEVICE, O_RDWR);
	if (fd < 0 || map_bare(fd, device_add_table(fd, &bare, 1)))
		_exit(3);
	spin_bare(TURNS);
	if (write(*told, "", 1) != 1)
		_exit(4);
	pause();
}

TEST_F(unwind, of_a_daemon_that_has_dropped_rights)
{
	struct child child;
	int told[2];
	char byte;

	ASSERT_EQ(0, pipe(told));
	child = child_start(tell_after_drop, &told[1]);
	close(told[1]);
	child_go(&child);
	EXPECT_EQ(1, read(told[0], &byte, 1));
	self->config.session++;
	EXPECT_LT(0, number(self, "events"));
	EXPECT_EQ(0, number(self, "unwound"));
	self->config.session--;
	kill(child.pid, SIGKILL);
	waitpid(child.pid, NULL, 0);
	close(told[0]);
}

/* --- hostile tables ------------------------------------------------------- */

enum { HOSTILE_ROWS = 64 };

static int add_nonsense(int fd, unsigned int *seed)
{
	struct hwprof_unwind_row rows[HOSTILE_ROWS];
	uint32_t start = 0, i;

	for (i = 0; i < HOSTILE_ROWS; i++) {
		start += 1 + rand_r(seed) % 3;
		rows[i] = (struct hwprof_unwind_row){
			.start = start,
			.cfa = 1 + rand_r(seed) % (i % 2 ? 4 : UINT16_MAX),
			.bp = rand_r(seed),
			.kind = HWPROF_UNWIND_SP + rand_r(seed) % 2,
		};
	}
	return device_add_table(fd, rows, HOSTILE_ROWS);
}

/* Sets maps all over the address space. */
static int set_nonsense(int fd, pid_t pid, unsigned int *seed, int tables)
{
	const uint64_t pages = 1ULL << 35, size = 1ULL << 31;
	struct hwprof_unwind_map maps[16];
	uint64_t start = 0;
	int i;

	for (i = 0; i < 15; i++) {
		start += (rand_r(seed) % pages) * PAGE % size;
		maps[i] = map_of(start, start + size,
				 1 + rand_r(seed) % tables);
		start += size;
	}
	maps[15] = map_of((uintptr_t)spin_bare & ~(size - 1),
			  ((uintptr_t)spin_bare & ~(size - 1)) + size,
			  1 + rand_r(seed) % tables);
	return device_set_maps(fd, maps, 16, pid);
}

/* Runs with frames that lead anywhere, from arbitrary registers. */
static void run_wild(void *context)
{
	int i;

	for (i = 0; i < 200; i++)
		spin_bare(TURNS / 200);
}

TEST_F(unwind, nonsense)
{
	struct perf_event_attr attr = device_feeder(&self->config);
	struct child child = child_start(run_wild, NULL);
	unsigned int seed = 1, sets = 0;
	int i, table = 0;

	EXPECT_EQ(0, recording_open(&self->events, &attr, child.pid, 0,
				    &self->tally));
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
	for (i = 0; i < 64; i++)
		table = add_nonsense(self->fd, &seed);
	ASSERT_LT(0, table);
	child_go(&child);
	while (!waitpid(child.pid, NULL, WNOHANG)) {
		i = set_nonsense(self->fd, child.pid, &seed, table);
		sets += !i;
		if (i && i != -ESRCH)
			break;
	}
	EXPECT_LT(0, sets);
	TH_LOG("%u times set, %llu of %llu callers by tables", sets,
	       (unsigned long long)number(self, "unwound"),
	       (unsigned long long)number(self, "callers"));
	EXPECT_LT(0, number(self, "unwound"));
	EXPECT_EQ(0, device_snapshot(self->fd, 1 << 20, &self->tally));
	waitpid(child.pid, NULL, 0);
}

enum { ALIKE = 64 };		/* four times as many as a list has room for */

/* Starts a process that differs from others only in where its heap begins. */
static pid_t start_alike(unsigned int number)
{
	char *heap = sbrk(0);
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		if (sbrk(ALIKE * PAGE) != heap ||
		    prctl(PR_SET_MM, PR_SET_MM_START_BRK, heap + PAGE * number,
			  0, 0) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

/*
 * Users cannot choose programs that share a list. A full list would reveal what
 * the kernel uses to choose it.
 */
TEST_F(unwind, images_do_not_meet)
{
	const int table = device_add_table(self->fd, &bare, 1);
	const struct hwprof_unwind_map map = map_of(PAGE, 2 * PAGE, table);
	unsigned int i, refused = 0;
	pid_t pids[ALIKE];

	for (i = 0; i < ALIKE; i++) {
		pids[i] = start_alike(i);
		ASSERT_LT(0, pids[i]);
		refused += device_set_maps(self->fd, &map, 1, pids[i]) != 0;
	}
	EXPECT_EQ(0, refused);
	for (i = 0; i < ALIKE; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

enum { IMAGES = 6000 };

/*
 * More programs than there is room for: those that ended make room. One process
 * that moves its stack stands for all of them.
 */
TEST_F(unwind, images_come_and_go)
{
	const int table = device_add_table(self->fd, &bare, 1);
	const struct hwprof_unwind_map map = map_of(PAGE, 2 * PAGE, table);
	char *area = mmap(NULL, IMAGES * 16, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned int i, failed = 0;

	ASSERT_NE(MAP_FAILED, area);
	for (i = 0; i < IMAGES; i++) {
		ASSERT_EQ(0, prctl(PR_SET_MM, PR_SET_MM_START_STACK,
				   area + 16 * i, 0, 0));
		failed += device_set_maps(self->fd, &map, 1, getpid()) != 0;
	}
	EXPECT_EQ(0, failed);
}

/* --- the room of a list --------------------------------------------------- */

enum {
	ROOM	= 16,			/* images of a list */
	KEYS	= 256 * ROOM,		/* of all lists */
};

/*
 * A file and its images. Each takes a page of locked memory, which is limited.
 * So it shows whether an image was there, and whether others were dropped.
 */
struct images {
	int fd;
	struct hwprof_unwind_map map;
	char *area;
	rlim_t pages;			/* what the user has locked */
};

static void move_stack(const struct images *images, unsigned int key)
{
	if (prctl(PR_SET_MM, PR_SET_MM_START_STACK, images->area + 16 * key, 0,
		  0))
		event_give_up("the stack does not move");
}

/* Tries with room for that many more pages. Returns true if that will do. */
static bool set_with(const struct images *images, unsigned int more)
{
	const struct rlimit limit = {
		(images->pages + more) * PAGE, RLIM_INFINITY
	};
	int err;

	if (setrlimit(RLIMIT_MEMLOCK, &limit))
		event_give_up("no limit of locked memory");
	err = device_set_maps(images->fd, &images->map, 1, getpid());
	if (err && err != -ENOMEM)
		event_give_up("no maps");
	return !err;
}

/*
 * Sets the maps of this process with a key. Returns how many images there are
 * more than before.
 */
static int set_maps_of(struct images *images, unsigned int key)
{
	int more = 1;

	move_stack(images, key);
	if (set_with(images, 0))	/* those of a full list were dropped */
		more = 1 - ROOM;
	else if (!set_with(images, 1))
		event_give_up("an image takes more than a page");
	else if (set_with(images, 1))
		more = 0;
	images->pages += more;
	return more;
}

/*
 * Finds keys of one list, one more than it has room for. Key 0 is set. Returns
 * how many.
 */
static unsigned int find_keys(struct images *images, unsigned int *keys)
{
	unsigned int i, last = 1, count = 0;

	while (last < KEYS && set_maps_of(images, last) > 0)
		last++;
	/* Keys that are not there any more were in that list. */
	for (i = 0; i < last && count < ROOM + 2; i++)
		if (set_maps_of(images, i))
			keys[count++] = i;
	keys[count++] = last;
	return count;
}

/* Returns a process with that key. */
static pid_t start_with_key(const struct images *images, unsigned int key)
{
	pid_t pid;

	move_stack(images, key);
	pid = fork();
	while (!pid)
		pause();
	return pid;
}

/*
 * Tells another file the maps of programs that share a list of the first one.
 * Returns how many it refuses. Each file has its own secret, so these programs
 * share no list there.
 */
static unsigned int refused_by_another_file(const struct images *images,
					    const pid_t pids[ROOM + 1])
{
	struct hwprof_config config = device_config(EVENT_CCT | EVENT_SAMPLE);
	struct hwprof_unwind_map map = images->map;
	unsigned int i, refused = 0;
	int fd = device_open(&config);

	if (fd < 0)
		event_give_up("no second file");
	map.table = device_add_table(fd, &bare, 1);
	for (i = 0; i <= ROOM; i++)
		refused += device_set_maps(fd, &map, 1, pids[i]) != 0;
	close(fd);
	return refused;
}

/* Living programs of a list are as many as it has room for, and no more. */
TEST_F(unwind, images_of_one_list)
{
	struct hwprof_config config = device_config(EVENT_CCT | EVENT_SAMPLE);
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct images images = { };
	unsigned int keys[ROOM + 3], i;
	pid_t pids[ROOM + 1];

	images.area = mmap(NULL, (KEYS + 1) * 16, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, images.area);
	ASSERT_TRUE(capability_drop(CAP_IPC_LOCK));
	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &unlimited));
	images.fd = device_open(&config);
	ASSERT_LE(0, images.fd);
	images.map = map_of(PAGE, 2 * PAGE,
			    device_add_table(images.fd, &bare, 1));
	move_stack(&images, 0);
	while (!set_with(&images, 0))
		images.pages++;
	ASSERT_EQ(ROOM + 1, find_keys(&images, keys));

	ASSERT_EQ(0, setrlimit(RLIMIT_MEMLOCK, &unlimited));
	for (i = 0; i <= ROOM; i++) {
		pids[i] = start_with_key(&images, keys[i]);
		ASSERT_LT(0, pids[i]);
		EXPECT_EQ(i < ROOM ? 0 : -ENOSPC,
			  device_set_maps(images.fd, &images.map, 1, pids[i]));
	}
	EXPECT_EQ(0, refused_by_another_file(&images, pids));
	for (i = 0; i <= ROOM; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
	close(images.fd);
}

TEST_HARNESS_MAIN
