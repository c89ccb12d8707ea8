// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that does on request what the rig must notice.  The test writes
 * the name of a sin to /sys/module/badmod/parameters/sin.
 */
#include <linux/kdebug.h>
#include <linux/module.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#ifdef CONFIG_X86
#include <asm/processor-flags.h>
#endif

static DEFINE_SPINLOCK(lock_a);
static DEFINE_SPINLOCK(lock_b);
static void *kept;
static void __rcu *shared;

static void warn(void)
{
	WARN_ON(1);
}

static void use_after_free(void)
{
	volatile char *memory = kmalloc(64, GFP_KERNEL);

	kfree((void *)memory);
	memory[8] = 1;
}

static void invert_locks(void)
{
	spin_lock(&lock_a);
	spin_lock(&lock_b);
	spin_unlock(&lock_b);
	spin_unlock(&lock_a);

	spin_lock(&lock_b);
	spin_lock(&lock_a);
	spin_unlock(&lock_a);
	spin_unlock(&lock_b);
}

static void sleep_atomic(void)
{
	spin_lock(&lock_a);
	kfree(kmalloc(64, GFP_KERNEL));
	spin_unlock(&lock_a);
}

static void read_unlocked(void)
{
	kept = rcu_dereference(shared);
}

static void shift(void)
{
	static volatile int by = 40;

	pr_info("badmod: %d\n", 1 << by);
}

static void null_pointer(void)
{
	static int *volatile nowhere;

	*nowhere = 1;
}

static void leak(void)
{
	kept = kmalloc(96, GFP_KERNEL);
	kept = NULL;
}

static void keep(void)
{
	kept = kmalloc(96, GFP_KERNEL);	/* unreachable once we are unloaded */
}

static void stay(void)
{
	__module_get(THIS_MODULE);
}

#ifdef CONFIG_X86
/* Keep the kernel's own steps from the notifiers that come later. */
static int take_step(struct notifier_block *block, unsigned long why,
		     void *data)
{
	struct die_args *args = data;

	if (why != DIE_DEBUG || user_mode(args->regs))
		return NOTIFY_DONE;
	args->regs->flags &= ~X86_EFLAGS_TF;
	return NOTIFY_STOP;
}

static struct notifier_block step_taker = {
	.notifier_call	= take_step,
	.priority	= INT_MAX,
};

static void take_steps(void)
{
	register_die_notifier(&step_taker);
}

static void leave_steps(void)
{
	unregister_die_notifier(&step_taker);
}
#endif

static const struct {
	const char *name;
	void (*commit)(void);
} sins[] = {
	{ "warn", warn },
	{ "use-after-free", use_after_free },
	{ "invert-locks", invert_locks },
	{ "sleep-atomic", sleep_atomic },
	{ "read-unlocked", read_unlocked },
	{ "shift", shift },
	{ "null-pointer", null_pointer },
	{ "leak", leak },
	{ "keep", keep },
	{ "stay", stay },
#ifdef CONFIG_X86
	{ "take-steps", take_steps },
	{ "leave-steps", leave_steps },
#endif
};

static int sin_set(const char *value, const struct kernel_param *param)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(sins); i++) {
		if (sysfs_streq(value, sins[i].name)) {
			sins[i].commit();
			return 0;
		}
	}
	return -EINVAL;
}

static const struct kernel_param_ops sin_ops = { .set = sin_set };
module_param_cb(sin, &sin_ops, NULL, 0200);

static int __init badmod_init(void)
{
	return 0;
}
module_init(badmod_init);

static void __exit badmod_exit(void)
{
}
module_exit(badmod_exit);

MODULE_DESCRIPTION("Does what the VM runner must notice");
MODULE_LICENSE("GPL");
