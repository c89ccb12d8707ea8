// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sample source: where the program or the kernel is, and by which calls it
 * came there, whenever a trigger fires. The trigger is the counter that the
 * event names or, if it names none, a clock of CPU time. A sample stands for
 * all events that the trigger counted since the sample before.
 */
#include <linux/sched/task_stack.h>

#include "../compat.h"
#include "../session.h"
#include "budget.h"
#include "call_stack.h"
#include "probe.h"
#include "source.h"
#include "trigger.h"

/*
 * Feed a sample of the program. If the overflow came late, the sample is where
 * the program was left.
 */
static void sample_feed_user(struct lane *lane, struct stream_event *sample,
			     struct pt_regs *regs)
{
	struct session *session = lane->session;

	if (!session_sees_program(session))
		return;
	if (!user_mode(regs))
		regs = task_pt_regs(current);
	sample->from = instruction_pointer(regs);
	sample->space = space_sampled(session);
	lane_feed_sample(lane, sample);
}

static void sample_on_overflow(struct perf_event *event,
			       struct perf_sample_data *data,
			       struct pt_regs *regs)
{
	struct session *session = event->overflow_handler_context;
	struct lane *lane = this_cpu_ptr(session->lanes);
	struct stream_event sample = {
		.kind = STREAM_SAMPLE,
		.value = trigger_period(session, event, data),
	};

	if (!READ_ONCE(lane->open) || !budget_tick(lane, event, regs))
		return;
	local64_add(trigger_is_throttled(event), &lane->throttled);
	lane->program.quiet = !user_mode(regs);
	if (session->engine->feed_stack) {
		if (session->config.kernel || user_mode(regs) ||
		    !session->config.clocked)
			call_stack_feed(lane, event, sample.value, NULL, regs);
	} else if (session->config.kernel && !user_mode(regs)) {
		sample.from = instruction_pointer(regs);
		lane_feed_sample(lane, &sample);
	} else if (user_mode(regs) || !session->config.clocked) {
		sample_feed_user(lane, &sample, regs);
	}
	lane_pace(lane, event);
	budget_done(lane, regs);
}

static void sample_on_prepare_exec(void *unused, struct task_struct *task,
				   compat_prepare_argument)
{
	if (compat_execs(task))
		spaces_prepare_exec(SOURCE_sample);
}

static void sample_on_exec(void *unused, struct task_struct *task,
			   pid_t old_pid, struct linux_binprm *binprm)
{
	spaces_exec(SOURCE_sample);
}

static void sample_on_exit(void *unused,
			   struct task_struct *task compat_exit_arguments)
{
	spaces_exit(SOURCE_sample);
}

static struct probe probes[] = {
	COMPAT_PREPARE_EXEC(sample_on_prepare_exec),
	PROBE(sched_process_exec, sample_on_exec),
	PROBE(sched_process_exit, sample_on_exit),
	{ }
};

static const char *why_not;

static int sample_on(void)
{
	return probes_register(probes);
}

static void sample_off(void)
{
	probes_unregister(probes);
}

static int sample_open(struct root *root)
{
	return trigger_open(root, sample_on_overflow, 0);
}

void sample_init(void)
{
	why_not = probes_find(probes);	/* there is always a clock */
}

static unsigned int users;

const struct source_ops sample_source = {
	.why_not	= &why_not,
	.users		= &users,
	.on		= sample_on,
	.off		= sample_off,
	.start		= budget_start,
	.stop		= budget_stop,
	.open		= sample_open,
};
