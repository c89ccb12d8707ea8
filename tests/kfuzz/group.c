// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "group.h"

enum {
	SITES		= 1000,
	CALL_SIZE	= 5,
	CODE_AT		= 16,
	SLEEP_US	= 30000,
	WAIT_US		= 500,		/* for rows, */
	WAITS		= 80,		/* so many times */
};

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

/* --- the siblings --------------------------------------------------------- */

static int open_sibling(const struct group *group)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.read_format = group->attr->read_format,
		.exclude_kernel = 1,
		.inherit = group->attr->inherit,
	};

	return syscall(SYS_perf_event_open, &attr, group->pid, group->cpu,
		       group->leader, PERF_FLAG_FD_CLOEXEC);
}

static uint64_t head_of(const struct group *group)
{
	return __atomic_load_n(&group->ring->data_head, __ATOMIC_ACQUIRE);
}

/* Until rows begin to come, which leaves the rest of them to be written. */
static void await_rows(const struct group *group)
{
	unsigned int i;
	uint64_t head;

	if (!group->ring)
		return;
	head = head_of(group);
	for (i = 0; i < WAITS && head_of(group) == head; i++)
		usleep(WAIT_US);
}

static void make_room(const struct group *group)
{
	if (group->ring)
		__atomic_store_n(&group->ring->data_tail, head_of(group),
				 __ATOMIC_RELEASE);
}

static unsigned long close_all(const struct group *group, const int *fd,
			       unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		close(fd[i]);
		make_room(group);
	}
	return count;
}

unsigned long group_churn(const struct group *group, unsigned int siblings)
{
	unsigned int count = 0;
	int fd[GROUP_MAX];

	stay_on(!group->cpu);
	while (count < siblings && count < GROUP_MAX) {
		fd[count] = open_sibling(group);
		if (fd[count] < 0)
			break;
		count++;
	}
	if (count)
		await_rows(group);
	return close_all(group, fd, count);
}

/* --- the target ----------------------------------------------------------- */

/* A `ret`, and a function that calls it from many places. */
static unsigned char *many_sites(void)
{
	unsigned char *code = mmap(NULL, CODE_AT + SITES * CALL_SIZE + 1,
				   PROT_READ | PROT_WRITE | PROT_EXEC,
				   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, at = CODE_AT;

	if (code == MAP_FAILED)
		_exit(1);
	code[0] = 0xc3;
	for (i = 0; i < SITES; i++, at += CALL_SIZE) {
		int32_t distance = -(at + CALL_SIZE);

		code[at] = 0xe8;
		memcpy(code + at + 1, &distance, sizeof(distance));
	}
	code[at] = 0xc3;
	return code + CODE_AT;
}

_Noreturn void group_target(int cpu)
{
	void (*run)(void) = (void (*)(void))many_sites();

	stay_on(cpu);
	for (;;) {
		run();
		usleep(SLEEP_US);
	}
}
