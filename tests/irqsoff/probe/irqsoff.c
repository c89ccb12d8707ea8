// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures how long interrupts are off where functions of the module hwprof
 * run. Loaded before that module.
 *
 * On each CPU a timer interrupts every %PERIOD_NS. How late it comes is how
 * long interrupts have been off since it was due; they were off for less than a
 * period more.
 *
 * With functions=1 calls of hwprof's functions are traced, which tells whose
 * parts are, and makes each longer. An interrupt counts then only if one was
 * called since it was due, or if it came within one: a long loop calls nothing.
 *
 * <debugfs>/irqsoff has a line for each function of hwprof that was the last
 * one before an interrupt (0x0 without functions=1), and for each place where a
 * delay of more than %LONG_NS ended. Writing to the file forgets them:
 *
 *	NANOSECONDS TIMES AGO PLACE|FUNCTION|STACK...
 *
 * The longest delay, how many there were, and of the longest: how long before
 * its end the function was called, where the interrupt came, and the stack
 * there.
 */
#include <linux/cpuhotplug.h>
#include <linux/debugfs.h>
#include <linux/ftrace.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/ptrace.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/stacktrace.h>
#include <linux/string.h>
#include <linux/timex.h>
#include <asm/irq_regs.h>

enum {
	PERIOD_NS	= 20000,
	LONG_NS		= 100000,
	PLACES		= 1024,		/* more than it has functions */
	FRAMES		= 24,
};

static bool functions;
module_param(functions, bool, 0400);

static struct module *hwprof;		/* NULL: not loaded */

struct state {
	struct hrtimer timer;
	unsigned long last;		/* function of hwprof called last, */
	cycles_t last_at;		/* and when: a cycle is a ns here */
};

static DEFINE_PER_CPU(struct state, states);

struct place {
	unsigned long last, ip;
	bool is_long;
	u64 late, ago;			/* ns */
	unsigned long times;
	unsigned int depth;
	unsigned long stack[FRAMES];
};

static struct place places[PLACES];
static unsigned int place_count;
static unsigned long dropped;
static DEFINE_RAW_SPINLOCK(places_lock);

/* --- the timers ----------------------------------------------------------- */

/* Long delays that end in different places are told apart. */
static struct place *place_of(unsigned long last, unsigned long ip,
			      bool is_long)
{
	struct place *place;

	for (place = places; place < places + place_count; place++)
		if (place->last == last && place->is_long == is_long &&
		    (!is_long || place->ip == ip))
			return place;
	if (place_count == PLACES)
		return NULL;
	place_count++;
	*place = (struct place) { .last = last, .ip = ip, .is_long = is_long };
	return place;
}

static void keep(const struct state *state, u64 late, u64 ago)
{
	struct pt_regs *regs = get_irq_regs();
	unsigned long ip = user_mode(regs) ? 0 : regs->ip;
	struct place *place;

	raw_spin_lock(&places_lock);
	place = place_of(state->last, ip, late > LONG_NS);
	if (!place) {
		dropped++;
	} else if (place->times++, late > place->late) {
		place->late = late;
		place->ip = ip;
		place->ago = ago;
		place->depth = stack_trace_save(place->stack, FRAMES, 0);
	}
	raw_spin_unlock(&places_lock);
}

static bool is_in_hwprof(unsigned long ip)
{
	const struct module *module = READ_ONCE(hwprof);

	return module && within_module(ip, module);
}

static enum hrtimer_restart fires(struct hrtimer *timer)
{
	struct state *state = container_of(timer, struct state, timer);
	s64 late = ktime_to_ns(ktime_sub(hrtimer_cb_get_time(timer),
					 hrtimer_get_expires(timer)));
	s64 ago = get_cycles() - state->last_at;

	if (!functions || ago <= late || is_in_hwprof(get_irq_regs()->ip))
		keep(state, max_t(s64, late, 0), ago);
	hrtimer_forward_now(timer, ns_to_ktime(PERIOD_NS));
	return HRTIMER_RESTART;
}

/* On that CPU. */
static int cpu_comes(unsigned int cpu)
{
	struct hrtimer *timer = &per_cpu_ptr(&states, cpu)->timer;

	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer->function = fires;
	hrtimer_start(timer, ns_to_ktime(PERIOD_NS),
		      HRTIMER_MODE_REL_PINNED_HARD);
	return 0;
}

static int cpu_goes(unsigned int cpu)
{
	hrtimer_cancel(&per_cpu_ptr(&states, cpu)->timer);
	return 0;
}

/* --- the functions of hwprof ---------------------------------------------- */

static void notrace called(unsigned long ip, unsigned long parent,
			   struct ftrace_ops *ops, struct ftrace_regs *regs)
{
	this_cpu_write(states.last, ip);
	this_cpu_write(states.last_at, get_cycles());
}

static struct ftrace_ops calls = { .func = called };
static bool calls_registered;

static void forget_functions(void)
{
	if (!calls_registered)
		return;
	unregister_ftrace_function(&calls);
	calls_registered = false;
}

/* Before any of them is called. */
static int see_functions(struct module *module)
{
	int err = ftrace_set_filter_ips(&calls, module->ftrace_callsites,
					module->num_ftrace_callsites, 0, 1);

	if (!err)
		err = register_ftrace_function(&calls);
	calls_registered = !err;
	return err;
}

static int module_changes(struct notifier_block *block, unsigned long state,
			  void *data)
{
	struct module *module = data;

	if (!functions || strcmp(module->name, "hwprof"))
		return NOTIFY_OK;
	if (state == MODULE_STATE_COMING) {
		WRITE_ONCE(hwprof, module);
		return notifier_from_errno(see_functions(module));
	}
	if (state == MODULE_STATE_GOING) {
		WRITE_ONCE(hwprof, NULL);
		forget_functions();
	}
	return NOTIFY_OK;
}

static struct notifier_block modules = { .notifier_call = module_changes };

/* --- the file ------------------------------------------------------------- */

static void show_place(struct seq_file *file, const struct place *place)
{
	unsigned int i;

	seq_printf(file, "%llu %lu %llu ", place->late, place->times,
		   place->ago);
	if (place->ip)
		seq_printf(file, "%pS", (void *)place->ip);
	else
		seq_puts(file, "user code");
	seq_printf(file, "|%ps|", (void *)place->last);
	for (i = 0; i < place->depth; i++)
		seq_printf(file, " %ps", (void *)place->stack[i]);
	seq_putc(file, '\n');
}

static int show(struct seq_file *file, void *unused)
{
	unsigned int i;

	for (i = 0; i < READ_ONCE(place_count); i++)
		show_place(file, &places[i]);
	return dropped ? -ENOBUFS : 0;
}

static int opened(struct inode *inode, struct file *file)
{
	return single_open_size(file, show, NULL, 1 << 18);
}

static ssize_t forget(struct file *file, const char __user *text, size_t size,
		      loff_t *at)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&places_lock, flags);
	place_count = 0;
	raw_spin_unlock_irqrestore(&places_lock, flags);
	return size;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = opened,
	.read = seq_read,
	.write = forget,
	.llseek = seq_lseek,
	.release = single_release,
};

static struct dentry *file;
static int cpu_state;

static int __init irqsoff_init(void)
{
	int err = register_module_notifier(&modules);

	if (err)
		return err;
	cpu_state = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "irqsoff:online",
				      cpu_comes, cpu_goes);
	if (cpu_state < 0) {
		unregister_module_notifier(&modules);
		return cpu_state;
	}
	file = debugfs_create_file("irqsoff", 0600, NULL, NULL, &operations);
	return 0;
}
module_init(irqsoff_init);

static void __exit irqsoff_exit(void)
{
	debugfs_remove(file);
	cpuhp_remove_state(cpu_state);
	unregister_module_notifier(&modules);
	forget_functions();
	ftrace_free_filter(&calls);
}
module_exit(irqsoff_exit);

MODULE_DESCRIPTION("Measures how long hwprof keeps interrupts off");
MODULE_LICENSE("GPL");
