// SPDX-License-Identifier: GPL-2.0-only
/*
 * Actions that require the right to attach to a process as a debugger, beyond
 * perf's right to read: at Yama's scopes, after an exec, by peers that share
 * memory or have dropped rights. An event gets nothing about the target of
 * another event of the same opener.
 *
 * Yama's scope 3 is permanent. yama.sh, which runs last, has its own test here;
 * the others are skipped then.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "capability.h"
#include "device.h"
#include "known.h"
#include "text.h"

EVENT_ALL_NEED("step")

enum { USER = 1000, OTHER_USER = 1001, SCOPES = 3, NO_ATTACH = 3 };

#define SCOPE	"yama/ptrace_scope"

/* perf's limits for ordinary users are not tested here. */
static void __attribute__((constructor)) let_users(void)
{
	if (sysctl_write("perf_event_paranoid", 2))
		event_give_up("perf_event_paranoid cannot be set");
}

static int scope_now(void)
{
	char text[16];

	return text_read("/proc/sys/kernel/" SCOPE, text, sizeof(text)) ?
	       -1 : atoi(text);
}

/* A kernel without Yama is like one with scope 0. */
static bool has_scope(int scope)
{
	return !scope || scope_now() >= 0;
}

#define NEED_SCOPE(want)						       \
	do {								       \
		if (scope_now() == NO_ATTACH)				       \
			SKIP(return, "Yama's scope is 3");		       \
		if (scope_now() < 0 && (want))				       \
			SKIP(return, "this kernel has no Yama");	       \
		if (scope_now() >= 0)					       \
			ASSERT_EQ(0, sysctl_write(SCOPE, want));	       \
	} while (0)

static bool become(uid_t user)
{
	return !setresgid(user, user, user) && !setresuid(user, user, user) &&
	       !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Runs @what in a process of that user. Returns its exit status. */
static int as_user(uid_t user, int (*what)(void *context), void *context)
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid) {
		if (!become(user))
			_exit(99);
		_exit(what(context));
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static void rest(void)
{
	for (;;)
		pause();
}

/* Starts a process of the user; if @open, anybody may attach to it. */
static pid_t start_as(uid_t user, bool open)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready))
		return -1;
	pid = fork();
	if (!pid) {
		if (!become(user))
			_exit(1);
		if (open)	/* fails where there is no Yama */
			prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		if (write(ready[1], "", 1) != 1)
			_exit(1);
		rest();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		pid = -1;
	close(ready[0]);
	return pid;
}

static void end(pid_t pid)
{
	if (pid <= 0)
		return;		/* kill() would take it for many processes, or
				 * all */
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* --- kinds of events ------------------------------------------------------ */

static int try_on(struct perf_event_attr attr, pid_t pid)
{
	int fd = event_open(&attr, pid, -1, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int try_sample(pid_t pid)
{
	return try_on(event_attr(EVENT_RANGES | EVENT_SAMPLE), pid);
}

static int try_step(pid_t pid)
{
	return try_on(event_attr(EVENT_LOOPS | EVENT_STEP), pid);
}

static int try_burst(pid_t pid)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CALLS | EVENT_STEP | EVENT_ROWS, 1);

	attr.config1 = 100;
	attr.sample_period = 1000000;
	return try_on(attr, pid);
}

static int try_values(pid_t pid)
{
	uint64_t config = EVENT_VALUES | EVENT_STEP | EVENT_ROWS;

	return try_on(event_attr_sampling(config, 1), pid);
}

static int try_addresses(pid_t pid)
{
	struct perf_event_attr attr = event_attr(EVENT_RANGES | EVENT_STEP);

	attr.config2 = EVENT_RANGE_OF(HWPROF_RANGE_LOAD_ADDRESS);
	return try_on(attr, pid);
}

/* Tries an event that feeds a session of the device. */
static int try_feeder(pid_t pid)
{
	struct hwprof_config config = device_config(EVENT_VALUES | EVENT_STEP);
	int fd = device_open(&config), result;

	if (fd < 0)
		return fd;
	result = try_on(device_feeder(&config), pid);
	close(fd);
	return result;
}

static const struct {
	const char *name;
	int (*try)(pid_t pid);
} attaching[] = {
	{ "step", try_step }, { "bursts", try_burst },
	{ "values", try_values }, { "addresses", try_addresses },
	{ "a session", try_feeder },
};

/*
 * The session of the try before gives its locked memory back a moment after its
 * event is closed. An ordinary user may have no more until then.
 */
static int try_with_memory(int (*try)(pid_t pid), pid_t pid)
{
	int tries = 500, result;

	while ((result = try(pid)) == -ENOMEM && tries--)
		usleep(10000);
	return result;
}

/* Asserts that all that attach end as @expected, and prints the others. */
static bool all_end_as(int expected, pid_t pid)
{
	bool right = true;
	unsigned int i;

	for (i = 0; i < sizeof(attaching) / sizeof(attaching[0]); i++) {
		int got = try_with_memory(attaching[i].try, pid);

		if (got == expected)
			continue;
		printf("# %s: %d, expected %d\n", attaching[i].name, got,
		       expected);
		right = false;
	}
	fflush(stdout);
	return right;
}

/* --- masks ---------------------------------------------------------------- */

/* A process that has not opened the session. */
struct other {
	uint32_t session;
	bool perfmon;		/* CAP_PERFMON is all that it keeps */
	int error;		/* that it gets */
};

/* Each test tells something about those events that pass. */
static const struct hwprof_mask masks[] = {
	{ .kinds = 1 << HWPROF_KIND_LOAD },
	{ .classes = 1 << HWPROF_CLASS_MOVE },
	{ .widths = 1 },
	{ .value_mask = 1 },
	{ .address_mask = 1 },
	{ .flags = HWPROF_MASK_HASH, .ip_mask = 1 },
	{ .ip_mask = 1 },
};

enum { MASKS = sizeof(masks) / sizeof(masks[0]) };

static int request_mask(int fd, uint32_t session, struct hwprof_mask mask)
{
	mask.size = sizeof(mask);
	mask.session = session;
	return ioctl(fd, HWPROF_IOC_MASK, &mask) ? -errno : 0;
}

static int set_mask(int fd, uint32_t session, struct hwprof_mask mask)
{
	mask.flags |= HWPROF_MASK_SET;
	return request_mask(fd, session, mask);
}

/*
 * Whoever may change the session may let everything pass, and see that. With
 * CAP_PERFMON alone, another process may not.
 */
static int try_as_other(const struct other *other)
{
	const struct hwprof_mask everything = { .size = 0 };
	const int changing = other->perfmon ? -EPERM : 0;
	int fd = open(HWPROF_DEVICE, O_RDWR);
	unsigned int i;

	if (other->perfmon && !capabilities_keep(1ULL << CAP_PERFMON))
		return 90;
	if (request_mask(fd, other->session, everything) != other->error)
		return 91;
	for (i = 0; i < MASKS; i++)
		if (set_mask(fd, other->session, masks[i]) != other->error)
			return 1 + i;
	if (set_mask(fd, other->session, everything) != changing ||
	    request_mask(fd, other->session, everything) != changing)
		return 92;
	return 0;
}

/* The opener of a session sets masks, and then another process tries to. */
static int try_masks(void *context)
{
	struct hwprof_config config = device_config(EVENT_VALUES | EVENT_STEP);
	struct other *other = context;
	int fd, tries = 500, status;
	unsigned int i;
	pid_t pid;

	/* As in try_with_memory(). */
	while ((fd = device_open(&config)) == -ENOMEM && tries--)
		usleep(10000);
	for (i = 0; i < MASKS; i++)
		if (set_mask(fd, 0, masks[i]) ||
		    request_mask(fd, 0, masks[i]))
			return 95;
	other->session = config.session;
	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(try_as_other(other));
	waitpid(pid, &status, 0);
	close(fd);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
}

static bool others_mask_as(uid_t user, bool perfmon, int error)
{
	struct other other = { .perfmon = perfmon, .error = error };
	int status = user ? as_user(user, try_masks, &other) :
			    try_masks(&other);

	if (status)
		printf("# user %u%s: %d\n", user,
		       perfmon ? " with CAP_PERFMON" : "", status);
	fflush(stdout);
	return !status;
}

/* --- Yama ----------------------------------------------------------------- */

struct known_of {
	pid_t stranger, open;
	int scope;
};

/* Asks the kernel for the right, without hwprof. */
static bool memory_opens(pid_t pid)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	fd = open(path, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_as(bool expected, pid_t pid, const char *whom)
{
	bool right = memory_opens(pid) == expected &&
		     all_end_as(expected ? 0 : -EACCES, pid) &&
		     try_sample(pid) == 0;

	if (!right)
		printf("# of %s, expected %s\n", whom,
		       expected ? "to be allowed" : "to be refused");
	fflush(stdout);
	return right;
}

static int try_scope(void *context)
{
	const struct known_of *others = context;
	const int scope = others->scope;
	struct child child = child_start((void (*)(void *))rest, NULL);
	bool right;

	right = all_end_as(0, 0);
	right &= is_as(scope < 2, child.pid, "its child");
	right &=
		is_as(scope < 1, others->stranger, "another one of the user's");
	right &= is_as(scope < 2, others->open, "one that lets anybody");
	end(child.pid);
	return !right;
}

FIXTURE(yama)
{
	struct known_of others;
};

FIXTURE_SETUP(yama)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->others.stranger = start_as(USER, false);
	self->others.open = start_as(USER, true);
	ASSERT_LT(0, self->others.stranger);
	ASSERT_LT(0, self->others.open);
}

FIXTURE_TEARDOWN(yama)
{
	end(self->others.stranger);
	end(self->others.open);
	if (scope_now() >= 0 && scope_now() < NO_ATTACH)
		EXPECT_EQ(0, sysctl_write(SCOPE, 0));
	EXPECT_TRUE(event_sessions_are(0));
}

static int try_all(uint64_t config)
{
	struct perf_event_attr attr = event_attr(config);
	int fd = event_open(&attr, -1, 0, -1, 0);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

TEST_F(yama, scopes)
{
	int scope;

	for (scope = 0; scope < SCOPES && has_scope(scope); scope++) {
		NEED_SCOPE(scope);
		self->others.scope = scope;
		EXPECT_EQ(0, as_user(USER, try_scope, &self->others));
		/* Root may attach at all scopes. */
		EXPECT_TRUE(all_end_as(0, self->others.stranger));
		EXPECT_TRUE(all_end_as(0, self->others.open));
		EXPECT_EQ(0, try_all(EVENT_LOOPS | EVENT_STEP));
	}
}

/*
 * The count of events that pass tells values, addresses and code. It is shown
 * to the user, who may not attach to the program.
 */
TEST_F(yama, masks)
{
	int scope;

	for (scope = 0; scope < SCOPES && has_scope(scope); scope++) {
		NEED_SCOPE(scope);
		EXPECT_TRUE(others_mask_as(USER, false, -EPERM));
		EXPECT_TRUE(others_mask_as(0, true, -EPERM));
		EXPECT_TRUE(others_mask_as(0, false, 0));
	}
}

/* Nobody may attach then, not even root; see yama.sh. */
TEST_F(yama, scope_3)
{
	struct hwprof_unwind_map map = { 0 };
	int fd;

	if (scope_now() != NO_ATTACH) {
		EXPECT_EQ(0, try_all(EVENT_LOOPS | EVENT_STEP));
		SKIP(return, "Yama's scope is not 3");
	}
	EXPECT_TRUE(all_end_as(0, 0));
	EXPECT_TRUE(all_end_as(-EACCES, self->others.stranger));
	EXPECT_TRUE(all_end_as(-EACCES, self->others.open));
	EXPECT_EQ(0, try_sample(self->others.stranger));
	EXPECT_EQ(-EACCES, try_all(EVENT_LOOPS | EVENT_STEP));
	EXPECT_EQ(0, try_all(EVENT_RANGES | EVENT_SAMPLE));
	fd = open(HWPROF_DEVICE, O_RDWR);
	EXPECT_EQ(-EACCES, device_set_maps(fd, &map, 0, self->others.stranger));
	EXPECT_EQ(0, device_set_maps(fd, &map, 0, getpid()));
	close(fd);
	EXPECT_TRUE(others_mask_as(0, false, -EPERM));
}

static int set_maps_of(void *context)
{
	int fd = open(HWPROF_DEVICE, O_RDWR);
	int result = device_set_maps(fd, NULL, 0, *(pid_t *)context);

	close(fd);
	return -result;
}

/* A table reveals what it claims to be on a stack. */
TEST_F(yama, tables)
{
	pid_t other = start_as(OTHER_USER, true);

	NEED_SCOPE(0);
	EXPECT_EQ(0, as_user(USER, set_maps_of, &self->others.stranger));
	EXPECT_EQ(EACCES, as_user(USER, set_maps_of, &other));
	EXPECT_EQ(EACCES, as_user(OTHER_USER, set_maps_of,
				  &self->others.stranger));
	end(other);
	if (scope_now() < 0)
		return;		/* this kernel has no Yama */
	NEED_SCOPE(1);
	EXPECT_EQ(0, as_user(USER, set_maps_of, &self->others.open));
	EXPECT_EQ(EACCES, as_user(USER, set_maps_of, &self->others.stranger));
}

/* --- peers in the same memory --------------------------------------------- */

static char peer_stack[65536] __attribute__((aligned(16)));

static int run_peer(void *context)
{
	rest();
	return 0;
}

static int try_peer(void *context)
{
	pid_t pid = clone(run_peer, peer_stack + sizeof(peer_stack),
			  CLONE_VM | SIGCHLD, NULL);
	bool right = pid > 0 && try_step(pid) == -EACCES &&
		     try_sample(pid) == 0 && set_maps_of(&pid) == EACCES;

	end(pid);
	return !right;
}

/* The kernel's own check is skipped there. */
TEST(a_peer_in_the_same_memory)
{
	EXPECT_EQ(0, as_user(USER, try_peer, NULL));
}

/* --- after an exec -------------------------------------------------------- */

static const char setuid_known[] = "/tmp/setuid_known";

struct program {
	const char *path;
	uid_t user;		/* user who runs it; 0: the caller */
};

static void exec_program(void *context)
{
	const struct program *program = context;

	if (program->user && !become(program->user))
		_exit(1);
	execl(program->path, program->path, NULL);
	_exit(2);
}

/* Returns the event of a process that has executed the program. */
static int run_exec(const struct program *program)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	struct child child = child_start(exec_program, (void *)program);
	int fd;

	fd = event_open(&attr, child.pid, -1, -1, 0);
	if (fd < 0) {
		end(child.pid);
		return fd;
	}
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	child_go(&child);
	waitpid(child.pid, NULL, 0);
	return fd;
}

/* Counts back edges of a process that executes the program. */
static int64_t count_exec(const struct program *program)
{
	int fd = run_exec(program);
	int64_t count;

	if (fd < 0)
		return fd;
	count = event_count(fd);
	close(fd);
	return count;
}

/* Returns 0 if the caller sees next to nothing of what the program does. */
static int count_of_setuid(void *path)
{
	const struct program program = { path, 0 };
	int64_t count = count_exec(&program);

	printf("# %lld back edges of %s\n", (long long)count, program.path);
	fflush(stdout);
	return count < 0 || count >= KNOWN_INNER_BACK;
}

static int count_of_plain(void *context)
{
	const struct program program = { known_program(), 0 };

	return count_exec(&program) < KNOWN_BACK;
}

static int make_setuid_known(void)
{
	char command[256];

	snprintf(command, sizeof(command), "cp %s %s", known_program(),
		 setuid_known);
	return system(command) ?: chmod(setuid_known, 04755);
}

/* perf keeps the events of a setuid program that may dump core. */
TEST(a_setuid_program)
{
	const struct program program = { setuid_known, USER };
	char mode[16];

	NEED_SCOPE(0);
	ASSERT_EQ(0, make_setuid_known());
	ASSERT_EQ(0, text_read("/proc/sys/fs/suid_dumpable", mode,
			       sizeof(mode)));
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", "1"));
	EXPECT_EQ(0, as_user(USER, count_of_plain, NULL));
	EXPECT_EQ(0, as_user(USER, count_of_setuid, (void *)setuid_known));
	/* A user who may attach to it sees it. */
	EXPECT_LE(KNOWN_BACK, count_exec(&program));
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", mode));
}

static const char setuid_other[] = "/tmp/setuid_other";
static const char other_known[] = "/tmp/known";

/*
 * The setuid program runs another one as its user, as su does. An exec gives
 * that no rights any more.
 */
__attribute__((constructor(101)))
static void run_other(int count, char **arguments)
{
	uid_t user = geteuid();

	if (count != 1 || strcmp(arguments[0], setuid_other))
		return;
	if (setresuid(user, user, user))
		_exit(1);
	execl(other_known, other_known, NULL);
	_exit(2);
}

/* A program that a setuid program runs is no more the user's than that. */
TEST(a_program_that_a_setuid_program_runs)
{
	const struct program program = { setuid_other, USER };
	const uid_t users[] = { 0, OTHER_USER };
	char mode[16], command[256];
	unsigned int i;

	NEED_SCOPE(0);
	snprintf(command, sizeof(command), "cp /proc/$PPID/exe %s; cp %s %s",
		 setuid_other, known_program(), other_known);
	ASSERT_EQ(0, system(command));
	ASSERT_EQ(0, text_read("/proc/sys/fs/suid_dumpable", mode,
			       sizeof(mode)));
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", "1"));
	for (i = 0; i < 2; i++) {
		ASSERT_EQ(0, chown(setuid_other, users[i], 0));
		ASSERT_EQ(0, chmod(setuid_other, 04755));
		EXPECT_EQ(0, as_user(USER, count_of_setuid,
				     (void *)setuid_other));
		EXPECT_LE(KNOWN_BACK, count_exec(&program));
	}
	/* The user's own program is seen. */
	ASSERT_EQ(0, chown(setuid_other, USER, USER));
	EXPECT_EQ(1, as_user(USER, count_of_setuid, (void *)setuid_other));
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", mode));
}

enum { SPINS = 10000, YIELDS = 200 };

/* A copy of this program, run as OTHER_KNOWN, makes no system call for long. */
__attribute__((constructor(101)))
static void spin_as_other(int count, char **arguments)
{
	int i;

	if (count != 1 || strcmp(arguments[0], other_known))
		return;
	for (i = 0; i < SPINS; i++)
		known_run();
	_exit(0);
}

/* Runs under its parent's event, and then a setuid program when told to. */
static void run_stepped_and_exec(int go)
{
	char byte;

	known_run();
	if (read(go, &byte, 1) != 1)
		_exit(1);
	execl(setuid_other, setuid_other, NULL);
	_exit(2);
}

/*
 * Perf may give a task the events of the one before it, and tell nobody. Enable
 * an event that a child has inherited while the child runs another user's
 * program and is preempted. Return 0 if next to nothing was seen of that.
 */
static int count_of_swapped(void *context)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	int i, fd, go[2];
	int64_t count;

	stay_on(0);
	attr.enable_on_exec = 0;
	fd = event_open(&attr, 0, -1, -1, 0);
	if (fd < 0 || pipe(go) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		return 2;
	if (fork() == 0)
		run_stepped_and_exec(go[0]);
	while (event_count(fd) < KNOWN_BACK)
		usleep(1000);
	usleep(100000);			/* the child waits */
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	count = -event_count(fd);
	if (write(go[1], "", 1) != 1)
		return 3;
	usleep(300000);			/* it runs the other program */
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (i = 0; i < YIELDS; i++)
		sched_yield();
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	count += event_count(fd);
	printf("# %lld back edges\n", (long long)count);
	fflush(stdout);
	return count < YIELDS - 1 || count >= KNOWN_INNER_BACK;
}

TEST(a_program_that_a_setuid_program_runs_in_swapped_contexts)
{
	char mode[16], command[256];

	NEED_SCOPE(0);
	snprintf(command, sizeof(command),
		 "rm -f %s; cp /proc/$PPID/exe %s; cp /proc/$PPID/exe %s; chmod 4755 %s",
		 setuid_other, setuid_other, other_known, setuid_other);
	ASSERT_EQ(0, system(command));
	ASSERT_EQ(0, text_read("/proc/sys/fs/suid_dumpable", mode,
			       sizeof(mode)));
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", "1"));
	EXPECT_EQ(0, as_user(USER, count_of_swapped, NULL));
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", mode));
}

enum { LEFT_OUT_BY = 10 };	/* sessions that a CPU steps for */

/* Counts what the user's event lost of a setuid program that others step. */
static int lost_of_setuid(void *context)
{
	const struct program program = { setuid_known, 0 };
	int64_t lost;

	if (run_exec(&program) < 0)
		return 1;
	lost = event_lost();
	printf("# %lld events lost\n", (long long)lost);
	fflush(stdout);
	return lost <= 0 || lost >= KNOWN_INNER_BACK;
}

/* A session that is left out does not learn how many branches that has. */
TEST(a_setuid_program_and_no_room)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	uint64_t config = attr.config;
	int fd[LEFT_OUT_BY], i;
	char mode[16];

	NEED_SCOPE(0);
	ASSERT_EQ(0, make_setuid_known());
	ASSERT_EQ(0, text_read("/proc/sys/fs/suid_dumpable", mode,
			       sizeof(mode)));
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", "1"));
	stay_on(0);
	attr.disabled = 0;
	attr.inherit = 0;
	for (i = 0; i < LEFT_OUT_BY; i++) {
		/* Another span makes another session. */
		attr.config = config | (uint64_t)(1024 + i) << 32;
		fd[i] = event_open(&attr, -1, 0, -1, 0);
		ASSERT_LE(0, fd[i]);
	}
	EXPECT_EQ(0, as_user(USER, lost_of_setuid, NULL));
	for (i = 0; i < LEFT_OUT_BY; i++)
		close(fd[i]);
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", mode));
}

/* Addresses in rows: of the program before the exec, and of that behind it. */
struct told {
	uint32_t space;		/* of the first row */
	unsigned int before, behind;
};

static void see_addresses(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_branches *row = (const void *)sample->row;
	struct told *told = tally->context;
	unsigned int count = 0;
	uint32_t i;

	if (row->row.type != HWPROF_ROW_BRANCHES)
		return;
	for (i = 0; i < row->count; i++)
		count += !!row->branches[i].from + !!row->branches[i].to;
	if (!told->space)
		told->space = row->row.space;
	if (row->row.space == told->space)
		told->before += count;
	else
		told->behind += count;
}

/* Counts what rows of branches tell of a setuid program that others step. */
static int told_of_setuid(void *context)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_BRANCHES | EVENT_STEP | EVENT_ROWS,
				    1);
	const struct program program = { setuid_known, 0 };
	struct child child = child_start(exec_program, (void *)&program);
	struct told told = { 0 };
	struct tally tally = { .see = see_addresses, .context = &told };
	struct recording recording;

	if (recording_begin(&recording, &attr, &child, 16, &tally))
		return 1;
	recording_wait(&recording, child.pid);
	recording_close(&recording);
	printf("# %u addresses before the exec, %u behind it\n", told.before,
	       told.behind);
	fflush(stdout);
	return !told.before || told.behind;
}

/* Not even where it exits. */
TEST(a_setuid_program_that_root_steps)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	char mode[16];
	int fd;

	NEED_SCOPE(0);
	ASSERT_EQ(0, make_setuid_known());
	ASSERT_EQ(0, text_read("/proc/sys/fs/suid_dumpable", mode,
			       sizeof(mode)));
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", "1"));
	stay_on(0);
	attr.disabled = 0;
	attr.inherit = 0;
	fd = event_open(&attr, -1, 0, -1, 0);
	ASSERT_LE(0, fd);
	EXPECT_EQ(0, as_user(USER, told_of_setuid, NULL));
	close(fd);
	ASSERT_EQ(0, text_write("/proc/sys/fs/suid_dumpable", mode));
}

/* --- dropped rights ------------------------------------------------------- */

/*
 * Root's session and that of the user whom root became are different, and each
 * is found.
 */
static int get_another_session(void)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	int first = event_open(&attr, 0, -1, -1, 0), second, third;

	if (first < 0 || event_sessions() != 1 || !capabilities_keep(0))
		return 1;
	second = event_open(&attr, 0, -1, -1, 0);
	if (second < 0 || event_sessions() != 2)
		return 2;
	third = event_open(&attr, 0, -1, -1, 0);
	if (third < 0 || event_sessions() != 2)
		return 3;
	return 0;
}

static int status_of(int (*what)(void))
{
	pid_t pid;
	int status;

	fflush(NULL);
	pid = fork();
	if (!pid)
		_exit(what());
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

TEST(another_session)
{
	ASSERT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, status_of(get_another_session));
	EXPECT_TRUE(event_sessions_are(0));
}

/*
 * A session made with more rights must not be fed with fewer, nor be given
 * stacks.
 */
static int use_the_old_session(void)
{
	const struct hwprof_unwind_row row = {
		.cfa = 1, .kind = HWPROF_UNWIND_SP,
	};
	struct hwprof_config config = device_config(EVENT_CCT | EVENT_SAMPLE);
	int fd = device_open(&config), plain = open(HWPROF_DEVICE, O_RDWR);
	struct perf_event_attr feeder = device_feeder(&config);
	struct tally tally = { 0 };

	if (fd < 0 || event_try(feeder) ||
	    device_add_table(plain, &row, 1) < 0)
		return 1;
	if (!capabilities_keep(0))
		return 2;
	if (event_try(feeder) != -EACCES)
		return 3;
	if (device_add_table(fd, &row, 1) != -EACCES ||
	    device_set_maps(fd, NULL, 0, getpid()) != -EACCES)
		return 4;
	if (device_add_table(plain, &row, 1) != -EACCES ||
	    device_set_maps(plain, NULL, 0, getpid()) != -EACCES)
		return 5;
	if (device_snapshot(fd, 1 << 20, &tally))
		return 6;	/* it may still be read */
	close(fd);
	config.session = 0;
	fd = device_open(&config);
	return fd < 0 || event_try(device_feeder(&config)) ? 7 : 0;
}

TEST(an_old_session)
{
	ASSERT_TRUE(event_sessions_are(0));
	EXPECT_EQ(0, status_of(use_the_old_session));
	EXPECT_TRUE(event_sessions_are(0));
}

/* --- one opener, several targets ------------------------------------------ */

FIXTURE(broker)
{
	struct child child[2];
	struct recording events[2];
	struct tally tally[2];
	struct about { uint32_t pid, others; } about[2];
};

/* Runs until it is killed. */
static void turn(void *context)
{
	uid_t *user = context;

	if (!become(*user))
		_exit(1);
	for (;;) {
		known_run();
		usleep(1000);
	}
}

static void see_whose(struct tally *tally, const struct sample *sample)
{
	struct about *about = tally->context;

	about->others += sample->row->pid != about->pid;
}

FIXTURE_SETUP(broker)
{
	static uid_t users[] = { USER, OTHER_USER };
	int i;

	NEED_SCOPE(0);
	ASSERT_TRUE(event_sessions_are(0));
	for (i = 0; i < 2; i++) {
		self->child[i] = child_start(turn, &users[i]);
		self->about[i].pid = self->child[i].pid;
		self->tally[i].see = see_whose;
		self->tally[i].context = &self->about[i];
	}
}

FIXTURE_TEARDOWN(broker)
{
	int i;

	for (i = 0; i < 2; i++) {
		recording_close(&self->events[i]);
		end(self->child[i].pid);
	}
	EXPECT_TRUE(event_sessions_are(0));
}

/* Each descriptor can be passed to a user who may see that target. */
TEST_F(broker, each_has_its_rows)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	int i;

	attr.config1 = EVENT_INTERVAL(50);
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, recording_open(&self->events[i], &attr,
					    self->child[i].pid, 64,
					    &self->tally[i]));
	EXPECT_EQ(2, event_sessions());
	for (i = 0; i < 2; i++) {
		recording_control(&self->events[i], PERF_EVENT_IOC_ENABLE);
		child_go(&self->child[i]);
	}
	for (i = 0; i < 2; i++)
		recording_read_until(&self->events[i], 2 * KNOWN_BACK);
	for (i = 0; i < 2; i++) {
		recording_drain(&self->events[i]);
		EXPECT_LT(0, self->tally[i].samples);
		EXPECT_EQ(0, self->about[i].others);
		EXPECT_FALSE(self->tally[i].mixed);
	}
	EXPECT_NE(self->tally[0].session, self->tally[1].session);
}

#define CGROUPS		"/tmp/cgroups"

static const char *cgroup_of(const struct child *child)
{
	static char path[64];

	snprintf(path, sizeof(path), CGROUPS "/of-%d", child->pid);
	return path;
}

/*
 * Puts each of two processes into a cgroup of its own, and opens the cgroups'
 * folders. Returns false if that is not possible.
 */
static bool enter_cgroups(const struct child *child, int *folder)
{
	char file[96], pid[16];
	int i;

	mkdir(CGROUPS, 0700);
	/* Perf's cgroups are there as soon as some other controller is. */
	if (mount("none", CGROUPS, "cgroup2", 0, NULL) ||
	    text_write(CGROUPS "/cgroup.subtree_control", "+pids"))
		return false;
	for (i = 0; i < 2; i++) {
		snprintf(file, sizeof(file), "%s/cgroup.procs",
			 cgroup_of(&child[i]));
		snprintf(pid, sizeof(pid), "%d", child[i].pid);
		if (mkdir(cgroup_of(&child[i]), 0700) || text_write(file, pid))
			return false;
		folder[i] = open(cgroup_of(&child[i]), O_RDONLY);
	}
	return folder[0] >= 0 && folder[1] >= 0;
}

/* Ends the processes, and removes their cgroups. */
static bool leave_cgroups(struct child *child, const int *folder)
{
	bool gone = true;
	int i;

	for (i = 0; i < 2; i++) {
		close(folder[i]);
		end(child[i].pid);
		gone &= !rmdir(cgroup_of(&child[i]));
		child[i].pid = 0;
	}
	return gone && !umount(CGROUPS);
}

/* The same for who may see a cgroup. */
TEST_F(broker, two_cgroups)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	int i, folder[2];

	if (!event_has_cgroups())
		SKIP(return, "the kernel has no cgroups");
	attr.config1 = EVENT_INTERVAL(50);
	ASSERT_TRUE(enter_cgroups(self->child, folder));
	for (i = 0; i < 2; i++)
		ASSERT_EQ(0, recording_open_cgroup(&self->events[i], &attr,
						   folder[i], 64,
						   &self->tally[i]));
	EXPECT_EQ(2, event_sessions());
	for (i = 0; i < 2; i++) {
		recording_control(&self->events[i], PERF_EVENT_IOC_ENABLE);
		child_go(&self->child[i]);
	}
	for (i = 0; i < 2; i++) {
		recording_read_until(&self->events[i], 2 * KNOWN_BACK);
		recording_drain(&self->events[i]);
		EXPECT_LT(0, self->tally[i].samples);
		EXPECT_EQ(0, self->about[i].others);
		EXPECT_FALSE(self->tally[i].mixed);
	}
	EXPECT_NE(self->tally[0].session, self->tally[1].session);
	for (i = 0; i < 2; i++)
		recording_close(&self->events[i]);
	EXPECT_TRUE(leave_cgroups(self->child, folder));
}

enum { TURNS = 200 };

/* Gives the CPU to others in each round. */
static void take_turns(void *context)
{
	int i;

	stay_on(0);
	for (i = 0; i < TURNS; i++) {
		known_run();
		sched_yield();
	}
}

static void yield_for_ever(void *context)
{
	stay_on(0);
	for (;;)
		sched_yield();
}

/* Perf takes the events of a cgroup from the CPU while others run on it. */
static void run_cgroup_beside_others(struct __test_metadata *_metadata,
				     FIXTURE_DATA(broker) *self,
				     uint64_t config)
{
	struct perf_event_attr attr =
		event_attr_sampling(config | EVENT_STEP | EVENT_ROWS, 1);
	struct child child[2] = {
		child_start(take_turns, NULL),
		child_start(yield_for_ever, NULL),
	};
	int folder[2];

	attr.config1 = EVENT_INTERVAL(50);
	ASSERT_TRUE(enter_cgroups(child, folder));
	self->about[0].pid = child[0].pid;
	ASSERT_EQ(0, recording_open_cgroup(&self->events[0], &attr, folder[0],
					   1024, &self->tally[0]));
	recording_control(&self->events[0], PERF_EVENT_IOC_ENABLE);
	child_go(&child[1]);
	child_go(&child[0]);
	EXPECT_EQ(0, recording_wait(&self->events[0], child[0].pid));
	recording_control(&self->events[0], PERF_EVENT_IOC_DISABLE);
	recording_drain(&self->events[0]);
	/* where the events began, and where the process moved to its CPU */
	EXPECT_GT(5, self->tally[0].totals.gaps);
	recording_close(&self->events[0]);
	EXPECT_TRUE(leave_cgroups(child, folder));
}

/*
 * No code of the cgroup runs unseen meanwhile, so the engine loses no loop.
 */
TEST_F(broker, a_cgroup_beside_others)
{
	if (!event_has_cgroups())
		SKIP(return, "the kernel has no cgroups");
	run_cgroup_beside_others(_metadata, self, EVENT_LOOPS);
	EXPECT_LE(TURNS * KNOWN_BACK, self->tally[0].period);
	EXPECT_EQ(0, self->about[0].others);
}

static void count_calls(struct tally *tally, const struct sample *sample)
{
	const struct hwprof_row_branches *row = (const void *)sample->row;
	uint64_t *calls = tally->context;
	unsigned int i;

	for (i = 0; i < row->count; i++)
		*calls += row->branches[i].kind == HWPROF_BRANCH_SYSCALL;
}

/* It loses no system call either, in which the CPU was given to others. */
TEST_F(broker, system_calls_of_a_cgroup_beside_others)
{
	uint64_t calls = 0;

	if (!event_has_cgroups())
		SKIP(return, "the kernel has no cgroups");
	self->tally[0].see = count_calls;
	self->tally[0].context = &calls;
	run_cgroup_beside_others(_metadata, self, EVENT_BRANCHES);
	EXPECT_LE(TURNS, calls);
}

/* One file descriptor, which is now this folder and now that one. */
struct exchanged {
	int folder[2], fd;
	bool ends;
};

static void *exchange(void *context)
{
	struct exchanged *exchanged = context;
	int i;

	for (i = 0; !__atomic_load_n(&exchanged->ends, __ATOMIC_RELAXED); i++)
		dup2(exchanged->folder[i % 2], exchanged->fd);
	return NULL;
}

/* Each CPU has an event of its own. */
static void see_one(struct tally *tally, const struct sample *sample)
{
	struct about *abouts = tally->context;
	struct about *about = &abouts[sample->cpu];

	if (!about->pid)
		about->pid = sample->row->pid;
	about->others += sample->row->pid != about->pid;
}

/*
 * The module and perf look at the file descriptor one after the other. Whatever
 * each has found, an event gets the rows of one cgroup.
 */
TEST_F(broker, exchanged_cgroups)
{
	static struct recording events[32];
	static struct tally tally[ARRAY_SIZE(events)];
	static struct about about[ARRAY_SIZE(events)][EVENT_CPUS];
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_LOOPS | EVENT_STEP | EVENT_ROWS, 1);
	struct exchanged exchanged = { .ends = false };
	unsigned int i, cpu, silent = 0;
	pthread_t thread;

	if (!event_has_cgroups())
		SKIP(return, "the kernel has no cgroups");
	attr.config1 = EVENT_INTERVAL(10);
	ASSERT_TRUE(enter_cgroups(self->child, exchanged.folder));
	exchanged.fd = dup(exchanged.folder[0]);
	ASSERT_EQ(0, pthread_create(&thread, NULL, exchange, &exchanged));
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		tally[i] = (struct tally) {
			.see = see_one, .context = about[i],
		};
		ASSERT_EQ(0, recording_open_cgroup(&events[i], &attr,
						   exchanged.fd, 4, &tally[i]));
	}
	exchanged.ends = true;
	pthread_join(thread, NULL);
	for (i = 0; i < ARRAY_SIZE(events); i++)
		recording_control(&events[i], PERF_EVENT_IOC_ENABLE);
	for (i = 0; i < 2; i++)
		child_go(&self->child[i]);
	for (i = 0; i < 1000; i++)
		recording_read_for(&events[i % ARRAY_SIZE(events)], 1);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		recording_close(&events[i]);
		for (cpu = 0; cpu < EVENT_CPUS; cpu++)
			EXPECT_EQ(0, about[i][cpu].others);
		silent += !tally[i].samples;
	}
	TH_LOG("%u of %zu events had no rows", silent, ARRAY_SIZE(events));
	close(exchanged.fd);
	EXPECT_TRUE(leave_cgroups(self->child, exchanged.folder));
}

TEST_F(broker, a_process_and_a_cpu)
{
	struct perf_event_attr attr = event_attr(EVENT_LOOPS | EVENT_STEP);
	int wide = event_open(&attr, -1, 0, -1, 0), one, two;

	ASSERT_LE(0, wide);
	EXPECT_EQ(1, event_sessions());
	one = event_open(&attr, self->child[0].pid, -1, -1, 0);
	ASSERT_LE(0, one);
	EXPECT_EQ(2, event_sessions());
	two = event_open(&attr, self->child[0].pid, 1, -1, 0);
	ASSERT_LE(0, two);
	EXPECT_EQ(2, event_sessions());
	close(wide);
	close(one);
	close(two);
}

/* --- before perf has checked ---------------------------------------------- */

static bool trace_clock(void)
{
	return calls_begin("cpu_clock_event_add");
}

/* Returns how often a clock was started since, and stops tracing. */
static unsigned int traced_clocks(void)
{
	unsigned int count = calls_so_far();

	calls_end();
	return count;
}

/* On a CPU, and on a process. */
static int are_refused(void *context)
{
	const struct child *hidden = context;
	int i;

	for (i = 0; i < 20; i++)
		if (try_all(EVENT_RANGES | EVENT_SAMPLE) != -EACCES ||
		    try_sample(hidden->pid) != -EACCES)
			return 1;
	return 0;
}

/*
 * perf does not let this user look at the process, although it is the user's.
 */
static void hide(void *context)
{
	if (!become(USER) || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0))
		_exit(1);
	for (;;)
		;
}

/* The clock of an event that perf refuses never runs. */
TEST(a_refused_trigger)
{
	struct perf_event_attr attr = event_attr(EVENT_RANGES | EVENT_SAMPLE);
	struct child hidden;
	int fd;

	if (!trace_clock())
		SKIP(return, "no kprobes");
	hidden = child_start(hide, NULL);
	child_go(&hidden);
	usleep(100000);
	EXPECT_EQ(0, as_user(USER, are_refused, &hidden));
	EXPECT_EQ(0, traced_clocks());
	end(hidden.pid);
	ASSERT_TRUE(trace_clock());
	fd = event_open(&attr, -1, 0, -1, 0);
	EXPECT_LE(0, fd);
	EXPECT_EQ(1, traced_clocks());
	close(fd);
}

/* --- a folder of procfs that is locked ------------------------------------ */

/* Keeps the folder's lock, shared, until it is killed. */
static void keep_folder(void *context)
{
	int folder = open(context, O_RDONLY | O_DIRECTORY), faults;
	void *page = missing_page(&faults);

	if (folder < 0 || !page)
		_exit(1);
	syscall(SYS_getdents64, folder, page, 4096);
	_exit(2);
}

/* Waits for the lock alone, and keeps others from sharing it meanwhile. */
static void change_folder(void *context)
{
	char name[64];

	snprintf(name, sizeof(name), "%s/hwprof", (const char *)context);
	mkdir(name, 0700);
}

/*
 * Keeps all from looking for a file in a folder of procfs until both end.
 * Returns false if the kernel has no userfaultfd.
 */
static bool lock_folder(const char *name, struct child *keeper,
			struct child *changer)
{
	int i;

	/* The kernel forgets names that were used only at the second time. */
	for (i = 0; i < 4; i++)
		if (text_write("/proc/sys/vm/drop_caches", "2"))
			return false;
	*keeper = child_start(keep_folder, (void *)name);
	child_go(keeper);
	do {
		if (waitpid(keeper->pid, NULL, WNOHANG))
			return false;
		*changer = child_start(change_folder, (void *)name);
		child_go(changer);
		child_await_state(changer, "DZ");
	} while (waitpid(changer->pid, NULL, WNOHANG));
	return true;
}

static void unlock_folder(const struct child *keeper,
			  const struct child *changer)
{
	end(keeper->pid);
	waitpid(changer->pid, NULL, 0);
}

static int step_oneself(void *context)
{
	return -event_try(event_attr(EVENT_LOOPS | EVENT_STEP));
}

static void step_as_root(void *context)
{
	_exit(step_oneself(context));
}

/* Asks for the mask of a session that another process has made. */
static void ask_for_mask(void *context)
{
	const struct hwprof_config *config = context;
	int fd = open(HWPROF_DEVICE, O_RDWR);

	_exit(-request_mask(fd, config->session, (struct hwprof_mask){ 0 }));
}

/*
 * Root's event asks about the init process, as does a request for the mask of
 * another process's session. A user's event does not wait for that, and that
 * session does not, either.
 */
TEST(a_look_that_takes_long)
{
	struct hwprof_config config = device_config(EVENT_VALUES | EVENT_STEP);
	int session = device_open(&config);
	struct child keeper, changer;
	struct child root = child_start(step_as_root, NULL);
	struct child asker = child_start(ask_for_mask, &config);
	int status;

	ASSERT_LE(0, session);
	ASSERT_EQ(0, set_mask(session, 0, masks[0]));
	if (!lock_folder("/proc/1", &keeper, &changer))
		SKIP(return, "no userfaultfd");
	child_go(&root);
	child_go(&asker);
	child_await_state(&root, "DZ");
	child_await_state(&asker, "DZ");
	EXPECT_EQ(0, as_user(USER, step_oneself, NULL));
	EXPECT_EQ(0, set_mask(session, 0, masks[1]));
	EXPECT_EQ(0, waitpid(root.pid, NULL, WNOHANG));
	EXPECT_EQ(0, waitpid(asker.pid, NULL, WNOHANG));
	unlock_folder(&keeper, &changer);
	waitpid(root.pid, &status, 0);
	EXPECT_EQ(0, status);
	waitpid(asker.pid, &status, 0);
	EXPECT_EQ(scope_now() == NO_ATTACH ? EPERM : 0, WEXITSTATUS(status));
	close(session);
}

static const char mounted[] = "/tmp/mapped";

/* Maps a file of a file system that is busy meanwhile. */
static void map_file(void *context)
{
	int fd = open("/tmp/mapped/file", O_RDWR | O_CREAT, 0600);

	if (fd < 0 || ftruncate(fd, 4096) ||
	    mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		_exit(1);
	close(fd);
	close(creat("/tmp/mapped/ready", 0600));
	rest();
}

static void set_maps(void *context)
{
	_exit(set_maps_of(context));
}

/*
 * The memory of a process goes when it ends, even if somebody waits for the
 * right to say what it has mapped.
 */
TEST(memory_of_a_process_that_ends_meanwhile)
{
	struct child target = child_start(map_file, NULL), keeper, changer;
	struct child setter = child_start(set_maps, &target.pid);
	int status, tries = 100;
	char folder[32];

	mkdir(mounted, 0700);
	ASSERT_EQ(0, mount("none", mounted, "tmpfs", 0, NULL));
	child_go(&target);
	while (access("/tmp/mapped/ready", F_OK))
		usleep(1000);
	EXPECT_EQ(-1, umount(mounted));
	snprintf(folder, sizeof(folder), "/proc/%d", target.pid);
	if (!lock_folder(folder, &keeper, &changer)) {
		end(target.pid);
		umount(mounted);
		SKIP(return, "no userfaultfd");
	}
	child_go(&setter);
	child_await_state(&setter, "DZ");
	EXPECT_EQ(0, waitpid(setter.pid, NULL, WNOHANG));
	kill(target.pid, SIGKILL);
	while (umount(mounted) && --tries)
		usleep(20000);
	EXPECT_LT(0, tries);
	unlock_folder(&keeper, &changer);
	waitpid(target.pid, NULL, 0);
	waitpid(setter.pid, &status, 0);
	/* Its number is taken until now. */
	status = WEXITSTATUS(status);
	EXPECT_TRUE(status == ESRCH || status == EACCES);
	umount(mounted);
}

TEST_HARNESS_MAIN
