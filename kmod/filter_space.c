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
 * The task work is a struct filter_look. A task has one at most, and it looks
 * for all records of current's memory. A task may sleep in the kernel for good
 * before its look: records do not wait for it, and other tasks that use the
 * memory have looks of their own. A look keeps the module loaded until the task
 * has looked, or exits, or there are no sessions any more.
 *
 * A fork copies the records of the parent's memory that the child's events
 * need. A record holds its struct mm_struct. When records are short, those end
 * whose memory nobody uses any more, and those that were not used since an
 * event of their session was closed: it may have been the last one that needed
 * them. A task that is still watched gets another record before it goes on.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/irq_work.h>
#include <linux/list.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "filter.h"
#include "filter_share.h"
#include "probe.h"
#include "recall.h"

/* How many there are, how many a user has at most, and root's reserve. */
enum {
	SPACES		= 512,
	USER_SPACES	= 128,
	ROOT_SPACES	= USER_SPACES,
	LOOKS		= 512,
	USER_LOOKS	= 128,
	ROOT_LOOKS	= USER_LOOKS,
	BUCKETS		= 128,
};

/* A task looks at its memory before it goes on in its program. */
struct filter_look {
	struct callback_head work;
	struct task_struct *task;	/* NULL: free */
	kuid_t user;			/* whose session wants it */
	struct list_head link;		/* pending or free */
};

struct filter_pool {
	struct filter_space spaces[SPACES];
	struct filter_look looks[LOOKS];
};

/*
 * Made when a filter is asked for. All users share it until the module is
 * unloaded, so no cgroup pays for it.
 */
static struct filter_pool *pool;
/* By the memory; records of no program are in the bucket of NULL. */
static struct hlist_head buckets[BUCKETS];
/* Times of look-ups must say nothing of addresses of mm_structs. */
static hsiphash_key_t secret;
static LIST_HEAD(spaces_used);
static LIST_HEAD(spaces_free);
static unsigned int spaces_spare;	/* how many are free */
static LIST_HEAD(looks_pending);
static LIST_HEAD(looks_free);
static unsigned int looks_spare;
/* Orders looks and changes of maps. */
static u64 filter_clock;
/* Protects all of these, requests and writes to records. Interrupts are off. */
static DEFINE_RAW_SPINLOCK(spaces_lock);
/* Changes whenever a look-up may find what it did not find before. */
static u64 changes;

struct filter_space filter_unknown = {
	.set = &filter_unknown.sets[0],
};

/* No code of a file runs without a program. */
static struct filter_space filter_nothing = {
	.set = &filter_nothing.sets[0],
};

/* --- shares --------------------------------------------------------------- */

/* Return how many of @reserved are not for the session's user. */
static unsigned int filter_reserve(const struct session *session,
				   unsigned int reserved)
{
	return uid_eq(session->user->uid, GLOBAL_ROOT_UID) ? 0 : reserved;
}

/*
 * Return true if the session can have no more records. Its user may drop all
 * that it has and make as many anew, but not again before the first are free.
 */
static bool filter_space_is_short(const struct session *session)
{
	struct filter_share share = filter_share_of(session->user->uid);

	return spaces_spare <= filter_reserve(session, ROOT_SPACES) ||
	       share.spaces >= USER_SPACES || share.ending > USER_SPACES;
}

/* Return true if the session can have no more looks. */
static bool filter_look_is_short(const struct session *session)
{
	return looks_spare <= filter_reserve(session, ROOT_LOOKS) ||
	       filter_share_of(session->user->uid).looks >= USER_LOOKS;
}

/* --- records -------------------------------------------------------------- */

static struct hlist_head *filter_space_bucket(const struct mm_struct *mm)
{
	u32 hash = hsiphash(&mm, sizeof(mm), &secret);

	return &buckets[hash % BUCKETS];
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

/* Let look-ups that found nothing search again. The lock is held. */
static void filter_note_change(void)
{
	smp_store_release(&changes, changes + 1);
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
	filter_share_add(space->user, (struct filter_share) { .ending = -1 });
	list_add(&space->link, &spaces_free);
	spaces_spare++;
	filter_note_change();
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

static void filter_drop_space(struct filter_space *space)
{
	filter_share_add(space->user,
			 (struct filter_share) { .spaces = -1, .ending = 1 });
	WRITE_ONCE(space->session, NULL);
	space->owner = NULL;
	hlist_del_rcu(&space->node);
	list_del(&space->link);
	queue_rcu_work(hwprof_workqueue, &space->release);
}

static void filter_drop_spaces_of(const struct session *session)
{
	struct filter_space *space, *next;

	list_for_each_entry_safe(space, next, &spaces_used, link)
		if (space->owner == session)
			filter_drop_space(space);
}

/* Return true if the record may be dropped: no event may need it. */
static bool filter_space_is_unused(const struct filter_space *space)
{
	return space->mm && (!atomic_read(&space->mm->mm_users) ||
			     READ_ONCE(space->closings) !=
			     space->owner->closings);
}

/*
 * Drop records that are not used: some, as interrupts are off. Return false if
 * there are more of them.
 */
static bool filter_drop_unused(void)
{
	struct filter_space *space, *next;
	int left = USER_SPACES;

	list_for_each_entry_safe(space, next, &spaces_used, link) {
		if (!filter_space_is_unused(space))
			continue;
		if (!left--)
			return false;
		filter_drop_space(space);
	}
	return true;
}

/*
 * The task for which this CPU has searched for unused records in vain, and
 * when. It may need records of many sessions with interrupts off.
 */
struct filter_refusal {
	pid_t task;
	unsigned long when;		/* jiffies */
};

static DEFINE_PER_CPU(struct filter_refusal, filter_refusal);

/*
 * Make room for a record of the session. Return false if there is none. If all
 * records are in use, the task does not search again in the same jiffy.
 */
static bool filter_make_room(const struct session *session)
{
	struct filter_refusal *refusal = this_cpu_ptr(&filter_refusal);

	if (refusal->task == current->pid && refusal->when == jiffies)
		return false;
	if (filter_drop_unused() && filter_space_is_short(session)) {
		refusal->task = current->pid;
		refusal->when = jiffies;
	}
	return !filter_space_is_short(session);
}

/* Return a new record, which knows no ranges; NULL: there are too many. */
static struct filter_space *filter_make_space(struct session *session,
					      struct mm_struct *mm)
{
	struct filter_space *space;

	if (filter_space_is_short(session) && !filter_make_room(session))
		return NULL;
	spaces_spare--;
	space = list_first_entry(&spaces_free, struct filter_space, link);
	list_move(&space->link, &spaces_used);
	space->owner = session;
	space->user = session->user->uid;
	filter_share_add(space->user, (struct filter_share) { .spaces = 1 });
	space->mm = mm;
	if (mm)
		mmgrab(mm);
	space->set = &space->sets[0];
	memset(space->sets, 0, sizeof(space->sets));
	space->changed = false;
	space->everywhere = false;
	space->made = ++filter_clock;
	space->wanted = 0;
	space->looked = 0;
	space->closings = session->closings;
	hlist_add_head_rcu(&space->node, filter_space_bucket(mm));
	return space;
}

static void filter_make_known(struct filter_space *space)
{
	smp_store_release(&space->session, space->owner);
	filter_note_change();
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

/* A look for one record. */
struct filter_pass {
	struct filter_space *space;
	u64 made;			/* space->made */
	u64 begun;
	struct mm_struct *mm;		/* current's */
	struct filter_request request;
};

static bool filter_space_is_fresh(const struct filter_space *space)
{
	return space->session && space->looked >= space->wanted &&
	       space->pages == READ_ONCE(space->mm->exec_vm);
}

/* Find a record of current's memory to look for. @since: who looked since. */
static bool filter_choose_space(struct filter_pass *pass, u64 since)
{
	struct filter_space *space;

	hlist_for_each_entry(space, filter_space_bucket(pass->mm), node)
		if (space->mm == pass->mm && space->looked < since &&
		    !filter_space_is_fresh(space)) {
			pass->space = space;
			pass->made = space->made;
			pass->begun = ++filter_clock;
			pass->request = space->owner->filter;
			return true;
		}
	return false;
}

/*
 * Change the ranges of a record. Return false if a reader may still have the
 * set before the last one, which is overwritten.
 */
static bool filter_put_ranges(struct filter_space *space,
			      const struct filter_set *set)
{
	struct filter_set *next = &space->sets[space->set == &space->sets[0]];

	if (!memcmp(space->set, set, sizeof(*set)))
		return true;
	if (space->changed && !poll_state_synchronize_rcu(space->rcu_state))
		return false;
	*next = *set;
	smp_store_release(&space->set, next);
	space->rcu_state = get_state_synchronize_rcu();
	space->changed = true;
	return true;
}

/* Return true if the record still wants what the pass has found. */
static bool filter_pass_counts(const struct filter_pass *pass)
{
	const struct filter_space *space = pass->space;

	return space->made == pass->made && space->owner &&
	       space->owner->filter.version == pass->request.version &&
	       space->looked < pass->begun;
}

/* Return false if that has to be tried again: the call has waited for RCU. */
static bool filter_publish(const struct filter_pass *pass,
			   const struct filter_set *set, unsigned long pages)
{
	struct filter_space *space = pass->space;
	unsigned long rcu_state = 0;
	bool done = true;

	raw_spin_lock_irq(&spaces_lock);
	if (filter_pass_counts(pass)) {
		done = filter_put_ranges(space, set);
		rcu_state = space->rcu_state;
		if (done) {
			WRITE_ONCE(space->pages, pages);
			space->looked = pass->begun;
			filter_make_known(space);
		}
	}
	raw_spin_unlock_irq(&spaces_lock);
	if (!done)
		cond_synchronize_rcu(rcu_state);
	return done;
}

/* Look for one record. Return false if there is none, or current is killed. */
static bool filter_find_next(u64 since)
{
	struct filter_pass pass = { .mm = current->mm };
	struct filter_set set;
	unsigned long pages;
	bool found;

	if (!pass.mm)
		return false;
	raw_spin_lock_irq(&spaces_lock);
	found = filter_choose_space(&pass, since);
	raw_spin_unlock_irq(&spaces_lock);
	if (!found)
		return false;
	set = filter_fixed_ranges(&pass.request);
	if (filter_look_at_maps(&set, &pass.request, pass.mm, &pages))
		return false;
	while (!filter_publish(&pass, &set, pages))
		;
	return true;
}

static void filter_release_look(struct filter_look *look)
{
	filter_share_add(look->user, (struct filter_share) { .looks = -1 });
	look->task = NULL;
	list_move(&look->link, &looks_free);
	looks_spare++;
}

/* Current may be scheduled out in its look, and then ask for another. */
static void filter_find_ranges(struct callback_head *work)
{
	struct filter_look *look = container_of(work, struct filter_look, work);
	int left = SPACES;
	u64 since;

	raw_spin_lock_irq(&spaces_lock);
	filter_release_look(look);
	since = ++filter_clock;
	raw_spin_unlock_irq(&spaces_lock);
	while (left-- && filter_find_next(since))
		cond_resched();
	/* If current left the memory that it was to look at, others do. */
	raw_spin_lock_irq(&spaces_lock);
	filter_note_change();
	raw_spin_unlock_irq(&spaces_lock);
	module_put(THIS_MODULE);
}

/*
 * Return a look for current; NULL: there are too many. @pending: current has
 * one that it has not begun.
 */
static struct filter_look *filter_make_look(const struct session *session,
					    bool *pending)
{
	struct filter_look *look;

	*pending = false;
	list_for_each_entry(look, &looks_pending, link)
		*pending |= look->task == current;
	if (*pending || filter_look_is_short(session))
		return NULL;
	looks_spare--;
	look = list_first_entry(&looks_free, struct filter_look, link);
	list_move(&look->link, &looks_pending);
	look->task = current;
	look->user = session->user->uid;
	filter_share_add(look->user, (struct filter_share) { .looks = 1 });
	return look;
}

/* Return true if current is going to look at its memory. */
static bool filter_look_later(const struct session *session)
{
	bool pending;
	struct filter_look *look = filter_make_look(session, &pending);

	if (!look)
		return pending;
	init_task_work(&look->work, filter_find_ranges);
	if (try_module_get(THIS_MODULE)) {
		if (!task_work_add(current, &look->work, compat_resume))
			return true;
		module_put(THIS_MODULE);	/* it exits */
	}
	filter_release_look(look);
	return false;
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
	if (!session->filter.files || !mm || !compat_has_program(current))
		return;
	space = filter_find_own_space(session, mm) ?:
		filter_make_space(session, mm);
	if (!space)
		return;
	if (changed)
		space->wanted = ++filter_clock;
	/* If it cannot look, whoever sees the record next asks again. */
	if (!filter_space_is_fresh(space) && !filter_look_later(session))
		WRITE_ONCE(space->pages, ~0UL);
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
	struct lane *lane = container_of(work, struct lane, filter_kick);

	/* It was another task that did not find its ranges. */
	if (READ_ONCE(lane->filter_asker) != current->pid)
		WRITE_ONCE(lane->filter_asker, -1);
	filter_ask_ranges(lane->session);
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
	lane->filter_asker = -1;
	lane->filter_kick = IRQ_WORK_INIT_HARD(filter_on_kick);
}

void filter_free_lane(struct lane *lane)
{
	irq_work_sync(&lane->filter_kick);
}

/*
 * Search once for each task, until something changes. Return NULL: nothing was
 * found.
 */
static struct filter_space *filter_search_space(struct lane *lane,
						const struct mm_struct *mm)
{
	u64 now = smp_load_acquire(&changes);
	struct filter_space *space;

	if (lane->filter_missed == mm && lane->filter_changes == now &&
	    READ_ONCE(lane->filter_asker) == current->pid)
		return NULL;
	space = filter_find_known(lane->session, mm);
	if (space)
		return space;
	if (!mm && !READ_ONCE(lane->session->filter.addresses))
		return &filter_nothing;
	lane->filter_missed = mm;
	lane->filter_changes = now;
	WRITE_ONCE(lane->filter_asker, current->pid);
	filter_ask_later(lane);
	return NULL;
}

/* The record may be another session's by now, which does no harm. */
static void filter_note_use(struct filter_space *space,
			    const struct session *session)
{
	u32 closings = READ_ONCE(session->closings);
	u32 noted = READ_ONCE(space->closings);

	if (READ_ONCE(space->session) != session)
		return;
	/* Another CPU may have noted a later one. */
	while ((s32)(closings - noted) > 0 &&
	       !try_cmpxchg(&space->closings, &noted, closings))
		;
}

const struct filter_space *filter_look_up(struct lane *lane, u32 events)
{
	struct session *session = lane->session;
	struct mm_struct *mm = READ_ONCE(session->filter.files) ? current->mm :
								  NULL;
	struct filter_space *space;

	space = filter_search_space(lane, mm);
	if (space == &filter_nothing)
		return space;
	if (!space) {
		/* Adding 0 might undo what an NMI has added. */
		if (events)
			lane_count(&lane->lost_events, events);
		return &filter_unknown;
	}
	WRITE_ONCE(lane->filter, space);
	smp_mb();	/* as in lane_start() */
	filter_note_use(space, session);
	if (mm && READ_ONCE(space->pages) != READ_ONCE(mm->exec_vm))
		filter_ask_later(lane);
	return space;
}

void filter_check_maps(struct lane *lane)
{
	struct filter_space *space = READ_ONCE(lane->filter);

	filter_note_use(space, lane->session);
	if (!filter_is_valid(space, lane) ||
	    (space->mm &&
	     READ_ONCE(space->pages) != READ_ONCE(space->mm->exec_vm)))
		filter_look_up(lane, 0);
}

/* --- perf ----------------------------------------------------------------- */

static struct filter_pool *filter_alloc_pool(void)
{
	struct filter_pool *new = vzalloc(sizeof(*new));
	int i;

	BUILD_BUG_ON(SPACES + LOOKS > FILTER_SHARES);
	for (i = 0; new && i < SPACES; i++)
		INIT_RCU_WORK(&new->spaces[i].release, filter_space_release);
	return new;
}

static void filter_set_pool(struct filter_pool *new)
{
	int i;

	for (i = 0; i < SPACES; i++)
		list_add_tail(&new->spaces[i].link, &spaces_free);
	for (i = 0; i < LOOKS; i++)
		list_add_tail(&new->looks[i].link, &looks_free);
	spaces_spare = SPACES;
	looks_spare = LOOKS;
	WRITE_ONCE(pool, new);
}

static int filter_make_pool(void)
{
	struct filter_pool *new = filter_alloc_pool();
	unsigned long flags;

	if (!new)
		return -ENOMEM;
	raw_spin_lock_irqsave(&spaces_lock, flags);
	if (!pool) {
		filter_set_pool(new);
		new = NULL;
	}
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
	vfree(new);		/* somebody else was faster */
	return 0;
}

int filter_validate(struct list_head *filters)
{
	const struct perf_addr_filter *filter;
	int count = 0;

	list_for_each_entry(filter, filters, entry) {
		if (++count > FILTER_RANGES ||
		    filter->action != PERF_ADDR_FILTER_ACTION_FILTER)
			return -EOPNOTSUPP;
		/* No file has bytes there. */
		if (filter->path.dentry &&
		    filter->offset + filter->size < filter->offset)
			return -EINVAL;
	}
	return !count || READ_ONCE(pool) ? 0 : filter_make_pool();
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
	assign_bit(NARROWED_TO_RANGES, &session->narrowed, request.count);
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

	if (filter_find_own_space(space->owner, mm))
		return;
	copy = filter_make_space(space->owner, mm);
	if (!copy)
		return;
	copy->sets[0] = *space->set;
	copy->pages = space->pages;
	copy->wanted = space->wanted;
	copy->looked = space->looked;
	filter_make_known(copy);
}

/* Copy the session's record of @from, if it is known. */
static void filter_copy_for(const struct session *session,
			    const struct mm_struct *from, struct mm_struct *to)
{
	struct filter_space *space;
	unsigned long flags;

	raw_spin_lock_irqsave(&spaces_lock, flags);
	space = filter_find_own_space(session, from);
	if (space && space->session)
		filter_copy_space(space, to);
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

/*
 * Copy what the events need that the child has inherited. They may be closed
 * meanwhile: RCU keeps them and their roots, and sessions are only compared.
 */
static void filter_copy_for_events(struct perf_event_context *context,
				   const struct mm_struct *from,
				   struct mm_struct *to)
{
	struct perf_event *event;

	list_for_each_entry_rcu(event, &context->event_list, event_entry) {
		const struct pmu *pmu = READ_ONCE(event->pmu);

		if (pmu && pmu->addr_filters_sync == filter_sync)
			filter_copy_for(event_session(event), from, to);
	}
}

/*
 * The child has not run yet. Its memory has the same maps. Interrupts come in
 * between two records.
 */
static void filter_on_fork(void *unused, struct task_struct *parent,
			   struct task_struct *child)
{
	struct perf_event_context *context;
	struct mm_struct *mm = child->mm;
	int i;

	if (!mm || !parent->mm || mm == parent->mm ||
	    hlist_empty(filter_space_bucket(parent->mm)))
		return;
	rcu_read_lock();
	for (i = 0; i < COMPAT_PERF_CONTEXTS; i++) {
		context = compat_perf_context(child, i);
		if (context)
			filter_copy_for_events(context, parent->mm, mm);
	}
	rcu_read_unlock();
}

static struct probe probes[] = {
	PROBE(sched_process_fork, filter_on_fork),
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

/*
 * Return the task that is going to look, and hold it; NULL: the look is free.
 * The task does not exit before it has looked, which takes the lock.
 */
static struct task_struct *filter_looker(const struct filter_look *look)
{
	struct task_struct *task;

	raw_spin_lock_irq(&spaces_lock);
	task = look->task;
	if (task)
		get_task_struct(task);
	raw_spin_unlock_irq(&spaces_lock);
	return task;
}

/* Nobody needs a look any more, and its task may sleep for good. */
static void filter_recall_look(struct filter_look *look)
{
	struct task_struct *task = filter_looker(look);

	if (!task)
		return;
	if (recall_work(task, &look->work)) {
		raw_spin_lock_irq(&spaces_lock);
		filter_release_look(look);
		raw_spin_unlock_irq(&spaces_lock);
		module_put(THIS_MODULE);
	}
	put_task_struct(task);
}

static void filter_recall_looks(void)
{
	int i;

	for (i = 0; READ_ONCE(pool) && i < LOOKS; i++)
		filter_recall_look(&pool->looks[i]);
}

void filters_put(void)
{
	mutex_lock(&users_lock);
	if (!--users) {
		probes_unregister(probes);
		filter_recall_looks();
	}
	mutex_unlock(&users_lock);
}

/* Tasks that run are watched by other events: their records are in use. */
void filter_event_closed(struct session *session)
{
	unsigned long flags;
	int cpu;

	if (!READ_ONCE(session->filter.files))
		return;
	raw_spin_lock_irqsave(&spaces_lock, flags);
	WRITE_ONCE(session->closings, session->closings + 1);
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
	/* Pairs with lane_start() and filter_look_up(). */
	smp_mb();
	for_each_possible_cpu(cpu) {
		struct lane *lane = per_cpu_ptr(session->lanes, cpu);

		if (READ_ONCE(lane->active))
			filter_note_use(READ_ONCE(lane->filter), session);
	}
}

void filter_free(struct session *session)
{
	unsigned long flags;

	if (!READ_ONCE(pool))
		return;
	raw_spin_lock_irqsave(&spaces_lock, flags);
	filter_drop_spaces_of(session);
	raw_spin_unlock_irqrestore(&spaces_lock, flags);
}

void filters_init(void)
{
	filter_shares_init();
	get_random_bytes(&secret, sizeof(secret));
	probes_find(probes);
}

void filters_exit(void)
{
	rcu_barrier();
	flush_workqueue(hwprof_workqueue);
	vfree(pool);
}
