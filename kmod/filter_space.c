// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the ranges of a filter are in each process.
 *
 * Perf keeps the ranges of a process in its events. It exchanges the events of
 * two processes without their ranges, so that those of an event may be of
 * another process than current. What perf tells is only taken as a sign that
 * current's memory may have changed. The module then looks at current's maps
 * itself, in a task work: before current goes on in its program. A record of
 * the memory keeps what it has found.
 *
 *	free -> unknown -> known -> waits for RCU -> free
 *
 * A fork copies the records of the parent's memory. A record holds its struct
 * mm_struct, and ends when nobody uses that memory any more.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/hash.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "filter.h"
#include "probe.h"

/* Records of all sessions, and most of one user. */
enum {
	SPACES		= 512,
	USER_SPACES	= 128,
	BUCKETS_ORDER	= 7,
	LOOKS		= 3,		/* at maps that change meanwhile */
};

static struct filter_space *spaces;	/* made when a filter is asked for */
/* By the memory; records of no program are in the bucket of NULL. */
static struct hlist_head buckets[1 << BUCKETS_ORDER];
static LIST_HEAD(spaces_used);
static LIST_HEAD(spaces_free);
/* Protects lists, requests and writes to records, with interrupts off. */
static DEFINE_RAW_SPINLOCK(spaces_lock);
/* Changes whenever a look-up may find what it did not find before. */
static u32 changes;

struct filter_space filter_unknown = {
	.set = &filter_unknown.sets[0],
};

/* No code of a file runs without a program. */
static struct filter_space filter_nothing = {
	.set = &filter_nothing.sets[0],
};

/* --- records -------------------------------------------------------------- */

static struct hlist_head *filter_space_bucket(const struct mm_struct *mm)
{
	return &buckets[hash_ptr(mm, BUCKETS_ORDER)];
}

/* Return the session's record of this memory, if its ranges are known. */
static struct filter_space *filter_find_known(const struct session *session,
					      const struct mm_struct *mm)
{
	struct filter_space *space;

	hlist_for_each_entry_rcu(space, filter_space_bucket(mm), node)
		if (smp_load_acquire(&space->session) == session &&
		    space->mm == mm)
			return space;
	return NULL;
}

/* Return the session's record of this memory. The lock is held. */
static struct filter_space *filter_find_own_space(const struct session *session,
						  const struct mm_struct *mm)
{
	struct filter_space *space;

	hlist_for_each_entry(space, filter_space_bucket(mm), node)
		if (space->owner == session && space->mm == mm)
			return space;
	return NULL;
}

/* No reader has the record any more. */
static void filter_space_release(struct work_struct *work)
{
	struct filter_space *space = container_of(to_rcu_work(work),
						  struct filter_space, release);
	unsigned long flags;

	if (space->mm)
		mmdrop(space->mm);
	raw_spin_lock_irqsave(&spaces_lock, flags);
	list_add(&space->link, &spaces_free);
	WRITE_ONCE(changes, changes + 1);
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

static void filter_release_later(struct filter_space *space)
{
	queue_rcu_work(hwprof_workqueue, &space->release);
}

/* End a record. If its work is queued, that releases it. */
static void filter_drop_space(struct filter_space *space)
{
	WRITE_ONCE(space->session, NULL);
	space->owner = NULL;
	hlist_del_rcu(&space->node);
	list_del(&space->link);
	if (!space->queued)
		filter_release_later(space);
}

static void filter_drop_spaces_of(const struct session *session)
{
	struct filter_space *space, *next;

	list_for_each_entry_safe(space, next, &spaces_used, link)
		if (space->owner == session)
			filter_drop_space(space);
}

/* Drop records of memory that no task uses. */
static void filter_drop_unused(void)
{
	struct filter_space *space, *next;

	list_for_each_entry_safe(space, next, &spaces_used, link)
		if (space->mm && !atomic_read(&space->mm->mm_users))
			filter_drop_space(space);
}

/* Return true if the sessions of the user have their share of records. */
static bool filter_user_has_share(const struct user_struct *user)
{
	struct filter_space *space;
	int own = 0;

	list_for_each_entry(space, &spaces_used, link)
		own += space->owner->user == user;
	return own >= USER_SPACES;
}

static bool filter_space_is_short(const struct session *session)
{
	return list_empty(&spaces_free) || filter_user_has_share(session->user);
}

/* Return a new record, which knows no ranges; NULL: there are too many. */
static struct filter_space *filter_make_space(struct session *session,
					      struct mm_struct *mm)
{
	struct filter_space *space;

	if (filter_space_is_short(session))
		return NULL;
	space = list_first_entry(&spaces_free, struct filter_space, link);
	list_move(&space->link, &spaces_used);
	space->owner = session;
	space->mm = mm;
	if (mm)
		mmgrab(mm);
	space->set = &space->sets[0];
	memset(space->sets, 0, sizeof(space->sets));
	space->changed = false;
	space->everywhere = false;
	hlist_add_head_rcu(&space->node, filter_space_bucket(mm));
	return space;
}

static void filter_make_known(struct filter_space *space)
{
	smp_store_release(&space->session, space->owner);
	WRITE_ONCE(changes, changes + 1);
}

/* --- ranges --------------------------------------------------------------- */

static u64 filter_range_end(const struct filter_range *range)
{
	u64 end = range->begin + range->size;

	return end < range->begin ? ~0ULL : end;
}

static void filter_set_hull(struct filter_set *set)
{
	u64 begin = ~0ULL, end = 0;
	u32 i;

	for (i = 0; i < set->count; i++) {
		if (!set->ranges[i].size)
			continue;
		begin = min(begin, set->ranges[i].begin);
		end = max(end, filter_range_end(&set->ranges[i]));
	}
	set->hull = (struct filter_range) {
		.begin = begin, .size = end > begin ? end - begin : 0,
	};
}

static bool filter_part_is_file(const struct filter_part *part,
				const struct inode *inode)
{
	return part->file == inode && part->number == inode->i_ino &&
	       part->generation == inode->i_generation &&
	       part->device == inode->i_sb->s_dev;
}

/* A map of a stacked file system has the inode of the one below. */
static bool filter_part_is_mapped(const struct filter_part *part,
				  struct file *file)
{
	return part->file &&
	       (filter_part_is_file(part, file_inode(file)) ||
		filter_part_is_file(part, compat_user_inode(file)));
}

/* Add what is mapped here of a part: its first map, and those that follow. */
static void filter_add_map(struct filter_range *range,
			   const struct filter_part *part,
			   const struct vm_area_struct *vma)
{
	u64 first = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 begin = max(part->offset, first);
	u64 end = min(part->offset + part->size,
		      first + (vma->vm_end - vma->vm_start));
	u64 address = vma->vm_start + (begin - first);

	if (begin >= end)
		return;
	if (!range->size)
		*range = (struct filter_range) { address, end - begin };
	else if (filter_range_end(range) == address)
		range->size += end - begin;
}

static void filter_add_maps(struct filter_set *set,
			    const struct filter_request *request,
			    const struct vm_area_struct *vma)
{
	u32 i;

	if (!vma->vm_file || !(vma->vm_flags & VM_EXEC))
		return;
	for (i = 0; i < request->count; i++)
		if (filter_part_is_mapped(&request->parts[i], vma->vm_file))
			filter_add_map(&set->ranges[i], &request->parts[i],
				       vma);
}

/* Return the ranges that are the same in all memory. */
static struct filter_set
filter_fixed_ranges(const struct filter_request *request)
{
	struct filter_set set = { .count = request->count };
	u32 i;

	for (i = 0; i < request->count; i++)
		if (!request->parts[i].file)
			set.ranges[i] = (struct filter_range) {
				request->parts[i].offset,
				request->parts[i].size,
			};
	filter_set_hull(&set);
	return set;
}

/*
 * Find the ranges in current's memory. @pages: how much code that has, as a
 * sign that maps have changed. Return 0, or -EINTR if current is killed.
 */
static int filter_look_at_maps(struct filter_set *set,
			       const struct filter_request *request,
			       struct mm_struct *mm, unsigned long *pages)
{
	struct vm_area_struct *vma;
	VMA_ITERATOR(maps, mm, 0);
	int err;

	err = mmap_read_lock_killable(mm);
	if (err)
		return err;
	*pages = READ_ONCE(mm->exec_vm);
	for_each_vma(maps, vma)
		filter_add_maps(set, request, vma);
	mmap_read_unlock(mm);
	filter_set_hull(set);
	return 0;
}

/* --- finding current's ranges --------------------------------------------- */

/*
 * Change the ranges of a record. Readers of the set before the last one are
 * gone: see filter_publish().
 */
static void filter_put_ranges(struct filter_space *space,
			      const struct filter_set *set)
{
	struct filter_set *next = &space->sets[space->set == &space->sets[0]];

	if (!memcmp(space->set, set, sizeof(*set)))
		return;
	*next = *set;
	smp_store_release(&space->set, next);
	space->rcu_state = get_state_synchronize_rcu();
	space->changed = true;
}

/* Return true if maps have changed again meanwhile. */
static bool filter_publish(struct filter_space *space,
			   const struct filter_set *set, u32 version,
			   unsigned long pages)
{
	bool again = false;

	if (space->changed && memcmp(space->set, set, sizeof(*set)))
		cond_synchronize_rcu(space->rcu_state);
	raw_spin_lock_irq(&spaces_lock);
	if (space->owner && space->owner->filter.version == version) {
		filter_put_ranges(space, set);
		space->pages = pages;
		filter_make_known(space);
	}
	again = space->owner && (space->again ||
				 space->owner->filter.version != version);
	raw_spin_unlock_irq(&spaces_lock);
	return again;
}

/* Return true if it is to be done again. */
static bool filter_find_once(struct filter_space *space)
{
	struct filter_request request = { };
	struct filter_set set;
	unsigned long pages;

	raw_spin_lock_irq(&spaces_lock);
	space->again = false;
	if (space->owner && space->mm == current->mm)
		request = space->owner->filter;
	raw_spin_unlock_irq(&spaces_lock);
	if (!request.count)
		return false;
	set = filter_fixed_ranges(&request);
	return !filter_look_at_maps(&set, &request, space->mm, &pages) &&
	       filter_publish(space, &set, request.version, pages);
}

static void filter_find_ranges(struct callback_head *work)
{
	struct filter_space *space = container_of(work, struct filter_space,
						  work);
	int looks = LOOKS;

	while (looks-- && filter_find_once(space))
		cond_resched();
	raw_spin_lock_irq(&spaces_lock);
	space->queued = false;
	if (space->again)
		space->pages = ~0UL;	/* whoever sees it next asks again */
	if (!space->owner)
		filter_release_later(space);
	raw_spin_unlock_irq(&spaces_lock);
	module_put(THIS_MODULE);
}

static void filter_find_later(struct filter_space *space)
{
	space->again = true;
	if (space->queued)
		return;
	init_task_work(&space->work, filter_find_ranges);
	__module_get(THIS_MODULE);
	space->queued = true;
	if (task_work_add(current, &space->work, compat_resume)) {
		space->queued = false;	/* it exits */
		module_put(THIS_MODULE);
	}
}

static bool filter_space_is_fresh(const struct filter_space *space)
{
	return space->session && space->pages == READ_ONCE(space->mm->exec_vm);
}

/* Make the record of what holds in all memory, and in none. */
static void filter_make_fixed(struct session *session)
{
	struct filter_space *space;

	if (!session->filter.addresses)
		return;
	space = filter_find_own_space(session, NULL) ?:
		filter_make_space(session, NULL);
	if (!space || space->session)
		return;
	space->sets[0] = filter_fixed_ranges(&session->filter);
	space->everywhere = !session->filter.files;
	filter_make_known(space);
}

/*
 * Make current's record, or renew it if its maps have changed. @changed: they
 * are known to have changed. The lock is held.
 */
static void filter_want_ranges(struct session *session, bool changed)
{
	struct mm_struct *mm = current->mm;
	struct filter_space *space;

	filter_make_fixed(session);
	if (!session->filter.files || !mm || current->flags & PF_KTHREAD)
		return;
	space = filter_find_own_space(session, mm) ?:
		filter_make_space(session, mm);
	if (space && (changed || !filter_space_is_fresh(space)))
		filter_find_later(space);
}

static void filter_ask_ranges(struct session *session)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&spaces_lock, flags);
	if (session->filter.count)
		filter_want_ranges(session, false);
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

static void filter_on_kick(struct irq_work *work)
{
	filter_ask_ranges(container_of(work, struct lane,
				       filter_kick)->session);
}

/* An NMI may have interrupted a holder of the lock. */
static void filter_ask_later(struct lane *lane)
{
	if (in_nmi())
		irq_work_queue(&lane->filter_kick);
	else
		filter_ask_ranges(lane->session);
}

/* --- looking up ----------------------------------------------------------- */

void filter_init_lane(struct lane *lane)
{
	lane->filter = &filter_unknown;
	lane->filter_changes = ~0U;
	lane->filter_kick = IRQ_WORK_INIT_HARD(filter_on_kick);
}

void filter_free_lane(struct lane *lane)
{
	irq_work_sync(&lane->filter_kick);
}

/* Search once until something changes. Return NULL: nothing was found. */
static const struct filter_space *filter_search_space(struct lane *lane,
					 const struct mm_struct *mm)
{
	u32 now = READ_ONCE(changes);
	const struct filter_space *space;

	if (lane->filter_missed == mm && lane->filter_changes == now)
		return NULL;
	space = filter_find_known(lane->session, mm);
	if (space)
		return space;
	if (!mm && !READ_ONCE(lane->session->filter.addresses))
		return &filter_nothing;
	lane->filter_missed = mm;
	lane->filter_changes = now;
	filter_ask_later(lane);
	return NULL;
}

const struct filter_space *filter_look_up(struct lane *lane, u32 events)
{
	struct session *session = lane->session;
	struct mm_struct *mm = READ_ONCE(session->filter.files) ? current->mm :
								  NULL;
	const struct filter_space *space;

	space = filter_search_space(lane, mm);
	if (space == &filter_nothing)
		return space;
	if (!space) {
		lane_count(&lane->lost_events, events);
		return &filter_unknown;
	}
	WRITE_ONCE(lane->filter, space);
	if (mm && space->pages != READ_ONCE(mm->exec_vm))
		filter_ask_later(lane);
	return space;
}

void filter_check_maps(struct lane *lane)
{
	const struct filter_space *space = READ_ONCE(lane->filter);

	if (!filter_is_valid(space, lane) ||
	    (space->mm && space->pages != READ_ONCE(space->mm->exec_vm)))
		filter_look_up(lane, 0);
}

/* --- perf ----------------------------------------------------------------- */

static struct filter_space *filter_alloc_spaces(void)
{
	struct filter_space *all = vzalloc(array_size(SPACES, sizeof(*all)));
	int i;

	for (i = 0; all && i < SPACES; i++)
		INIT_RCU_WORK(&all[i].release, filter_space_release);
	return all;
}

static int filter_make_spaces(void)
{
	struct filter_space *all = filter_alloc_spaces();
	unsigned long flags;
	int i;

	if (!all)
		return -ENOMEM;
	raw_spin_lock_irqsave(&spaces_lock, flags);
	for (i = 0; !spaces && i < SPACES; i++)
		list_add_tail(&all[i].link, &spaces_free);
	if (!spaces) {
		WRITE_ONCE(spaces, all);
		all = NULL;
	}
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
	vfree(all);		/* somebody else was faster */
	return 0;
}

int filter_validate(struct list_head *filters)
{
	const struct perf_addr_filter *filter;
	int count = 0;

	list_for_each_entry(filter, filters, entry)
		if (++count > FILTER_RANGES ||
		    filter->action != PERF_ADDR_FILTER_ACTION_FILTER)
			return -EOPNOTSUPP;
	return !count || READ_ONCE(spaces) ? 0 : filter_make_spaces();
}

static struct filter_part filter_part_of(const struct perf_addr_filter *filter)
{
	struct filter_part part = {
		.offset = filter->offset, .size = filter->size,
	};
	const struct inode *inode;

	if (!filter->path.dentry)
		return part;
	inode = d_inode(filter->path.dentry);
	part.file = inode;
	part.number = inode->i_ino;
	part.generation = inode->i_generation;
	part.device = inode->i_sb->s_dev;
	return part;
}

/* Get what the event asks for. Perf holds the lock of its filters. */
static void filter_get_request(struct filter_request *request,
			       struct perf_event *event)
{
	const struct perf_addr_filters_head *head =
		perf_event_addr_filters(event);
	const struct perf_addr_filter *filter;

	memset(request, 0, sizeof(*request));
	list_for_each_entry(filter, &head->list, entry) {
		if (request->count == FILTER_RANGES)
			break;
		request->files |= !!filter->path.dentry;
		request->addresses |= !filter->path.dentry;
		request->parts[request->count++] = filter_part_of(filter);
	}
}

/* Processes have to be looked at again. What is fixed is made anew. */
static void filter_forget_ranges(struct session *session)
{
	struct filter_space *space, *next;

	list_for_each_entry_safe(space, next, &spaces_used, link) {
		if (space->owner != session)
			continue;
		if (!space->mm || !session->filter.count)
			filter_drop_space(space);
		else
			WRITE_ONCE(space->session, NULL);
	}
}

static void filter_set_request(struct session *session,
			       struct filter_request *request)
{
	request->version = session->filter.version;
	if (!memcmp(&session->filter, request, sizeof(*request)))
		return;
	request->version++;
	session->filter = *request;
	filter_forget_ranges(session);
}

void filter_sync(struct perf_event *event)
{
	struct session *session = event_session(event);
	bool wide = !event->hw.target && !(event->attach_state &
					   PERF_ATTACH_TASK);
	struct filter_request request;
	unsigned long flags;

	filter_get_request(&request, event);
	/* The PMU may use this field: the event has had a filter. */
	if (!request.count && !event->hw.addr_filters)
		return;
	event->hw.addr_filters = request.count ? event : NULL;
	raw_spin_lock_irqsave(&spaces_lock, flags);
	filter_set_request(session, &request);
	WRITE_ONCE(session->filtered, request.count);
	/* A fork's event begins with 1. Its process has a record already. */
	if (request.count && !wide)
		filter_want_ranges(session, event->addr_filters_gen > 1);
	else if (request.count)
		filter_make_fixed(session);
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

/* --- processes ------------------------------------------------------------ */

static void filter_copy_space(const struct filter_space *space,
			      struct mm_struct *mm)
{
	struct filter_space *copy;

	if (filter_space_is_short(space->owner))
		filter_drop_unused();
	copy = filter_make_space(space->owner, mm);
	if (!copy)
		return;
	copy->sets[0] = *space->set;
	copy->pages = space->pages;
	filter_make_known(copy);
}

/* Copy the nth record of @from that is known. Return false if there is none. */
static bool filter_copy_nth(const struct mm_struct *from, unsigned int nth,
			    struct mm_struct *to)
{
	struct filter_space *space;
	unsigned long flags;
	bool found = false;

	raw_spin_lock_irqsave(&spaces_lock, flags);
	hlist_for_each_entry(space, filter_space_bucket(from), node) {
		found = space->mm == from && space->session &&
			space->owner->inherits && !nth--;
		if (found) {
			filter_copy_space(space, to);
			break;
		}
	}
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
	return found;
}

/*
 * The child has not run yet. Its memory has the same maps. Interrupts come in
 * between two records.
 */
static void filter_on_fork(void *unused, struct task_struct *parent,
			   struct task_struct *child)
{
	struct mm_struct *mm = child->mm;
	unsigned int i = 0;

	if (!READ_ONCE(spaces) || !mm || !parent->mm || mm == parent->mm)
		return;
	while (filter_copy_nth(parent->mm, i, mm))
		i++;
}

static void filter_drop_gone(void)
{
	unsigned long flags;

	if (!READ_ONCE(spaces))
		return;
	raw_spin_lock_irqsave(&spaces_lock, flags);
	filter_drop_unused();
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

static void filter_on_exec(void *unused, struct task_struct *task,
			   pid_t old_pid, struct linux_binprm *binprm)
{
	filter_drop_gone();
}

static void filter_on_exit(void *unused,
			   struct task_struct *task compat_exit_arguments)
{
	if (!atomic_read(&current->signal->live))
		filter_drop_gone();
}

static struct probe probes[] = {
	PROBE(sched_process_fork, filter_on_fork),
	PROBE(sched_process_exec, filter_on_exec),
	PROBE(sched_process_exit, filter_on_exit),
	{ }
};

static DEFINE_MUTEX(users_lock);
static unsigned int users;

int filters_get(void)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!users)
		err = probes_register(probes);
	if (!err)
		users++;
	mutex_unlock(&users_lock);
	return err;
}

void filters_put(void)
{
	mutex_lock(&users_lock);
	if (!--users)
		probes_unregister(probes);
	mutex_unlock(&users_lock);
}

void filter_free(struct session *session)
{
	unsigned long flags;

	if (!session->filter.version)
		return;
	raw_spin_lock_irqsave(&spaces_lock, flags);
	filter_drop_spaces_of(session);
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

void filters_init(void)
{
	probes_find(probes);
}

void filters_exit(void)
{
	rcu_barrier();
	flush_workqueue(hwprof_workqueue);
	vfree(spaces);
}
