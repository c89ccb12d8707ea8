// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions: found by opener and configuration, made, and freed. This is above
 * the rest of the core and the sources, because a session is made of all of it.
 * session_list.c has what everybody needs of sessions that exist.
 */
#include <linux/cred.h>
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
#include "engine/multi.h"
#include "filter.h"
#include "flush.h"
#include "right.h"
#include "session.h"
#include "source/budget.h"
#include "source/source.h"
#include "tuning.h"
#include "unwind.h"

static const struct session_folders *session_folders;

static void session_end(struct work_struct *work);

/* Without a trigger, the period of perf's samples makes no difference. */
static struct session_key session_make_key(const struct session_config *config,
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

/* Fails if memory is short, and does not invoke the OOM killer. */
static void *session_alloc_zeroed(size_t bytes)
{
	return __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN |
			 __GFP_RETRY_MAYFAIL);
}

static void session_free_tables(struct session *session)
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

static int session_make_tables(struct session *session, size_t bytes)
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
		void *memory = session_alloc_zeroed(session->table_size);

		if (!memory)
			return -ENOMEM;
		session->tables[i].memory = memory;
		engine->table_init(memory, session->table_size,
				   &session->params);
		__set_bit(i, session->table_free);
	}
	if (!profile)
		return 0;
	session->profile = session_alloc_zeroed(profile);
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
static int session_make_memory(struct session *session)
{
	size_t bytes = session->memory, cursors;
	unsigned int i;
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
	err = session_make_tables(session, bytes - cursors -
				  session->space_count * sizeof(struct space));
	if (err)
		return err;
	session->cursors = session_alloc_zeroed(cursors);
	session->spaces =
		session_alloc_zeroed(array_size(session->space_count,
						sizeof(struct space)));
	if (!session->cursors || !session->spaces)
		return -ENOMEM;
	get_random_bytes(&session->secret, sizeof(session->secret));
	for (i = 0; i < session->space_count; i++)
		session->spaces[i].session = session;
	return 0;
}

/*
 * Sessions that only count have lanes, too. They have no memory that counts as
 * locked.
 */
static int session_make_lanes(struct session *session)
{
	int cpu;

	session->lanes = alloc_percpu_gfp(struct lane, GFP_KERNEL_ACCOUNT);
	if (!session->lanes)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct lane *lane = per_cpu_ptr(session->lanes, cpu);

		lane->session = session;
		lane->table = -1;
		INIT_LIST_HEAD(&lane->events);
		INIT_LIST_HEAD(&lane->roots);
		lane_flush_init(lane);
		INIT_LIST_HEAD(&lane->link);
		lane->burst.random = get_random_u64();
		budget_init(lane);
		filter_init_lane(lane);
		programs_init_lane(lane);
		lane->row = kzalloc_node(STAGED_MAX, GFP_KERNEL_ACCOUNT,
					 cpu_to_node(cpu));
		if (!lane->row)
			return -ENOMEM;
	}
	if (session->rows && !session->fetched) {
		session->stage = stage_new();
		if (!session->stage)
			return -ENOMEM;
	}
	return 0;
}

static void session_free_lanes(struct session *session)
{
	int cpu;

	if (!session->lanes)
		return;
	for_each_possible_cpu(cpu) {
		filter_free_lane(per_cpu_ptr(session->lanes, cpu));
		kfree(per_cpu_ptr(session->lanes, cpu)->row);
	}
	free_percpu(session->lanes);
	kvfree(session->stage);
}

static void session_free_memory(struct session *session)
{
	session_free_lanes(session);
	session_free_tables(session);
	holding_end(&session->holding);
}

static void session_free(struct session *session)
{
	programs_free(session);
	tuning_free(session);
	filter_free(session);
	unwind_put(session->unwind);
	put_cred(session->key.opener.cred);
	put_pid(session->key.target);
	free_uid(session->user);
	put_pid(session->owner);
	put_pid_ns(session->pid_ns);
	kfree_rcu(session, rcu);
}

static u32 session_basis_of(const struct session_config *config)
{
	if (!config->windows)
		return HWPROF_BASIS_EXACT;
	return config->by_branches ? HWPROF_BASIS_BRANCHES : HWPROF_BASIS_TIME;
}

/*
 * Find out if the opener may attach to every program. It only matters for
 * sources that attach, and for unwind tables. Fail if the kernel could not be
 * asked.
 */
static int session_init_privilege(struct session *session)
{
	int err;

	if (!(session->config.source_caps & SOURCE_ATTACHES) &&
	    !session->engine->feed_stack)
		return 0;
	err = right_attach_all();
	session->privileged = !err;
	return err == -EACCES ? 0 : err;
}

static void session_init_params(struct engine_params *params,
				const struct session_config *config)
{
	params->span = config->span ?: HWPROF_DEFAULT_SPAN;
	params->basis = session_basis_of(config);
	params->seed = get_random_u64();
	params->epsilon_ppm = config->epsilon_ppm;
	params->range_of = config->range_of;
	params->metrics = config->metrics;
	params->parts = multi_parts_of(config->engines);
}

static const struct engine_ops *
session_engine_of(const struct session_config *config)
{
	return config_joins(config) ? &multi_engine :
				      engines[__ffs(config->engines)];
}

static void session_init_memory(struct session *session)
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
	session->key = key ? *key : session_make_key(config, false);
	get_cred(session->key.opener.cred);
	get_pid(session->key.target);
	session->config = *config;
	session->engine = session_engine_of(config);
	session->lines = config_has_engine(config, ENGINE_LINES);
	session->source = sources[config->source];
	session_init_params(&session->params, config);
	session->interval = msecs_to_jiffies(config->interval_ms ?:
					     HWPROF_DEFAULT_INTERVAL_MS);
	session->fetched = session->reader = !key;
	session->pid_ns = get_pid_ns(task_active_pid_ns(current));
	session->owner = get_pid(task_tgid(current));
	session->user = get_uid(current_user());
	session->viewer = current_euid();
	raw_spin_lock_init(&session->roots_lock);
	INIT_LIST_HEAD(&session->roots);
	INIT_WORK(&session->end_work, session_end);
	session_flush_init(session);
	programs_init(session);
	session->id = session_next_id();
	session_init_memory(session);
	return session;
}

static int session_begin(struct session *session)
{
	int err = filters_get();

	if (err)
		return err;
	err = source_get(session);
	if (err)
		goto no_source;
	err = session_folders->show(session);
	if (!err)
		return 0;
	source_put(session);
no_source:
	filters_put();
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
	err = holding_begin_session(&session->holding, session->memory);
	if (err) {
		session_free(session);
		return ERR_PTR(err);
	}
	err = session_init_privilege(session) ?: tuning_init(session);
	if (!err)
		err = session_make_lanes(session);
	if (!err && session->rows)
		err = session_make_memory(session);
	if (!err)
		err = session_begin(session);
	if (err) {
		session_free_memory(session);
		session_free(session);
		return ERR_PTR(err);
	}
	return session;
}

/* Return the session with that key, or a new one if there is none. */
static struct session *session_with_key(const struct session_config *config,
					const struct session_key *key)
{
	struct making making = { .key = key };
	struct session *session = session_find_or_make(&making);

	if (session)
		return session;
	session = session_make(config, key);
	session_made(&making, session);
	return session;
}

/*
 * Return the session of a root event: that of an earlier event of the same
 * opener with the same configuration and target, or a new one.
 */
struct session *session_get(const struct perf_event *event,
			    const struct session_config *config)
{
	struct session_key key = session_make_key(config, event->attr.inherit);
	struct session *session;

	key.clock = moment_clock_of(&event->attr);
	if (event->hw.target) {
		key.target = get_task_pid(event->hw.target, PIDTYPE_TGID);
		if (!key.target)
			return ERR_PTR(-ESRCH);
	} else {
		key.cgroup = opener_cgroup();
	}
	session = session_with_key(config, &key);
	put_pid(key.target);
	return session;
}

/* Make a session whose rows are fetched, for events that name it. */
struct session *session_new(const struct session_config *config)
{
	struct session *session = session_make(config, NULL);

	if (!IS_ERR(session))
		session_list(session);
	return session;
}

/*
 * End a session, from the workqueue. The last reference may go where nothing
 * can be waited for, because perf destroys events under its locks.
 */
static void session_end(struct work_struct *work)
{
	struct session *session = container_of(work, struct session, end_work);

	session_unlist(session);
	/*
	 * Wait for probes, which walk the list, and for readers of its totals.
	 * Both may ask for flushes.
	 */
	synchronize_rcu();
	session_folders->hide(session);
	session_flush_end(session);
	source_put(session);
	session_free_memory(session);
	filters_put();		/* no lane asks for ranges any more */
	session_free(session);
}

void sessions_show_in(const struct session_folders *folders)
{
	session_folders = folders;
}
