// SPDX-License-Identifier: GPL-2.0-only
/*
 * The step source sees every branch of a task, by means of the CPU's trap flag
 * (TF).
 *
 * TF is set in the task's saved user flags. Each instruction then ends in #DB,
 * where the instruction that ran is decoded. The kernel's own stepping
 * (TIF_SINGLESTEP) is left alone, so that debuggers and signals are not
 * disturbed. What a program could notice of TF is hidden:
 *
 *	pushf		the bit is cleared on the stack at the next #DB
 *	popf, iret	may set the program's own TF, which then gets SIGTRAPs
 *	syscall		r11 is cleaned
 *	signal frames	TF is clear while they are written, and set again after
 *	sigreturn	brings back the program's own TF, or none
 *	fork		the kernel gives a child no TF but its parent's own
 *	ptrace, core dumps	TIF_FORCED_TF makes the kernel hide it
 *	uprobes		TF is off while they step
 *
 * One thing is visible: a debugger that stops the program at the entry of a
 * system call finds the bit in r11. The program itself never does.
 */
#include <linux/module.h>
#include <linux/string.h>

#include "source.h"
#include "step.h"
#include "x86/trap_flag.h"

static char *allow_untested = "";
module_param(allow_untested, charp, 0444);
MODULE_PARM_DESC(allow_untested,
		 "what no test has run: \"fred\", stepping on CPUs with FRED");

static bool step_is_allowed(const char *name)
{
	return allow_untested && !strcmp(allow_untested, name);
}

static const char *why_not;

static int step_on(void)
{
	int err = step_tasks_init();

	if (err)
		return err;
	step_undrain();
	err = step_traps_register();
	if (err)
		return err;
	err = step_probes_register();
	if (err)
		step_traps_unregister();
	return err;
}

static void step_off(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		irq_work_sync(&per_cpu(step_cpu, cpu).kick);
	step_drain_begin();
	step_probes_unregister();
	step_traps_unregister();
	step_drain_end();
}

/*
 * Bursts do without probes of system calls, because all programs of the machine
 * pay for those.
 */
static int step_join(const struct session *session)
{
	return session->config.burst ? 0 : step_calls_get();
}

static void step_leave(const struct session *session)
{
	if (!session->config.burst)
		step_calls_put();
}

static void step_start(struct lane *lane)
{
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);

	if (lane->session->config.burst) {
		burst_await(cpu, lane);
		return;
	}
	if (!step_has_room(cpu)) {
		step_leave_out(cpu, lane);
		return;
	}
	step_add_lane(cpu, lane);
	/*
	 * Events of cgroups are scheduled in before the switch, others after
	 * it.
	 */
	step_arm(cpu, cpu->next ?: current);
}

static void step_stop(struct lane *lane)
{
	struct step_cpu *cpu = this_cpu_ptr(&step_cpu);
	struct step_task *record = step_current(cpu);

	if (lane->session->config.burst) {
		burst_forgo(cpu, lane);
		return;
	}
	if (lane->left_out) {
		step_end_left_out(cpu, lane);
		return;
	}
	if (current->flags & PF_EXITING && record && record->armed &&
	    step_may_see(lane, record)) {
		lane_bind(lane, record->steps, record->ip);
		lane_gap(lane, 0);	/* nothing comes after it */
	}
	lane_unbind(lane, record ? record->steps : ~0ULL);
	step_del_lane(cpu, lane);
}

void step_init(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		INIT_LIST_HEAD(&per_cpu(step_cpu, cpu).lanes);
		INIT_LIST_HEAD(&per_cpu(step_cpu, cpu).left_out);
		bursts_init(per_cpu_ptr(&step_cpu, cpu));
	}
	why_not = fred_refusal(tf_has_fred(), step_is_allowed("fred")) ?:
		  step_probes_find() ?: step_trial();
}

static int step_open(struct root *root)
{
	int err = 0;

	if (root->session->config.accesses)
		err = step_accesses_init();
	if (!err && root->session->config.burst)
		err = burst_open(root);
	return err;
}

/* Neither a session nor the work of a task is left: those hold the module. */
void step_exit(void)
{
	step_tasks_exit();
	step_accesses_exit();
}

static unsigned int users;

const struct source_ops step_source = {
	.why_not	= &why_not,
	.users		= &users,
	.on		= step_on,
	.off		= step_off,
	.join		= step_join,
	.leave		= step_leave,
	.start		= step_start,
	.stop		= step_stop,
	.see_accesses	= step_accesses_init,
	.open		= step_open,
};
