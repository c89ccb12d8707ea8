// SPDX-License-Identifier: GPL-2.0-only
/* Unusual ways in which the kernel acts on a program's behalf. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "subject.h"

static void be_strict(int syscall_number)
{
	subject_work(50);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT))
		_exit(50);
	subject_work(50);
	if (write(STDOUT_FILENO, "strict\n", 7) != 7)
		_exit(51);
	syscall(syscall_number, 6);
}

void subject_seccomp_strict(void)
{
	pid_t pid = fork();

	if (!pid)
		be_strict(SYS_exit);
	subject_wait(pid, "exits");
	pid = fork();
	if (!pid)
		be_strict(SYS_getpid);
	subject_wait(pid, "is killed");
}

static volatile sig_atomic_t calls;
static volatile sig_atomic_t seen_tf;

static void on_sys(int sig, siginfo_t *info, void *context)
{
	calls++;
	seen_tf |= context_flags(context) & TF;
#ifdef __x86_64__
	seen_tf |= ((ucontext_t *)context)->uc_mcontext.gregs[REG_R11] & TF;
#endif
}

/* Makes getppid() fail, getpgrp() send a signal, and getsid() kill. */
static void filter_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 77),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getpgrp, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP | 5),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getsid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {
		.len = sizeof(code) / sizeof(code[0]), .filter = code,
	};

	expect(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	expect(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

void subject_seccomp_filter(void)
{
	pid_t pid;
	int i;

	subject_handle(SIGSYS, on_sys, 0);
	filter_calls();
	for (i = 0; i < 10; i++) {
		expect(syscall(SYS_getppid) == -1 && errno == 77);
		syscall(SYS_getpgrp);
	}
	printf("calls %d\n", (int)calls);
	expect(!seen_tf);
	pid = fork();
	if (!pid) {
		subject_work(50);
		syscall(SYS_getsid, 0);
		_exit(52);
	}
	subject_wait(pid, "filtered");
}

void subject_clocks(void)
{
	struct timespec before, after;
	struct timeval day;
	int i;

	for (i = 0; i < 50; i++) {
		expect(!clock_gettime(CLOCK_MONOTONIC, &before));
		expect(!gettimeofday(&day, NULL) && day.tv_sec > 0);
		expect(time(NULL) >= day.tv_sec - 1);	/* it is coarse */
		expect(!clock_gettime(CLOCK_MONOTONIC, &after));
		expect(after.tv_sec > before.tv_sec ||
		       (after.tv_sec == before.tv_sec &&
			after.tv_nsec >= before.tv_nsec));
	}
}

#ifdef __x86_64__
/*
 * Calls the page that the kernel emulates. Debian's kernels only allow calls.
 */
void subject_vsyscall(void)
{
	time_t (*old_time)(time_t *) = (void *)0xffffffffff600400;
	time_t first;
	int i;

	for (i = 0; i < 10; i++) {
		time(&first);
		expect(old_time(NULL) - first <= 1);
		expect(!(read_flags() & TF));
	}
}
#endif
