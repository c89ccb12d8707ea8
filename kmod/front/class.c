// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/class/misc/hwprof: limits, and the sessions that exist.
 * docs/ABI/testing/sysfs-class-misc-hwprof describes what is here.
 */
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/kstrtox.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/user_namespace.h>

#include "../compat.h"
#include "../limit.h"
#include "../session.h"
#include "../source/source.h"
#include "front.h"

/* --- limits --------------------------------------------------------------- */

static ssize_t class_limit_show(struct device *device,
				struct device_attribute *attribute, char *page)
{
	const struct dev_ext_attribute *limit =
		container_of(attribute, struct dev_ext_attribute, attr);

	return sysfs_emit(page, "%u\n", READ_ONCE(*(unsigned int *)limit->var));
}

static ssize_t class_limit_store(struct device *device,
				 struct device_attribute *attribute,
				 const char *text, size_t size)
{
	const struct dev_ext_attribute *limit =
		container_of(attribute, struct dev_ext_attribute, attr);
	unsigned int number;
	int err = kstrtouint(text, 0, &number);

	if (err)
		return err;
	WRITE_ONCE(*(unsigned int *)limit->var, number);
	return size;
}

#define LIMIT(name)							       \
	static struct dev_ext_attribute limit_##name = {		       \
		.attr = __ATTR(name, 0644, class_limit_show,		       \
			       class_limit_store),			       \
		.var = &limits.name,					       \
	}

LIMIT(sessions);
LIMIT(sessions_per_user);
LIMIT(memory_mib);
LIMIT(memory_mib_per_user);

static struct attribute *limit_attributes[] = {
	&limit_sessions.attr.attr,
	&limit_sessions_per_user.attr.attr,
	&limit_memory_mib.attr.attr,
	&limit_memory_mib_per_user.attr.attr,
	NULL
};

static const struct attribute_group limits_group = {
	.name	= "limits",
	.attrs	= limit_attributes,
};

const struct attribute_group *hwprof_class_groups[] = {
	&limits_group,
	NULL
};

/* --- a session ------------------------------------------------------------ */

/*
 * A session's folder. The session lives as long: class_folder_hide() waits for
 * readers.
 */
struct folder {
	struct kobject kobj;
	struct session *session;
};

struct session_attribute {
	struct attribute attr;
	ssize_t (*show)(struct session *session, char *page);
};

/* Show the owner in the reader's pid namespace; 0: not there, or gone. */
static ssize_t class_owner_show(struct session *session, char *page)
{
	return sysfs_emit(page, "%d\n", pid_vnr(session->owner));
}

static ssize_t class_user_show(struct session *session, char *page)
{
	return sysfs_emit(page, "%u\n", from_kuid_munged(current_user_ns(),
							 session->user->uid));
}

static ssize_t class_engine_show(struct session *session, char *page)
{
	unsigned int i;
	int size = 0;

	for (i = 0; i < ENGINE_COUNT; i++)
		if (session->config.engines >> i & 1)
			size += sysfs_emit_at(page, size, "%s%s",
					      size ? "," : "",
					      engine_infos[i].name);
	return size + sysfs_emit_at(page, size, "\n");
}

static ssize_t class_source_show(struct session *session, char *page)
{
	return sysfs_emit(page, "%s\n",
			  source_infos[session->config.source].name);
}

static ssize_t class_front_show(struct session *session, char *page)
{
	return sysfs_emit(page, "%s\n", session->fetched ? "device" : "perf");
}

/* Show how many events were opened for the session, without inherited ones. */
static ssize_t class_perf_events_show(struct session *session, char *page)
{
	return sysfs_emit(page, "%u\n", READ_ONCE(session->root_count));
}

static ssize_t class_throttled_show(struct session *session, char *page)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		sum += local64_read(&per_cpu_ptr(session->lanes,
						 cpu)->throttled);
	return sysfs_emit(page, "%llu\n", sum);
}

/* X(name): a count of lanes, which is summed over all CPUs. */
#define LANE_COUNTS(X)							       \
	X(callers)							       \
	X(unwound)

#define LANE_SHOW(name)							       \
	static ssize_t class_##name##_show(struct session *session,	       \
					   char *page)			       \
	{								       \
		u64 sum = 0;						       \
		int cpu;						       \
									       \
		for_each_possible_cpu(cpu)				       \
			sum += READ_ONCE(per_cpu_ptr(session->lanes,	       \
						     cpu)->name);	       \
		return sysfs_emit(page, "%llu\n", sum);			       \
	}

LANE_COUNTS(LANE_SHOW)

#define TOTAL_SHOW(name)						       \
	static ssize_t class_##name##_show(struct session *session,	       \
					   char *page)			       \
	{								       \
		struct hwprof_row_totals totals;			       \
		int err = session_totals_now(session, &totals);		       \
									       \
		return err ?: sysfs_emit(page, "%llu\n", totals.name);	       \
	}

/* X(name): a field of the totals, which has a file of its own. */
#define SESSION_TOTALS(X)						       \
	X(produced)							       \
	X(delivered)							       \
	X(lost)								       \
	X(evicted)							       \
	X(pending)							       \
	X(events)							       \
	X(lost_events)							       \
	X(gaps)								       \
	X(windows)							       \
	X(cost_ns)							       \
	X(task_ns)							       \
	X(memory)

SESSION_TOTALS(TOTAL_SHOW)

#define SESSION_FILE(what)						       \
	static struct session_attribute file_##what = {			       \
		.attr = { .name = #what, .mode = 0400 },		       \
		.show = class_##what##_show,				       \
	};

SESSION_FILE(owner)
SESSION_FILE(user)
SESSION_FILE(front)
SESSION_FILE(engine)
SESSION_FILE(source)
SESSION_FILE(perf_events)
SESSION_FILE(throttled)
LANE_COUNTS(SESSION_FILE)
SESSION_TOTALS(SESSION_FILE)

#define SESSION_ATTR(name)	&file_##name.attr,

static struct attribute *session_attrs[] = {
	SESSION_ATTR(owner)
	SESSION_ATTR(user)
	SESSION_ATTR(front)
	SESSION_ATTR(engine)
	SESSION_ATTR(source)
	SESSION_ATTR(perf_events)
	SESSION_ATTR(throttled)
	LANE_COUNTS(SESSION_ATTR)
	SESSION_TOTALS(SESSION_ATTR)
	NULL
};
ATTRIBUTE_GROUPS(session);

static ssize_t class_file_show(struct kobject *kobj,
			       struct attribute *attribute, char *page)
{
	struct session_attribute *file =
		container_of(attribute, struct session_attribute, attr);

	return file->show(container_of(kobj, struct folder, kobj)->session,
			  page);
}

static const struct sysfs_ops session_ops = {
	.show = class_file_show,
};

/*
 * The counts are for the user who made the session, and for root. If a setuid
 * program made it, its caller does not get them, though the caller's limits pay
 * for it.
 */
static void class_folder_ownership(compat_const struct kobject *kobj,
				   kuid_t *uid, kgid_t *gid)
{
	const struct folder *folder = container_of(kobj, struct folder, kobj);

	*uid = folder->session->viewer;
	*gid = GLOBAL_ROOT_GID;
}

static void class_folder_release(struct kobject *kobj)
{
	kfree(container_of(kobj, struct folder, kobj));
}

static const struct kobj_type folder_type = {
	.release	= class_folder_release,
	.sysfs_ops	= &session_ops,
	.default_groups	= session_groups,
	.get_ownership	= class_folder_ownership,
};

/* --- all sessions --------------------------------------------------------- */

static struct kobject *sessions_folder;

static int class_folder_show(struct session *session)
{
	struct kobject *parent = READ_ONCE(sessions_folder);
	struct folder *folder;
	int err;

	if (!parent)
		return 0;	/* the module is being loaded */
	folder = kzalloc(sizeof(*folder), GFP_KERNEL_ACCOUNT);
	if (!folder)
		return -ENOMEM;
	folder->session = session;
	/*
	 * Sysfs allocates for it without __GFP_ACCOUNT. The limits of sessions
	 * bound that.
	 */
	err = kobject_init_and_add(&folder->kobj, &folder_type, parent, "%u",
				   session->id);
	if (err) {
		kobject_put(&folder->kobj);
		return err;
	}
	session->folder = &folder->kobj;
	return 0;
}

static void class_folder_hide(struct session *session)
{
	if (!session->folder)
		return;
	kobject_del(session->folder);
	kobject_put(session->folder);
}

const struct session_folders class_folders = {
	.show	= class_folder_show,
	.hide	= class_folder_hide,
};

int class_init(struct device *device)
{
	struct kobject *folder = kobject_create_and_add("sessions",
							&device->kobj);

	if (!folder)
		return -ENOMEM;
	WRITE_ONCE(sessions_folder, folder);
	return 0;
}

void class_exit(void)
{
	kobject_put(sessions_folder);
}
