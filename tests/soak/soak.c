// SPDX-License-Identifier: GPL-2.0-only
/*
 * soak SECONDS SEED NEEDED [no-faults]: opens, switches, reads and closes
 * events of every kind, at random, on tasks that come and go and on whole CPUs,
 * while allocations fail. The account of each session must add up, whatever
 * happens to the event. It ends after SECONDS, but not before each kind has had
 * NEEDED recordings with rows. Exit status 1: an account did not add up, an
 * unexpected error came, or a kind did not get its recordings in TRIES of them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/kselftest/event.h"
#include "tests/kselftest/fault.h"
#include "tests/kselftest/known.h"
#include "storm.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))

enum {
	OPENERS		= 3,
	FAULTS		= 300,		/* allocations of an open */
	PAGES		= 8,		/* of a ring */
	INTERVAL_MS	= 10,		/* at most, between rows */
	STAY_MS		= 8,		/* at most, between two switches */
	ROWS		= 8,		/* are waited for, for... */
	SWITCHES	= 64,		/* ...that many switches */
	TRIES		= 150,		/* recordings of a kind for these */
	BURST		= 200,
	KERNEL_PERIOD	= 10,		/* times as long */
};

static const struct kind {
	const char *name;
	uint64_t config, config1, period;
} kinds[] = {
	{ "loops,step", EVENT_LOOPS | EVENT_STEP, 0, 1 },
	{ "branches,step", EVENT_BRANCHES | EVENT_STEP, 0, 1 },
	{ "ranges,step", EVENT_RANGES | EVENT_STEP, 0, 1 },
	{ "cct,step", EVENT_CCT | EVENT_STEP, 0, 1 },
	{ "paths,step", EVENT_PATHS | EVENT_STEP, 0, 1 },
	{ "values,step", EVENT_VALUES | EVENT_STEP, 0, 1 },
	{ "loops,burst", EVENT_LOOPS | EVENT_STEP, BURST, 500000 },
	{ "ranges,burst", EVENT_RANGES | EVENT_STEP, BURST, 500000 },
	{ "loops,lbr", EVENT_LOOPS | EVENT_LBR, 0, 1009 },
	{ "ranges,lbr", EVENT_RANGES | EVENT_LBR, 0, 1009 },
	{ "cct,lbr", EVENT_CCT | EVENT_LBR, 0, 1009 },
	{ "ranges,sample", EVENT_RANGES | EVENT_SAMPLE, 0, 500000 },
	{ "cct,sample", EVENT_CCT | EVENT_SAMPLE, 0, 500000 },
};

/* Written by all openers. main() reads them after their end. */
struct stats {
	unsigned long opened, productive, refused, failed, wrong;
	unsigned long rows, throttled, lost;
	unsigned long long produced, gaps;
};

static struct stats *stats;		/* one for each kind */
static bool with_faults;		/* allocations may be made to fail */
static unsigned long needed;		/* recordings of a kind with rows */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

static bool chance(unsigned int of)
{
	return random() % of == 0;
}

#define ADD(field, value)	\
	__atomic_fetch_add(&(field), value, __ATOMIC_RELAXED)

/* --- one recording -------------------------------------------------------- */

static struct perf_event_attr choose_attr(const struct kind *kind)
{
	struct perf_event_attr attr;
	bool rows = !chance(8);

	attr = event_attr_sampling(kind->config, kind->period);
	if (rows)
		attr.config |= EVENT_ROWS;
	else if (kind->config & EVENT_LBR || kind->config1 ||
		 kind->config & (EVENT_SAMPLE | EVENT_RANGES))
		attr.sample_period =
			0; /* this kind without rows can only count */
	attr.config |= EVENT_MEMORY(1 + random() % 3);
	attr.config1 = kind->config1 |
		       EVENT_INTERVAL(1 + random() % INTERVAL_MS);
	attr.inherit = !chance(4);
	attr.exclude_kernel = kind->config & EVENT_STEP || chance(2);
	/* The kernel must make progress between two NMIs. */
	if (!attr.exclude_kernel)
		attr.sample_period *= KERNEL_PERIOD;
	return attr;
}

/*
 * Tells whether CPUs or modules that go, tasks that die, or injected faults may
 * cause this error.
 */
static bool is_expected(int err, bool faulty)
{
	return err == -ENODEV || err == -ESRCH || err == -ENOENT ||
	       (faulty && (err == -ENOMEM || err == -EFAULT));
}

/*
 * Opens the event on each CPU that is online, for the task or for all tasks.
 * Returns 0 or an error.
 */
static int open_all(struct recording *recording, struct perf_event_attr *attr,
		    pid_t pid, bool faulty)
{
	int cpu, err = 0, cpus = sysconf(_SC_NPROCESSORS_CONF);

	recording->count = 0;
	recording->pages = PAGES;
	for (cpu = 0; cpu < cpus; cpu++) {
		if (faulty)
			fail_nth(1 + random() % FAULTS);
		err = recording_add(recording, attr, pid, cpu);
		if (faulty)
			fail_nth(0);
		if (err && err != -ENODEV)
			break;
		err = 0;
	}
	return err;
}

/* Returns true if there is a ring, and it has given few rows yet. */
static bool awaits_rows(const struct recording *recording)
{
	const struct tally *tally = recording->tally;

	return recording->ring[0] &&
	       (tally->samples < ROWS || !tally->totals.produced);
}

static void read_it(struct recording *recording)
{
	int i, least = 1 + random() % 4;

	for (i = 0; i < least || (i < SWITCHES && awaits_rows(recording));
	     i++) {
		recording_control(recording, PERF_EVENT_IOC_ENABLE);
		recording_read_for(recording, random() % STAY_MS);
		if (chance(2))
			recording_control(recording, PERF_EVENT_IOC_DISABLE);
		recording_drain(recording);
	}
	if (chance(4))
		return;			/* it is closed while it counts */
	recording_control(recording, PERF_EVENT_IOC_DISABLE);
	recording_drain(recording);
}

static void add_tally(struct stats *of_kind, const struct tally *tally)
{
	const struct hwprof_row_totals *totals = &tally->totals;

	ADD(of_kind->opened, 1);
	ADD(of_kind->productive, totals->produced && tally->samples);
	ADD(of_kind->rows, tally->samples);
	ADD(of_kind->lost, tally->lost);
	ADD(of_kind->throttled, tally->throttled);
	ADD(of_kind->produced, totals->produced);
	ADD(of_kind->gaps, totals->gaps);
	if (!tally->grown && !tally->mixed)
		return;
	tally_is_whole(tally);		/* says what is wrong */
	ADD(of_kind->wrong, 1);
}

static void record_once(const struct kind *kind, pid_t pid)
{
	struct stats *of_kind = &stats[kind - kinds];
	struct perf_event_attr attr = choose_attr(kind);
	struct recording recording;
	struct tally tally = { 0 };
	bool faulty = with_faults && chance(4);
	int err;

	recording.tally = &tally;
	err = open_all(&recording, &attr, pid, faulty);
	if (recording.count)
		read_it(&recording);
	recording_close(&recording);
	add_tally(of_kind, &tally);
	if (!err)
		return;
	ADD(of_kind->refused, 1);
	if (is_expected(err, faulty))
		return;
	printf("# %s: %s\n", kind->name, strerror(-err));
	ADD(of_kind->failed, 1);
}

/* --- all of them ---------------------------------------------------------- */

static bool has_enough(const struct kind *kind)
{
	const struct stats *of_kind = &stats[kind - kinds];

	return __atomic_load_n(&of_kind->productive, __ATOMIC_RELAXED) >=
	       needed;
}

static bool have_enough(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!has_enough(&kinds[i]))
			return false;
	return true;
}

static unsigned long tries(const struct stats *of_kind)
{
	return __atomic_load_n(&of_kind->opened, __ATOMIC_RELAXED) +
	       __atomic_load_n(&of_kind->refused, __ATOMIC_RELAXED);
}

/* Returns whether a kind has not enough, and more recordings may help. */
static bool need_more(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!has_enough(&kinds[i]) && tries(&stats[i]) >= TRIES)
			return false;
	return !have_enough();
}

/* Returns a kind at random: one that has not enough, if there is one. */
static const struct kind *choose_kind(void)
{
	const struct kind *kind;

	do
		kind = &kinds[random() % ARRAY_SIZE(kinds)];
	while (has_enough(kind) && !have_enough());
	return kind;
}

struct targets {
	struct child storm, spinner;
};

static void spin(void *unused)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;)
		known_run();
}

/*
 * Returns a task, or -1 for all. Stepping all of them is rare: it steps the
 * openers, too. A storm is in the kernel nearly all the time, and a burst there
 * is rare.
 */
static pid_t choose_task(const struct kind *kind, const struct targets *targets)
{
	if (chance(kind->config & EVENT_STEP ? 12 : 3))
		return -1;
	return kind->config1 && chance(2) ? targets->spinner.pid :
					    targets->storm.pid;
}

static void open_until(double end, unsigned int seed)
{
	struct targets targets;
	const struct kind *kind;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	srandom(seed);
	targets.storm = child_start(storm, NULL);
	targets.spinner = child_start(spin, NULL);
	child_go(&targets.storm);
	child_go(&targets.spinner);
	while (now() < end || need_more()) {
		kind = choose_kind();
		record_once(kind, choose_task(kind, &targets));
	}
	kill(targets.storm.pid, SIGKILL);
	kill(targets.spinner.pid, SIGKILL);
	while (wait(NULL) > 0)
		;
	fflush(NULL);
	_exit(0);
}

/*
 * Prints the counts. Returns whether every account added up and every kind had
 * enough recordings with rows.
 */
static bool report(void)
{
	bool good = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct stats *of = &stats[i];

		printf("# %-14s %5lu recordings, %4lu with rows, %4lu refused; %llu produced, %llu gaps; %lu rows, %lu lost, throttled %lu times\n",
		       kinds[i].name, of->opened, of->productive, of->refused,
		       of->produced, of->gaps, of->rows, of->lost,
		       of->throttled);
		if (!has_enough(&kinds[i]))
			printf("# %s starved: %lu recordings with rows are needed\n",
			       kinds[i].name, needed);
		/* tests/check does not repeat a suite that says so. */
		if (of->wrong || of->failed)
			printf("# a finding: %s: %lu accounts do not add up, %lu refused without cause\n",
			       kinds[i].name, of->wrong, of->failed);
		good &= !of->wrong && !of->failed && has_enough(&kinds[i]);
	}
	return good;
}

int main(int argc, char **argv)
{
	double end;
	int i, status;

	if (argc != 4 && (argc != 5 || strcmp(argv[4], "no-faults"))) {
		fprintf(stderr, "usage: soak SECONDS SEED NEEDED [no-faults]\n");
		return 2;
	}
	needed = strtoul(argv[3], NULL, 10);
	with_faults = argc == 4;
	stats = mmap(NULL, sizeof(*stats) * ARRAY_SIZE(kinds),
		     PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (stats == MAP_FAILED || (with_faults && !faults_init())) {
		fprintf(stderr, "soak: no memory, or no fault injection\n");
		return 2;
	}
	end = now() + atoi(argv[1]);
	for (i = 0; i < OPENERS; i++)
		if (fork() == 0)
			open_until(end, atoi(argv[2]) * OPENERS + i);
	for (i = 0; i < OPENERS; i++)
		if (wait(&status) < 0 || status) {
			printf("# an opener ended with %#x\n", status);
			return 1;
		}
	return !report();
}
