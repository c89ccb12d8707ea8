// SPDX-License-Identifier: GPL-2.0-only
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/workqueue.h>

#include "arch.h"
#include "cores.h"

static struct core_pmus known;		/* only grows, under known_lock */
static DEFINE_MUTEX(known_lock);
static DEFINE_PER_CPU(u32, core_type) = PERF_TYPE_RAW;
static DEFINE_PER_CPU(bool, core_seen);

static void cores_find_event(void *event)
{
	*(u64 *)event = arch_taken_branches();
}

/*
 * Find out the PMU of a CPU. Perf gives a counter of cycles to it. There is no
 * other way to learn the number of a PMU.
 */
static void cores_look_at(int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(struct perf_event_attr),
		.config = PERF_COUNT_HW_CPU_CYCLES,
		.exclude_guest = 1,	/* see trigger_counter_attr() */
		.disabled = 1,
	};
	struct perf_event *counter;
	struct core_pmu pmu = { 0 };

	counter = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL,
						   NULL);
	if (IS_ERR(counter))
		return;
	pmu.type = counter->pmu->type;
	perf_event_release_kernel(counter);
	if (smp_call_function_single(cpu, cores_find_event, &pmu.event, true))
		return;
	mutex_lock(&known_lock);
	if (core_pmus_add(&known, &pmu)) {
		per_cpu(core_type, cpu) = pmu.type;
		WRITE_ONCE(per_cpu(core_seen, cpu), true);
	} else {
		pr_warn("hwprof: more than %d kinds of cores: "
			"CPU %d's is left out\n", CORE_PMUS_MAX, cpu);
	}
	mutex_unlock(&known_lock);
}

/*
 * Look at new CPUs. This is not a hotplug callback, because creating a counter
 * may wait for the end of one.
 */
static void cores_look(struct work_struct *work)
{
	int cpu;

	for_each_online_cpu(cpu)
		if (!READ_ONCE(per_cpu(core_seen, cpu)))
			cores_look_at(cpu);
}

static DECLARE_WORK(look_work, cores_look);

static int cores_cpu_comes(unsigned int cpu)
{
	if (!READ_ONCE(per_cpu(core_seen, cpu)))
		schedule_work(&look_work);
	return 0;
}

static int state;

int cores_init(void)
{
	/* The callback comes first, so that no CPU is missed. */
	state = cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "hwprof:cores",
					  cores_cpu_comes, NULL);
	if (state < 0)
		return state;
	cores_look(NULL);
	return 0;
}

void cores_exit(void)
{
	cpuhp_remove_state_nocalls(state);
	cancel_work_sync(&look_work);
}

bool cores_are_alike(void)
{
	bool alike;

	mutex_lock(&known_lock);
	alike = core_pmus_are_alike(&known);
	mutex_unlock(&known_lock);
	return alike;
}

u32 cores_choose(int cpu, u64 event, struct core_pmu chosen[CORE_PMUS_MAX])
{
	u32 type, count;

	/* The CPU may have come online just now. */
	if (cpu >= 0 && !READ_ONCE(per_cpu(core_seen, cpu)))
		flush_work(&look_work);
	mutex_lock(&known_lock);
	type = cpu < 0 ? 0 : per_cpu(core_type, cpu);
	count = core_pmus_choose(&known, type, cpu < 0, event, chosen);
	mutex_unlock(&known_lock);
	if (count)
		return count;
	*chosen = (struct core_pmu){
		.type = PERF_TYPE_RAW, .event = event ?: arch_taken_branches(),
	};
	return !!chosen->event;
}
