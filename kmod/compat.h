/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only place that knows kernel versions: Linux 6.1 to 7.3. Names are those
 * of the newest kernel, and the rest of the module reads as if written for it.
 *
 * Tests run on 6.1, 6.12 and 7.3. In between, a difference below begins at the
 * version that brought it. docs/kernels.md says how a wrong guess would show;
 * most do not compile:
 *
 *	6.2	one perf context per task; get_ownership() of a const object
 *	6.3	attr.config3; raw data is counted in data->dyn_size
 *	6.7	the path of a stacked file's map has an accessor
 *	6.10	no overflow_handler runs a BPF program; sched_prepare_exec
 *	6.12	perf_sample_save_raw_data() has the event; TWAF_NO_ALLOC;
 *		bpf_prog.sleepable, at the latest
 *	6.13	an inherited event may have PERF_SAMPLE_READ; compat_unswapped;
 *		attr.aux_action
 *	6.14	TWAF_NO_ALLOC is gone: adding task work never allocates
 *	6.16	sched_process_exit has a second argument, and comes before the
 *		memory goes; rdmsrl() is rdmsrq();
 *		branch stacks are cut to attr.sample_max_stack, which is why
 *		trigger_counter_attr() sets it: older kernels ignore it there
 *	6.19	attr.config4; only KVM gets what perf knows of counters
 *	7.0	bpf_prog.active is of bytes, one for each kind of context
 *	7.x	kernel threads have an empty root of their own, and init_task
 *		with them; found by scoped_with_init_fs() in the header
 *
 * When the module is built, probes are checked against the prototypes of
 * tracepoints (probe.h), so that another argument fails there.
 */
#ifndef HWPROF_COMPAT_H
#define HWPROF_COMPAT_H

#include <linux/bpf.h>
#include <linux/dcache.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/fs_struct.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/sched/task.h>
#include <linux/uprobes.h>
#include <linux/version.h>

#ifndef CONFIG_TRACEPOINTS
#error "hwprof needs CONFIG_TRACEPOINTS: it learns of forks and switches there"
#endif

#ifdef CONFIG_X86
#include <asm/cpufeature.h>
/* Up to 6.15, <asm/processor.h> has it. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <asm/cpuid/api.h>
#else
#include <asm/processor.h>
#endif
#include <asm/msr.h>
#include <asm/perf_event.h>
#endif

/* Qualifies the object that kobj_type.get_ownership() gets. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define compat_const	const
#else
#define compat_const
#endif

/* Return where the init process looks paths up. */
static inline struct fs_struct *compat_init_fs(void)
{
#ifdef scoped_with_init_fs
	return userspace_init_fs;
#else
	return init_task.fs;
#endif
}

/*
 * Return the inode of the file that a program has opened. That of a map is
 * another one on a stacked file system.
 */
static inline const struct inode *compat_user_inode(struct file *file)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 7, 0)
	return d_inode(file_user_path(file)->dentry);
#else
	return d_inode(file->f_path.dentry);
#endif
}

/* Return the nth of a task's perf contexts; NULL: it is not in use. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
enum { COMPAT_PERF_CONTEXTS = 1 };
#else
enum { COMPAT_PERF_CONTEXTS = perf_nr_task_contexts };
#endif

static inline struct perf_event_context *
compat_perf_context(struct task_struct *task, int nth)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return READ_ONCE(task->perf_event_ctxp);
#else
	return READ_ONCE(task->perf_event_ctxp[nth]);
#endif
}

/*
 * Return true if the task has a perf context, so that a context swap may give
 * it events. Before 6.2, a group that a hardware event leads is in another
 * context than one of hwprof's events alone.
 */
static inline bool compat_task_has_perf(struct task_struct *task)
{
	int nth;

	for (nth = 0; nth < COMPAT_PERF_CONTEXTS; nth++)
		if (compat_perf_context(task, nth))
			return true;
	return false;
}

/*
 * Return what writes the event's samples. Before 6.10, the handler of an event
 * with a BPF program runs the program, and then calls this.
 */
static inline perf_overflow_handler_t
compat_output_handler(const struct perf_event *event)
{
	perf_overflow_handler_t handler = NULL;

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 10, 0) && defined(CONFIG_BPF_SYSCALL)
	if (READ_ONCE(event->prog))
		handler = READ_ONCE(event->orig_overflow_handler);
#endif
	return handler ?: READ_ONCE(event->overflow_handler);
}

/*
 * Return parameters beyond those that every kernel has. hwprof uses none of
 * them.
 */
static inline u64 compat_more_config(const struct perf_event_attr *attr)
{
	u64 more = 0;

#ifdef PERF_ATTR_SIZE_VER8
	more |= attr->config3;		/* 6.3 */
#endif
#ifdef PERF_ATTR_SIZE_VER9
	more |= attr->config4;		/* 6.19 */
#endif
	return more;
}

/* Return what a sample of the event does to an AUX event: bits. */
static inline u32 compat_aux_action(const struct perf_event_attr *attr)
{
#ifdef PERF_PMU_CAP_AUX_PAUSE
	return attr->aux_action;	/* 6.13, and Debian's 6.12 */
#else
	return 0;			/* perf refuses all bits */
#endif
}

/*
 * Return true if a uprobe's copy of an instruction runs, stepped by the kernel.
 */
static inline bool compat_in_uprobe(const struct task_struct *task)
{
#ifdef CONFIG_UPROBES
	return task->utask && task->utask->active_uprobe;
#else
	return false;
#endif
}

/* Return true if the task goes back to a program some time. */
static inline bool compat_has_program(const struct task_struct *task)
{
#ifdef PF_USER_WORKER
	return !(task->flags & (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER));
#else
	return !(task->flags & (PF_KTHREAD | PF_IO_WORKER));
#endif
}

/*
 * Return true if the task runs its task works before long: on the way back to
 * its program or, in a worker of io_uring, before the next request. From 6.1 to
 * 7.3, io_uring calls io_run_task_work() there, because the last reference to a
 * file goes in a task work, too. Other workers for a program, such as those of
 * vhost, run task works only for a signal, or when they exit.
 */
static inline bool compat_runs_task_works(const struct task_struct *task)
{
	return compat_has_program(task) || task->flags & PF_IO_WORKER;
}

/*
 * How to call task_work_add() under locks of the scheduler, where no debugging
 * aid of the kernel may allocate.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0) && \
    LINUX_VERSION_CODE < KERNEL_VERSION(6, 14, 0)
#define compat_resume	(TWA_RESUME | TWAF_NO_ALLOC)
#else
#define compat_resume	TWA_RESUME
#endif

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 3, 0)
static inline void vm_flags_set(struct vm_area_struct *vma, vm_flags_t flags)
{
	vma->vm_flags |= flags;
}
#endif

/*
 * Set the payload of PERF_SAMPLE_RAW. @raw must live until the sample is
 * written.
 */
static inline void compat_save_raw(struct perf_sample_data *data,
				   struct perf_event *event,
				   struct perf_raw_record *raw)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	perf_sample_save_raw_data(data, event, raw);
#else
	if (!(event->attr.sample_type & PERF_SAMPLE_RAW))
		return;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	perf_sample_save_raw_data(data, raw);
#else
	data->raw = raw;
	data->sample_flags |= PERF_SAMPLE_RAW;
#endif
#endif
}

/*
 * Arguments of a probe of sched_process_exit behind the task. None is used.
 * Since 6.16 the probe comes before perf reports the exit and before the task's
 * memory goes. Before, it comes after both; 6.1 and others had perf report it
 * last, until a fix that stable kernels got, too.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#define compat_exit_arguments	, bool group_dead
#define COMPAT_EXIT_HAS_MM	true
#else
#define compat_exit_arguments
#define COMPAT_EXIT_HAS_MM	false
#endif

/*
 * The probe that comes before perf reports an exec, its argument behind the
 * task, and whether it is an exec. Since 6.10 there is a tracepoint for it.
 * Before, it is that of a new name, which a program can give itself, too, and
 * each of its threads another one, which may execute a program just now.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 10, 0)
#define COMPAT_PREPARE_EXEC(handler)	PROBE(sched_prepare_exec, handler)
#define compat_prepare_argument		struct linux_binprm *binprm
#define compat_execs(task)		true
#else
#define COMPAT_PREPARE_EXEC(handler)	PROBE(task_rename, handler)
#define compat_prepare_argument		const char *name
#define compat_execs(task)						\
	((task) == current && (task)->in_execve)
#endif

/*
 * An inherited event with this sample_type keeps perf from swapping the
 * contexts of a task and its child instead of switching them. LBR call stacks
 * need it. Since 6.15 (and 6.14.2) perf keeps the records with the task, but
 * notes who wants them at the task that the event was made for. After a swap
 * that is another task, and perf clears the records of both at each switch.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
#define compat_unswapped	(PERF_SAMPLE_READ | PERF_SAMPLE_TID)
#else
#define compat_unswapped	0
#endif

#ifdef CONFIG_X86
#ifndef rdmsrq
#define rdmsrq(msr, value)	rdmsrl(msr, value)
#endif

/*
 * Counters of the CPU: how many take any event, and the architecture's version.
 */
struct compat_counters {
	unsigned int version;
	unsigned int general;
};

#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 13, 0)
static inline struct compat_counters compat_amd_counters(void)
{
	struct compat_counters counters = { };

	if (boot_cpu_has(X86_FEATURE_PERFMON_V2)) {
		counters.version = 2;
		counters.general = cpuid_ebx(0x80000022) & 0xf;
	} else {
		counters.general =
			boot_cpu_has(X86_FEATURE_PERFCTR_CORE) ? 6 : 4;
	}
	return counters;
}

/*
 * Ask the CPU as perf does. Perf tells every module before 6.19, so the version
 * from which the CPU is asked need not be exact. It is 6.13.
 */
static inline struct compat_counters compat_counters(void)
{
	union cpuid10_eax eax;

	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return compat_amd_counters();
	if (boot_cpu_data.cpuid_level < 10)
		return (struct compat_counters){ };
	eax.full = cpuid_eax(10);
	return (struct compat_counters){
		.version	= eax.split.version_id,
		.general	= eax.split.num_counters,
	};
}
#else
static inline struct compat_counters compat_counters(void)
{
	struct x86_pmu_capability all = { };

	perf_get_x86_pmu_capability(&all);
	return (struct compat_counters){
		.version	= all.version,
		.general	= all.num_counters_gp,
	};
}
#endif
#endif /* CONFIG_X86 */

/*
 * Preset the sample's call chain, so that perf does not walk the current stack.
 */
static inline void compat_save_callchain(struct perf_sample_data *data,
					 struct perf_event *event,
					 struct perf_callchain_entry *chain)
{
	if (!(event->attr.sample_type & PERF_SAMPLE_CALLCHAIN))
		return;
	data->callchain = chain;
	data->sample_flags |= PERF_SAMPLE_CALLCHAIN;
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	data->dyn_size += (1 + chain->nr) * sizeof(u64);
#endif
}

#ifdef CONFIG_BPF_SYSCALL
/*
 * Note that a BPF program begins to run on this CPU. Return false if it runs
 * already. Either way, compat_program_leave() must follow.
 */
static inline bool compat_program_enter(struct bpf_prog *program)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	return bpf_prog_get_recursion_context(program);
#else
	return this_cpu_inc_return(*program->active) == 1;
#endif
}

static inline void compat_program_leave(struct bpf_prog *program)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(7, 0, 0)
	bpf_prog_put_recursion_context(program);
#else
	this_cpu_dec(*program->active);
#endif
}

/*
 * Return true if a raw tracepoint program may sleep. Kernels up to 7.0 at the
 * earliest load none that may: their verifier refuses the type. 6.12 has the
 * field that 7.3 has.
 */
static inline bool compat_program_sleeps(const struct bpf_prog *program)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	return program->sleepable;
#else
	return false;
#endif
}
#endif /* CONFIG_BPF_SYSCALL */

#endif /* HWPROF_COMPAT_H */
