// SPDX-License-Identifier: GPL-2.0-only
/* Workers: what they can do, and how they end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "check.h"
#include "worker.h"

/* Returns false where the kernel cannot keep a worker from files. */
static bool has_landlock(void)
{
	return syscall(__NR_landlock_create_ruleset, NULL, 0,
		       LANDLOCK_CREATE_RULESET_VERSION) > 0;
}

/* Runs a worker, and copies what it wrote. */
static enum answer run(worker_fn fn, const void *context,
		       enum worker_files files, char message[WORKER_MESSAGE])
{
	struct worker worker;
	enum answer answer;

	assert_int_equal(worker_start(&worker, fn, context, files, -1, 20), 0);
	answer = worker_wait(&worker);
	worker_message(&worker, message);
	close(worker.out);
	return answer;
}

/* Checks what a worker answers, and what it wrote. */
static void expect(worker_fn fn, enum worker_files files, enum answer answer,
		   const char *text)
{
	char message[WORKER_MESSAGE];

	assert_int_equal(run(fn, NULL, files, message), answer);
	assert_string_equal(message, text);
}

static bool is_refused(long result)
{
	return result < 0 && errno == EPERM;
}

struct attempt {
	const char *path;
	int flags;
};

/* Says which error an open() of its context has. */
static enum answer try_open(const void *context, int out)
{
	const struct attempt *attempt = context;
	int fd = open(attempt->path, attempt->flags, 0600);

	return worker_fail(out, ANSWER_NOTHING, "%d", fd < 0 ? errno : 0);
}

static int error_of(const char *path, int flags, enum worker_files files)
{
	const struct attempt attempt = { path, flags };
	char message[WORKER_MESSAGE];

	assert_int_equal(run(try_open, &attempt, files, message),
			 ANSWER_NOTHING);
	return atoi(message);
}

static void test_files(void **state)
{
	char path[] = "/tmp/hwprof-test-XXXXXX", other[64];
	int fd = mkstemp(path);

	if (!has_landlock()) {
		print_message("# this kernel has no Landlock\n");
		skip();
	}
	assert_true(fd >= 0);
	close(fd);
	snprintf(other, sizeof(other), "%s-new", path);
	assert_int_equal(error_of(path, O_RDONLY, WORKER_READS_FILES), 0);
	assert_int_equal(error_of(path, O_RDONLY, WORKER_NO_FILES), EACCES);
	assert_int_equal(error_of(path, O_WRONLY, WORKER_READS_FILES), EACCES);
	assert_int_equal(error_of(path, O_RDWR | O_TRUNC, WORKER_READS_FILES),
			 EACCES);
	assert_int_equal(error_of(other, O_WRONLY | O_CREAT,
				  WORKER_READS_FILES), EACCES);
	assert_int_equal(error_of(other, O_WRONLY | O_CREAT, WORKER_NO_FILES),
			 EACCES);
	unlink(path);
}

/* Writes to memory by its path, as writers of recordings do. */
static enum answer write_memory(const void *context, int out)
{
	int fd = memfd_create("test", MFD_CLOEXEC);
	char path[64], bytes[8] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	file = fopen(path, "w+e");
	if (!file || fputs("written", file) < 0 || fclose(file) ||
	    pread(fd, bytes, 7, 0) != 7)
		return worker_fail(out, ANSWER_FAILED, "%s", strerror(errno));
	return worker_fail(out, ANSWER_WRONG, "%s", bytes);
}

static void test_memory(void **state)
{
	expect(write_memory, WORKER_NO_FILES, ANSWER_WRONG, "written");
}

static enum answer reach_out(const void *context, int out)
{
	static char *const argv[] = { "true", NULL };
	int fails = 0;

	fails += is_refused(socket(AF_UNIX, SOCK_STREAM, 0));
	fails += is_refused(fork());
	fails += is_refused(execv("/bin/true", argv));
	fails += is_refused(kill(getppid(), 0));
	fails += is_refused(unlink("/tmp/hwprof-test-none"));
	fails += is_refused(rename("/tmp/hwprof-test-none", "/tmp/x"));
	/* None of the caller's descriptors is here. */
	fails += fcntl(WORKER_KEPT, F_GETFD) < 0 && errno == EBADF;
	return worker_fail(out, ANSWER_NOTHING, "%d", fails);
}

static void test_others(void **state)
{
	expect(reach_out, WORKER_READS_FILES, ANSWER_NOTHING, "7");
}

/* Reaches for its parent, and for a file that is open, in other ways. */
static enum answer reach_further(const void *context, int out)
{
	struct rlimit limit = { 0, 0 };
	siginfo_t info = { .si_code = SI_QUEUE };
	pid_t parent = getppid();
	int fails = 0;

	fails += is_refused(syscall(SYS_rt_sigqueueinfo, parent, 0, &info));
	fails += is_refused(syscall(SYS_rt_tgsigqueueinfo, parent, parent, 0,
				    &info));
	fails += is_refused(prlimit(parent, RLIMIT_CORE, NULL, &limit));
	fails += is_refused(setpriority(PRIO_PROCESS, parent, 19));
	fails += is_refused(fchmod(out, 0777));
	fails += is_refused(fchown(out, getuid(), getgid()));
	fails += is_refused(fsetxattr(out, "user.a", "b", 1, 0));
	fails += is_refused(futimens(out, NULL));
	/* It may ask for limits of its own. */
	fails += !getrlimit(RLIMIT_CORE, &limit);
	return worker_fail(out, ANSWER_NOTHING, "%d", fails);
}

static void test_parent(void **state)
{
	expect(reach_further, WORKER_READS_FILES, ANSWER_NOTHING, "9");
}

static enum answer say_capabilities(const void *context, int out)
{
	FILE *status = fopen("/proc/self/status", "re");
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "CapEff:", 7) || !strncmp(line, "CapPrm:", 7))
			if (strtoull(line + 7, NULL, 16))
				return ANSWER_WRONG;
	return status ? ANSWER_NOTHING : ANSWER_FAILED;
}

/* Whatever its caller has. */
static void test_capabilities(void **state)
{
	char message[WORKER_MESSAGE];

	assert_int_equal(run(say_capabilities, NULL, WORKER_READS_FILES,
			     message), ANSWER_NOTHING);
}

/* Does what is allowed, and counts what is not. */
static enum answer read_one(const void *context, int out)
{
	char byte, *memory = malloc(1 << 20);
	int fails = 0;

	if (pread(WORKER_KEPT, &byte, 1, 0) != 1 || byte != 'x' || !memory)
		return ANSWER_FAILED;
	fails += is_refused(open("/dev/null", O_RDONLY));
	fails += is_refused(open("/proc/self/fd/4", O_RDONLY));
	fails += is_refused(memfd_create("test", 0));
	fails += is_refused(kill(getppid(), 0));
	fails += is_refused(fork());
	fails += is_refused(socket(AF_UNIX, SOCK_STREAM, 0));
	fails += is_refused(syscall(SYS_prctl, PR_SET_DUMPABLE, 1, 0, 0, 0));
	fails += mmap(NULL, 4096, PROT_READ | PROT_EXEC,
		      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
	fails += fcntl(STDERR_FILENO, F_GETFD) < 0 && errno == EBADF;
	free(memory);
	return worker_fail(out, ANSWER_NOTHING, "%d", fails);
}

static void test_one_file(void **state)
{
	char message[WORKER_MESSAGE];
	int fd = memfd_create("one", MFD_CLOEXEC);
	struct worker worker;

	assert_int_equal(write(fd, "x", 1), 1);
	assert_int_equal(worker_start(&worker, read_one, NULL, WORKER_ONE_FILE,
				      fd, 20), 0);
	assert_int_equal(worker_wait(&worker), ANSWER_NOTHING);
	worker_message(&worker, message);
	assert_string_equal(message, "9");
	close(worker.out);
	close(fd);
}

static enum answer tell_score(const void *context, int out)
{
	int fd = open("/proc/self/oom_score_adj", O_RDONLY);
	char text[16] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return ANSWER_FAILED;
	return worker_fail(out, ANSWER_NOTHING, "%d", atoi(text));
}

/* Without memory a worker ends, and not its parent. */
static void test_out_of_memory(void **state)
{
	expect(tell_score, WORKER_READS_FILES, ANSWER_NOTHING, "1000");
}

static enum answer never_end(const void *context, int out)
{
	while (!context)
		pause();
	return ANSWER_OK;
}

static void test_stop(void **state)
{
	struct worker worker;

	assert_int_equal(worker_start(&worker, never_end, NULL,
				      WORKER_NO_FILES, -1, 20), 0);
	worker_stop(&worker);
	assert_int_equal(worker.pid, 0);
	close(worker.out);
}

static enum answer crash(const void *context, int out)
{
	signal(SIGILL, SIG_DFL);	/* the framework catches it */
	__builtin_trap();
	return ANSWER_OK;
}

static void test_crash(void **state)
{
	char message[WORKER_MESSAGE];

	assert_int_equal(run(crash, NULL, WORKER_NO_FILES, message),
			 ANSWER_FAILED);
	assert_non_null(strstr(message, "more time or memory"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_memory),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_parent),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_one_file),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
