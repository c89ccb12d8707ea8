// SPDX-License-Identifier: GPL-2.0-only
/*
 * kfuzz SECONDS SEED: calls of the module's interface, at random, by root and
 * by an ordinary user at the same time. Where the kernel has kcov, what
 * executes code that was not executed before is kept and changed further. TAP.
 * Whether the kernel had something to report, who runs it has to see.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/hwprof.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/engine/random.h"
#include "tests/kselftest/device.h"
#include "tests/kselftest/fault.h"
#include "tests/kselftest/text.h"
#include "calls.h"
#include "coverage.h"
#include "input.h"

enum {
	CORPUS		= 4096,
	FRESH		= 3,	/* one in so many is no mutant, which short
				 * runs need */
	SCENARIO	= 3,	/* one in so many is a changed seed */
	PLAIN		= 4,	/* in this part of the time: plain ones, too */
	INPUT_SECONDS	= 20,	/* then it is ended */
	MEMORY_MIB	= 64,	/* of all sessions */
	LAST_MIB	= 2,	/* of one that gets all there is */
	SAMPLE_RATE	= 10000,
	USER		= 1000,
};

/* The results that main() prints, in shared memory. */
struct result {
	struct findings findings;
	unsigned long inputs, late, died, full;
	unsigned int kept;
	unsigned int seeds, covered;	/* places: of the seeds, of all */
	unsigned int compared;		/* inputs of each kind */
	unsigned int guided, plain;	/* places that each kind covered */
};

static struct worker {
	const char *name;
	uid_t user;
	struct coverage coverage;
	struct result *result;
} workers[] = {
	{ .name = "root", .user = 0 },
	{ .name = "user", .user = USER },
};

/* The worker that this process is. */
static struct worker *self;
static struct input corpus[CORPUS];
static unsigned int kept;
static struct map covered, plainly;
static bool guided, faults;
static int kernel_log = -1;
static uint32_t pmu_type;

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec + time.tv_nsec * 1e-9;
}

/* --- one input ------------------------------------------------------------ */

/* Writes the input to the kernel's log, before a report of it. */
static void announce(const struct input *input)
{
	static const char * const names[] = {
#define X(call, weight)	#call,
		CALLS(X)
#undef X
	};
	char text[512];
	unsigned int i;
	int length = snprintf(text, sizeof(text), "kfuzz: %s %lu:", self->name,
			      self->result->inputs);

	for (i = 0; i < input->count; i++)
		length += snprintf(text + length, sizeof(text) - length, " %s",
				   names[input->steps[i].call]);
	if (write(kernel_log, text, length) < 0)
		kernel_log = -1;
}

static _Noreturn void be_input(const struct input *input)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	alarm(INPUT_SECONDS);
	if (guided)
		coverage_begin(&self->coverage);
	calls_make(input, pmu_type, faults, &self->result->findings);
	_exit(0);
}

/* Until it and all that it has started are gone. */
static void run_input(const struct input *input)
{
	struct result *result = self->result;
	int status = 0;
	pid_t pid;

	announce(input);
	if (guided)
		coverage_clear(&self->coverage);
	pid = fork();
	if (pid < 0)
		return;
	if (!pid)
		be_input(input);
	setpgid(pid, pid);
	waitpid(pid, &status, 0);
	kill(-pid, SIGKILL);
	while (wait(NULL) > 0)
		;
	result->inputs++;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		result->late++;
	else if (WIFSIGNALED(status))
		result->died++;
	if (guided && coverage_is_full(&self->coverage))
		result->full++;
}

static void set_limits(unsigned int mib)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", mib);
	limit_write("memory_mib", text);
	limit_write("memory_mib_per_user", text);
	limit_write("sessions", "4096");
	limit_write("sessions_per_user", "512");
}

static bool covers_more(const struct input *input, struct map *map)
{
	unsigned int i;

	run_input(input);
	for (i = 0; !self->user && i < input->count; i++)
		if (input->steps[i].call == CALL_SYSFS)
			set_limits(MEMORY_MIB);
	return guided && coverage_add(&self->coverage, map);
}

/* --- many of them --------------------------------------------------------- */

static void keep(const struct input *input, uint64_t *random)
{
	corpus[kept < CORPUS ? kept++ : random_below(random, CORPUS)] = *input;
}

static void run_seeds(uint64_t *random)
{
	struct input input;
	unsigned int i;

	for (i = 0; i < input_seeds(); i++) {
		input_seed(&input, i, pmu_type);
		covers_more(&input, &covered);
		keep(&input, random);
	}
	plainly = covered;
	self->result->seeds = covered.count;
}

static void run_mutant(uint64_t *random)
{
	struct input input = corpus[random_below(random, kept)];
	const struct input *other = &corpus[random_below(random, kept)];

	if (random_once_in(random, SCENARIO))
		input_scenario(&input, pmu_type, random);
	else if (random_once_in(random, FRESH))
		input_make(&input, pmu_type, random);
	else
		input_mutate(&input, other, pmu_type, random);
	if (covers_more(&input, &covered))
		keep(&input, random);
}

static void run_plain(uint64_t *random)
{
	struct input input;

	input_make(&input, pmu_type, random);
	covers_more(&input, &plainly);
}

/*
 * While a session lives, its source is there for others, too: on and off takes
 * longer than all else of a small input. So only seeds do it.
 */
static void keep_source(void)
{
	struct hwprof_config config = device_config(EVENT_LOOPS);

	if (device_open(&config) < 0)
		perror("a session to keep");
}

/* At first as many inputs without guidance, to compare. */
static void fuzz(double seconds, uint64_t random)
{
	struct result *result = self->result;
	double end, compared;

	run_seeds(&random);
	keep_source();
	end = now() + seconds;
	compared = now() + seconds / PLAIN;
	while (guided && now() < compared) {
		run_mutant(&random);
		run_plain(&random);
		result->compared++;
	}
	result->guided = covered.count;
	result->plain = plainly.count;
	while (now() < end)
		run_mutant(&random);
	result->covered = covered.count;
	result->kept = kept;
}

static void become(uid_t user)
{
	if (setresgid(user, user, user) || setresuid(user, user, user)) {
		perror("becoming a user");
		exit(1);
	}
	prctl(PR_SET_DUMPABLE, 1);	/* for fail-nth */
}

static pid_t start(struct worker *worker, double seconds, uint64_t seed)
{
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid)
		return pid;
	self = worker;
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (worker->user)
		become(worker->user);
	if (guided && !coverage_map(&worker->coverage))
		exit(1);
	fuzz(seconds, seed);
	exit(0);
}

/* --- what must hold ------------------------------------------------------- */

static unsigned int tests, failures;

static void ok(bool good, const char *what, const char *name)
{
	printf("%sok %u - %s%s%s\n", good ? "" : "not ", ++tests, name,
	       *name ? ": " : "", what);
	failures += !good;
}

static void report_findings(const struct worker *worker)
{
	const struct findings *findings = &worker->result->findings;

	printf("# %s: %lu siblings closed, credentials dropped %lu times\n",
	       worker->name, findings->churned, findings->dropped);
	printf("# %s: %lu of %lu rows of targets were about others\n",
	       worker->name, findings->foreign, findings->rows);
	printf("# %s: %lu images; %lu of %lu groups of them had no room\n",
	       worker->name, findings->chosen, findings->met,
	       findings->images);
	ok(!findings->foreign, "rows are about their event's target",
	   worker->name);
	ok(!findings->met, "images that differ have room", worker->name);
}

static void report(const struct worker *worker, bool ended)
{
	const struct result *result = worker->result;

	printf("# %s: %lu inputs, of which %lu died and %lu took too long\n",
	       worker->name, result->inputs, result->died, result->late);
	ok(ended && result->inputs > input_seeds(), "inputs were run",
	   worker->name);
	report_findings(worker);
	if (!guided) {
		printf("ok %u - %s: coverage grows # SKIP unguided: this kernel has no kcov\n",
		       ++tests, worker->name);
		return;
	}
	printf("# %s: %u places covered, %u by the seeds; %u inputs kept, %lu with more places than are looked at\n",
	       worker->name, result->covered, result->seeds, result->kept,
	       result->full);
	printf("# %s: after %u inputs each: guided %u, at random %u\n",
	       worker->name, result->compared, result->guided, result->plain);
	ok(result->seeds && result->covered > result->seeds,
	   "coverage grows beyond the seeds", worker->name);
}

/*
 * Where nothing is held any more, there is room for one with all of the limits.
 */
static bool gets_all(uid_t user)
{
	struct rlimit limit = { LAST_MIB << 20, LAST_MIB << 20 };
	struct hwprof_config config =
		device_config(EVENT_LOOPS | EVENT_MEMORY(LAST_MIB));
	struct __user_cap_header_struct header = {
		_LINUX_CAPABILITY_VERSION_3, 0
	};
	struct __user_cap_data_struct none[2] = { 0 };
	int status;

	fflush(NULL);
	if (!fork()) {
		become(user);
		if (setrlimit(RLIMIT_MEMLOCK, &limit) ||
		    syscall(SYS_capset, &header, none))
			_exit(2);
		status = device_open(&config);
		if (status < 0)
			printf("# user %u: %s\n", user, strerror(-status));
		fflush(NULL);
		_exit(status < 0);
	}
	return wait(&status) > 0 && !status && event_sessions_are(0);
}

static void report_leftovers(void)
{
	unsigned int i;

	ok(event_sessions_are(0), "no session is left", "");
	set_limits(LAST_MIB);
	for (i = 0; i < sizeof(workers) / sizeof(workers[0]); i++)
		ok(gets_all(workers[i].user), "no memory is charged",
		   workers[i].name);
}

/* --- all of it ------------------------------------------------------------ */

static void prepare(void)
{
	unsigned int i, count = sizeof(workers) / sizeof(workers[0]);
	struct result *results = mmap(NULL, count * sizeof(*results),
				      PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (results == MAP_FAILED) {
		perror("memory");
		exit(1);
	}
	guided = true;
	for (i = 0; i < count; i++) {
		workers[i].result = &results[i];
		guided = guided && coverage_open(&workers[i].coverage);
	}
	pmu_type = event_attr(0).type;
	faults = faults_init();
	kernel_log = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
	set_limits(MEMORY_MIB);
	sysctl_write("perf_event_paranoid", 2);
	/* However often interrupts are asked for, all gets on. */
	sysctl_write("perf_cpu_time_max_percent", 25);
	sysctl_write("perf_event_max_sample_rate", SAMPLE_RATE);
}

int main(int argc, char **argv)
{
	enum { COUNT = sizeof(workers) / sizeof(workers[0]) };
	unsigned long seed;
	int status[COUNT];
	pid_t pids[COUNT];
	double seconds;
	unsigned int i;

	if (argc != 3 || (seconds = atof(argv[1])) <= 0) {
		fprintf(stderr, "usage: kfuzz SECONDS SEED\n");
		return 2;
	}
	seed = strtoul(argv[2], NULL, 0);
	printf("TAP version 13\n# seed %lu\n", seed);
	prepare();
	if (!guided)
		printf("# this kernel has no kcov: unguided\n");
	for (i = 0; i < COUNT; i++)
		pids[i] = start(&workers[i], seconds, seed * COUNT + i);
	for (i = 0; i < COUNT; i++)
		if (waitpid(pids[i], &status[i], 0) < 0)
			status[i] = -1;
	for (i = 0; i < COUNT; i++)
		report(&workers[i], !status[i]);
	report_leftovers();
	printf("1..%u\n", tests);
	return !!failures;
}
