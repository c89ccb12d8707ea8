// SPDX-License-Identifier: GPL-2.0-only
/* Signals. */
#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "subject.h"

static volatile sig_atomic_t count;
static volatile sig_atomic_t seen_tf;
static sigjmp_buf back;

static void note(int sig, siginfo_t *info, void *context)
{
	count++;
	seen_tf |= (context_flags(context) | read_flags()) & TF;
}

static void after(int which, long microseconds)
{
	struct itimerval timer = { .it_value.tv_usec = microseconds };

	expect(!setitimer(which, &timer, NULL));
}

enum { NESTED_MAX = 8 };

static volatile sig_atomic_t nested, ticking;

static void tick(int which)
{
	after(which, which == ITIMER_REAL ? 700 : 1000);
}

/*
 * Each handler sets its timer again, so that the next signal interrupts it.
 * NESTED_MAX limits the depth on a machine that is slower than the timers.
 */
static void note_nested(int sig, siginfo_t *info, void *context)
{
	if (++nested < NESTED_MAX)
		tick(sig == SIGALRM ? ITIMER_REAL : ITIMER_VIRTUAL);
	else
		ticking = false;
	note(sig, info, context);
	nested--;
}

/* Two timers, whose handlers interrupt each other. */
void subject_alarms(void)
{
	uint64_t sum = 0;
	int i;

	subject_handle(SIGALRM, note_nested, SA_NODEFER);
	subject_handle(SIGVTALRM, note_nested, SA_NODEFER);
	for (i = 0; count < 40; i++) {
		if (!ticking) {
			ticking = true;
			tick(ITIMER_REAL);
			tick(ITIMER_VIRTUAL);
		}
		sum += subject_work(100) == subject_work(100);
	}
	after(ITIMER_REAL, 0);
	after(ITIMER_VIRTUAL, 0);
	expect(sum == (uint64_t)i);
	expect(!seen_tf);
}

/* Runs on a stack of its own. Each handler raises the next signal. */
static void nest(int sig, siginfo_t *info, void *context)
{
	note(sig, info, context);
	if (sig < SIGRTMIN + 5)
		raise(sig + 1);
}

void subject_altstack(void)
{
	stack_t stack = { .ss_size = 1 << 16, .ss_sp = malloc(1 << 16) };
	int i;

	expect(!sigaltstack(&stack, NULL));
	for (i = 0; i < 6; i++)
		subject_handle(SIGRTMIN + i, nest, SA_ONSTACK);
	for (i = 0; i < 5; i++)
		raise(SIGRTMIN);
	printf("nested: %d\n", (int)count);
	expect(!seen_tf);
}

static void interrupt_parent(void)
{
	int i;

	for (i = 0; i < 5; i++) {
		usleep(1500);
		kill(getppid(), SIGUSR1);
	}
	_exit(0);
}

/* Interrupts a read that is restarted, and sleeps and waits that are not. */
void subject_restart(void)
{
	struct timespec time = { 0, 3000000 };
	int pipes[2], eintr = 0;
	pid_t writer, sender;
	char byte;

	expect(!pipe(pipes));
	subject_handle(SIGUSR1, note, SA_RESTART);
	writer = fork();
	if (!writer) {
		usleep(15000);
		expect(write(pipes[1], "x", 1) == 1);
		_exit(1);
	}
	sender = fork();
	if (!sender)
		interrupt_parent();
	expect(read(pipes[0], &byte, 1) == 1 && byte == 'x');
	subject_wait(writer, "writer");
	subject_wait(sender, "sender");

	subject_handle(SIGUSR1, note, 0);
	sender = fork();
	if (!sender)
		interrupt_parent();
	/* restart_syscall() continues nanosleep(). */
	while (nanosleep(&time, &time) < 0) {
		expect(errno == EINTR);
		eintr = 1;
	}
	while (waitpid(sender, NULL, 0) < 0)
		expect(errno == EINTR);
	expect(!seen_tf && eintr >= 0);
}

void subject_queue(void)
{
	union sigval value = { .sival_int = 1 };
	sigset_t set, old;
	int i;

	subject_handle(SIGRTMIN, note, 0);
	sigemptyset(&set);
	sigaddset(&set, SIGRTMIN);
	sigprocmask(SIG_BLOCK, &set, &old);
	for (i = 0; i < 60; i++)
		expect(!sigqueue(getpid(), SIGRTMIN, value));
	sigprocmask(SIG_SETMASK, &old, NULL);	/* one after the other */
	printf("queued: %d\n", (int)count);
	expect(!seen_tf);
}

static void jump(int sig, siginfo_t *info, void *context)
{
	note(sig, info, context);
	siglongjmp(back, 1);
}

void subject_longjmp(void)
{
	volatile int i;

	subject_handle(SIGUSR1, jump, 0);
	subject_handle(SIGSEGV, jump, 0);
	for (i = 0; i < 20; i++)
		if (!sigsetjmp(back, 1)) {
			if (i & 1)
				*(volatile int *)16 = 0;
			raise(SIGUSR1);
			printf("not reached\n");
		}
	printf("jumps: %d\n", (int)count);
	expect(!seen_tf);
}

/* Reads everything in a frame that shows flags. The flags must survive it. */
static void look(int sig, siginfo_t *info, void *context)
{
	note(sig, info, context);
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] ^= 1;	/* CF */
}

void subject_frames(void)
{
	int i, carries = 0;

	subject_handle(SIGTRAP, look, 0);
	for (i = 0; i < 20; i++) {
		unsigned char carry;

		asm volatile("clc; int3; setc %0" : "=q" (carry) :: "cc");
		carries += carry;
	}
	printf("traps %d, carries %d\n", (int)count, carries);
	expect(!seen_tf);
	expect(!(read_flags() & TF));
}

static char *page;

static void unprotect(int sig, siginfo_t *info, void *context)
{
	note(sig, info, context);
	expect(info->si_addr == page + 5);
	expect(!mprotect(page, 4096, PROT_READ | PROT_WRITE));
}

void subject_segv(void)
{
	int i;

	page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	subject_handle(SIGSEGV, unprotect, 0);
	for (i = 0; i < 20; i++) {
		page[5]++;
		expect(!mprotect(page, 4096, PROT_NONE));
	}
	expect(!mprotect(page, 4096, PROT_READ));
	printf("faults %d, value %d\n", (int)count, page[5]);
	expect(!seen_tf);
}

static uintptr_t trap_at;

static void trapped(int sig, siginfo_t *info, void *context)
{
	note(sig, info, context);
	trap_at = ((ucontext_t *)context)->uc_mcontext.gregs[REG_PC];
}

void subject_breakpoint(void)
{
	extern char after_breakpoint[];
	int i;

	subject_handle(SIGTRAP, trapped, 0);
	for (i = 0; i < 10; i++) {
		asm volatile(".globl after_breakpoint\n"
			     "int3\nafter_breakpoint: nop");
		expect(trap_at == (uintptr_t)after_breakpoint);
	}
	asm volatile(".byte 0xf1");	/* icebp: #DB without a reason */
	printf("breakpoints %d\n", (int)count);
	expect(!seen_tf);
}

/* Stops itself; its child continues it. */
void subject_stop_self(void)
{
	pid_t child = fork(), parent = getppid();
	int i;

	if (child) {
		subject_work(100);
		subject_wait(child, "waker");
		return;
	}
	parent = getppid();
	for (i = 0; i < 5; i++) {
		kill(parent, SIGSTOP);
		usleep(500);
		kill(parent, SIGCONT);
		usleep(500);
	}
	_exit(2);
}
