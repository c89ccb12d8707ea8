// SPDX-License-Identifier: GPL-2.0-only
/* A recording is one session, whatever the CPUs, threads and forks. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "event.h"
#include "known.h"

EVENT_ALL_NEED("step")

/* Sums of rows of the known loops. */
struct known {
	uint64_t inner_head, outer_head;
	uint64_t inner_back, outer_back;
	int64_t inner_entries, outer_entries;
};

static void see_known(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_loop *loop = (const void *)sample->row;
	struct known *known = tally->context;

	if (loop->head == known->inner_head) {
		known->inner_back += loop->back_edges;
		known->inner_entries += loop->entries;
	} else if (loop->head == known->outer_head) {
		known->outer_back += loop->back_edges;
		known->outer_entries += loop->entries;
	}
}

/* --- memory --------------------------------------------------------------- */

enum { READINGS = 5 };

static uint64_t read_module_memory(void)
{
	FILE *areas = fopen("/proc/vmallocinfo", "r");
	unsigned long long bytes;
	char line[512];
	uint64_t sum = 0;

	while (areas && fgets(line, sizeof(line), areas))
		if (strstr(line, "[hwprof]") &&
		    sscanf(line, "%*s %llu", &bytes) == 1)
			sum += bytes;
	if (areas)
		fclose(areas);
	return sum;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *first = a, *second = b;

	return *first < *second ? -1 : *first > *second;
}

/*
 * Returns the bytes that the module has from vmalloc(), which is nearly
 * everything. The kernel gives its list in parts. If areas come or go between
 * them, such as stacks of new threads, others are in it twice, or are left out.
 */
static uint64_t module_memory(void)
{
	uint64_t reading[READINGS];
	int i;

	for (i = 0; i < READINGS; i++)
		reading[i] = read_module_memory();
	qsort(reading, READINGS, sizeof(*reading), compare);
	return reading[READINGS / 2];
}

/* Makes the memory that sessions share, which stays as long as the module. */
static void make_shared_memory(struct __test_metadata *_metadata)
{
	ASSERT_EQ(0, event_try(event_attr(EVENT_LOOPS)));
	ASSERT_TRUE(event_sessions_are(0));
}

FIXTURE(sessions)
{
	struct recording rows;
	struct recording counts;
	struct tally tally;
	struct known known;
	uint64_t memory_mib;
	uint64_t others_memory;		/* bytes of no session */
};

FIXTURE_SETUP(sessions)
{
	ASSERT_TRUE(event_sessions_are(0));
	make_shared_memory(_metadata);
	self->others_memory = module_memory();
	self->memory_mib = 1;
	self->tally.see = see_known;
	self->tally.context = &self->known;
	self->known.inner_head = KNOWN_INNER_HEAD;
	self->known.outer_head = KNOWN_OUTER_HEAD;
}

FIXTURE_TEARDOWN(sessions)
{
	recording_close(&self->rows);
	recording_close(&self->counts);
	EXPECT_TRUE(event_sessions_are(0));
	EXPECT_EQ(self->others_memory, module_memory());
}

/*
 * Asserts that the sessions, one of which gives rows, use what it was given:
 * not more per CPU, task or event, and never more later. Each area consists of
 * whole pages, and one guard page.
 */
static void check_memory(struct __test_metadata *_metadata,
			 FIXTURE_DATA(sessions) *self)
{
	const uint64_t given = self->memory_mib << 20;
	uint64_t taken = module_memory() - self->others_memory;

	EXPECT_LE(given - given / 8, taken);
	EXPECT_GE(given + given / 8, taken);
}

/* Records rows and counts of the child. Returns its wait status. */
static int record(struct __test_metadata *_metadata,
		  FIXTURE_DATA(sessions) *self, struct child *child,
		  unsigned int pages)
{
	struct perf_event_attr rows =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS, 1);
	struct perf_event_attr counts = event_attr(EVENT_LOOPS);
	int status;

	rows.config |= EVENT_MEMORY(self->memory_mib);
	ASSERT_EQ(0, recording_open(&self->rows, &rows, child->pid, pages,
				    &self->tally));
	ASSERT_EQ(0, recording_open(&self->counts, &counts, child->pid, 0,
				    NULL));
	EXPECT_EQ(2, event_sessions());
	check_memory(_metadata, self);
	recording_control(&self->counts, PERF_EVENT_IOC_ENABLE);
	recording_control(&self->rows, PERF_EVENT_IOC_ENABLE);
	child_go(child);
	status = recording_wait(&self->rows, child->pid);
	EXPECT_EQ(2, event_sessions());
	check_memory(_metadata, self);
	return status;
}

/*
 * Asserts that everything arrived, and belongs to @runs runs of the known
 * loops.
 */
static void check(struct __test_metadata *_metadata,
		  FIXTURE_DATA(sessions) *self, uint64_t runs)
{
	const struct hwprof_row_totals *totals = &self->tally.totals;

	EXPECT_EQ(runs * KNOWN_INNER_BACK, self->known.inner_back);
	EXPECT_EQ(runs * KNOWN_OUTER_BACK, self->known.outer_back);
	EXPECT_EQ(runs * KNOWN_OUTER, self->known.inner_entries);
	EXPECT_EQ(runs, self->known.outer_entries);
	EXPECT_EQ(recording_count(&self->counts), self->tally.period);
	EXPECT_TRUE(tally_is_whole(&self->tally));
	EXPECT_EQ(self->memory_mib << 20, totals->memory);
}

TEST_F(sessions, program)
{
	struct child child = child_known();

	EXPECT_EQ(0, record(_metadata, self, &child, 64));
	check(_metadata, self, 1);
	EXPECT_EQ(1, self->tally.execs);
}

/* With rings of a page, everything arrives as long as they are read. */
TEST_F(sessions, small_ring)
{
	struct child child = child_known();

	EXPECT_EQ(0, record(_metadata, self, &child, 1));
	check(_metadata, self, 1);
}

TEST_F(sessions, fork_exec_storm)
{
	struct child child = child_known_jobs();

	EXPECT_EQ(0, record(_metadata, self, &child, 64));
	check(_metadata, self, known_jobs());
	EXPECT_EQ(known_jobs(), self->tally.execs);
}

static int forks(void)
{
	return fewer_times(32);
}

static void run_forks(void *context)
{
	int i;

	for (i = 0; i < forks(); i++) {
		if (fork() == 0) {
			known_run();
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
}

TEST_F(sessions, forks)
{
	struct child child = child_start(run_forks, NULL);

	self->memory_mib = 8;	/* for that many processes at a time */
	self->known.inner_head = (uint64_t)known_inner;
	self->known.outer_head = (uint64_t)known_outer;
	EXPECT_EQ(0, record(_metadata, self, &child, 64));
	check(_metadata, self, forks());
}

/* --- many threads --------------------------------------------------------- */

enum { THREADS = 500, RUNNERS = 8 };	/* most threads */

static int threads(void)
{
	return fewer_times(THREADS);
}

static pthread_barrier_t all_there;

static void *be_thread(void *number)
{
	pthread_barrier_wait(&all_there);
	if ((long)number < RUNNERS)
		known_run();
	return NULL;
}

/* Waits with its threads until the events are open. */
static void run_threads(void *go)
{
	pthread_attr_t small;
	pthread_t thread[THREADS];
	char byte;
	long i;

	pthread_barrier_init(&all_there, NULL, threads() + 1);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 65536);
	for (i = 0; i < threads(); i++)
		pthread_create(&thread[i], &small, be_thread, (void *)i);
	if (read(*(int *)go, &byte, 1) != 1)
		_exit(1);
	pthread_barrier_wait(&all_there);
	for (i = 0; i < threads(); i++)
		pthread_join(thread[i], NULL);
}

static int list_threads(pid_t pid, pid_t *tids)
{
	char path[32];
	struct dirent *entry;
	int count = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	folder = opendir(path);
	if (!folder)
		return 0;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			tids[count++] = atoi(entry->d_name);
	closedir(folder);
	return count;
}

/*
 * Like perf record -p: an event for each thread and CPU, and a ring for each
 * CPU.
 */
TEST_F(sessions, threads)
{
	static pid_t tids[THREADS + 1];
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS, 1);
	int cpu, cpus = sysconf(_SC_NPROCESSORS_ONLN), go[2], i, ring;
	struct rlimit files = { 8192, 8192 };
	static int fd[(THREADS + 1) * EVENT_CPUS];
	struct child child;
	int opened = 0;

	ASSERT_EQ(0, pipe(go));
	ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &files));
	self->memory_mib = 16;
	attr.config |= EVENT_MEMORY(self->memory_mib);
	self->known.inner_head = (uint64_t)known_inner;
	self->known.outer_head = (uint64_t)known_outer;
	child = child_start(run_threads, &go[0]);
	child_go(&child);
	for (i = 0; i < 500 && list_threads(child.pid, tids) <= threads(); i++)
		usleep(20000);
	ASSERT_EQ(threads() + 1, list_threads(child.pid, tids));

	ASSERT_EQ(0, recording_open(&self->rows, &attr, tids[0], 64,
				    &self->tally));
	for (i = 1; i <= threads(); i++) {
		for (cpu = 0; cpu < cpus; cpu++) {
			ring = self->rows.fd[cpu];
			fd[opened] = event_open(&attr, tids[i], cpu, -1, 0);
			ASSERT_LE(0, fd[opened]);
			ASSERT_EQ(0, ioctl(fd[opened],
					   PERF_EVENT_IOC_SET_OUTPUT, ring));
			ioctl(fd[opened++], PERF_EVENT_IOC_ENABLE, 0);
		}
	}
	recording_control(&self->rows, PERF_EVENT_IOC_ENABLE);
	EXPECT_EQ(1, event_sessions());
	check_memory(_metadata, self);
	ASSERT_EQ(1, write(go[1], "", 1));
	EXPECT_EQ(0, recording_wait(&self->rows, child.pid));

	EXPECT_EQ(RUNNERS * KNOWN_INNER_BACK, self->known.inner_back);
	EXPECT_EQ(RUNNERS * KNOWN_OUTER_BACK, self->known.outer_back);
	EXPECT_EQ(self->tally.totals.produced, self->tally.period);
	EXPECT_EQ(self->memory_mib << 20, self->tally.totals.memory);
	check_memory(_metadata, self);
	EXPECT_FALSE(self->tally.grown);
	EXPECT_FALSE(self->tally.mixed);
	while (opened)
		close(fd[--opened]);
}

/* --- identity of sessions ------------------------------------------------- */

static void open_and_tell(void *context)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	int *pipes = context;
	int fd = event_open(&attr, 0, -1, -1, 0);
	char byte;

	if (write(pipes[1], fd >= 0 ? "+" : "-", 1) != 1 ||
	    read(pipes[2], &byte, 1) != 1)
		_exit(1);
}

TEST_F(sessions, openers_and_configurations)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	int fd[6], i, pipes[4];
	struct child other;
	char byte = 0;

	fd[0] = event_open(&attr, 0, -1, -1, 0);
	fd[1] = event_open(&attr, 0, 0, -1, 0);
	EXPECT_EQ(1, event_sessions());
	attr.config |= 1ULL << 40;		/* span */
	fd[2] = event_open(&attr, 0, -1, -1, 0);
	EXPECT_EQ(2, event_sessions());
	attr.inherit = 0;
	fd[3] = event_open(&attr, 0, -1, -1, 0);
	EXPECT_EQ(3, event_sessions());
	attr.sample_period = 100;
	fd[4] = event_open(&attr, 0, -1, -1, 0);
	EXPECT_EQ(4, event_sessions());
	attr.config = EVENT_BRANCHES;
	fd[5] = event_open(&attr, 0, -1, -1, 0);
	EXPECT_EQ(5, event_sessions());

	ASSERT_EQ(0, pipe(&pipes[0]));
	ASSERT_EQ(0, pipe(&pipes[2]));
	other = child_start(open_and_tell, pipes);
	child_go(&other);
	ASSERT_EQ(1, read(pipes[0], &byte, 1));
	EXPECT_EQ('+', byte);
	EXPECT_EQ(6, event_sessions());
	ASSERT_EQ(1, write(pipes[3], "", 1));
	waitpid(other.pid, NULL, 0);
	for (i = 0; i < 6; i++)
		close(fd[i]);
}

/* Other credentials are another opener, even if they give the same rights. */
TEST_F(sessions, credentials)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS);
	int fd[3];

	fd[0] = event_open(&attr, 0, -1, -1, 0);
	EXPECT_EQ(1, event_sessions());
	ASSERT_EQ(0, setgid(1));
	fd[1] = event_open(&attr, 0, -1, -1, 0);
	EXPECT_EQ(2, event_sessions());
	fd[2] = event_open(&attr, 0, -1, -1, 0);
	ASSERT_LE(0, fd[2]);
	EXPECT_EQ(2, event_sessions());
	close(fd[0]);
	close(fd[1]);
	close(fd[2]);
}

/* A fork makes no session, and takes no memory of one. */
TEST_F(sessions, fork_allocates_nothing)
{
	struct child child = child_start(run_forks, NULL);
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_ROWS, 1);

	ASSERT_EQ(0, recording_begin(&self->rows, &attr, &child,
				     64, &self->tally));
	do {
		EXPECT_EQ(1, event_sessions());
		check_memory(_metadata, self);
		recording_read_for(&self->rows, 20);
	} while (waitpid(child.pid, NULL, WNOHANG) == 0);
	EXPECT_FALSE(self->tally.grown);
	EXPECT_FALSE(self->tally.mixed);
}

/* --- more than a step feeds ----------------------------------------------- */

enum { WIDE = 16 };			/* sessions of a CPU */

/* A session of a CPU that found no room gets it when others end. */
TEST_F(sessions, of_a_cpu_that_were_left_out)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	uint64_t config = attr.config;
	int fd[WIDE], i, tries = 100;

	stay_on(0);
	attr.disabled = 0;
	attr.inherit = 0;
	for (i = 0; i < WIDE; i++) {
		/* Another span makes another session. */
		attr.config = config | (uint64_t)(1024 + i) << 32;
		fd[i] = event_open(&attr, -1, 0, -1, 0);
		ASSERT_LE(0, fd[i]);
	}
	known_run();
	EXPECT_EQ(0, event_count(fd[WIDE - 1]));
	for (i = 0; i < WIDE - 1; i++)
		close(fd[i]);
	/* It joins at a switch. On a slow machine a sleep may end before it. */
	do {
		usleep(1000);
		known_run();
	} while (!event_count(fd[WIDE - 1]) && --tries);
	EXPECT_LE(KNOWN_BACK, event_count(fd[WIDE - 1]));
	close(fd[WIDE - 1]);
}

TEST_HARNESS_MAIN
