// SPDX-License-Identifier: GPL-2.0-only
/* Subjects that tests start, stop, inspect and kill. */
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "subject.h"

static volatile sig_atomic_t seen_tf, alarmed;
static timer_t timer;

static void on_alarm(int sig, siginfo_t *info, void *context)
{
	seen_tf |= context_flags(context) & TF;
	alarmed = true;
}

/*
 * Sets a timer once. With a periodic one, a slow machine might only handle
 * signals.
 */
static void set_alarm(void)
{
	struct itimerspec time = { .it_value.tv_nsec = 2000000 };

	alarmed = false;
	expect(!timer_settime(timer, 0, &time, NULL));
}

/* Works, sleeps, makes system calls and takes signals until a byte comes. */
static void *be_busy(void *result)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	uint64_t sum = 0, rounds = 0;

	while (poll(&input, 1, 0) <= 0) {
		if (alarmed)
			set_alarm();
		sum += subject_work(30) - subject_work(30);
		if (++rounds % 16 == 0)
			usleep(100);
		sum += read_flags() & TF;
	}
	*(uint64_t *)result = sum;
	return NULL;
}

void subject_busy(void)
{
	uint64_t sums[4] = { 1, 1, 1, 1 };
	pthread_t threads[3];
	int i;

	subject_handle(SIGALRM, on_alarm, SA_RESTART);
	expect(!timer_create(CLOCK_MONOTONIC, NULL, &timer));
	set_alarm();
	for (i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, be_busy, &sums[i]);
	be_busy(&sums[3]);
	for (i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("sum %llx, flag %x\n",
	       (unsigned long long)(sums[0] + sums[1] + sums[2] + sums[3]),
	       (int)seen_tf);
}

/*
 * A signal whose frame takes long to write: its stack is absent until a byte
 * comes. An event that is attached meanwhile must not show in the frame's
 * flags.
 */
enum { SLOW_STACK = 1 << 16 };

struct slow_stack {
	struct uffdio_register area;
	int faults;
};

static void *fill_slowly(void *context)
{
	struct slow_stack *stack = context;
	struct uffdio_zeropage fill = { .range = stack->area.range };
	struct uffd_msg fault;
	char byte;

	expect(read(stack->faults, &fault, sizeof(fault)) == sizeof(fault));
	printf("waits\n");
	fflush(stdout);
	expect(read(STDIN_FILENO, &byte, 1) == 1);
	expect(!ioctl(stack->faults, UFFDIO_ZEROPAGE, &fill));
	return NULL;
}

static void make_slow(struct slow_stack *stack, void *memory)
{
	struct uffdio_api api = { .api = UFFD_API };

	stack->area.range.start = (unsigned long)memory;
	stack->area.range.len = SLOW_STACK;
	stack->area.mode = UFFDIO_REGISTER_MODE_MISSING;
	stack->faults = syscall(SYS_userfaultfd, O_CLOEXEC);
	expect(!ioctl(stack->faults, UFFDIO_API, &api));
	expect(!ioctl(stack->faults, UFFDIO_REGISTER, &stack->area));
}

void subject_slow_frame(void)
{
	stack_t stack = { .ss_size = SLOW_STACK };
	struct slow_stack slow;
	pthread_t thread;

	stack.ss_sp = mmap(NULL, SLOW_STACK, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	make_slow(&slow, stack.ss_sp);
	expect(!sigaltstack(&stack, NULL));
	subject_handle(SIGUSR1, on_alarm, SA_ONSTACK);
	expect(!pthread_create(&thread, NULL, fill_slowly, &slow));
	raise(SIGUSR1);
	subject_work(50);
	pthread_join(thread, NULL);
	printf("flag %x\n", (int)seen_tf);
}

/* Makes threads and children without end, until it is killed. */
static void *thread_of_storm(void *unused)
{
	pid_t pid;

	for (;;) {
		pid = fork();
		if (!pid) {
			subject_work(100);
			_exit(0);
		}
		waitpid(pid, NULL, 0);
	}
	return NULL;
}

void subject_storm(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, thread_of_storm, NULL);
	for (;;) {
		subject_work(100);
		if (read_flags() & TF)
			exit(99);
	}
}

/*
 * Dies of a signal with several threads, one in a system call and one at work.
 */
static void *work_on(void *unused)
{
	for (;;)
		subject_work(100);
	return NULL;
}

static void *sleep_on(void *unused)
{
	for (;;)
		sleep(1000);
	return NULL;
}

void subject_crash(void)
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, work_on, NULL);
	pthread_create(&threads[1], NULL, sleep_on, NULL);
	usleep(5000);
	*(volatile int *)8 = 1;
}

/* Threads that sleep in several ways until a byte comes. */
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static void *wait_lock(void *unused)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	subject_work(200);
	return NULL;
}

static void *wait_time(void *unused)
{
	int i;

	for (i = 0; i < 100; i++)
		usleep(20000);
	subject_work(200);
	return NULL;
}

void subject_blocked(void)
{
	pthread_t threads[2];
	uint64_t sum;
	pid_t child;
	char byte;

	pthread_mutex_lock(&gate);
	pthread_create(&threads[0], NULL, wait_lock, NULL);
	pthread_create(&threads[1], NULL, wait_time, NULL);
	child = fork();
	if (!child) {
		raise(SIGSTOP);
		sum = subject_work(300);
		_exit(sum == subject_work(300) ? 4 : 5);
	}
	waitpid(child, NULL, WUNTRACED);
	expect(write(STDOUT_FILENO, "ready\n", 6) == 6);
	expect(read(STDIN_FILENO, &byte, 1) == 1);
	expect(!(read_flags() & TF));
	kill(child, SIGCONT);
	subject_wait(child, "stopped child");
	pthread_mutex_unlock(&gate);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("sum %llx\n", (unsigned long long)subject_work(1000));
}

/* A function for probes, which is called a known number of times. */
__attribute__((noinline)) int subject_probed(int i)
{
	asm volatile("" : "+r" (i));
	return i + 1;
}

/*
 * Likewise. A probe on a nop of five bytes (Linux 6.18) or of ten (Linux 7.3)
 * becomes a call when it was hit. The ten bytes must not cross a page.
 */
__attribute__((naked, noinline)) void subject_probed_nop5(void)
{
	asm volatile(".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n\t"
		     "ret");
}

__attribute__((naked, noinline, aligned(16))) void subject_probed_nop10(void)
{
	asm volatile(".byte 0x66, 0x2e, 0x0f, 0x1f, 0x84\n\t"
		     ".byte 0x00, 0x00, 0x00, 0x00, 0x00\n\t"
		     "ret");
}

void subject_called(void)
{
	const volatile uint8_t *nop5 = (const void *)subject_probed_nop5;
	const volatile uint8_t *nop10 = (const void *)subject_probed_nop10;
	int i, sum = 0;

	for (i = 0; i < 50; i++) {
		sum += subject_probed(i);
		subject_probed_nop5();
		subject_probed_nop10();
	}
	printf("sum %d, nop5 %02x, nop10 %02x\n", sum, *nop5, *nop10);
}

void subject_ticks(void)
{
	int i;

	for (i = 0; i < 20; i++) {
		printf("tick %d\n", i);
		subject_work(100);
		usleep(500);
	}
}

/* As an ordinary user, runs a program that has more rights. */
void subject_unprivileged(void)
{
	const char *program = getenv("PRIVILEGED");
	pid_t pid;

	expect(!setresgid(1000, 1000, 1000));
	expect(!setresuid(1000, 1000, 1000));
	subject_work(2000);
	pid = fork();
	if (!pid) {
		execl(program, program, "privileged", NULL);
		_exit(127);
	}
	subject_wait(pid, "privileged");
	subject_work(2000);
}

void subject_privileged(void)
{
	printf("ids %d %d, work %llx\n", (int)geteuid(), (int)getegid(),
	       (unsigned long long)subject_work(40000));
}
