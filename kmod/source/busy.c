// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpu.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/smp.h>

#include "busy.h"
#include "probe.h"

/*
 * The state of a CPU's clock in one word, so that an NMI never finds half of a
 * change. Without this flag the word is what to subtract from local_clock();
 * with it, the time at which the clock stands still.
 */
#define IDLE	(1ULL << 63)

static DEFINE_PER_CPU(u64, busy_word);

u64 busy_clock(void)
{
	u64 word = this_cpu_read(busy_word);

	return word & IDLE ? word & ~IDLE : local_clock() - word;
}

bool busy_is_idle(void)
{
	return this_cpu_read(busy_word) & IDLE;
}

/* Start or stop this CPU's clock. Interrupts are off. */
static void busy_set_idle(bool idle)
{
	u64 now = busy_clock();

	if (idle == busy_is_idle())
		return;
	this_cpu_write(busy_word, idle ? now | IDLE :
			(local_clock() - now) & ~IDLE);
}

static void busy_on_switch(void *data, bool preempt, struct task_struct *prev,
			   struct task_struct *next, unsigned int prev_state)
{
	busy_set_idle(is_idle_task(next));
}

static struct probe probes[] = {
	PROBE(sched_switch, busy_on_switch),
	{ }
};

static DEFINE_MUTEX(users_lock);
static unsigned int users;

static void busy_look(void *unused)
{
	busy_set_idle(is_idle_task(current));
}

static void busy_wake(void *unused)
{
	busy_set_idle(false);
}

/* Let all clocks run, as no probe will do so when a CPU becomes busy. */
static void busy_wake_all(void)
{
	int cpu;

	cpus_read_lock();
	on_each_cpu(busy_wake, NULL, true);
	for_each_possible_cpu(cpu)
		if (!cpu_online(cpu))
			per_cpu(busy_word, cpu) = 0;
	cpus_read_unlock();
}

/*
 * The first user interrupts each CPU once, as a CPU's clock is written by that
 * CPU alone. The last one does, too. The kernel interrupts all CPUs anyway when
 * a probe comes or goes, as it patches the code of the tracepoint.
 */
int busy_get(void)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!users) {
		err = probes_register(probes);
		if (!err)
			on_each_cpu(busy_look, NULL, true);
	}
	users += !err;
	mutex_unlock(&users_lock);
	return err;
}

void busy_put(void)
{
	mutex_lock(&users_lock);
	if (!--users) {
		probes_unregister(probes);
		busy_wake_all();
	}
	mutex_unlock(&users_lock);
}

void busy_init(void)
{
	probes_find(probes);
}
