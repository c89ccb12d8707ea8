// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel does not export its checks for PTRACE_MODE_ATTACH, and a copy of
 * them would miss what security modules decide. So the kernel is made to check:
 * it does so when /proc/PID/mem is opened. The file is looked up from the root
 * of the init process, by the number in the first pid namespace, so that no
 * namespace of the opener's can put another file there.
 */
#include <linux/auxvec.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/dcache.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/fs_struct.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/mm_types.h>
#include <linux/path.h>
#include <linux/pid.h>
#include <linux/pid_namespace.h>
#include <linux/printk.h>
#include <linux/proc_fs.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/string.h>
#include <linux/uidgid.h>

#include "arch.h"
#include "compat.h"
#include "right.h"
#include "config/config_rules.h"

/* --- what the kernel says ------------------------------------------------- */

#define RIGHT_PROC "/proc"

/*
 * Return true if the file is the one at @path of a procfs of the first pid
 * namespace. Another file may be mounted there.
 */
static bool right_is_proc(const struct file *file, const char *path)
{
	struct super_block *sb = file_inode(file)->i_sb;
	char text[32];
	const char *is;

	if (sb->s_magic != PROC_SUPER_MAGIC)
		return false;
	is = dentry_path_raw(file->f_path.dentry, text, sizeof(text));
	return proc_pid_ns(sb) == &init_pid_ns &&
	       !IS_ERR(is) && !strcmp(is, path);
}

/* Open a file as the init process's root has it. @path begins with /proc. */
static struct file *right_open_proc(const char *path)
{
	struct file *file;
	struct path root;

	task_lock(&init_task);
	get_fs_root(compat_init_fs(), &root);
	task_unlock(&init_task);
	file = file_open_root(&root, path, O_RDONLY, 0);
	path_put(&root);
	if (IS_ERR(file) || right_is_proc(file, path + strlen(RIGHT_PROC)))
		return file;
	fput(file);
	return ERR_PTR(-EACCES);
}

/*
 * Return what perf_event_open() should return: @err if the check could not be
 * made, and -EACCES if it said no. To perf, ENOENT would mean that another PMU
 * has the event.
 */
static int right_refusal(const struct task_struct *task, int err)
{
	switch (err) {
	case -EINTR:
	case -ENOMEM:
	case -ENFILE:
		return err;
	case -ENOENT:
	case -ESRCH:
		return pid_alive(task) ? -EACCES : -ESRCH;
	}
	return -EACCES;
}

static int right_open_memory(struct task_struct *task)
{
	pid_t pid = task_pid_nr(task);
	struct file *file;
	char path[32];

	snprintf(path, sizeof(path), RIGHT_PROC "/%d/mem", pid);
	file = right_open_proc(path);
	if (IS_ERR(file))
		return right_refusal(task, PTR_ERR(file));
	fput(file);
	/*
	 * Check that the number was this task's all the time; an exec may
	 * change it.
	 */
	return pid_alive(task) && task_pid_nr(task) == pid ? 0 : -ESRCH;
}

/* Open it with the opener's credentials, but other ids for files. */
static int right_open_memory_as(struct task_struct *task, kuid_t uid,
				kgid_t gid)
{
	struct cred *cred = prepare_creds();
	const struct cred *old;
	int err;

	if (!cred)
		return -ENOMEM;
	cred->fsuid = uid;
	cred->fsgid = gid;
	old = override_creds(cred);
	err = right_open_memory(task);
	revert_creds(old);
	put_cred(cred);
	return err;
}

/*
 * Refuse cases in which the kernel skips its check. A task without memory
 * exits, or has not begun its program yet. A task that shares current's memory
 * may have other credentials, and has registers of its own.
 */
static int right_check_memory(struct task_struct *task)
{
	bool has, shared;

	task_lock(task);
	has = task->mm;
	shared = task->mm == current->mm;
	task_unlock(task);
	if (!has)
		return -ESRCH;
	return shared ? -EACCES : 0;
}

/*
 * Security modules can only be asked about one task. Ask about the init
 * process: Yama at its highest level refuses that, as do AppArmor's profiles of
 * containers. Its file is opened with root's ids, because right_attach_all()
 * requires no capability for files. The init process itself is refused, because
 * the kernel skips its check there.
 */
static int right_attach_init(void)
{
	struct task_struct *init;
	int err;

	rcu_read_lock();
	init = get_pid_task(find_pid_ns(1, &init_pid_ns), PIDTYPE_TGID);
	rcu_read_unlock();
	if (!init)
		return -EACCES;
	err = right_check_memory(init) ?:
	      right_open_memory_as(init, GLOBAL_ROOT_UID, GLOBAL_ROOT_GID);
	put_task_struct(init);
	return err == -ESRCH ? -EACCES : err;
}

/* --- rights --------------------------------------------------------------- */

int right_attach_all(void)
{
	if (!perfmon_capable() || !capable(CAP_SYS_PTRACE))
		return -EACCES;
	return right_attach_init();
}

int right_attach(struct task_struct *task)
{
	if (same_thread_group(task, current))
		return 0;
	/* It runs no program, but those that it starts inherit events. */
	if (task->flags & PF_KTHREAD)
		return right_attach_all();
	/* Opening a file checks the ids for files, ptrace() the real ones. */
	return right_check_memory(task) ?:
	       right_open_memory_as(task, current_uid(), current_gid());
}

bool right_read_all(void)
{
	return bpf_capable() && perfmon_capable();
}

int right_watch(const struct session_config *config, struct task_struct *task)
{
	int err;

	if (!(config->source_caps & SOURCE_ATTACHES))
		return 0;
	err = task ? right_attach(task) : right_attach_all();
	if (err == -EACCES)
		pr_debug_ratelimited("the event takes the right to attach to "
				     "%s\n", task ? "its task" :
				     "all tasks: CAP_PERFMON, CAP_SYS_PTRACE "
				     "and attaching to the init process");
	return err;
}

bool right_is_own(struct task_struct *task)
{
	bool own;

	rcu_read_lock();
	own = same_thread_group(task, current);
	/* The parent of a task that is gone may have been freed. */
	if (!own && pid_alive(task))
		own = same_thread_group(rcu_dereference(task->real_parent),
					current);
	rcu_read_unlock();
	return own;
}

bool right_delay(const struct session_config *config, struct task_struct *task)
{
	if (config->source_caps & SOURCE_ATTACHES)
		return true;
	if (!right_is_own(task) &&
	    !ns_capable_noaudit(&init_user_ns, CAP_SYS_PTRACE))
		return false;
	return !right_attach(task);
}

/* --- programs with rights of their own ------------------------------------ */

/* Return a word of the auxiliary vector that exec gave the program. */
static u64 right_vector_word(const struct mm_struct *mm, bool is_32bit,
			     unsigned int word)
{
	return is_32bit ? ((const u32 *)mm->saved_auxv)[word] :
			  mm->saved_auxv[word];
}

bool right_is_secure(const struct task_struct *task)
{
	const struct mm_struct *mm = task->mm;
	bool is_32bit = arch_task_is_32bit(task);
	unsigned int i;

	if (!mm)
		return false;
	for (i = 0; i + 1 < ARRAY_SIZE(mm->saved_auxv); i += 2) {
		u64 type = right_vector_word(mm, is_32bit, i);

		if (type == AT_SECURE)
			return right_vector_word(mm, is_32bit, i + 1);
		if (type == AT_NULL)
			break;
	}
	return false;
}
