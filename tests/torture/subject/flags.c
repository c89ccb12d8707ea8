// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flags register as the program sees it, and the program's own trap flag.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "subject.h"

static volatile sig_atomic_t traps;
static uintptr_t places[256];
static volatile sig_atomic_t bad_frames;
static int stop_after;

/*
 * Records the addresses of the program's own traps. print_places() makes them
 * relative, so that only the code matters.
 */
static void record(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	if (traps < 256)
		places[traps] = regs[REG_PC];
	traps++;
	bad_frames += !(regs[REG_EFL] & TF);
	if (traps == stop_after)
		regs[REG_EFL] &= ~TF;
}

static void print_places(void)
{
	int i;

	printf("traps %d, frames without the flag %d:", (int)traps,
	       (int)bad_frames);
	for (i = 0; i < traps && i < 256; i++)
		printf(" %x", (unsigned int)(places[i] - places[0]));
	printf("\n");
}

#ifdef __x86_64__
#define PUSHF	"pushfq\n"
#define POPF	"popfq\n"
#define SET_TF	"orl $0x100, (%%rsp)\n"
#define CLEAR_TF "andl $~0x100, (%%rsp)\n"
#else
#define PUSHF	"pushfl\n"
#define POPF	"popfl\n"
#define SET_TF	"orl $0x100, (%%esp)\n"
#define CLEAR_TF "andl $~0x100, (%%esp)\n"
#endif

static unsigned long push_wide(void)
{
	unsigned long flags;

	asm volatile(PUSHF "pop %0" : "=r" (flags) :: "memory");
	return flags;
}

static unsigned short push_narrow(void)
{
	unsigned short flags;

	asm volatile("pushfw; popw %0" : "=r" (flags) :: "memory");
	return flags;
}

/* Pushes the flags directly after a system call, twice in a row. */
static unsigned long push_after_call(void)
{
	unsigned long flags, more;

#ifdef __x86_64__
	asm volatile("mov %2, %%eax\nsyscall\n" PUSHF PUSHF "pop %0\npop %1"
		     : "=&r" (flags), "=&r" (more) : "i" (SYS_getppid)
		     : "rax", "rcx", "r11", "memory");
#else
	asm volatile("mov %2, %%eax\nint $0x80\n" PUSHF PUSHF "pop %0\npop %1"
		     : "=&r" (flags), "=&r" (more) : "i" (SYS_getppid)
		     : "eax", "memory");
#endif
	return flags | more;
}

void subject_push_flags(void)
{
	unsigned long seen = 0;
	int i;

	for (i = 0; i < 1000; i++)
		seen |= push_wide() | push_narrow() | push_after_call();
	expect(!(seen & TF));

	/* popf clears a flag that is clear already, and brings other flags */
	for (i = 0; i < 50; i++) {
		unsigned char carry;

		asm volatile("clc\n" PUSHF "stc\n" POPF "setc %0"
			     : "=q" (carry) :: "cc", "memory");
		expect(!carry);
	}
	expect(!(push_wide() & TF));
}

static void own_steps(void)
{
	asm volatile(PUSHF SET_TF POPF
		     "nop\nnop\nnop\n"
		     "mov $3, %%ecx\n1: dec %%ecx\njnz 1b\n"
		     PUSHF CLEAR_TF POPF
		     "nop\n" ::: "ecx", "cc", "memory");
}

void subject_own_tf(void)
{
	int i;

	subject_handle(SIGTRAP, record, 0);
	for (i = 0; i < 4; i++) {
		own_steps();
		subject_work(50);	/* not trapped */
	}
	print_places();
}

/*
 * The program's flag shows in pushf while it is on, and in a system call's r11.
 */
void subject_own_tf_and_calls(void)
{
	unsigned long pushed, r11 = TF;

	subject_handle(SIGTRAP, record, 0);
#ifdef __x86_64__
	asm volatile(PUSHF SET_TF POPF PUSHF "pop %0\n"
		     "mov %2, %%eax\nsyscall\nmov %%r11, %1\nnop\n"
		     PUSHF CLEAR_TF POPF
		     : "=&r" (pushed), "=&r" (r11) : "i" (SYS_getppid)
		     : "rax", "rcx", "r11", "memory");
#else
	asm volatile(PUSHF SET_TF POPF PUSHF "pop %0\n"
		     "mov %1, %%eax\nint $0x80\nnop\nnop\n"
		     PUSHF CLEAR_TF POPF
		     : "=&r" (pushed) : "i" (SYS_getppid)
		     : "eax", "memory");
#endif
	printf("pushed %lx, r11 %lx\n", pushed & TF, r11 & TF);
	print_places();
}

static void set_in_frame(int sig, siginfo_t *info, void *context)
{
	((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] |= TF;
}

void subject_own_tf_by_frame(void)
{
	int i;

	subject_handle(SIGTRAP, record, 0);
	subject_handle(SIGUSR1, set_in_frame, 0);
	for (i = 1; i <= 3; i++) {
		stop_after = 15 * i;
		raise(SIGUSR1);
		subject_work(50);
	}
	print_places();
}

/* iret pops the flags, too. */
void subject_own_tf_by_iret(void)
{
	subject_handle(SIGTRAP, record, 0);
#ifdef __x86_64__
	asm volatile("mov %%rsp, %%rdx\n"
		     "mov %%ss, %%eax\npush %%rax\npush %%rdx\n"
		     "pushfq\norl $0x100, (%%rsp)\n"
		     "mov %%cs, %%eax\npush %%rax\n"
		     "lea 1f(%%rip), %%rax\npush %%rax\n"
		     "iretq\n1: nop\nnop\nnop\n"
		     PUSHF CLEAR_TF POPF ::: "rax", "rdx", "cc", "memory");
#else
	asm volatile("pushfl\norl $0x100, (%%esp)\n"
		     "push %%cs\npush $1f\n"
		     "iretl\n1: nop\nnop\nnop\n"
		     PUSHF CLEAR_TF POPF ::: "eax", "cc", "memory");
#endif
	print_places();
	/* An iret without the flag does not end the stepping by the kernel. */
#ifdef __x86_64__
	asm volatile("mov %%rsp, %%rdx\n"
		     "mov %%ss, %%eax\npush %%rax\npush %%rdx\npushfq\n"
		     "mov %%cs, %%eax\npush %%rax\n"
		     "lea 1f(%%rip), %%rax\npush %%rax\n"
		     "iretq\n1: nop\n" ::: "rax", "rdx", "memory");
#endif
	expect(!(push_wide() & TF));
}

/* A child inherits its parent's flags. */
void subject_own_tf_across_fork(void)
{
	long pid = SYS_fork;

	subject_handle(SIGTRAP, record, 0);
#ifdef __x86_64__
	asm volatile(PUSHF SET_TF POPF "syscall\nnop\nnop\n"
		     PUSHF CLEAR_TF POPF "nop\n"
		     : "+a" (pid) :: "rcx", "r11", "cc", "memory");
#else
	asm volatile(PUSHF SET_TF POPF "int $0x80\nnop\nnop\n"
		     PUSHF CLEAR_TF POPF "nop\n"
		     : "+a" (pid) :: "cc", "memory");
#endif
	if (!pid) {
		print_places();
		_exit(traps);
	}
	subject_wait(pid, "child with the flag");
	print_places();
}

/*
 * An instruction that loads SS delays the trap by one instruction. Programs
 * often use this to look for debuggers.
 */
void subject_stack_segment(void)
{
	unsigned long flags = 0, seen = 0;
	int i;

	for (i = 0; i < 20; i++) {
		asm volatile("mov %%ss, %%eax\nmov %%eax, %%ss\n" PUSHF "pop %0"
			     : "=r" (flags) :: "eax", "memory");
		seen |= flags;
#ifdef __i386__
		asm volatile("push %%ss\npop %%ss\n" PUSHF "pop %0"
			     : "=r" (flags) :: "memory");
		seen |= flags;
#endif
	}
	expect(!(seen & TF));
}

/* Any program may make system calls like this. It keeps all bits of r11. */
void subject_int80(void)
{
	unsigned long r11 = 0xfff;
	int i;

	for (i = 0; i < 20; i++) {
		int pid = 20;	/* getpid() of i386 */

#ifdef __x86_64__
		asm volatile("mov $0xfff, %%r11d\nint $0x80\nmov %%r11, %1"
			     : "+a" (pid), "=r" (r11) :: "r11", "memory");
#else
		asm volatile("int $0x80" : "+a" (pid) :: "memory");
#endif
		expect(pid == getpid());
		expect(r11 == 0xfff);
	}
}

#ifdef __x86_64__
static volatile unsigned long seen_r11;
static volatile sig_atomic_t alarmed;

static void see_r11(int sig, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	seen_r11 |= regs[REG_R11];
	if (sig == SIGILL)
		regs[REG_PC] += 2;	/* ud2 */
	else
		alarmed = true;
}

/*
 * Executes CALLS, then reads r11 with BY into operand 0, memory or a register.
 */
#define R11_AFTER(calls, by)						\
({									\
	unsigned long number = SYS_sched_yield, r11 = 0;		\
									\
	asm volatile(calls by : "=r" (r11), "+a" (number)		\
		     :: "rcx", "r11", "cc", "memory");			\
	r11;								\
})

/*
 * A system call leaves the flags in r11, where the next instruction sees them.
 * The loop sets the timer again each time. With an interval timer, a slow
 * machine would do nothing but handle signals.
 */
void subject_syscall_r11(void)
{
	struct itimerval soon = { .it_value.tv_usec = 500 }, never = { 0 };
	unsigned long seen = 0;
	int i;

	subject_handle(SIGILL, see_r11, 0);
	subject_handle(SIGALRM, see_r11, SA_RESTART);
	alarmed = true;
	for (i = 0; i < 400; i++) {
		if (alarmed) {
			alarmed = false;
			setitimer(ITIMER_REAL, &soon, NULL);
		}
		seen |= R11_AFTER("syscall\n", "mov %%r11, %0");
		seen |= R11_AFTER("mov $-1, %%rax\nsyscall\n", "mov %%r11, %0");
		seen |= R11_AFTER("syscall\n", "push %%r11\npop %0");
		seen |= R11_AFTER("syscall\n", "lea (,%%r11,2), %0\nshr %0");
		seen |= R11_AFTER("syscall\n", "nop\nmov %%r11, %0");
		seen |= R11_AFTER("syscall\n", "ud2\nmov %%r11, %0");
		seen |= R11_AFTER("mov $-1, %%rax\nsyscall\nsyscall\n",
				  "mov %%r11, %0");
		seen |= R11_AFTER("mov %%ss, %%ecx\nmov %%ecx, %%ss\nsyscall\n",
				  "mov %%r11, %0");
		seen |= R11_AFTER("syscall\nmov %%ss, %%ecx\nmov %%ecx, %%ss\n",
				  "mov %%r11, %0");
		seen |= R11_AFTER("rex.w syscall\n", "mov %%r11, %0");
	}
	setitimer(ITIMER_REAL, &never, NULL);
	expect(!((seen | seen_r11) & TF));
	expect(seen & seen_r11 & 2);	/* the flags: bit 1 is always set */
}

/* A child inherits its parent's r11. */
void subject_syscall_r11_of_child(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		unsigned long r11;
		long pid = SYS_fork;

		asm volatile("syscall\nmov %%r11, %0" : "=r" (r11), "+a" (pid)
			     :: "rcx", "r11", "memory");
		if (!pid)
			_exit(r11 & TF ? 51 : 50);
		expect(!(r11 & TF));
		subject_wait(pid, "child");
	}
}
#else
void subject_sysenter(void)
{
	unsigned long entry = getauxval(AT_SYSINFO);
	int i;

	expect(entry);
	for (i = 0; i < 50; i++) {
		int pid = SYS_getpid;

		asm volatile("call *%1" : "+a" (pid) : "r" (entry) : "memory");
		expect(pid == getpid());
		expect(!(push_wide() & TF));
	}
}
#endif
