// SPDX-License-Identifier: GPL-2.0-only
/*
 * HWPROF_IOC_TUNE: who may change a session, what is refused, and that a change
 * takes effect without losing anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "capability.h"
#include "device.h"
#include "text.h"

enum {
	USER		= 1000,
	OTHER_USER	= 1001,
	BUFFER		= 1 << 20,
	WARM		= 10,		/* looks until distances are right */
	LOOKS		= 40,		/* that a rate is taken of */
	RATES		= 10,
	MS		= 1000 * 1000,
	CHANGES		= 200,
};

static int tune(int fd, struct hwprof_tuning *tuning)
{
	tuning->size = sizeof(*tuning);
	return ioctl(fd, HWPROF_IOC_TUNE, tuning) ? -errno : 0;
}

static int tune_as(int fd, struct hwprof_tuning tuning)
{
	return tune(fd, &tuning);
}

static struct hwprof_tuning ask(int fd)
{
	struct hwprof_tuning tuning = { .flags = 0 };

	if (tune(fd, &tuning))
		event_give_up("a session does not tell its parameters");
	return tuning;
}

static int set_budget(int fd, unsigned int permille)
{
	return tune_as(fd, (struct hwprof_tuning){
		.flags = HWPROF_TUNE_BUDGET, .budget_permille = permille,
	});
}

static int set_burst(int fd, unsigned int burst)
{
	return tune_as(fd, (struct hwprof_tuning){
		.flags = HWPROF_TUNE_BURST, .burst = burst,
	});
}

static int set_period(int fd, uint64_t period)
{
	return tune_as(fd, (struct hwprof_tuning){
		.flags = HWPROF_TUNE_PERIOD, .period = period,
	});
}

/*
 * Changes parameters. The rows of before may have to wait for their ring, or a
 * busy machine does not give all tables at once.
 */
static int tune_at_last(int fd, struct hwprof_tuning *tuning)
{
	int err, tries = 200;

	while ((err = tune(fd, tuning)) == -EAGAIN && tries--)
		usleep(10000);
	return err;
}

static int set_period_at_last(int fd, uint64_t period)
{
	struct hwprof_tuning tuning = {
		.flags = HWPROF_TUNE_PERIOD, .period = period,
	};

	return tune_at_last(fd, &tuning);
}

static int set_budget_at_last(int fd, unsigned int permille)
{
	struct hwprof_tuning tuning = {
		.flags = HWPROF_TUNE_BUDGET, .budget_permille = permille,
	};

	return tune_at_last(fd, &tuning);
}

static int set_freq(int fd, uint64_t freq)
{
	return tune_as(fd, (struct hwprof_tuning){
		.flags = HWPROF_TUNE_PERIOD | HWPROF_TUNE_FREQ, .period = freq,
	});
}

static struct hwprof_config config_bursts(unsigned int burst)
{
	struct hwprof_config config = device_config(EVENT_LOOPS | EVENT_STEP);

	config.config1 = burst | EVENT_BUDGET(50);
	config.period = 1;
	return config;
}

/* --- what is refused ------------------------------------------------------ */

TEST(structs)
{
	struct {
		struct hwprof_tuning tuning;
		uint64_t more;
	} larger = { .tuning.size = sizeof(larger) };
	struct hwprof_tuning tuning = { .size = HWPROF_TUNING_SIZE_VER0 - 1 };
	struct hwprof_config config = device_config_samples();
	int fd = device_open(&config), plain = open(HWPROF_DEVICE, O_RDWR);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_TUNE, &tuning));
	EXPECT_EQ(EINVAL, errno);
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_TUNE, NULL));
	EXPECT_EQ(EFAULT, errno);
	EXPECT_EQ(0, ioctl(fd, HWPROF_IOC_TUNE, &larger));
	EXPECT_EQ(MS, larger.tuning.period);
	larger.more = 1;
	larger.tuning.flags = 0;
	EXPECT_EQ(-1, ioctl(fd, HWPROF_IOC_TUNE, &larger));
	EXPECT_EQ(E2BIG, errno);
	EXPECT_EQ(sizeof(tuning), larger.tuning.size);
	EXPECT_EQ(-ENODATA, set_period(plain, 1));
	EXPECT_EQ(-ENOENT, tune_as(plain, (struct hwprof_tuning){
		.session = config.session + 1000,
	}));
	EXPECT_EQ(-EINVAL, tune_as(fd, (struct hwprof_tuning){ .flags = 16 }));
	close(fd);
	close(plain);
	EXPECT_TRUE(event_sessions_are(0));
}

TEST(periods)
{
	struct hwprof_config config = device_config_samples();
	int fd = device_open(&config);

	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, set_period(fd, 0));
	EXPECT_EQ(-EINVAL, set_period(fd, 1ULL << 63));
	EXPECT_EQ(-EINVAL, set_freq(fd, 100));
	EXPECT_EQ(-EINVAL, tune_as(fd, (struct hwprof_tuning){
		.flags = HWPROF_TUNE_FREQ, .period = 100,
	}));
	EXPECT_EQ(-EINVAL, set_budget(fd, 10));
	EXPECT_EQ(-EOPNOTSUPP, set_burst(fd, 100));
	EXPECT_EQ(0, ask(fd).changes);
	EXPECT_EQ(0, set_period(fd, 1));
	EXPECT_EQ(0, set_period(fd, (1ULL << 63) - 1));
	EXPECT_EQ((1ULL << 63) - 1, ask(fd).period);
	EXPECT_EQ(0, ask(fd).flags);
	EXPECT_EQ(2, ask(fd).changes);
	close(fd);
	EXPECT_TRUE(event_sessions_are(0));
}

TEST(frequencies)
{
	struct hwprof_config config = device_config_samples();
	int fd;

	config.flags |= HWPROF_CONFIG_FREQ;
	config.period = 1000;
	fd = device_open(&config);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, set_period(fd, 1000));
	EXPECT_EQ(-EINVAL, set_freq(fd, 0));
	EXPECT_EQ(-EINVAL, set_freq(fd, HWPROF_FREQ_MAX + 1));
	EXPECT_EQ(0, set_freq(fd, HWPROF_FREQ_MAX));
	EXPECT_EQ(HWPROF_FREQ_MAX, ask(fd).period);
	EXPECT_EQ(HWPROF_TUNE_FREQ, ask(fd).flags);
	close(fd);
	EXPECT_TRUE(event_sessions_are(0));
}

TEST(bursts_and_budgets)
{
	struct hwprof_config config = config_bursts(200);
	struct hwprof_tuning tuning;
	int fd, other;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	fd = device_open(&config);
	other = open(HWPROF_DEVICE, O_RDWR);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EINVAL, set_burst(fd, HWPROF_BURST_MIN - 1));
	EXPECT_EQ(-EINVAL, set_burst(fd, HWPROF_BURST_MAX + 1));
	EXPECT_EQ(-EINVAL, set_budget(fd, 0));
	EXPECT_EQ(-EINVAL, set_budget(fd, HWPROF_BUDGET_PERMILLE_MAX + 1));
	/* All or nothing. */
	tuning = (struct hwprof_tuning){
		.flags = HWPROF_TUNE_BURST | HWPROF_TUNE_BUDGET,
		.burst = 100, .budget_permille = 0,
	};
	EXPECT_EQ(-EINVAL, tune(fd, &tuning));
	EXPECT_EQ(200, ask(fd).burst);
	tuning.budget_permille = 7;
	tuning.session = config.session;
	EXPECT_EQ(0, tune(other, &tuning));
	EXPECT_EQ(config.session, tuning.session);
	EXPECT_EQ(100, tuning.burst);
	EXPECT_EQ(7, tuning.budget_permille);
	EXPECT_EQ(1, tuning.period);
	EXPECT_EQ(1, tuning.changes);
	close(fd);
	EXPECT_TRUE(event_sessions_are(0));
	tuning.flags = 0;
	EXPECT_EQ(-ENOENT, tune(other, &tuning));
	close(other);
}

TEST(sees_everything)
{
	struct hwprof_config config = device_config(EVENT_LOOPS | EVENT_STEP);
	int fd;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	fd = device_open(&config);
	ASSERT_LE(0, fd);
	EXPECT_EQ(-EOPNOTSUPP, tune_as(fd, (struct hwprof_tuning){ 0 }));
	EXPECT_EQ(-EOPNOTSUPP, set_period(fd, 1000));
	EXPECT_EQ(-EOPNOTSUPP, set_burst(fd, 1000));
	close(fd);
	EXPECT_TRUE(event_sessions_are(0));
}

/* --- rights --------------------------------------------------------------- */

static bool become(uid_t user)
{
	return !setresgid(user, user, user) && !setresuid(user, user, user);
}

/* A process that has inherited the file asks by the file and by the number. */
struct attempt {
	int fd;				/* -1: only the number is known */
	uint32_t session;
	uid_t user;			/* 0: stays root */
	bool drops;			/* its capabilities */
	bool unshares;			/* goes to a new user namespace */
	bool perfmon;			/* keeps this capability */
};

static int make_attempt(const struct attempt *attempt)
{
	struct hwprof_tuning by_file = { .flags = 0 };
	struct hwprof_tuning by_number = { .session = attempt->session };
	int device = open(HWPROF_DEVICE, O_RDWR), one, two;

	if (attempt->user && !become(attempt->user))
		return 90;
	if (attempt->drops &&
	    !capabilities_keep(attempt->perfmon ? 1ULL << CAP_PERFMON : 0))
		return 91;
	if (attempt->unshares && unshare(CLONE_NEWUSER))
		return 92;
	two = tune(device, &by_number);
	one = attempt->fd < 0 ? two : tune(attempt->fd, &by_file);
	return one == two ? -one : 93;
}

/* Returns the errno, or 0. */
static int try(struct attempt attempt)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(make_attempt(&attempt));
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 99;
}

TEST(rights_to_roots)
{
	struct hwprof_config config = device_config_samples();
	struct attempt attempt = { .fd = device_open(&config) };

	ASSERT_LE(0, attempt.fd);
	attempt.session = config.session;
	EXPECT_EQ(0, try(attempt));
	attempt.drops = true;
	EXPECT_EQ(EPERM, try(attempt));
	attempt.perfmon = true;
	EXPECT_EQ(0, try(attempt));
	attempt.drops = attempt.perfmon = false;
	attempt.user = USER;
	EXPECT_EQ(EPERM, try(attempt));
	attempt.user = 0;
	attempt.unshares = true;
	EXPECT_EQ(EPERM, try(attempt));
	close(attempt.fd);
	EXPECT_TRUE(event_sessions_are(0));
}

/* A process that could not step its targets cannot make it step them more. */
TEST(rights_to_one_that_steps)
{
	struct hwprof_config config = config_bursts(200);
	struct attempt attempt = { .drops = true };

	attempt.fd = device_open(&config);
	ASSERT_LE(0, attempt.fd);
	attempt.session = config.session;
	EXPECT_EQ(EPERM, try(attempt));
	attempt.perfmon = true;
	EXPECT_EQ(EPERM, try(attempt));
	attempt.drops = attempt.perfmon = false;
	EXPECT_EQ(0, try(attempt));
	close(attempt.fd);
	EXPECT_TRUE(event_sessions_are(0));
}

/* A user's session, which a child makes. */
static int try_users(void)
{
	struct hwprof_config config = device_config_samples();
	struct attempt attempt = { 0 };

	if (!become(USER))
		return 1;
	attempt.fd = device_open(&config);
	attempt.session = config.session;
	if (attempt.fd < 0 || try(attempt))
		return 2;
	attempt.unshares = true;
	return try(attempt) == EPERM ? 0 : 3;
}

TEST(rights_to_a_users)
{
	struct hwprof_config config = device_config_samples();
	struct attempt attempt;
	int status, ends[2];
	pid_t pid = fork();

	if (!pid)
		_exit(try_users());
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	/* Another user, and root. */
	ASSERT_EQ(0, pipe(ends));
	pid = fork();
	if (!pid) {
		if (!become(USER) || device_open(&config) < 0 ||
		    write(ends[1], &config, sizeof(config)) < 0)
			_exit(1);
		pause();
	}
	ASSERT_EQ(sizeof(config), read(ends[0], &config, sizeof(config)));
	attempt = (struct attempt){ .fd = -1, .session = config.session };
	EXPECT_EQ(0, try(attempt));
	attempt.user = OTHER_USER;
	EXPECT_EQ(EPERM, try(attempt));
	attempt.user = USER;
	EXPECT_EQ(0, try(attempt));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	EXPECT_TRUE(event_sessions_are(0));
}

/* --- what changes --------------------------------------------------------- */

/* On the last CPU, so that the reader has another one. */
static void spin(void *context)
{
	stay_on(sysconf(_SC_NPROCESSORS_ONLN) - 1);
	for (;;)
		;
}

FIXTURE(running)
{
	int fd;
	struct hwprof_config config;
	struct recording events;
	struct tally tally, none;
	struct child child;
};

FIXTURE_SETUP(running)
{
	ASSERT_EQ(0, sample_rate_write(1000000));
	ASSERT_TRUE(event_sessions_are(0));
	self->fd = -1;
}

FIXTURE_TEARDOWN(running)
{
	if (self->child.pid) {
		kill(self->child.pid, SIGKILL);
		waitpid(self->child.pid, NULL, 0);
	}
	recording_close(&self->events);
	close(self->fd);
	EXPECT_TRUE(event_sessions_are(0));
}

/* Opens a session whose target runs for ever. */
static void begin(struct __test_metadata *_metadata,
		  FIXTURE_DATA(running) *self, struct hwprof_config config)
{
	struct perf_event_attr attr;
	int i;

	self->config = config;
	self->fd = device_open(&self->config);
	ASSERT_LE(0, self->fd);
	attr = device_feeder(&self->config);
	self->child = child_start(spin, NULL);
	self->events.tally = &self->none;
	for (i = 0; i < sysconf(_SC_NPROCESSORS_ONLN); i++)
		ASSERT_EQ(0, recording_add(&self->events, &attr,
					   self->child.pid, i));
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
	child_go(&self->child);
}

static uint64_t looks(const struct hwprof_row_totals *totals)
{
	return totals->windows ?: totals->events;
}

/* Reads until there are that many more looks. */
static void look(FIXTURE_DATA(running) *self, uint64_t more)
{
	uint64_t before = looks(&self->tally.totals);

	do {
		usleep(1000);
		if (device_snapshot(self->fd, BUFFER, &self->tally))
			event_give_up("no snapshot");
	} while (looks(&self->tally.totals) < before + more);
}

struct speed {
	double rate;			/* looks in a second of the program */
	double share;			/* of its time, that they cost */
};

static struct speed measure(FIXTURE_DATA(running) *self)
{
	struct hwprof_row_totals before, *now = &self->tally.totals;
	double task, cost;

	look(self, WARM);
	before = *now;
	look(self, LOOKS);
	task = now->task_ns - before.task_ns;
	cost = now->cost_ns - before.cost_ns;
	return (struct speed){
		.rate = (looks(now) - looks(&before)) * 1e9 / task,
		.share = cost / (task - cost),
	};
}

static double rate(FIXTURE_DATA(running) *self)
{
	return measure(self).rate;
}

/*
 * Measures until the rate is above, at most RATES times: the machine may keep a
 * guest's CPU for longer than a period.
 */
static double rate_above(FIXTURE_DATA(running) *self, double least)
{
	double found = 0;
	int i;

	for (i = 0; i < RATES && found <= least; i++)
		found = rate(self);
	return found;
}

static void check_account(struct __test_metadata *_metadata,
			  FIXTURE_DATA(running) *self, unsigned int changes)
{
	recording_control(&self->events, PERF_EVENT_IOC_DISABLE);
	EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &self->tally));
	EXPECT_EQ(changes, self->tally.totals.changes);
	EXPECT_EQ(self->tally.totals.delivered, self->tally.period);
	EXPECT_TRUE(tally_is_whole(&self->tally));
}

TEST_F(running, budget)
{
	struct speed before, after, again;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	begin(_metadata, self, config_bursts(20));
	EXPECT_EQ(0, set_budget(self->fd, 5));
	before = measure(self);
	EXPECT_EQ(5, self->tally.totals.budget_permille);
	EXPECT_EQ(0, set_budget(self->fd, 200));
	after = measure(self);
	EXPECT_EQ(200, self->tally.totals.budget_permille);
	EXPECT_EQ(0, set_budget(self->fd, 5));
	again = measure(self);
	TH_LOG("bursts a second: %.0f, %.0f and %.0f; cost: %.1f, %.1f and %.1f %%",
	       before.rate, after.rate, again.rate, 100 * before.share,
	       100 * after.share, 100 * again.share);
	/* By 40 times, but the cost of a burst depends on a busy machine. */
	EXPECT_LT(2 * before.rate, after.rate);
	EXPECT_GT(after.rate, 2 * again.rate);
	check_account(_metadata, self, 3);
}

/* Returns the branches of a window. */
static double length(FIXTURE_DATA(running) *self)
{
	struct hwprof_row_totals before;

	look(self, WARM);
	before = self->tally.totals;
	look(self, LOOKS);
	return (double)(self->tally.totals.events - before.events) /
	       (self->tally.totals.windows - before.windows);
}

TEST_F(running, burst)
{
	struct hwprof_config config = config_bursts(20);
	double before, after;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	config.config1 = 20;
	config.period = MS;
	begin(_metadata, self, config);
	before = length(self);
	EXPECT_EQ(0, set_burst(self->fd, 500));
	after = length(self);
	TH_LOG("%.0f and %.0f branches a burst", before, after);
	EXPECT_LT(5 * before, after);
	check_account(_metadata, self, 1);
}

/* With a budget, the same share buys fewer of them. */
TEST_F(running, burst_within_a_budget)
{
	double before, after;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	begin(_metadata, self, config_bursts(20));
	look(self, LOOKS);
	before = rate(self);
	EXPECT_EQ(0, set_burst(self->fd, 400));
	after = rate(self);
	TH_LOG("%.0f and %.0f bursts a second", before, after);
	EXPECT_GT(before, 2 * after);
	check_account(_metadata, self, 1);
}

TEST_F(running, period)
{
	double before, after, again;

	begin(_metadata, self, device_config_samples());
	before = rate(self);
	EXPECT_EQ(0, set_period_at_last(self->fd, 50 * MS));
	after = rate(self);
	EXPECT_EQ(0, set_period_at_last(self->fd, MS));
	again = rate_above(self, 3 * after);
	TH_LOG("%.0f, %.0f and %.0f samples a second", before, after, again);
	EXPECT_GT(before, 3 * after);
	EXPECT_GT(again, 3 * after);
	check_account(_metadata, self, 2);
}

TEST_F(running, frequency)
{
	struct hwprof_config config = device_config_samples();
	double before, after;

	config.flags |= HWPROF_CONFIG_FREQ;
	config.period = 1000;
	begin(_metadata, self, config);
	before = rate(self);
	EXPECT_EQ(0, set_freq(self->fd, 20));
	after = rate(self);
	TH_LOG("%.0f and %.0f samples a second", before, after);
	EXPECT_GT(before, 3 * after);
	check_account(_metadata, self, 1);
}

TEST_F(running, period_of_branch_records)
{
	struct hwprof_config config = device_config(EVENT_LOOPS | EVENT_LBR);
	double before, after;

	if (event_missing("lbr"))
		SKIP(return, "there are no branch records");
	config.period = 10000019;
	begin(_metadata, self, config);
	before = rate(self);
	EXPECT_EQ(0, set_period_at_last(self->fd, 1000003));
	after = rate(self);
	TH_LOG("%.0f and %.0f windows a second", before, after);
	EXPECT_LT(2 * before, after);
	check_account(_metadata, self, 1);
}

static void count_windows(struct tally *tally, const struct sample *sample)
{
	uint64_t *windows = tally->context;

	if (sample->row->type == HWPROF_ROW_TIME)
		*windows += ((const struct hwprof_row_time *)sample->row)
				    ->windows;
}

/*
 * Totals count the windows of the rows before them, and no others: readers
 * divide the time between two changes by its windows.
 */
TEST_F(running, windows_of_totals_and_rows)
{
	unsigned int i, others = 0;
	uint64_t windows = 0;

	if (event_missing("step"))
		SKIP(return, "there is no stepping");
	self->tally.see = count_windows;
	self->tally.context = &windows;
	begin(_metadata, self, config_bursts(20));
	for (i = 0; i < CHANGES; i++) {
		EXPECT_EQ(0, set_budget_at_last(self->fd, 500 - i));
		look(self, 1);
		others += self->tally.totals.windows != windows;
	}
	TH_LOG("%llu windows", (unsigned long long)windows);
	EXPECT_EQ(0, others);
	check_account(_metadata, self, CHANGES);
	EXPECT_EQ(self->tally.totals.windows, windows);
}

/* --- rows of perf events, and rings --------------------------------------- */

/* The totals with a new number come at once, in the events' own rings. */
TEST_F(running, rows_of_perf_events)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_RANGES | EVENT_SAMPLE | EVENT_ROWS,
				    MS);
	struct hwprof_tuning tuning = {
		.flags = HWPROF_TUNE_PERIOD, .period = 2 * MS,
	};

	attr.config1 = EVENT_INTERVAL(60000);
	self->child = child_start(spin, NULL);
	self->fd = open(HWPROF_DEVICE, O_RDWR);
	ASSERT_EQ(0, recording_begin(&self->events, &attr, &self->child, 64,
				     &self->tally));
	recording_read_until(&self->events, LOOKS * (uint64_t)MS);
	recording_control(&self->events, PERF_EVENT_IOC_DISABLE);
	while (!self->tally.session)
		recording_read_for(&self->events, 1);
	recording_control(&self->events, PERF_EVENT_IOC_ENABLE);
	EXPECT_EQ(0, self->tally.totals.changes);
	tuning.session = self->tally.session;
	recording_read_until(&self->events, 2 * LOOKS * (uint64_t)MS);
	EXPECT_EQ(0, tune_at_last(self->fd, &tuning));
	recording_drain(&self->events);
	EXPECT_EQ(1, self->tally.totals.changes);
	EXPECT_LE(LOOKS, self->tally.totals.delivered / MS);
	EXPECT_EQ(self->tally.period, self->tally.totals.delivered);
}

/* Nothing changes as long as the rows of before cannot be written. */
TEST_F(running, full_ring)
{
	unsigned int cpus = sysconf(_SC_NPROCESSORS_CONF), changes = 0;
	struct hwprof_ring_page *ring;
	size_t size = sysconf(_SC_PAGESIZE);
	int error;

	stay_on(0);
	begin(_metadata, self, device_config_samples());
	ASSERT_LT(0, device_ring(self->fd, size, 0));
	ring = device_map(self->fd, size, cpus);
	ASSERT_NE(NULL, ring);
	while (!(error = set_period(self->fd, 2 * MS + changes)))
		changes++;
	EXPECT_EQ(-EAGAIN, error);
	EXPECT_LT(0, changes);
	EXPECT_EQ(changes, ask(self->fd).changes);
	EXPECT_EQ(2 * MS + changes - 1, ask(self->fd).period);
	device_drain(ring, cpus, &self->tally);
	EXPECT_EQ(0, set_period_at_last(self->fd, MS));
	device_drain(ring, cpus, &self->tally);
	EXPECT_EQ(changes + 1, self->tally.totals.changes);
	/* The program ran on, and may have filled a ring again. */
	recording_control(&self->events, PERF_EVENT_IOC_DISABLE);
	do {
		device_drain(ring, cpus, &self->tally);
		EXPECT_EQ(0, device_snapshot(self->fd, BUFFER, &self->tally));
	} while (self->tally.period < self->tally.totals.delivered);
	check_account(_metadata, self, changes + 1);
	munmap(ring, cpus * (sysconf(_SC_PAGESIZE) + size));
}

/* --- several at once ------------------------------------------------------ */

static void *change_often(void *context)
{
	long i, failures = 0;

	for (i = 0; i < CHANGES; i++)
		failures += !!set_period_at_last(*(int *)context, MS + i);
	return (void *)failures;
}

TEST_F(running, two_changers)
{
	void *one, *two;
	pthread_t thread;
	int other;

	begin(_metadata, self, device_config_samples());
	other = dup(self->fd);
	ASSERT_EQ(0, pthread_create(&thread, NULL, change_often, &other));
	one = change_often(&self->fd);
	ASSERT_EQ(0, pthread_join(thread, &two));
	EXPECT_EQ(NULL, one);
	EXPECT_EQ(NULL, two);
	close(other);
	EXPECT_EQ(2 * CHANGES, ask(self->fd).changes);
	check_account(_metadata, self, 2 * CHANGES);
}

/* Makes sessions, which end at once, and tells the number of the newest. */
static void make_sessions(void *context)
{
	uint32_t *newest = context;

	for (;;) {
		struct hwprof_config config = device_config_samples();
		int fd = device_open(&config);

		__atomic_store_n(newest, config.session, __ATOMIC_RELAXED);
		close(fd);
	}
}

TEST_F(running, session_that_ends)
{
	uint32_t *newest = shared_memory(sizeof(*newest));
	unsigned int found = 0, gone = 0;
	struct hwprof_tuning tuning;
	int error;

	self->fd = open(HWPROF_DEVICE, O_RDWR);
	self->child = child_start(make_sessions, newest);
	child_go(&self->child);
	while (!__atomic_load_n(newest, __ATOMIC_RELAXED))
		usleep(1000);
	while (found < CHANGES || gone < CHANGES) {
		tuning = (struct hwprof_tuning){
			.flags = HWPROF_TUNE_PERIOD, .period = 2 * MS,
			.session = __atomic_load_n(newest, __ATOMIC_RELAXED),
		};
		error = tune(self->fd, &tuning);
		ASSERT_TRUE(!error || error == -ENOENT);
		found += !error;
		gone += !!error;
	}
	TH_LOG("%u sessions were there, %u were gone", found, gone);
}

TEST_HARNESS_MAIN
