// SPDX-License-Identifier: GPL-2.0-only
/*
 * The maps of a process are those of its image, which it got by its last exec.
 * Images are distinguished by where exec has put things, which is mostly
 * random. A forked child has the image of its parent, and its maps are known at
 * once. After an exec it is another image. Neither event needs to be watched.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <linux/siphash.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/xarray.h>

#include "right.h"
#include "session.h"
#include "unwind.h"

enum {
	BUCKET_BITS	= 8,
	/* Images per bucket. A sample looks at all of them. */
	BUCKET_MAX	= 16,
};

/* An unwind table. It does not change once it has a number. */
struct unwind_table {
	u32 count;
	struct hwprof_unwind_row rows[];	/* sorted by start */
};

/* Where a map starts. They are searched, so the rest is elsewhere. */
struct map_start {
	u64 start;
};

struct map {
	u64 end, base;
	const struct unwind_table *table;
};

/*
 * Distinguishes images. It is made of a struct mm_struct; forks have the same.
 */
struct image_key {
	const struct file *file;	/* only compared; not a reference */
	u64 code, stack, brk;
};

/*
 * The maps of an image. They are replaced as a whole, because samples may look
 * at them.
 */
struct unwind_image {
	struct hlist_node link;
	struct rcu_head rcu;
	struct image_key key;
	/* Process for which they were given last. */
	struct pid *pid;
	size_t size;			/* in bytes */
	u32 count;
	struct map *maps;		/* behind @starts, in the same order */
	struct map_start starts[];	/* sorted; maps do not overlap */
};

/* A set of tables and maps. The file's lock protects writes. */
struct unwind {
	struct kref ref;
	struct opener opener;
	struct holding holding;
	siphash_key_t secret;		/* keys unwind_bucket_of() */
	struct xarray tables;		/* numbered from 1 */
	struct hlist_head images[1 << BUCKET_BITS];	/* RCU */
};

/* --- images --------------------------------------------------------------- */

static struct image_key unwind_key_of(const struct mm_struct *mm)
{
	return (struct image_key) {
		.file = rcu_access_pointer(mm->exe_file),
		.code = READ_ONCE(mm->start_code),
		.stack = READ_ONCE(mm->start_stack),
		.brk = READ_ONCE(mm->start_brk),
	};
}

static bool unwind_key_equal(const struct image_key *a,
			     const struct image_key *b)
{
	return a->file == b->file && a->code == b->code &&
	       a->stack == b->stack && a->brk == b->brk;
}

/*
 * Return the bucket of a key. A program may choose all these numbers, and a
 * full bucket discloses a collision. The secret keeps everybody from foreseeing
 * collisions. No address of the kernel has a part in it.
 */
static u32 unwind_bucket_of(const struct unwind *unwind,
			    const struct image_key *key)
{
	return siphash_3u64(key->code, key->stack, key->brk, &unwind->secret) &
	       ((1 << BUCKET_BITS) - 1);
}

/*
 * Return true if the process that the maps were given for still runs the image.
 */
static bool unwind_is_alive(const struct unwind_image *image)
{
	struct task_struct *task = get_pid_task(image->pid, PIDTYPE_PID);
	struct mm_struct *mm = task ? get_task_mm(task) : NULL;
	struct image_key key;
	bool alive = false;

	if (mm) {
		key = unwind_key_of(mm);
		alive = unwind_key_equal(&key, &image->key);
		mmput(mm);
	}
	if (task)
		put_task_struct(task);
	return alive;
}

static void unwind_drop_image(struct unwind *unwind, struct unwind_image *image)
{
	hlist_del_rcu(&image->link);
	put_pid(image->pid);
	holding_uncharge(&unwind->holding, image->size);
	kvfree_rcu(image, rcu);
}

/*
 * Return true if a bucket has room for one more image, or can make it. An image
 * whose process has gone may be that of forked children, so it is only dropped
 * if room is needed.
 */
static bool unwind_make_room(struct unwind *unwind, struct hlist_head *bucket)
{
	struct unwind_image *image;
	struct hlist_node *next;
	unsigned int count = 0;

	hlist_for_each_entry(image, bucket, link)
		count++;
	if (count < BUCKET_MAX)
		return true;
	hlist_for_each_entry_safe(image, next, bucket, link) {
		if (unwind_is_alive(image))
			continue;
		unwind_drop_image(unwind, image);
		count--;
	}
	return count < BUCKET_MAX;
}

static struct unwind_image *unwind_find_image(const struct unwind *unwind,
					      const struct image_key *key)
{
	const struct hlist_head *bucket =
		&unwind->images[unwind_bucket_of(unwind, key)];
	struct unwind_image *image;

	hlist_for_each_entry_rcu(image, bucket, link, true)
		if (unwind_key_equal(&image->key, key))
			return image;
	return NULL;
}

/* Add an image. It replaces what was known of it. */
static int unwind_add_image(struct unwind *unwind, struct unwind_image *image)
{
	struct hlist_head *bucket =
		&unwind->images[unwind_bucket_of(unwind, &image->key)];
	struct unwind_image *old = unwind_find_image(unwind, &image->key);
	int err;

	if (!old && !unwind_make_room(unwind, bucket))
		return -ENOSPC;
	err = holding_charge(&unwind->holding, image->size);
	if (err)
		return err;
	hlist_add_head_rcu(&image->link, bucket);
	if (old)
		unwind_drop_image(unwind, old);
	return 0;
}

/* --- what comes in -------------------------------------------------------- */

/* Fails if memory is short, and does not invoke the OOM killer. */
static void *unwind_alloc(size_t bytes)
{
	if (bytes >> PAGE_SHIFT > si_mem_available())
		return NULL;
	return kvmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_NOWARN |
			__GFP_RETRY_MAYFAIL);
}

static bool unwind_row_is_valid(const struct hwprof_unwind_row *row)
{
	switch (row->kind) {
	case HWPROF_UNWIND_SP:
	case HWPROF_UNWIND_BP:
		return row->cfa;
	case HWPROF_UNWIND_UNKNOWN:
	case HWPROF_UNWIND_OUTERMOST:
		return !row->cfa && !row->bp;
	}
	return false;
}

static int unwind_read_rows(struct unwind_table *table,
			    const struct hwprof_unwind_row __user *rows,
			    u32 count)
{
	u32 i;

	if (copy_from_user(table->rows, rows,
			   array_size(count, sizeof(*rows))))
		return -EFAULT;
	table->count = count;
	for (i = 0; i < count; i++) {
		if (!unwind_row_is_valid(&table->rows[i]) ||
		    (i && table->rows[i].start <= table->rows[i - 1].start))
			return -EINVAL;
		if (!(i % 4096))
			cond_resched();
	}
	return 0;
}

int unwind_add_table(struct unwind *unwind,
		     const struct hwprof_unwind_row __user *rows, u32 count)
{
	struct unwind_table *table;
	size_t size = struct_size(table, rows, count);
	u32 number;
	int err;

	err = holding_charge(&unwind->holding, size);
	if (err)
		return err;
	err = -ENOMEM;
	table = unwind_alloc(size);
	if (table)
		err = unwind_read_rows(table, rows, count);
	if (!err)
		err = xa_alloc(&unwind->tables, &number, table,
			       XA_LIMIT(1, HWPROF_UNWIND_TABLES_MAX),
			       GFP_KERNEL_ACCOUNT);
	if (!err)
		return number;
	kvfree(table);
	holding_uncharge(&unwind->holding, size);
	return err == -EBUSY ? -ENOSPC : err;
}

static int unwind_read_map(struct unwind *unwind, struct unwind_image *image,
			   u32 i, const struct hwprof_unwind_map __user *from,
			   u64 above)
{
	const struct unwind_table *table;
	struct hwprof_unwind_map map;

	if (copy_from_user(&map, from, sizeof(map)))
		return -EFAULT;
	table = xa_load(&unwind->tables, map.table);
	image->starts[i].start = map.start;
	image->maps[i] = (struct map) { map.end, map.base, table };
	if (!table || map.reserved || map.start < above ||
	    map.end <= map.start || map.end > TASK_SIZE_MAX ||
	    map.base > map.start || map.end - map.base > 1ULL << 32)
		return -EINVAL;
	return 0;
}

static int unwind_read_maps(struct unwind *unwind, struct unwind_image *image,
			    const struct hwprof_unwind_map __user *maps,
			    u32 count)
{
	u64 above = 0;
	int err = 0;
	u32 i;

	for (i = 0; i < count && !err; i++) {
		err = unwind_read_map(unwind, image, i, &maps[i], above);
		above = image->maps[i].end;
	}
	image->count = count;
	return err;
}

/*
 * Return the task's memory, whose struct stays until mmdrop(). The memory
 * itself goes when its tasks have ended, however long the caller waits.
 */
static struct mm_struct *unwind_grab_memory(struct task_struct *task)
{
	struct mm_struct *mm;

	task_lock(task);
	mm = task->flags & PF_KTHREAD ? NULL : task->mm;
	if (mm)
		mmgrab(mm);
	task_unlock(task);
	return mm;
}

static bool unwind_has_memory(struct task_struct *task,
			      const struct mm_struct *mm)
{
	bool has;

	task_lock(task);
	has = task->mm == mm;
	task_unlock(task);
	return has;
}

/*
 * Identify the image of a process as it is now. Current needs the right to
 * attach, because tables decide which words of its stack are disclosed.
 */
static int unwind_identify_task(struct unwind_image *image,
				struct task_struct *task)
{
	struct mm_struct *mm = unwind_grab_memory(task);
	int err;

	if (!mm)
		return -ESRCH;
	err = right_attach(task);
	image->key = unwind_key_of(mm);
	/* An exec came in between: the right was to another program. */
	if (!err && !unwind_has_memory(task, mm))
		err = -ESRCH;
	mmdrop(mm);
	return err;
}

static int unwind_identify(struct unwind_image *image, struct pid *pid)
{
	struct task_struct *task = get_pid_task(pid, PIDTYPE_PID);
	int err;

	if (!task)
		return -ESRCH;
	err = unwind_identify_task(image, task);
	put_task_struct(task);
	if (!err)
		image->pid = get_pid(pid);
	return err;
}

int unwind_set_maps(struct unwind *unwind, u32 pid,
		    const struct hwprof_unwind_map __user *maps, u32 count)
{
	struct pid *process = find_get_pid(pid);
	struct unwind_image *image;
	size_t size = size_add(struct_size(image, starts, count),
			       array_size(count, sizeof(*image->maps)));
	int err = -ENOMEM;

	image = unwind_alloc(size);
	if (image) {
		image->size = size;
		image->maps = (struct map *)&image->starts[count];
		err = unwind_read_maps(unwind, image, maps, count) ?:
		      unwind_identify(image, process);
	}
	if (!err) {
		err = unwind_add_image(unwind, image);
		if (err)
			put_pid(image->pid);
	}
	if (err)
		kvfree(image);
	put_pid(process);
	return err;
}

/* --- what samples look up ------------------------------------------------- */

const struct unwind_image *unwind_image(const struct unwind *unwind)
{
	struct image_key key = unwind_key_of(current->mm);
	const struct unwind_image *image = unwind_find_image(unwind, &key);

	/*
	 * The file's address may be reused by now, by that of a setuid program.
	 */
	return image && !right_is_secure(current) ? image : NULL;
}

/*
 * Search the last one of @count elements, at least one, whose @start is not
 * above @value; the first one if there is none. A deep stack searches many
 * times with interrupts off, so a step has no branch but the loop's: each
 * leaves a power of two of elements.
 */
#define unwind_search(elements, count, start, value) ({			       \
	const typeof(*(elements)) *found_ = (elements);			       \
	unsigned long half_ = rounddown_pow_of_two(count);		       \
									       \
	if (found_[(count) - half_].start <= (value))			       \
		found_ += (count) - half_;				       \
	while (half_ >>= 1)						       \
		found_ = found_[half_].start <= (value) ? found_ + half_ :     \
							  found_;	       \
	found_;								       \
})

static const struct map *unwind_find_map(const struct unwind_image *image,
					 u64 ip)
{
	const struct map_start *found;
	const struct map *map;

	if (!image->count)
		return NULL;
	found = unwind_search(image->starts, image->count, start, ip);
	map = &image->maps[found - image->starts];
	return found->start <= ip && ip < map->end ? map : NULL;
}

const struct hwprof_unwind_row *unwind_row(const struct unwind_image *image,
					   u64 ip)
{
	const struct map *map = unwind_find_map(image, ip);
	const struct hwprof_unwind_row *row;
	u32 offset;

	if (!map)
		return NULL;
	offset = ip - map->base;	/* see unwind_read_map() */
	row = unwind_search(map->table->rows, map->table->count, start, offset);
	return row->start <= offset && row->kind != HWPROF_UNWIND_UNKNOWN ?
	       row : NULL;
}

/* --- from begin to end ---------------------------------------------------- */

struct unwind *unwind_new(void)
{
	struct unwind *unwind = kzalloc(sizeof(*unwind), GFP_KERNEL_ACCOUNT);
	int err;

	if (!unwind)
		return ERR_PTR(-ENOMEM);
	err = holding_begin_unwind(&unwind->holding);
	if (err) {
		kfree(unwind);
		return ERR_PTR(err);
	}
	kref_init(&unwind->ref);
	unwind->opener = opener_of_current();
	get_cred(unwind->opener.cred);
	get_random_bytes(&unwind->secret, sizeof(unwind->secret));
	/* xa_alloc() takes a node without its @gfp first, but by this flag. */
	xa_init_flags(&unwind->tables, XA_FLAGS_ALLOC1 | XA_FLAGS_ACCOUNT);
	return unwind;
}

const struct opener *unwind_opener(const struct unwind *unwind)
{
	return &unwind->opener;
}

struct unwind *unwind_get(struct unwind *unwind)
{
	kref_get(&unwind->ref);
	return unwind;
}

/*
 * No sample looks at them any more: the file is closed, and its sessions have
 * ended.
 */
static void unwind_free(struct kref *ref)
{
	struct unwind *unwind = container_of(ref, struct unwind, ref);
	struct unwind_image *image;
	struct hlist_node *next;
	struct unwind_table *table;
	unsigned long i;

	for (i = 0; i < ARRAY_SIZE(unwind->images); i++)
		hlist_for_each_entry_safe(image, next, &unwind->images[i], link)
			unwind_drop_image(unwind, image);
	xa_for_each(&unwind->tables, i, table)
		kvfree(table);
	xa_destroy(&unwind->tables);
	holding_end(&unwind->holding);
	put_cred(unwind->opener.cred);
	kfree(unwind);
}

void unwind_put(struct unwind *unwind)
{
	if (unwind)
		kref_put(&unwind->ref, unwind_free);
}
