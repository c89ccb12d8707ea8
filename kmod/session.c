// SPDX-License-Identifier: GPL-2.0-only
/* Sessions: found by opener and configuration, made, and freed. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/delay.h>
#include <linux/rcupdate.h>
#include <linux/module.h>
#include <linux/mm.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "emit.h"
#include "engine/joint.h"
#include "filter.h"
#include "flush.h"
#include "limit.h"
#include "right.h"
#include "session.h"
#include "source/budget.h"
#include "source/source.h"
#include "unwind.h"

struct workqueue_struct *hwprof_workqueue;

static LIST_HEAD(sessions);
static LIST_HEAD(sessions_made);	/* those about to end, too */
static LIST_HEAD(holdings);
/* Protects the lists, and making a session. */
static DEFINE_MUTEX(sessions_lock);
static struct usage used;		/* by all sessions that were made */
static u32 next_id;

static void session_end(struct work_struct *work);

struct opener opener_of_current(void)
{
	return (struct opener) {
		.tgid = task_tgid_nr(current),
		.born = current->group_leader->start_time,
		.exec = current->self_exec_id,
		.cred = current_cred(),
	};
}

static bool is_same_process(const struct opener *a, const struct opener *b)
{
	return a->tgid == b->tgid && a->born == b->born && a->exec == b->exec;
}

bool opener_equal(const struct opener *a, const struct opener *b)
{
	return is_same_process(a, b) && a->cred == b->cred;
}

int opener_check(const struct opener *opener)
{
	const struct opener now = opener_of_current();

	if (!is_same_process(opener, &now))
		return -EPERM;
	return opener->cred == now.cred ? 0 : -EACCES;
}

/* Without a trigger, the period of perf's samples makes no difference. */
static struct session_key make_key(const struct session_config *config,
				   bool inherit)
{
	const struct config_request *request = &config->request;
	struct session_key key = {
		.opener = opener_of_current(),
		.exclude = request->exclude,
		.inherit = inherit,
		.sampling = request->period,
		.period = config->windows ? request->period : 0,
		.freq = config->windows && request->freq,
	};

	memcpy(key.words, request->words, sizeof(key.words));
	return key;
}

static bool session_key_equal(const struct session_key *a,
			      const struct session_key *b)
{
	return opener_equal(&a->opener, &b->opener) && a->target == b->target &&
	       !memcmp(a->words, b->words, sizeof(a->words)) &&
	       a->exclude == b->exclude && a->inherit == b->inherit &&
	       a->sampling == b->sampling && a->period == b->period &&
	       a->freq == b->freq;
}

/*
 * Charge memory that is held for a user; it counts as locked. Return 0 or
 * -ENOMEM.
 */
static int charge(struct user_struct *user, size_t bytes)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	unsigned long pages = bytes >> PAGE_SHIFT;

	if (!pages || atomic_long_add_return(pages, &user->locked_vm) <=
	    limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic_long_sub(pages, &user->locked_vm);
	return -ENOMEM;
}

static void uncharge(struct user_struct *user, size_t bytes)
{
	atomic_long_sub(bytes >> PAGE_SHIFT, &user->locked_vm);
}

static struct usage usage_of(const struct user_struct *user)
{
	struct usage usage = { 0 };
	struct session *session;
	struct holding *holding;

	list_for_each_entry(session, &sessions_made, made) {
		if (session->user != user)
			continue;
		usage.sessions++;
		usage.memory += session->memory + session->ring_memory;
	}
	list_for_each_entry(holding, &holdings, link)
		if (holding->user == user)
			usage.memory += holding->memory;
	return usage;
}

static int check_limits(const struct session *session)
{
	struct usage usage = usage_of(session->user);

	return limits_check_session(&usage, &used) ?:
	       limits_check_memory(&usage, &used, session->memory);
}

/* Charge @bytes of rings to the session. Return 0 or an errno. */
int session_charge_rings(struct session *session, size_t bytes)
{
	struct usage usage;
	int err;

	mutex_lock(&sessions_lock);
	usage = usage_of(session->user);
	err = limits_check_memory(&usage, &used, bytes) ?:
	      charge(session->user, bytes);
	if (!err) {
		session->ring_memory = bytes;
		used.memory += bytes;
	}
	mutex_unlock(&sessions_lock);
	return err;
}

void session_uncharge_rings(struct session *session)
{
	mutex_lock(&sessions_lock);
	uncharge(session->user, session->ring_memory);
	used.memory -= session->ring_memory;
	session->ring_memory = 0;
	mutex_unlock(&sessions_lock);
}

/* Begin to hold memory for current's user: none yet. */
void holding_begin(struct holding *holding)
{
	holding->user = get_uid(current_user());
	holding->memory = 0;
	mutex_lock(&sessions_lock);
	list_add(&holding->link, &holdings);
	mutex_unlock(&sessions_lock);
}

/*
 * Charge @bytes, rounded up to whole pages, so that many small things count as
 * well. Return 0 or an errno.
 */
int holding_charge(struct holding *holding, size_t bytes)
{
	struct usage usage;
	int err;

	bytes = PAGE_ALIGN(bytes);
	mutex_lock(&sessions_lock);
	usage = usage_of(holding->user);
	err = limits_check_memory(&usage, &used, bytes) ?:
	      charge(holding->user, bytes);
	if (!err) {
		holding->memory += bytes;
		used.memory += bytes;
	}
	mutex_unlock(&sessions_lock);
	return err;
}

void holding_uncharge(struct holding *holding, size_t bytes)
{
	bytes = PAGE_ALIGN(bytes);
	mutex_lock(&sessions_lock);
	uncharge(holding->user, bytes);
	holding->memory -= bytes;
	used.memory -= bytes;
	mutex_unlock(&sessions_lock);
}

void holding_end(struct holding *holding)
{
	holding_uncharge(holding, holding->memory);
	mutex_lock(&sessions_lock);
	list_del(&holding->link);
	mutex_unlock(&sessions_lock);
	free_uid(holding->user);
}

/* Fails if memory is short, and does not invoke the OOM killer. */
static void *alloc_zeroed(size_t bytes)
{
	return __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
			 __GFP_RETRY_MAYFAIL);
}

static void free_tables(struct session *session)
{
	unsigned int i;

	for (i = 0; session->tables && i < session->table_count; i++)
		vfree(session->tables[i].memory);
	kfree(session->tables);
	bitmap_free(session->table_free);
	bitmap_free(session->table_dirty);
	vfree(session->profile);
	vfree(session->cursors);
	vfree(session->spaces);
}

static int make_tables(struct session *session, size_t bytes)
{
	const struct engine_ops *engine = session->engine;
	unsigned int i, want = num_present_cpus() + 1;
	/* There are at least two tables. */
	size_t profile = engine->immediate ? 0 :
			 min(bytes / 2, bytes - 2 * engine->table_min);

	session->table_size = max(engine->table_min,
				  engine->immediate ? 0 :
				  (bytes - profile) / want & ~63UL);
	session->table_count = clamp_t(size_t,
				       (bytes - profile) / session->table_size,
				       2, want);
	session->tables = kcalloc(session->table_count,
				  sizeof(*session->tables), GFP_KERNEL_ACCOUNT);
	session->table_free = bitmap_zalloc(session->table_count,
					    GFP_KERNEL_ACCOUNT);
	session->table_dirty = bitmap_zalloc(session->table_count,
					     GFP_KERNEL_ACCOUNT);
	if (!session->tables || !session->table_free || !session->table_dirty)
		return -ENOMEM;
	for (i = 0; i < session->table_count; i++) {
		void *memory = alloc_zeroed(session->table_size);

		if (!memory)
			return -ENOMEM;
		session->tables[i].memory = memory;
		engine->table_init(memory, session->table_size,
				   &session->params);
		__set_bit(i, session->table_free);
	}
	if (!profile)
		return 0;
	session->profile = alloc_zeroed(profile);
	session->profile_size = profile;
	if (!session->profile)
		return -ENOMEM;
	engine->table_init(session->profile, profile, &session->params);
	return 0;
}

/*
 * A quarter of the memory is for cursors and a little for spaces; the rest is
 * for tables.
 */
static int make_memory(struct session *session)
{
	size_t bytes = session->memory, cursors;
	int err;

	/*
	 * Do not take all memory only to find that it is too little: that hurts
	 * others.
	 */
	if (bytes >> PAGE_SHIFT > si_mem_available())
		return -ENOMEM;
	session->cursor_size = ALIGN(sizeof(struct cursor) +
				     session->engine->cursor_size, 8);
	session->cursor_count = bytes / 4 / session->cursor_size;
	session->space_count = max_t(size_t, 64,
				     bytes / 64 / sizeof(struct space));
	cursors = session->cursor_count * session->cursor_size;
	err = make_tables(session, bytes - cursors -
			  session->space_count * sizeof(struct space));
	if (err)
		return err;
	session->cursors = alloc_zeroed(cursors);
	session->spaces = alloc_zeroed(array_size(session->space_count,
						  sizeof(struct space)));
	return session->cursors && session->spaces ? 0 : -ENOMEM;
}

/*
 * Sessions that only count have slots, too. They have no memory that counts as
 * locked.
 */
static int make_slots(struct session *session)
{
	int cpu;

	session->slots = alloc_percpu_gfp(struct slot, GFP_KERNEL_ACCOUNT);
	if (!session->slots)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct slot *slot = per_cpu_ptr(session->slots, cpu);

		slot->session = session;
		slot->table = -1;
		INIT_LIST_HEAD(&slot->events);
		INIT_LIST_HEAD(&slot->roots);
		slot_flush_init(slot);
		INIT_LIST_HEAD(&slot->link);
		budget_init(slot);
		programs_init_slot(slot);
		slot->row = kzalloc_node(STAGED_MAX, GFP_KERNEL_ACCOUNT,
					 cpu_to_node(cpu));
		if (!slot->row)
			return -ENOMEM;
	}
	if (session->rows && !session->fetched) {
		session->stage = stage_new();
		if (!session->stage)
			return -ENOMEM;
	}
	return 0;
}

static void free_slots(struct session *session)
{
	int cpu;

	if (!session->slots)
		return;
	for_each_possible_cpu(cpu)
		kfree(per_cpu_ptr(session->slots, cpu)->row);
	free_percpu(session->slots);
	kvfree(session->stage);
}

static void free_memory(struct session *session)
{
	free_slots(session);
	free_tables(session);
	uncharge(session->user, session->memory);
}

static void session_free(struct session *session)
{
	programs_free(session);
	filter_free(session);
	unwind_put(session->unwind);
	put_cred(session->key.opener.cred);
	put_pid(session->key.target);
	free_uid(session->user);
	put_pid(session->owner);
	put_pid_ns(session->pid_ns);
	kfree_rcu(session, rcu);
}

static u32 basis_of(const struct session_config *config)
{
	if (!config->windows)
		return HWPROF_BASIS_EXACT;
	return config->by_branches ? HWPROF_BASIS_BRANCHES : HWPROF_BASIS_TIME;
}

/*
 * Return a number that is not 0 and not in use. After 2^32 sessions numbers are
 * used again.
 */
static u32 new_id(void)
{
	struct session *session;
	bool taken;

	do {
		taken = !++next_id;
		list_for_each_entry(session, &sessions, link)
			taken |= session->id == next_id;
	} while (taken);
	return next_id;
}

/*
 * Return true if the opener may attach to every program. It only matters for
 * sources that attach, and for unwind tables.
 */
static bool is_privileged(const struct session *session)
{
	return (session->config.source_caps & SOURCE_ATTACHES ||
		session->engine->feed_stack) &&
	       !right_attach_all();
}

static void init_params(struct engine_params *params,
			const struct session_config *config)
{
	params->span = config->span ?: HWPROF_DEFAULT_SPAN;
	params->basis = basis_of(config);
	params->seed = get_random_u64();
	params->epsilon_ppm = config->epsilon_ppm;
	params->range_of = config->range_of;
	params->metrics = config->metrics;
	params->parts = joint_parts_of(config->engines);
}

static const struct engine_ops *engine_of(const struct session_config *config)
{
	return config_joins(config) ? &joint_engine :
				      engines[__ffs(config->engines)];
}

static void init_memory(struct session *session)
{
	u64 mib = session->config.memory_mib ?: HWPROF_DEFAULT_MEMORY_MIB;
	bool samples = session->config.request.period;

	session->rows = session->fetched || (samples && session->config.rows);
	if (session->rows)
		session->memory = mib << 20;
}

/* Make what a session is before it has memory. @key: see session_make(). */
static struct session *session_alloc(const struct session_config *config,
				     const struct session_key *key)
{
	struct session *session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);

	if (!session)
		return NULL;
	kref_init(&session->ref);
	session->key = key ? *key : make_key(config, false);
	get_cred(session->key.opener.cred);
	get_pid(session->key.target);
	session->config = *config;
	session->engine = engine_of(config);
	session->source = sources[config->source];
	init_params(&session->params, config);
	session->interval = msecs_to_jiffies(config->interval_ms ?:
					     HWPROF_DEFAULT_INTERVAL_MS);
	session->fetched = session->reader = !key;
	session->privileged = is_privileged(session);
	session->pid_ns = get_pid_ns(task_active_pid_ns(current));
	session->owner = get_pid(task_tgid(current));
	session->user = get_uid(current_user());
	session->viewer = current_euid();
	raw_spin_lock_init(&session->roots_lock);
	INIT_LIST_HEAD(&session->roots);
	INIT_WORK(&session->end_work, session_end);
	session_flush_init(session);
	programs_init(session);
	session->id = new_id();
	init_memory(session);
	return session;
}

static int session_begin(struct session *session)
{
	int err = source_get(session);

	if (err)
		return err;
	err = session_show(session);
	if (err)
		source_put(session);
	return err;
}

/*
 * Make a session. @key is that of a perf event's session; NULL: the device's.
 */
static struct session *session_make(const struct session_config *config,
				    const struct session_key *key)
{
	struct session *session = session_alloc(config, key);
	int err;

	if (!session)
		return ERR_PTR(-ENOMEM);
	err = check_limits(session) ?: charge(session->user, session->memory);
	if (err) {
		session_free(session);
		return ERR_PTR(err);
	}
	err = make_slots(session);
	if (!err && session->rows)
		err = make_memory(session);
	if (!err)
		err = session_begin(session);
	if (err) {
		free_memory(session);
		session_free(session);
		return ERR_PTR(err);
	}
	return session;
}

/* Make a session and add it to the lists. */
static struct session *session_add(const struct session_config *config,
				   const struct session_key *key)
{
	struct session *session = session_make(config, key);

	if (IS_ERR(session))
		return session;
	used.memory += session->memory;
	WRITE_ONCE(used.sessions, used.sessions + 1);
	list_add(&session->made, &sessions_made);
	list_add_rcu(&session->link, &sessions);
	return session;
}

/*
 * Return the session of a root event: that of an earlier event of the same
 * opener with the same configuration and target, or a new one.
 */
struct session *session_get(const struct perf_event *event,
			    const struct session_config *config)
{
	struct session_key key = make_key(config, event->attr.inherit);
	struct session *session;

	if (event->hw.target) {
		key.target = get_task_pid(event->hw.target, PIDTYPE_TGID);
		if (!key.target)
			return ERR_PTR(-ESRCH);
	}
	mutex_lock(&sessions_lock);
	list_for_each_entry(session, &sessions, link)
		if (!session->fetched &&
		    session_key_equal(&session->key, &key) &&
		    session_tryget(session))
			goto out;
	session = session_add(config, &key);
out:
	mutex_unlock(&sessions_lock);
	put_pid(key.target);
	return session;
}

/* Make a session whose rows are fetched, for events that name it. */
struct session *session_new(const struct session_config *config)
{
	struct session *session;

	mutex_lock(&sessions_lock);
	session = session_add(config, NULL);
	mutex_unlock(&sessions_lock);
	return session;
}

/*
 * Return the session with this number that current has made with session_new().
 * Return -EPERM if there is none, -EACCES if current had other credentials
 * then.
 */
struct session *session_find(u32 id)
{
	struct session *session, *found = ERR_PTR(-EPERM);
	int err;

	mutex_lock(&sessions_lock);
	list_for_each_entry(session, &sessions, link) {
		if (session->id != id || !READ_ONCE(session->reader))
			continue;
		err = opener_check(&session->key.opener);
		if (err)
			found = ERR_PTR(err);
		else if (session_tryget(session))
			found = session;
	}
	mutex_unlock(&sessions_lock);
	return found;
}

/*
 * Give tables to session @only; if that is NULL, to the sessions of @opener's
 * perf events. A session that sees stacks of programs that @opener may not
 * attach to gets none.
 */
void sessions_unwind(struct unwind *unwind, const struct opener *opener,
		     struct session *only)
{
	struct session *session;

	mutex_lock(&sessions_lock);
	list_for_each_entry(session, &sessions, link) {
		if (session->unwind || READ_ONCE(session->foreign) ||
		    !opener_equal(&session->key.opener, opener) ||
		    (only ? session != only : session->fetched))
			continue;
		/* Samples may come meanwhile. */
		smp_store_release(&session->unwind, unwind_get(unwind));
	}
	mutex_unlock(&sessions_lock);
}

bool session_tryget(struct session *session)
{
	return kref_get_unless_zero(&session->ref);
}

/*
 * End a session, from the workqueue. The last reference may go where nothing
 * can be waited for, because perf destroys events under its locks.
 */
static void session_end(struct work_struct *work)
{
	struct session *session = container_of(work, struct session, end_work);

	mutex_lock(&sessions_lock);
	list_del_rcu(&session->link);
	mutex_unlock(&sessions_lock);
	/*
	 * Wait for probes, which walk the list, and for readers of its totals.
	 * Both may ask for flushes.
	 */
	synchronize_rcu();
	session_hide(session);
	session_flush_end(session);
	source_put(session);
	free_memory(session);
	mutex_lock(&sessions_lock);
	list_del(&session->made);
	used.memory -= session->memory;
	WRITE_ONCE(used.sessions, used.sessions - 1);
	mutex_unlock(&sessions_lock);
	session_free(session);
}

static void session_last(struct kref *ref)
{
	struct session *session = container_of(ref, struct session, ref);

	queue_work(hwprof_workqueue, &session->end_work);
}

void session_put(struct session *session)
{
	kref_put(&session->ref, session_last);
}

void session_for_each(void (*visit)(struct session *session, void *context),
		      void *context)
{
	struct session *session;

	rcu_read_lock();
	list_for_each_entry_rcu(session, &sessions, link)
		visit(session, context);
	rcu_read_unlock();
}

/*
 * Call @visit for all sessions in process context; it may sleep. A session that
 * is held stays on the list, and so leads to the next one.
 */
void sessions_visit(void (*visit)(struct session *session, void *context),
		    void *context)
{
	struct session *session;

	rcu_read_lock();
	list_for_each_entry_rcu(session, &sessions, link) {
		if (!session_tryget(session))
			continue;
		rcu_read_unlock();
		visit(session, context);
		rcu_read_lock();
		session_put(session);
	}
	rcu_read_unlock();
}

void session_add_root(struct session *session, struct root *root)
{
	int cpu = root->event->cpu;
	unsigned long flags;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	list_add_tail(&root->link, cpu < 0 ? &session->roots :
		      &per_cpu_ptr(session->slots, cpu)->roots);
	WRITE_ONCE(session->root_count, session->root_count + 1);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
}

void session_remove_root(struct session *session, struct root *root)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&session->roots_lock, flags);
	list_del(&root->link);
	WRITE_ONCE(root->event, NULL);
	WRITE_ONCE(session->root_count, session->root_count - 1);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
}

unsigned int session_count(void)
{
	return READ_ONCE(used.sessions);
}

int sessions_init(void)
{
	limits_init();
	hwprof_workqueue = alloc_workqueue("hwprof", WQ_UNBOUND, 0);
	return hwprof_workqueue ? 0 : -ENOMEM;
}

/*
 * Wait for what events have left behind. No event is left, or the module could
 * not be unloaded.
 */
void sessions_wait(void)
{
	while (session_count())
		msleep(1);
	flush_workqueue(hwprof_workqueue);
}

void sessions_exit(void)
{
	destroy_workqueue(hwprof_workqueue);
	rcu_barrier();
	/* Wait for task works that are about to return. */
	synchronize_rcu_tasks();
}
