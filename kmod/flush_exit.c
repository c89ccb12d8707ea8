// SPDX-License-Identifier: GPL-2.0-only
/*
 * The flush when the last thread of a process exits: after perf has stopped its
 * events, and before perf reports the exit. See flush.c.
 */
#include <linux/interrupt.h>
#include <linux/irq_work.h>

#include "emit.h"
#include "flush.h"
#include "session.h"

/* Steps of a flush in a softirq, which take some milliseconds. */
enum { EXIT_STEPS = 64 };

/*
 * Flush between perf's stopping of an exiting task's events and its report of
 * the exit; lane_stop() asks for it. The profile is locked for EXIT_STEPS steps
 * at most. Rings of other CPUs, full rings, and anything that takes longer are
 * left to the flush of the task's own work.
 */
static void flush_at_exit(struct lane *lane)
{
	struct session *session = lane->session;
	struct emit emit = { .session = session };
	unsigned int table, steps = EXIT_STEPS;

	spin_lock(&session->profile_lock);
	session->profile_version++;
	if (!session->engine->immediate)
		for (table = 0; table < session->table_count; table++)
			while (steps && table_merge_step(session, table,
							  (struct ended) {}))
				steps--;
	emit.version = session->profile_version;
	emit_all_here(&emit, steps);
	session->profile_version++;	/* others settle anew */
	spin_unlock(&session->profile_lock);
}

static void flush_exit_tasklet(struct tasklet_struct *tasklet)
{
	struct lane *lane = from_tasklet(lane, tasklet, exit_flush);

	flush_at_exit(lane);
}

/*
 * A softirq runs when the interrupt ends. On PREEMPT_RT, softirqs are left to a
 * thread that runs after the task. But this is a thread there already:
 * irq_work/N, which goes before all tasks without a real-time priority. If it
 * has to wait for the profile, its owner is given that priority, too.
 */
static void flush_exit_kick(struct irq_work *work)
{
	struct lane *lane = container_of(work, struct lane, exit_kick);

	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		flush_at_exit(lane);
	else
		tasklet_hi_schedule(&lane->exit_flush);
}

void lane_flush_init(struct lane *lane)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		lane->exit_kick = IRQ_WORK_INIT(flush_exit_kick);
	else
		lane->exit_kick = IRQ_WORK_INIT_HARD(flush_exit_kick);
	tasklet_setup(&lane->exit_flush, flush_exit_tasklet);
}

void lane_flush_end(struct lane *lane)
{
	irq_work_sync(&lane->exit_kick);
	tasklet_kill(&lane->exit_flush);
}
