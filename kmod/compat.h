/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only place that knows kernel versions: Linux 6.1 to 6.12. Names are the
 * newest kernel's, so that the rest reads as if written for it.
 */
#ifndef HWPROF_COMPAT_H
#define HWPROF_COMPAT_H

#include <linux/mm.h>
#include <linux/perf_event.h>
#include <linux/sched.h>
#include <linux/uprobes.h>
#include <linux/version.h>

/* Of the object that kobj_type.get_ownership() is asked about. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
#define compat_const	const
#else
#define compat_const
#endif

/* Has the task a perf context, so that a context swap may give it events? */
static inline bool compat_task_has_perf(struct task_struct *task)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0)
	return READ_ONCE(task->perf_event_ctxp);
#else
	return READ_ONCE(task->perf_event_ctxp[perf_sw_context]);
#endif
}

/* Parameters beyond those that every kernel has; none are ours. */
static inline u64 compat_more_config(const struct perf_event_attr *attr)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
	return attr->config3;
#else
	return 0;
#endif
}

static inline bool compat_is_cgroup_event(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	return event->cgrp;
#else
	return false;
#endif
}

/* Does a uprobe's copy of an instruction run, stepped by the kernel? */
static inline bool compat_in_uprobe(const struct task_struct *task)
{
#ifdef CONFIG_UPROBES
	return task->utask && task->utask->active_uprobe;
#else
	return false;
#endif
}

/*
 * For task_work_add() under locks of the scheduler: no debugging aid of the
 * kernel's may allocate there.
 */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
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

/* The payload of PERF_SAMPLE_RAW; @raw must live until the sample is out. */
static inline void compat_save_raw(struct perf_sample_data *data,
				   struct perf_event *event,
				   struct perf_raw_record *raw)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 0)
	perf_sample_save_raw_data(data, event, raw);
#else
	if (!(event->attr.sample_type & PERF_SAMPLE_RAW))
		return;
	data->raw = raw;
	data->sample_flags |= PERF_SAMPLE_RAW;
#endif
}

/* Preset the sample's call chain, so that perf does not walk the current stack. */
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

/*
 * Is current the event's task, in the middle of perf_event_exit_task()? Then it
 * holds the mutex of the event's context, so that nobody changes the event's group.
 * Perf marks the context as dead (TASK_TOMBSTONE) when it has stopped the events,
 * and the event as exited before the mutex is released.
 */
static inline bool compat_is_exiting(const struct perf_event *event)
{
	const struct perf_event_context *ctx = READ_ONCE(event->ctx);

	return event->hw.target == current && ctx &&
	       READ_ONCE(ctx->task) == (void *)-1L &&
	       READ_ONCE(event->state) > PERF_EVENT_STATE_EXIT;
}

#endif /* HWPROF_COMPAT_H */
