// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sample source: where the program or the kernel is, and by which calls, each
 * time a counter overflows or, where none is named, a clock of CPU time. Each
 * sample stands for as many events as there were since the last one.
 */
#include <linux/sched/clock.h>
#include <linux/sched/task_stack.h>

#include "../session.h"
#include "budget.h"
#include "callers.h"
#include "metrics.h"
#include "probe.h"
#include "source.h"
#include "trigger.h"

/* The kernel's code is one procedure: contexts tell who entered it. */
#define KERNEL_PROCEDURE	(1ULL << 63)

/* The number of the program that runs; 0: there was no room for its record. */
static u32 program(struct session *session)
{
	u32 space;

	if (!session->rows)
		return 1;
	space = space_of_current(session);
	if (space)
		space_seen(session, space, local_clock());
	return space;
}

static bool has_program(const struct session *session)
{
	return session->user_side && current->mm &&
	       !(current->flags & PF_KTHREAD);
}

/* Of the program's side; where an overflow came late, of where it left it. */
static void feed_user(struct slot *slot, struct stream_event *sample,
		      struct pt_regs *regs)
{
	struct session *session = slot->session;

	if (!has_program(session))
		return;
	if (!user_mode(regs))
		regs = task_pt_regs(current);
	sample->from = instruction_pointer(regs);
	sample->space = program(session);
	slot_feed_sample(slot, sample);
}

/* Who called what the program runs, as tables tell it, where it has them. */
static u32 callers(struct slot *slot, u64 *sites, struct pt_regs *regs)
{
	const struct session *session = slot->session;
	const struct unwind *unwind = smp_load_acquire(&session->unwind);
	u32 unwound = 0, count;

	/* What a table says is on a stack is given away. */
	if (READ_ONCE(session->foreign))
		unwind = NULL;
	count = callers_of_user(sites, regs, unwind, &unwound);
	slot->callers += count;
	slot->unwound += unwound;
	return count;
}

/*
 * Of either side, with the calls of the program's. What made a call, or was
 * interrupted, names its procedure: an address in it.
 */
static void feed_stack(struct slot *slot, const struct perf_event *trigger,
		       u64 weight, struct pt_regs *regs)
{
	struct session *session = slot->session;
	u64 metrics[HWPROF_METRICS_MAX];
	bool in_kernel = session->kernel_side && !user_mode(regs);
	bool in_program = has_program(session);
	u64 sites[1 + CALLERS_MAX];
	struct stream_stack stack = {
		.weight = weight, .procedure = KERNEL_PROCEDURE,
		.sites = sites + !in_kernel, .procedures = sites + !in_kernel,
	};

	if (!in_kernel && !in_program)
		return;
	if (in_program) {
		if (!user_mode(regs))
			regs = task_pt_regs(current);
		sites[0] = instruction_pointer(regs);
		stack.depth = callers(slot, sites + 1, regs) + in_kernel;
		stack.space = program(session);
	}
	stack.used = stack.depth;
	/* A program without a number is none of the kernel's. */
	if (!in_kernel || (in_program && !stack.space))
		stack.procedure = sites[0];
	if (session->params.metrics && metrics_read(slot, trigger, metrics))
		stack.metrics = metrics;
	slot_feed_stack(slot, &stack);
}

/* Where a budget chooses a clock's period, perf does not tell what it was. */
static u64 weight(const struct session *session, const struct perf_event *event,
		  const struct perf_sample_data *data)
{
	return session->budget_permille && session->clocked ?
	       event->hw.sample_period : data->period;
}

static void on_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	struct session *session = event->overflow_handler_context;
	struct slot *slot = this_cpu_ptr(session->slots);
	struct stream_event sample = {
		.kind = STREAM_SAMPLE, .value = weight(session, event, data),
	};

	if (!READ_ONCE(slot->open) || !budget_tick(slot, event))
		return;
	slot->throttled += trigger_is_throttled(event);
	if (session->engine->feed_stack) {
		if (session->kernel_side || user_mode(regs) ||
		    !session->clocked)
			feed_stack(slot, event, sample.value, regs);
	} else if (session->kernel_side && !user_mode(regs)) {
		sample.from = instruction_pointer(regs);
		slot_feed_sample(slot, &sample);
	} else if (user_mode(regs) || !session->clocked) {
		feed_user(slot, &sample, regs);
	}
	budget_done(slot);
}

static void on_exec(void *unused, struct task_struct *task, pid_t old_pid,
		    struct linux_binprm *binprm)
{
	spaces_exec(&sample_source, 0);
}

static void on_exit(void *unused, struct task_struct *task)
{
	spaces_exit(&sample_source);
}

static struct probe probes[] = {
	{ "sched_process_exec",		on_exec },
	{ "sched_process_exit",		on_exit },
	{ }
};

/* There is always the clock. */
static const char *sample_missing(void)
{
	return NULL;
}

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
	return trigger_open(root, on_overflow, 0);
}

void sample_init(void)
{
	probes_find(probes);
}

static unsigned int users;

const struct source_ops sample_source = {
	.name		= "sample",
	.number		= HWPROF_SOURCE_SAMPLE,
	.missing	= sample_missing,
	.users		= &users,
	.on		= sample_on,
	.off		= sample_off,
	.start		= slot_open,
	.stop		= slot_close,
	.open		= sample_open,
};
