// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "log.h"
#include "wire.h"
#include "worker.h"

enum {
	FILE_MAX = 256 << 20,		/* bytes of any file that it writes */
	NICE = 5,			/* questions can wait a little */
	OUT = 3,			/* descriptor of its file */
	WAIT_MS = 10,			/* between two looks at the time */
	STUCK_SECONDS = 5,		/* until one that was killed is gone */
};

#if defined(__x86_64__)
#define OWN_ARCH	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH	AUDIT_ARCH_AARCH64
#endif

#ifndef __NR_fchmodat2		/* since Linux 6.6 */
#define __NR_fchmodat2	452
#endif

/* Loads the call's number. Another architecture's calls end the process. */
#define BEGIN_CALLS							\
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,				\
		 offsetof(struct seccomp_data, arch)),			\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),		\
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),		\
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS,				\
		 offsetof(struct seccomp_data, nr)),			\
	/* Calls of the x32 kind, which have other numbers. */		\
	BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),		\
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

#define END_CALL(name, action)						\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1),		\
	BPF_STMT(BPF_RET | BPF_K, action)

#define REFUSED		(SECCOMP_RET_ERRNO | EPERM)
#define REFUSE(name)	END_CALL(name, REFUSED)
#define ALLOW(name)	END_CALL(name, SECCOMP_RET_ALLOW)

#ifdef OWN_ARCH
static int set_filter(struct sock_filter *code, size_t count)
{
	const struct sock_fprog program = { .len = count, .filter = code };

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno :
								      0;
}

/*
 * Refuses the system calls by which a process reaches others, the network or
 * the kernel's more fragile parts.
 */
static int refuse_calls(void)
{
	static struct sock_filter code[] = {
		BEGIN_CALLS,
		REFUSE(socket), REFUSE(socketpair), REFUSE(connect),
		REFUSE(bind), REFUSE(listen), REFUSE(sendto), REFUSE(sendmsg),
		REFUSE(execve), REFUSE(execveat), REFUSE(clone),
		REFUSE(clone3), REFUSE(ptrace), REFUSE(process_vm_readv),
		REFUSE(process_vm_writev), REFUSE(kill), REFUSE(tkill),
		REFUSE(tgkill), REFUSE(rt_sigqueueinfo),
		REFUSE(rt_tgsigqueueinfo), REFUSE(setpriority),
		REFUSE(sched_setaffinity), REFUSE(sched_setscheduler),
		REFUSE(sched_setparam), REFUSE(sched_setattr),
		REFUSE(ioprio_set), REFUSE(pidfd_open), REFUSE(pidfd_getfd),
		REFUSE(pidfd_send_signal), REFUSE(bpf),
		REFUSE(perf_event_open), REFUSE(io_uring_setup),
		REFUSE(userfaultfd), REFUSE(keyctl), REFUSE(add_key),
		REFUSE(request_key), REFUSE(mount), REFUSE(unshare),
		REFUSE(setns), REFUSE(unlinkat), REFUSE(renameat2),
		REFUSE(linkat), REFUSE(symlinkat), REFUSE(mkdirat),
		REFUSE(mknodat), REFUSE(fchmodat), REFUSE(fchownat),
		REFUSE(truncate), REFUSE(fchmod), REFUSE(fchmodat2),
		REFUSE(fchown), REFUSE(utimensat), REFUSE(setxattr),
		REFUSE(lsetxattr), REFUSE(fsetxattr), REFUSE(removexattr),
		REFUSE(lremovexattr), REFUSE(fremovexattr),
#ifdef __NR_unlink
		REFUSE(unlink), REFUSE(rename), REFUSE(link), REFUSE(symlink),
		REFUSE(mkdir), REFUSE(rmdir), REFUSE(mknod), REFUSE(chmod),
		REFUSE(chown), REFUSE(lchown), REFUSE(utime), REFUSE(utimes),
		REFUSE(futimesat), REFUSE(fork), REFUSE(vfork),
#endif
		REFUSE(renameat),
		/* Limits of other processes. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_prlimit64, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[0])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, REFUSED),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return set_filter(code, sizeof(code) / sizeof(code[0]));
}

/* Allows nothing but to read files that are open, and to have memory. */
static int allow_reading_alone(void)
{
	static struct sock_filter code[] = {
		BEGIN_CALLS,
		ALLOW(read), ALLOW(pread64), ALLOW(readv), ALLOW(lseek),
		ALLOW(fstat), ALLOW(newfstatat), ALLOW(fcntl), ALLOW(close),
		ALLOW(write), ALLOW(pwrite64), ALLOW(ftruncate),
		ALLOW(brk), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise),
		ALLOW(futex), ALLOW(getrandom), ALLOW(clock_gettime),
		ALLOW(sysinfo), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn),
		ALLOW(exit), ALLOW(exit_group),
		/* Sanitizers cannot do without. */
		ALLOW(sigaltstack), ALLOW(gettid), ALLOW(getpid),
		/* Memory of any kind but code. */
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mmap, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_mprotect, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[2])),
		BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, REFUSED),
	};

	return set_filter(code, sizeof(code) / sizeof(code[0]));
}

static int limit_calls(enum worker_files files)
{
	return files == WORKER_ONE_FILE ? allow_reading_alone() :
					  refuse_calls();
}
#else
static int limit_calls(enum worker_files files)
{
	(void)files;
	return 0;
}
#endif

/* Rights that Landlock of version @version can refuse: those of files. */
static uint64_t file_rights(int version)
{
	uint64_t rights = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

	if (version >= 2)
		rights |= 1 << 13;	/* to other folders (REFER) */
	if (version >= 3)
		rights |= 1 << 14;	/* TRUNCATE */
	return rights;
}

/* Lets files be read, wherever they are. */
static int allow_reading(int rules)
{
	struct landlock_path_beneath_attr all = {
		.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE |
				  LANDLOCK_ACCESS_FS_READ_DIR,
		.parent_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC),
	};
	int error = 0;

	if (all.parent_fd < 0 ||
	    syscall(__NR_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH,
		    &all, 0))
		error = -errno;
	if (all.parent_fd >= 0)
		close(all.parent_fd);
	return error;
}

/*
 * Refuses to write to files, and to read them unless @files says so. Memory
 * that has a descriptor is no file. Without Landlock nothing is refused.
 */
static int refuse_files(enum worker_files files)
{
	int version = syscall(__NR_landlock_create_ruleset, NULL, 0,
			      LANDLOCK_CREATE_RULESET_VERSION);
	const struct landlock_ruleset_attr attr = {
		.handled_access_fs = file_rights(version),
	};
	int rules, error = 0;

	/* The kernel has none, or a filter of system calls knows none. */
	if (version < 0)
		return errno == ENOSYS || errno == EOPNOTSUPP ||
		       errno == EPERM ? 0 : -errno;
	rules = syscall(__NR_landlock_create_ruleset, &attr, sizeof(attr), 0);
	if (rules < 0)
		return -errno;
	if (files == WORKER_READS_FILES)
		error = allow_reading(rules);
	if (!error && syscall(__NR_landlock_restrict_self, rules, 0))
		error = -errno;
	close(rules);
	return error;
}

static int limit(int what, uint64_t most)
{
	const struct rlimit limit = { most, most };

	return setrlimit(what, &limit) ? -errno : 0;
}

/* Sanitizers have far more addresses and data than a program uses. */
static int limit_memory(enum worker_files files)
{
#ifdef __SANITIZE_ADDRESS__
	(void)files;
	return 0;
#else
	/* A file that is mapped may be large. */
	return files == WORKER_ONE_FILE ?
	       limit(RLIMIT_DATA, (uint64_t)WORKER_DATA_MIB << 20) :
	       limit(RLIMIT_AS, (uint64_t)WORKER_MEMORY_MIB << 20);
#endif
}

static int limit_all(enum worker_files files, unsigned int seconds)
{
	int error = limit_memory(files);

	if (!error)
		error = limit(RLIMIT_CPU, seconds);
	if (!error)
		error = limit(RLIMIT_CORE, 0);
	if (error)
		return error;
	return limit(RLIMIT_FSIZE, files == WORKER_ONE_FILE ?
				   WORKER_ANSWER_MIB << 20 : FILE_MAX);
}

/* Gives all capabilities up, if there are any. */
static int drop_capabilities(void)
{
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3] = { 0 };
	static const struct __user_cap_data_struct
		none[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, sets))
		return -errno;
	if (!memcmp(sets, none, sizeof(sets)))
		return 0;
	return syscall(SYS_capset, &head, none) ? -errno : 0;
}

/*
 * Other processes of the same user must not get what its caller may read. They
 * may look into a process without capabilities, unless it says no.
 */
static int hide(enum worker_files files)
{
	return files == WORKER_ONE_FILE && prctl(PR_SET_DUMPABLE, 0) ? -errno :
								       0;
}

/* Leaves the worker nothing but its own memory and files. */
static int confine(enum worker_files files, unsigned int seconds)
{
	int error = hide(files);

	if (!error && (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		       prctl(PR_SET_PDEATHSIG, SIGKILL)))
		error = -errno;
	if (!error)
		error = limit_all(files, seconds);
	if (!error)
		error = drop_capabilities();
	if (!error)
		error = refuse_files(files);
	return error ? error : limit_calls(files);
}

/*
 * Moves the descriptors to the lowest numbers, and closes all others. With
 * WORKER_ONE_FILE that includes the log, in which it could pretend to be its
 * caller.
 */
static int keep_files(enum worker_files files, int out, int keep)
{
	int error = 0;

	if (keep >= 0)
		keep = fcntl(keep, F_DUPFD, WORKER_KEPT + 1);
	if (dup2(out, OUT) < 0 || (keep >= 0 && dup2(keep, WORKER_KEPT) < 0))
		error = -errno;
	if (syscall(SYS_close_range,
		    keep >= 0 ? WORKER_KEPT + 1 : WORKER_KEPT, ~0U, 0))
		error = -errno;
	if (files == WORKER_ONE_FILE && syscall(SYS_close_range, 0, OUT - 1, 0))
		error = -errno;
	return error;
}

/* If memory is short, a worker is to go, not its caller. */
static void die_first(void)
{
	FILE *file = fopen("/proc/self/oom_score_adj", "we");

	if (!file)
		return;
	fputs("1000", file);
	fclose(file);
}

static void __attribute__((noreturn))
work(worker_fn fn, const void *context, enum worker_files files, int out,
     int keep, unsigned int seconds)
{
	sigset_t none;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setpriority(PRIO_PROCESS, 0, NICE);
	die_first();
	error = keep_files(files, out, keep);
	if (!error)
		error = confine(files, seconds);
	if (error)
		_exit(worker_fail(OUT, ANSWER_FAILED, "cannot be confined: %s",
				  strerror(-error)));
	_exit(fn(context, OUT));
}

int worker_start(struct worker *worker, worker_fn fn, const void *context,
		 enum worker_files files, int keep, unsigned int seconds)
{
	worker->out = memfd_create("hwprofd answer", MFD_CLOEXEC);
	if (worker->out < 0)
		return -errno;
	worker->deadline_ns = wire_now() + seconds * 1000000000ULL;
	fflush(NULL);
	worker->pid = fork();
	if (!worker->pid)
		work(fn, context, files, worker->out, keep, seconds);
	if (worker->pid > 0)
		return 0;
	worker->pid = 0;
	close(worker->out);
	worker->out = -1;
	return -errno;
}

static enum answer answer_of(struct worker *worker, int status)
{
	worker->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) <= ANSWER_FAILED)
		return WEXITSTATUS(status);
	return worker_fail(worker->out, ANSWER_FAILED,
			   "it takes more time or memory than is allowed: ask for less time, or for one build_id");
}

int worker_ended(struct worker *worker, enum answer *answer)
{
	uint64_t now = wire_now();
	int status = SIGKILL;

	if (!worker->pid)
		return 0;
	if (now > worker->deadline_ns)
		kill(worker->pid, SIGKILL);
	/* One that waits for a file system that hangs cannot be killed. */
	if (waitpid(worker->pid, &status, WNOHANG) != worker->pid &&
	    now < worker->deadline_ns + STUCK_SECONDS * 1000000000ULL)
		return 0;
	*answer = answer_of(worker, status);
	return 1;
}

enum answer worker_wait(struct worker *worker)
{
	struct pollfd ended = {
		.fd = syscall(SYS_pidfd_open, worker->pid, 0), .events = POLLIN,
	};
	enum answer answer;

	/* Without such a descriptor, this waits all the same. */
	while (!worker_ended(worker, &answer))
		poll(&ended, 1, WAIT_MS);
	if (ended.fd >= 0)
		close(ended.fd);
	return answer;
}

void worker_stop(struct worker *worker)
{
	kill(worker->pid, SIGKILL);
	worker_wait(worker);
}

void worker_message(const struct worker *worker, char message[WORKER_MESSAGE])
{
	ssize_t got = pread(worker->out, message, WORKER_MESSAGE - 1, 0);

	message[got > 0 ? got : 0] = 0;
}

enum answer worker_fail(int out, enum answer answer, const char *format, ...)
{
	char text[WORKER_MESSAGE];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (length >= (int)sizeof(text))
		length = sizeof(text) - 1;
	if (ftruncate(out, 0) || pwrite(out, text, length, 0) != length)
		return ANSWER_FAILED;
	return answer;
}
