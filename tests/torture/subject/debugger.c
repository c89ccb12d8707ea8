// SPDX-License-Identifier: GPL-2.0-only
/* A small debugger and its subject, both watched. */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

#ifdef __x86_64__
#define PC	rip
#define AX	rax
#define ORIG_AX	orig_rax
#else
#define PC	eip
#define AX	eax
#define ORIG_AX	orig_eax
#endif

static struct user_regs_struct get_regs(pid_t pid)
{
	struct user_regs_struct regs = {};

	expect(!ptrace(PTRACE_GETREGS, pid, NULL, &regs));
	return regs;
}

static int wait_stop(pid_t pid)
{
	int status = 0;

	expect(waitpid(pid, &status, __WALL) == pid);
	return status;
}

/* Stops once, then runs known code with a system call in the middle. */
static void be_stepped(void)
{
	int i;

	raise(SIGSTOP);
	for (i = 0; i < 5; i++)
		syscall(SYS_getppid);
	asm volatile(".globl stepped_here\nstepped_here:\n"
		     "mov $5, %%ecx\n1: pushf\npopf\ndec %%ecx\njnz 1b\n"
		     ::: "ecx", "cc", "memory");
	_exit((read_flags() & TF) ? 99 : 3);
}

static pid_t start_traced(void)
{
	pid_t pid = fork();

	if (!pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		be_stepped();
	}
	expect(WSTOPSIG(wait_stop(pid)) == SIGSTOP);
	return pid;
}

void subject_stepped(void)
{
	be_stepped();
}

/* Steps through every instruction, from the stop to the exit. */
void subject_debug_steps(void)
{
	pid_t pid = start_traced();
	unsigned long steps = 0, sum = 0, flags = 0;
	int status;

	for (;;) {
		expect(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
		status = wait_stop(pid);
		if (!WIFSTOPPED(status))
			break;
		expect(WSTOPSIG(status) == SIGTRAP);
		steps++;
		sum = sum * 31 + get_regs(pid).PC;
		flags |= get_regs(pid).eflags;
	}
	printf("steps %lu, places %lx, flag %lx, status %x\n", steps, sum,
	       flags & TF, status);
}

/*
 * Stops at system calls. Changes the number of one and the result of another.
 */
void subject_debug_calls(void)
{
	struct user_regs_struct regs;
	pid_t pid = start_traced();
	unsigned long stops = 0, flags = 0;
	int status;

	expect(!ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD));
	for (;;) {
		expect(!ptrace(PTRACE_SYSCALL, pid, NULL, NULL));
		status = wait_stop(pid);
		if (!WIFSTOPPED(status))
			break;
		expect(WSTOPSIG(status) == (SIGTRAP | 0x80));
		regs = get_regs(pid);
		flags |= regs.eflags;
		if (stops == 2)
			regs.ORIG_AX = -1;	/* not called at all */
		if (stops == 5)
			regs.AX = 12345;
		expect(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
		stops++;
	}
	printf("stops %lu, flag %lx, status %x\n", stops, flags & TF, status);
}

/* Writes int3 over an instruction, restores it and steps over it. */
void subject_debug_breakpoint(void)
{
	extern char stepped_here[];
	struct user_regs_struct regs;
	pid_t pid = start_traced();
	long word = ptrace(PTRACE_PEEKTEXT, pid, stepped_here, NULL);
	int status;

	expect(!ptrace(PTRACE_POKETEXT, pid, stepped_here,
		       (word & ~0xffL) | 0xcc));
	expect(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	expect(WSTOPSIG(wait_stop(pid)) == SIGTRAP);
	regs = get_regs(pid);
	expect((uintptr_t)regs.PC == (uintptr_t)stepped_here + 1);
	expect(!(regs.eflags & TF));
	expect(!ptrace(PTRACE_POKETEXT, pid, stepped_here, word));
	regs.PC--;
	expect(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
	expect(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
	expect(WSTOPSIG(wait_stop(pid)) == SIGTRAP);
	expect((uintptr_t)get_regs(pid).PC == (uintptr_t)stepped_here + 5);
	expect(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	status = wait_stop(pid);
	printf("status %x\n", status);
}

/*
 * The debugger must read the registers as it wrote them, also the flags. A trap
 * flag that it sets itself belongs to the program.
 */
void subject_debug_registers(void)
{
	pid_t pid = start_traced();
	struct user_regs_struct regs = get_regs(pid), again;
	int status;

	expect(!(regs.eflags & TF));
	regs.eflags ^= 1;
	expect(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
	again = get_regs(pid);
	expect(regs.eflags == again.eflags && regs.PC == again.PC);
	regs.eflags |= TF;
	expect(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
	expect(get_regs(pid).eflags & TF);
	expect(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	status = wait_stop(pid);
	printf("trap %x\n", status);
	expect(WSTOPSIG(status) == SIGTRAP);
	regs = get_regs(pid);
	expect(regs.eflags & TF);
	regs.eflags &= ~TF;
	expect(!ptrace(PTRACE_SETREGS, pid, NULL, &regs));
	expect(!ptrace(PTRACE_CONT, pid, NULL, NULL));
	printf("status %x\n", wait_stop(pid));
}

/* Seizes the subject at work and detaches from it, again and again. */
void subject_debug_attach(void)
{
	int i, pipes[2], status;
	uint64_t sum;
	pid_t pid;

	expect(!pipe(pipes));
	pid = fork();
	if (!pid) {
		for (sum = 0, i = 0; i < 100; i++)
			sum += subject_work(50);
		expect(write(pipes[1], &sum, sizeof(sum)) == sizeof(sum));
		for (;;)	/* a step would not end in pause() */
			subject_work(50);
	}
	for (i = 0; i < 15; i++) {
		expect(!ptrace(PTRACE_SEIZE, pid, NULL, NULL));
		expect(!ptrace(PTRACE_INTERRUPT, pid, NULL, NULL));
		expect(WIFSTOPPED(wait_stop(pid)));
		expect(!(get_regs(pid).eflags & TF));
		if (i & 1) {
			expect(!ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL));
			expect(WIFSTOPPED(wait_stop(pid)));
			expect(!(get_regs(pid).eflags & TF));
		}
		expect(!ptrace(PTRACE_DETACH, pid, NULL, NULL));
		usleep(300);
	}
	expect(read(pipes[0], &sum, sizeof(sum)) == sizeof(sum));
	kill(pid, SIGTERM);
	expect(waitpid(pid, &status, 0) == pid);
	printf("sum %llx, status %x\n", (unsigned long long)sum, status);
}
