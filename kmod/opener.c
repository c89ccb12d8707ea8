// SPDX-License-Identifier: GPL-2.0-only
/* Openers: see opener.h. */
#include <asm/syscall.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/perf_event.h>
#include <linux/sched/signal.h>
#include <linux/sched/task_stack.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>

#include "opener.h"

struct opener opener_of_current(void)
{
	return (struct opener) {
		.tgid = task_tgid_nr(current),
		.born = current->group_leader->start_time,
		.exec = current->self_exec_id,
		.cred = current_cred(),
	};
}

static bool opener_is_same_process(const struct opener *a,
				   const struct opener *b)
{
	return a->tgid == b->tgid && a->born == b->born && a->exec == b->exec;
}

bool opener_equal(const struct opener *a, const struct opener *b)
{
	return opener_is_same_process(a, b) && a->cred == b->cred;
}

int opener_check(const struct opener *opener)
{
	const struct opener now = opener_of_current();

	if (!opener_is_same_process(opener, &now))
		return -EPERM;
	return opener->cred == now.cred ? 0 : -EACCES;
}

/* The target's capabilities are in @own's namespace, and @own has them, too. */
static bool opener_has_caps_of(const struct cred *own,
			       const struct cred *target)
{
	return own->user_ns == target->user_ns &&
	       cap_issubset(target->cap_permitted, own->cap_permitted);
}

static bool opener_has_ids_of(const struct cred *own, const struct cred *target)
{
	return uid_eq(own->uid, target->uid) &&
	       uid_eq(own->uid, target->euid) &&
	       uid_eq(own->uid, target->suid) &&
	       gid_eq(own->gid, target->gid) &&
	       gid_eq(own->gid, target->egid) &&
	       gid_eq(own->gid, target->sgid);
}

/* As cap_capable(), which is not exported. Namespaces are nested 32 deep. */
static bool opener_may_ptrace_in(const struct cred *own,
				 const struct user_namespace *ns)
{
	for (; ns->level > own->user_ns->level; ns = ns->parent)
		if (ns->parent == own->user_ns && uid_eq(ns->owner, own->euid))
			return true;
	return ns == own->user_ns &&
	       cap_raised(own->cap_effective, CAP_SYS_PTRACE);
}

bool opener_reaches(const struct opener *opener, const struct cred *target)
{
	const struct cred *own = opener->cred;

	return (opener_has_ids_of(own, target) &&
		opener_has_caps_of(own, target)) ||
	       opener_may_ptrace_in(own, target->user_ns);
}

/*
 * perf_event_open(attr, pid, cpu, group, flags): with the flag, pid is a file
 * descriptor of the cgroup's folder, whose inode has the cgroup's number.
 */
u64 opener_cgroup(void)
{
	unsigned long arguments[6];
	struct file *folder;
	u64 number;

	if (current->flags & PF_KTHREAD)
		return 0;
	syscall_get_arguments(current, task_pt_regs(current), arguments);
	if (!(arguments[4] & PERF_FLAG_PID_CGROUP))
		return 0;
	folder = fget((int)arguments[1]);
	if (!folder)
		return 0;
	number = file_inode(folder)->i_ino;
	fput(folder);
	return number;
}
