// SPDX-License-Identifier: GPL-2.0-only
/*
 * Permissions: tests each line of the table in docs/permissions.md, and that
 * perf gives the same.
 *
 *	test_rights		tests it
 *	test_rights --table	prints it
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest.h"

#include "capability.h"
#include "device.h"
#include "text.h"

#define SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define BIT(number)	(1ULL << (number))

enum { USER = 1000, OTHER_USER = 1001, KTHREADD = 2, SETUID_MODE = 04755 };

/* --- the table ------------------------------------------------------------ */

enum who {
	WHO_USER	= 1 << 0,
	WHO_NAMESPACE	= 1 << 1,	/* has all capabilities in its
					 * namespace */
	WHO_PTRACE	= 1 << 2,
	WHO_PTRACE_READ	= 1 << 3,	/* and may open all files */
	WHO_PERFMON	= 1 << 4,
	WHO_BOTH	= 1 << 5,	/* CAP_PERFMON, CAP_SYS_PTRACE */
	WHO_ADMIN	= 1 << 6,
	WHO_ROOT	= 1 << 7,
	WHO_BPF		= 1 << 8,	/* CAP_PERFMON, CAP_BPF */
};

enum target {
	SELF		= 1 << 0,
	OWN		= 1 << 1,	/* another process of the user */
	HIDDEN		= 1 << 2,	/* one that is not dumpable */
	SETUID		= 1 << 3,	/* one that runs a setuid program */
	OTHER		= 1 << 4,	/* another user's */
	KTHREAD		= 1 << 5,
	CPU		= 1 << 6,	/* everything that runs there */
	CGROUP		= 1 << 7,	/* on a CPU */

	FOREIGN		= HIDDEN | SETUID | OTHER | KTHREAD,
	TASKS		= SELF | OWN | FOREIGN,
	WIDE		= CPU | CGROUP,
	ANY		= SELF | FOREIGN | WIDE,
};

/*
 * READ: what requires the right to read a task's state, but not to attach to
 * it.
 */
enum may { NO, READ, ALL };

static const char * const may_names[] = { "no", "read", "all" };

/*
 * perf_event_paranoid, by columns. The second level of a column equals the
 * first.
 */
static const struct {
	int level;
	unsigned int column;
	bool again;
} levels[] = {
	{ -1, 0, false }, { 0, 0, true }, { 1, 1, false },
	{ 2, 2, false }, { 3, 3, false }, { 4, 3, true },
};

static const char * const columns[] = { "-1, 0", "1", "2", "3, 4" };

static const struct line {
	unsigned int who, targets;
	bool kernel;			/* and what the kernel does for them */
	const char *names[2];
	enum may may[SIZE(columns)];
} lines[] = {
	{WHO_USER,
	 SELF | OWN,
	 false,
	 {"a user", "own processes"},
	 {ALL, ALL, ALL, NO}},
	{WHO_USER,
	 SELF | OWN,
	 true,
	 {"", "own processes, and the kernel in them"},
	 {ALL, ALL, NO, NO}},
	{WHO_USER,
	 FOREIGN,
	 false,
	 {"", "setuid programs, processes that are not dumpable or another user's, kernel threads"},
	 {NO, NO, NO, NO}},
	{WHO_USER,
	 WIDE,
	 false,
	 {"", "CPUs (`-a`), cgroups"},
	 {READ, NO, NO, NO}},
	{WHO_USER,
	 WIDE,
	 true,
	 {"", "CPUs, cgroups, and the kernel"},
	 {READ, NO, NO, NO}},
	{WHO_NAMESPACE,
	 SELF,
	 false,
	 {"a user as root of a user namespace", "own processes in it"},
	 {ALL, ALL, ALL, NO}},
	{WHO_NAMESPACE,
	 SELF,
	 true,
	 {"", "own processes in it, and the kernel in them"},
	 {ALL, ALL, NO, NO}},
	{WHO_NAMESPACE,
	 OWN | FOREIGN,
	 false,
	 {"", "processes outside, own ones too"},
	 {NO, NO, NO, NO}},
	{WHO_NAMESPACE, WIDE, false, {"", "CPUs, cgroups"}, {READ, NO, NO, NO}},
	{WHO_PTRACE,
	 SELF | OWN,
	 false,
	 {"a user with CAP_SYS_PTRACE", "own processes"},
	 {ALL, ALL, ALL, NO}},
	{WHO_PTRACE,
	 HIDDEN | SETUID | OTHER,
	 false,
	 {"", "other processes"},
	 {READ, READ, READ, NO}},
	{WHO_PTRACE,
	 HIDDEN | SETUID | OTHER,
	 true,
	 {"", "other processes, and the kernel in them"},
	 {READ, READ, NO, NO}},
	{WHO_PTRACE,
	 WIDE,
	 true,
	 {"", "CPUs, cgroups, and the kernel"},
	 {READ, NO, NO, NO}},
	{WHO_PTRACE_READ,
	 TASKS & ~KTHREAD,
	 false,
	 {"a user with CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH",
	  "all processes"},
	 {ALL, ALL, ALL, NO}},
	{WHO_PTRACE_READ,
	 KTHREAD,
	 false,
	 {"", "kernel threads"},
	 {READ, READ, READ, NO}},
	{WHO_PERFMON,
	 SELF | OWN,
	 true,
	 {"a user with CAP_PERFMON", "own processes, and the kernel in them"},
	 {ALL, ALL, ALL, NO}},
	{WHO_PERFMON,
	 FOREIGN | WIDE,
	 true,
	 {"", "other processes, kernel threads, CPUs, cgroups, and the kernel"},
	 {READ, READ, READ, NO}},
	{WHO_BOTH,
	 SELF | OWN | KTHREAD | WIDE,
	 true,
	 {"a user with CAP_PERFMON and CAP_SYS_PTRACE",
	  "own processes, kernel threads, CPUs, cgroups, and the kernel"},
	 {ALL, ALL, ALL, NO}},
	{WHO_ADMIN,
	 SELF | OWN,
	 true,
	 {"a user with CAP_SYS_ADMIN", "own processes, and the kernel in them"},
	 {ALL, ALL, ALL, ALL}},
	{WHO_ADMIN,
	 FOREIGN | WIDE,
	 true,
	 {"", "other processes, kernel threads, CPUs, cgroups, and the kernel"},
	 {READ, READ, READ, READ}},
	{WHO_ROOT,
	 ANY,
	 true,
	 {"root", "all processes, CPUs, cgroups, and the kernel"},
	 {ALL, ALL, ALL, ALL}},
};

static void print_table(void)
{
	unsigned int i, column;

	printf("| who | looks at |");
	for (column = 0; column < SIZE(columns); column++)
		printf(" %s |", columns[column]);
	printf("\n| --- | --- |");
	for (column = 0; column < SIZE(columns); column++)
		printf(" --- |");
	for (i = 0; i < SIZE(lines); i++) {
		printf("\n| %s | %s |", lines[i].names[0], lines[i].names[1]);
		for (column = 0; column < SIZE(columns); column++)
			printf(" %s |", may_names[lines[i].may[column]]);
	}
	printf("\n");
}

/* --- kinds of events ------------------------------------------------------ */

static const struct kind {
	const char *name, *source;
	uint64_t config, config2;
	bool attaches;			/* requires more than READ */
	bool fetched;			/* is also tried with /dev/hwprof */
} kinds[] = {
	{ "branches", "step", EVENT_BRANCHES | EVENT_STEP, 0, true, false },
	{ "samples", "sample", EVENT_RANGES | EVENT_SAMPLE, 0, false, true },
	{ "counts", "step", EVENT_LOOPS | EVENT_STEP, 0, true, false },
	{ "values", "step", EVENT_VALUES | EVENT_STEP, 0, true, true },
	{ "addresses of data", "step", EVENT_RANGES | EVENT_STEP,
	  EVENT_RANGE_OF(HWPROF_RANGE_LOAD_ADDRESS), true, false },
};

enum { KINDS_AGAIN = 2 };		/* the first ones */

static struct perf_event_attr kind_attr(const struct kind *kind, bool kernel)
{
	struct perf_event_attr attr = event_attr(kind->config);

	attr.config2 = kind->config2;
	attr.exclude_kernel = !kernel;
	return attr;
}

/* Returns perf's own event for the same. */
static struct perf_event_attr clock_attr(bool kernel)
{
	struct perf_event_attr attr = event_attr(PERF_COUNT_SW_CPU_CLOCK);

	attr.type = PERF_TYPE_SOFTWARE;
	attr.exclude_kernel = !kernel;
	return attr;
}

/* A session of /dev/hwprof, and an event that feeds it. */
struct session {
	int fd;				/* -1: this kind has none here */
	struct perf_event_attr feeder;
};

static bool open_session(const struct kind *kind, bool kernel,
			 struct session *session)
{
	struct hwprof_config config = device_config(kind->config);

	session->fd = -1;
	if (!kind->fetched || event_missing(kind->source))
		return true;
	config.config2 = kind->config2;
	if (kernel)
		config.flags &= ~HWPROF_CONFIG_EXCLUDE_KERNEL;
	session->fd = device_open(&config);
	if (session->fd < 0) {
		printf("# /dev/hwprof: %s\n", strerror(-session->fd));
		return false;
	}
	session->feeder = device_feeder(&config);
	session->feeder.exclude_kernel = !kernel;
	return true;
}

/* --- targets -------------------------------------------------------------- */

static struct { pid_t own, hidden, setuid, other; } pids;

static void become(uid_t user, bool dumpable)
{
	if (setresgid(user, user, user) || setresuid(user, user, user))
		_exit(90);
	prctl(PR_SET_DUMPABLE, dumpable);
}

static const char SETUID_COPY[] = "/tmp/setuid_rights";

/* Reports that it is ready, and waits. */
static void wait_for_ever(int ready)
{
	if (write(ready, "", 1) != 1)
		_exit(91);
	for (;;)
		pause();
}

static pid_t start(uid_t user, bool dumpable, bool setuid)
{
	char number[16], byte;
	int ready[2];
	pid_t pid;

	if (pipe(ready))
		ksft_exit_fail_msg("no pipe\n");
	pid = fork();
	if (!pid) {
		become(user, dumpable);
		snprintf(number, sizeof(number), "%d", ready[1]);
		if (setuid)
			execl(SETUID_COPY, "rights", "--wait", number, NULL);
		else
			wait_for_ever(ready[1]);
		_exit(92);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		ksft_exit_fail_msg("a target did not start\n");
	close(ready[0]);
	return pid;
}

static void start_targets(void)
{
	if (system("cp /proc/$PPID/exe /tmp/setuid_rights") ||
	    chmod(SETUID_COPY, SETUID_MODE))
		ksft_exit_fail_msg("%s cannot be made\n", SETUID_COPY);
	pids.own = start(USER, true, false);
	pids.hidden = start(USER, false, false);
	pids.setuid = start(USER, true, true);
	pids.other = start(OTHER_USER, true, false);
}

static void end_targets(void)
{
	const pid_t all[] = { pids.own, pids.hidden, pids.setuid, pids.other };
	unsigned int i;

	for (i = 0; i < SIZE(all); i++) {
		kill(all[i], SIGKILL);
		waitpid(all[i], NULL, 0);
	}
}

/* Returns 0 or a negative errno. */
static int try_open(struct perf_event_attr attr, enum target target)
{
	unsigned long flags = target == CGROUP ? PERF_FLAG_PID_CGROUP : 0;
	int cpu = target & WIDE ? 0 : -1, cgroup = -1, fd;
	pid_t pid = target == SELF ? 0 :
		    target == OWN ? pids.own :
		    target == HIDDEN ? pids.hidden :
		    target == SETUID ? pids.setuid :
		    target == OTHER ? pids.other :
		    target == KTHREAD ? KTHREADD : -1;

	if (target == CGROUP)
		pid = cgroup = open("/sys/fs/cgroup", O_RDONLY);
	fd = event_open(&attr, pid, cpu, -1, flags);
	if (cgroup >= 0)
		close(cgroup);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

/* --- who tries ------------------------------------------------------------ */

static void keep_only(uint64_t capabilities)
{
	prctl(PR_SET_KEEPCAPS, 1);
	become(USER, true);
	if (!capabilities_keep(capabilities))
		_exit(93);
}

static void become_root_of_namespace(void)
{
	become(USER, true);
	if (unshare(CLONE_NEWUSER))
		_exit(95);
	if (text_write("/proc/self/uid_map", "0 1000 1"))
		_exit(94);
	if (geteuid())
		_exit(96);
}

static void become_who(enum who who)
{
	switch (who) {
	case WHO_USER:
		become(USER, true);
		break;
	case WHO_NAMESPACE:
		become_root_of_namespace();
		break;
	case WHO_PTRACE:
		keep_only(BIT(CAP_SYS_PTRACE));
		break;
	case WHO_PTRACE_READ:
		keep_only(BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH));
		break;
	case WHO_PERFMON:
		keep_only(BIT(CAP_PERFMON));
		break;
	case WHO_BOTH:
		keep_only(BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE));
		break;
	case WHO_BPF:
		keep_only(BIT(CAP_PERFMON) | BIT(CAP_BPF));
		break;
	case WHO_ADMIN:
		keep_only(BIT(CAP_SYS_ADMIN));
		break;
	case WHO_ROOT:
		break;
	}
}

static void set_level(int level)
{
	int error = sysctl_write("perf_event_paranoid", level);

	if (error)
		ksft_exit_fail_msg("perf_event_paranoid: %s\n",
				   strerror(-error));
}

/* --- lines ---------------------------------------------------------------- */

/*
 * Returns true if the event was opened as expected, or refused for lack of a
 * right.
 */
static bool is_as(bool expected, int got, int clock, const char *how,
		  const struct kind *kind)
{
	bool right = got == (expected ? 0 : -EACCES);

	if (!right)
		printf("# %s, %s: %s, expected %s\n", kind->name, how,
		       got ? strerror(-got) : "given",
		       expected ? "given" : strerror(EACCES));
	if (got || !clock)
		return right;
	printf("# %s, %s: given, where perf refuses its clock\n", kind->name,
	       how);
	return false;
}

static bool try_kind(const struct kind *kind, enum target target, bool kernel,
		     enum may may, int clock, const struct session *session)
{
	bool expected = may == ALL || (may == READ && !kind->attaches), right;

	right = is_as(expected, try_open(kind_attr(kind, kernel), target),
		      clock, "event", kind);
	if (session->fd >= 0)
		right &= is_as(expected, try_open(session->feeder, target),
			       clock, "event of a session", kind);
	return right;
}

/* Tries those of @count kinds that exist here. */
static bool try_target(enum target target, bool kernel, enum may may,
		       const struct session *sessions, unsigned int count)
{
	int clock = try_open(clock_attr(kernel), target);
	bool right = clock == (may == NO ? -EACCES : 0);
	unsigned int i;

	if (!right)
		printf("# perf's clock: %s\n", strerror(-clock));
	for (i = 0; i < count; i++)
		if (!event_missing(kinds[i].source))
			right &= try_kind(&kinds[i], target, kernel, may,
					  clock, &sessions[i]);
	if (!right)
		printf("# of target %#x\n", target);
	return right;
}

/* Runs in a process of its own, which ends with its sessions. */
static bool try_line(const struct line *line, enum who who, enum may may,
		     unsigned int count)
{
	struct session sessions[SIZE(kinds)];
	unsigned int i, target, targets = line->targets;
	bool right = true;

	if (!event_has_cgroups())
		targets &= ~CGROUP;
	become_who(who);
	for (i = 0; i < count; i++)
		right &= open_session(&kinds[i], line->kernel, &sessions[i]);
	for (target = SELF; target <= CGROUP; target <<= 1)
		if (targets & target)
			right &= try_target(target, line->kernel, may,
					    sessions, count);
	return right;
}

/* The debug kernel is slow, so one kind of each sort suffices there. */
static bool is_debug(void)
{
	const char *kernel = getenv("KSELFTEST_KERNEL");

	return kernel && strstr(kernel, "debug");
}

/* Tries each user at each level. Returns true if the table is right. */
static bool line_holds(const struct line *line, unsigned int last_column)
{
	unsigned int i, who, column;
	bool right = true;
	int status;

	for (i = 0; i < SIZE(levels); i++) {
		if (levels[i].again && is_debug())
			continue;
		column = levels[i].column < last_column ? levels[i].column :
							  last_column;
		set_level(levels[i].level);
		for (who = 1; who <= WHO_ROOT; who <<= 1) {
			if (!(line->who & who))
				continue;
			fflush(stdout);
			if (!fork()) {
				status = !try_line(line, who, line->may[column],
						   levels[i].again || is_debug()
							   ? KINDS_AGAIN
							   : SIZE(kinds));
				fflush(stdout);
				_exit(status);
			}
			wait(&status);
			if (status)
				printf("# by %#x at level %d: status %#x\n",
				       who, levels[i].level, status);
			right &= !status;
		}
	}
	return right;
}

/* Levels above 2 are Debian's. Elsewhere they equal 2. */
static bool has_level_3(void)
{
	int status;

	set_level(3);
	if (!fork()) {
		become(USER, true);
		_exit(try_open(clock_attr(false), SELF) == -EACCES);
	}
	wait(&status);
	return status;
}

/* Returns true if the kernel has user namespaces, even if it forbids them. */
static bool has_namespaces(void)
{
	int status;

	if (!fork())
		_exit(unshare(CLONE_NEWUSER) && errno == EINVAL);
	wait(&status);
	return !status;
}

static void test_line(const struct line *line, unsigned int last_column,
		      unsigned int sessions)
{
	unsigned int number = line - lines + 1;
	bool right;

	if (line->who == WHO_NAMESPACE && !has_namespaces()) {
		ksft_test_result_skip(
			"line %u: no user namespaces in this kernel\n", number);
		return;
	}
	right = line_holds(line, last_column);
	right &= event_sessions_are(sessions);
	ksft_test_result(right, "line %u: %s: %s\n", number, line->names[0],
			 line->names[1]);
}

/* --- tracepoints of rows -------------------------------------------------- */

/* Returns the tracepoint's number; 0: this kernel has no tracefs. */
static unsigned int tracepoint_id(void)
{
	char text[32] = "";

	mount("none", "/sys/kernel/tracing", "tracefs", 0, NULL);
	text_read("/sys/kernel/tracing/events/hwprof/hwprof_value/id", text,
		  sizeof(text));
	return atoi(text);
}

/* Returns true if opening the tracepoint gives @expected: 0 or an errno. */
static bool tracepoint_gives(enum who who, uint64_t sample_type, int expected)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .type = PERF_TYPE_TRACEPOINT,
		.config = tracepoint_id(), .sample_type = sample_type,
		.sample_period = 1,
	};
	int status, result;

	fflush(NULL);
	if (!fork()) {
		become_who(who);
		result = event_open(&attr, -1, 0, -1, 0);
		_exit(result < 0 ? -result : 0);
	}
	wait(&status);
	if (status == W_EXITCODE(expected, 0))
		return true;
	ksft_print_msg("tracepoint: who %#x: status %#x\n", who, status);
	return false;
}

/* Rows have other programs' memory in them, at whatever level. */
static void test_tracepoints(void)
{
	bool right;

	if (!tracepoint_id()) {
		ksft_test_result_skip("tracepoints: no tracefs\n");
		return;
	}
	set_level(-1);
	right = tracepoint_gives(WHO_USER, PERF_SAMPLE_RAW, EACCES);
	right &= tracepoint_gives(WHO_USER, 0, EACCES);
	right &= tracepoint_gives(WHO_PERFMON, PERF_SAMPLE_RAW, EACCES);
	set_level(2);
	right &= tracepoint_gives(WHO_PERFMON, PERF_SAMPLE_RAW, EACCES);
	right &= tracepoint_gives(WHO_BOTH, PERF_SAMPLE_RAW, EACCES);
	right &= tracepoint_gives(WHO_BPF, PERF_SAMPLE_RAW, 0);
	right &= tracepoint_gives(WHO_ROOT, PERF_SAMPLE_RAW, 0);
	ksft_test_result(right, "tracepoints of rows\n");
}

static void __attribute__((constructor)) do_as_asked(int count, char **words)
{
	if (count == 2 && !strcmp(words[1], "--table")) {
		print_table();
		exit(0);
	}
	if (count == 3 && !strcmp(words[1], "--wait"))
		wait_for_ever(atoi(words[2]));
}

int main(void)
{
	struct perf_event_attr first = kind_attr(&kinds[1], false);
	unsigned int i, last_column = has_level_3() ? 3 : 2, sessions;
	struct rlimit locked = { RLIM_INFINITY, RLIM_INFINITY };
	int fd[2];

	setrlimit(RLIMIT_MEMLOCK, &locked);
	ksft_print_header();
	ksft_set_plan(SIZE(lines) + 1);
	ksft_print_msg("levels 3 and 4 %s\n", last_column == 3 ?
		       "are Debian's" : "are as 2 on this kernel");
	if (event_missing("step"))
		ksft_print_msg("of samples only: %s\n", event_missing("step"));
	if (!event_has_cgroups())
		ksft_print_msg("no cgroups: perf knows none on this kernel\n");
	start_targets();
	/* Keep the sources on: switching them on and off takes a while. */
	fd[0] = event_open(&first, 0, -1, -1, 0);
	first = kind_attr(&kinds[2], false);
	fd[1] = event_open(&first, 0, -1, -1, 0);
	sessions = event_sessions();
	for (i = 0; i < SIZE(lines); i++)
		test_line(&lines[i], last_column, sessions);
	test_tracepoints();
	close(fd[0]);
	close(fd[1]);
	end_targets();
	ksft_finished();
}
