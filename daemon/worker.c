// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
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

#include "wire.h"
#include "worker.h"

enum {
	FILE_MAX = 512 << 20,		/* bytes of any file that it writes */
	NICE = 5,			/* questions can wait a little */
	OUT = 3,			/* descriptor of its file */
};

#if defined(__x86_64__)
#define OWN_ARCH	AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH	AUDIT_ARCH_AARCH64
#endif

/* Fails with EPERM. */
#define REFUSE(name)							\
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1),		\
	BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)

/*
 * Refuses the system calls by which a process reaches others, the network or
 * the kernel's more fragile parts. Another architecture's calls end it.
 */
static int refuse_calls(void)
{
#ifdef OWN_ARCH
	static struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		/* Calls of the x32 kind, which have other numbers. */
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		REFUSE(socket), REFUSE(socketpair), REFUSE(connect),
		REFUSE(bind), REFUSE(listen), REFUSE(sendto), REFUSE(sendmsg),
		REFUSE(execve), REFUSE(execveat), REFUSE(clone),
		REFUSE(clone3), REFUSE(ptrace), REFUSE(process_vm_readv),
		REFUSE(process_vm_writev), REFUSE(kill), REFUSE(tkill),
		REFUSE(tgkill), REFUSE(pidfd_open), REFUSE(pidfd_getfd),
		REFUSE(pidfd_send_signal), REFUSE(bpf),
		REFUSE(perf_event_open), REFUSE(io_uring_setup),
		REFUSE(userfaultfd), REFUSE(keyctl), REFUSE(add_key),
		REFUSE(request_key), REFUSE(mount), REFUSE(unshare),
		REFUSE(setns), REFUSE(unlinkat), REFUSE(renameat2),
		REFUSE(linkat), REFUSE(symlinkat), REFUSE(mkdirat),
		REFUSE(mknodat), REFUSE(fchmodat), REFUSE(fchownat),
		REFUSE(truncate),
#ifdef __NR_unlink
		REFUSE(unlink), REFUSE(rename), REFUSE(link), REFUSE(symlink),
		REFUSE(mkdir), REFUSE(rmdir), REFUSE(mknod), REFUSE(chmod),
		REFUSE(chown), REFUSE(fork), REFUSE(vfork),
#endif
		REFUSE(renameat),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(code) / sizeof(code[0]), .filter = code,
	};

	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno :
								      0;
#else
	return 0;
#endif
}

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

/* Leaves the worker nothing but its own memory and files. */
static int confine(enum worker_files files, unsigned int seconds)
{
	int error = 0;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL))
		error = -errno;
#ifndef __SANITIZE_ADDRESS__
	if (!error)
		error = limit(RLIMIT_AS, (uint64_t)WORKER_MEMORY_MIB << 20);
#endif
	if (!error)
		error = limit(RLIMIT_CPU, seconds);
	if (!error)
		error = limit(RLIMIT_CORE, 0);
	if (!error)
		error = limit(RLIMIT_FSIZE, FILE_MAX);
	if (!error)
		error = refuse_files(files);
	return error ? error : refuse_calls();
}

/* Moves the descriptors to the lowest numbers, and closes all others. */
static int keep_files(int out, int keep)
{
	int error = 0;

	if (keep >= 0)
		keep = fcntl(keep, F_DUPFD, WORKER_KEPT + 1);
	if (dup2(out, OUT) < 0 || (keep >= 0 && dup2(keep, WORKER_KEPT) < 0))
		error = -errno;
	if (syscall(SYS_close_range,
		    keep >= 0 ? WORKER_KEPT + 1 : WORKER_KEPT, ~0U, 0))
		error = -errno;
	return error;
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
	error = keep_files(out, keep);
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
	int status;

	if (!worker->pid)
		return 0;
	if (wire_now() > worker->deadline_ns)
		kill(worker->pid, SIGKILL);
	if (waitpid(worker->pid, &status, WNOHANG) != worker->pid)
		return 0;
	*answer = answer_of(worker, status);
	return 1;
}

enum answer worker_wait(struct worker *worker)
{
	enum answer answer;

	while (!worker_ended(worker, &answer))
		usleep(10000);
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
