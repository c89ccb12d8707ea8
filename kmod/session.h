/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: what one opener asked for with one configuration, however many
 * perf events, CPUs, threads and forks that takes.
 *
 *   source -> lane (per CPU) -> engine: table of the CPU, cursor of the task
 *                                  | retired by flush.c
 *                                  v
 *                               profile -> rows -> a ring of the session
 */
#ifndef HWPROF_SESSION_H
#define HWPROF_SESSION_H

#include <linux/cgroup.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/refcount.h>
#include <linux/siphash.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>

#include "config/config_rules.h"
#include "engine/burst.h"
#include "engine/burst_window.h"
#include "engine/engine.h"
#include "filter_request.h"
#include "holding.h"
#include "moment.h"
#include "opener.h"
#include "program.h"
#include "source/core_pmus.h"

struct closing_queue;
struct filter_space;
struct rings;
struct session;
struct source_ops;
struct stage;
struct tuning;
struct unwind;
struct window;

/* The largest row with the four zero bytes behind it, rounded up. */
#define HWPROF_ROW_MAX	(sizeof(struct hwprof_row_branches) +		       \
			 HWPROF_ROW_BRANCHES_MAX *			       \
			 sizeof(struct hwprof_branch) + 8)

/* Two events of one opener with the same key share a session. */
struct session_key {
	struct opener opener;
	u64 words[CONFIG_WORDS];
	u64 exclude;			/* enum config_exclude */
	bool inherit;
	bool sampling;
	u64 period;			/* of the trigger; or its frequency */
	bool freq;
	/* Process; NULL: CPUs, a cgroup, or the device's. */
	struct pid *target;
	u64 cgroup;			/* its number; 0: none */
	enum moment_clock clock;	/* of the times of its rows */
};

/* Owners of the record of an address space whose process is gone. */
enum space_left {
	SPACE_KEPT,	/* its process, which may live, or a flush */
	SPACE_LEFT,	/* nobody: a later flush writes its last rows */
	SPACE_RETIRED,	/* nobody, and they were in tables that were retired */
};

/* An address space: a process from one exec to the next. */
struct space {
	u64 key;			/* see space_key(); 0: free */
	u32 id;				/* of the stream and in rows; never 0 */
	u32 pid;			/* in the opener's pid namespace */
	/* When the exec or exit began, by the session's clock; 0: alive. */
	u64 end;
	struct session *session;
	struct callback_head work;	/* flushes at exec and exit */
	u8 left;			/* enum space_left */
	u32 lap;			/* of its numbers: see space_fill() */
};

/*
 * Where a task is just now: its engine's cursor. It is bound to a CPU's lane
 * while the task runs there. @busy is that binding, and protects all other
 * fields.
 */
struct cursor {
	u64 key;			/* lane_task_key(); 0: free */
	atomic_t busy;
	u32 space;			/* struct space.id */
	u64 exec;			/* task_struct.self_exec_id */
	u64 task;			/* as programs get it */
	/* Control is outside of the session's filter: see filter.c. */
	bool outside;
	/* Steps of the task when it was unbound. */
	u64 seen;
	/* local_clock() then; 0: the task exits. */
	u64 used;
	u64 engine[];
};

/*
 * Memory that an engine fills. If its bit in table_free is set, no lane and no
 * flush holds it.
 */
struct table {
	void *memory;
	/* Units and windows that were fed to it, and are not accounted yet. */
	u64 fed;
	u64 windows;
	/* Immediate engine: units evicted when it was last emitted. */
	u64 evicted;
	u64 pass;			/* of the flush that merged it last */
	/*
	 * The owner of the profile has it, and writes these. It is not free
	 * until it is merged, and has forgotten what has ended.
	 */
	bool taken;
	bool merging;			/* not all of it is merged */
	/* A flush that knows what has ended has to give it back. */
	bool forgets;
	unsigned int forgot;		/* of struct ended, so far */
	size_t forgetting;		/* where forget() is in the next one */
};

/* Address spaces that have ended, whose rows are about to be written. */
struct ended {
	const u32 *ids;
	unsigned int count;
};

/* A burst of the step source: stepping for a while. */
struct burst {
	bool runs;
	struct burst_window window;
	u64 all_branches, all_steps;	/* of all windows of this lane */
	bool due;			/* an NMI has asked for it */
	u64 ip;				/* where it began */
	/* The clock that began it; not a reference. */
	const void *clock;
	/* Count of that clock at its beginning, in ns. */
	u64 clock_time;
	u64 begin;			/* local_clock() at its beginning */
	u64 last;			/* local_clock() at its last step */
	u64 cost;			/* of the last burst, in ns */
	u64 distance;			/* to the next one, in ns */
	u64 random;
};

/*
 * The cost of a session on a CPU, as a share of the time of what it sees there,
 * in ns.
 */
struct budget {
	struct burst_control control;	/* permille 0: no limit */
	/*
	 * NMIs write these three, too. Time is added up to @since, which is of
	 * busy_clock().
	 */
	local64_t since;
	local64_t time;			/* includes the cost */
	local64_t cost;
	u64 told_time, told_cost;	/* at the last tick */
	/* Average cost of a trigger's handler. */
	u64 handler;
	u64 random;
	/* The parameters that the lane has taken over: see tuning.h. */
	u32 tuned;			/* their number */
	u32 burst;			/* branches of a burst */
};

/* Most events of a lane on its list, which is gone through in NMIs. */
enum { LANE_EVENTS = 64 };

/*
 * A lane: a session on one CPU. It is written on that CPU only, with interrupts
 * off.
 */
struct lane {
	struct session *session;
	/* On the source's list of the CPU's lanes. */
	struct list_head link;
	/*
	 * Started events: hw.tp_list. If it has LANE_EVENTS of them, further
	 * ones count as the others do, but have no samples.
	 */
	struct list_head events;
	unsigned int listed;		/* number of events on it */
	struct list_head roots;		/* struct root: events of this CPU */
	unsigned int active;		/* number of started events */
	unsigned int wide;		/* how many of them are a whole CPU's */
	int table;			/* number in the pool; -1: none */
	/* Something was fed since its table was last exchanged. */
	bool news;
	/* It gave its table away without another one. */
	bool yielded;
	bool missed;			/* an event was lost: a gap is due */
	bool open;			/* to a source that interrupts
					 * everything else */
	struct cursor *cursor;		/* of the running task; NULL: none */
	/*
	 * Step source: step_cpu.fed + 1 at the moment since which the lane gets
	 * nothing; 0: it gets events.
	 */
	u64 left_out;
	u64 units;			/* units produced */
	u64 fed;			/* part of them that is in the table */
	u64 lost;			/* part of them that no engine saw */
	u64 events_seen;
	u64 lost_events;
	u64 gaps;
	u64 windows;			/* that were fed to the table */
	/*
	 * Overflows after which perf throttled. NMIs and what they interrupt
	 * both count them.
	 */
	local64_t throttled;
	u64 unmeasured;			/* samples without metrics */
	u64 metrics[HWPROF_METRICS_MAX];	/* sums of the other samples' */
	u64 callers;			/* call sites of programs */
	/* How many of these tables have found. */
	u64 unwound;
	struct burst burst;
	struct budget budget;
	struct program_lane program;
	/* The ranges of the program that was seen last, and of what program
	 * and task they were not found: see filter_space.c. */
	struct filter_space *filter;
	const struct mm_struct *filter_missed;
	pid_t filter_asker;
	u64 filter_changes;		/* when they were not found */
	struct irq_work filter_kick;	/* asks for them */
	/* Room for the largest row: see emit.h. */
	u64 *row;
	struct irq_work exit_kick;	/* its task exits: see
					 * flush_at_exit() */
	struct tasklet_struct exit_flush;
};

/* Reasons why a session sees less than its source gives. */
enum session_narrowing {
	NARROWED_TO_RANGES,		/* of instructions: see filter.h */
	NARROWED_BY_MASK,		/* see mask.h */
};

/**
 * struct session - What one opener asked for with one configuration
 */
struct session {
	/** @link: on the list of sessions; RCU. */
	struct list_head link;
	/** @ref: references; when none is left, @end_work is queued. */
	struct kref ref;
	/** @rcu: frees it. */
	struct rcu_head rcu;
	/** @key: what events must have to share it. */
	struct session_key key;
	/** @config: what was asked for. */
	struct session_config config;
	/** @tuning: the part of it that can change. */
	struct tuning __rcu *tuning;
	/** @tuning_lock: one change at a time. */
	struct mutex tuning_lock;
	/** @id: its number; never 0. */
	u32 id;
	/** @engine: what events become. */
	const struct engine_ops *engine;
	/** @source: where they come from. */
	const struct source_ops *source;
	/** @params: what the engine is told. */
	struct engine_params params;
	/** @programs: BPF programs that see its events. */
	struct programs programs;
	/** @narrowed: bits enum session_narrowing; 0: it sees everything. */
	unsigned long narrowed;
	/** @started: an event of it has run on some CPU. */
	bool started;
	/** @lines: its engine must know of branches that it does not see. */
	bool lines;
	/** @closings: how many events were closed: see filter_space.c. */
	u32 closings;
	/** @filter: the code that it looks at. */
	struct filter_request filter;
	/** @pid_ns: the opener's; rows have its numbers. */
	struct pid_namespace *pid_ns;
	/** @owner: the opener, for sysfs. */
	struct pid *owner;
	/** @folder: in sysfs; NULL: none. */
	struct kobject *folder;
	/** @user: pays for the memory. */
	struct user_struct *user;
	/** @viewer: owns the folder: the opener's effective user. */
	kuid_t viewer;
	/** @memory: bytes, fixed, without rings. */
	size_t memory;
	/** @holding: @memory and that of rings, charged to the user. */
	struct holding holding;
	/** @rows: it has tables, and makes rows. */
	bool rows;
	/** @fetched: rows wait for a reader: see snapshot.c. */
	bool fetched;
	/** @reader: a reader exists; else nobody takes rows. */
	bool reader;
	/** @rings: rows are written here; NULL: into rings of perf. */
	struct rings *rings;
	/** @interval: jiffies between rows. */
	unsigned int interval;
	/** @metrics: which counter each is; 0: none yet. */
	u64 metrics[HWPROF_METRICS_MAX];
	/** @unwind: set once; NULL: no tables yet. */
	struct unwind *unwind;
	/** @foreign: it sees stacks that the tables are not for. */
	bool foreign;
	/** @privileged: its opener may attach to every program. */
	bool privileged;
	/** @wide: an event of a CPU or a cgroup has fed it. */
	bool wide;
	/** @aloof: an event has fed it whose task its opener may not delay. */
	bool aloof;

	/** @lanes: one for each CPU. */
	struct lane __percpu *lanes;

	/** @tables: the pool: see table_pool.c. */
	struct table *tables;
	/** @table_count: number of tables. */
	unsigned int table_count;
	/** @table_size: bytes of each. */
	size_t table_size;
	/** @table_free: bits of tables that no CPU uses. */
	unsigned long *table_free;
	/** @table_dirty: bits of tables with something to merge. */
	unsigned long *table_dirty;
	/** @pass: number of the last flush. */
	u64 pass;

	/** @profile: merged tables; NULL with an immediate engine. */
	void *profile;
	/** @profile_size: bytes of it. */
	size_t profile_size;
	/** @settled: value of @pass when the profile was settled. */
	u64 settled;
	/**
	 * @profile_lock: held for a step at a time, with interrupts on. It
	 *	protects the profile, the stage, and tables that are being
	 *	merged. If rows are fetched, @flush_lock protects them
	 *	instead: no softirq flushes such sessions.
	 */
	spinlock_t profile_lock;
	/** @profile_version: changes with whatever settling depends on. */
	u32 profile_version;
	/** @kept: the profile may have more to tell. */
	bool kept;
	/** @stage: rows on their way; NULL: none are written. */
	struct stage *stage;
	/** @flush_lock: one flush at a time in process context. */
	struct mutex flush_lock;
	/** @flush_work: the flush of the interval. */
	struct delayed_work flush_work;
	/** @disable_work: the opener's, after it has disabled events. */
	struct callback_head disable_work;
	/** @disable_asked: 1: some thread is to run @disable_work. */
	atomic_t disable_asked;
	/** @left_work: flushes what processes left that ended. */
	struct delayed_work left_work;
	/** @left_pause: jiffies until it may run again. */
	unsigned long left_pause;
	/** @pause: jiffies until news are flushed. */
	unsigned long pause;
	/** @wanted_pause: jiffies until a flush that is wanted. */
	unsigned long wanted_pause;
	/** @retry_ms: when to try again after a ring was full. */
	unsigned int retry_ms;
	/** @news: something was learnt: a flush comes. */
	bool news;
	/** @flush_wanted: it will come soon. */
	bool flush_wanted;
	/** @flush_kick: queues @flush_work from where nothing else can. */
	struct irq_work flush_kick;
	/** @flush_cost: in ns, not yet accounted by a lane. */
	atomic64_t flush_cost;
	/** @end_work: ends the session. */
	struct work_struct end_work;

	/**
	 * @secret: decides where tasks look for their cursors, and processes
	 *	for their records.
	 */
	hsiphash_key_t secret;

	/** @cursors: the pool of cursors. */
	struct cursor *cursors;
	/** @cursor_size: bytes of each, with the engine's. */
	size_t cursor_size;
	/** @cursor_count: number of cursors. */
	unsigned int cursor_count;

	/** @spaces: records of address spaces. */
	struct space *spaces;
	/** @space_count: number of records. */
	unsigned int space_count;
	/** @space_reach: records from a key's home on that may have the key. */
	atomic_t space_reach;

	/**
	 * @roots_lock: protects the lists of roots and, with an immediate
	 *	engine, @fed, @delivered and @evicted.
	 */
	raw_spinlock_t roots_lock;
	/** @roots: struct root: events of no one CPU. */
	struct list_head roots;
	/** @root_count: number of all roots, with those of CPUs. */
	unsigned int root_count;

	/**
	 * @fed: units of tables that were merged; as @delivered and @told,
	 *	written by the owner of the profile.
	 */
	u64 fed;
	/** @windows: windows of these tables. */
	u64 windows;
	/** @delivered: units that rows have carried. */
	u64 delivered;
	/** @evicted: units that an immediate engine has given up. */
	u64 evicted;
	/** @told: the totals that were written last. */
	struct hwprof_row_totals told;
	/** @base: sums of lanes at the last reset. */
	struct hwprof_row_totals base;
};

/* A root perf event: one that was opened, not inherited. */
struct root {
	struct list_head link;
	struct rcu_head rcu;
	struct session *session;
	struct perf_event *event;	/* NULL: it is gone, or was refused */
	/* Counters of the source. */
	struct perf_event *triggers[CORE_PMUS_MAX];
	unsigned int trigger_count;	/* number of these */
	bool wide;			/* they are a whole CPU's */
	bool has_budget;		/* the event itself names one */
	bool aloof;			/* its opener may not delay its task */
	refcount_t users;		/* the event, and the start of
					 * triggers */
	/* Starts the triggers; when there is no user any more, closes them. */
	struct callback_head task_work;
	struct work_struct close_work;	/* closes them where no task can */
	struct closing_queue *closing_queue;	/* NULL: no triggers */
};

/* session_list.c */
void sessions_unwind(struct unwind *unwind, const struct opener *opener,
		     struct session *only);
struct session *session_find(u32 id);
struct session *session_by_number(u32 id);
void session_put(struct session *session);
bool session_tryget(struct session *session);
void session_for_each(void (*visit)(struct session *session, void *context),
		      void *context);	/* under RCU */
void sessions_visit(void (*visit)(struct session *session, void *context),
		    void *context);	/* each is held, in process context */
void session_add_root(struct session *session, struct root *root);
void session_remove_root(struct session *session, struct root *root);
unsigned int session_count(void);
void session_widen(struct session *session);
bool sessions_have_strangers(void);
int sessions_init(void);
void sessions_wait(void);	/* until all are gone; there are no events */
void sessions_exit(void);
extern struct workqueue_struct *hwprof_workqueue;

/* session_list.c, for session.c */

/* An event's session is being made. */
struct making {
	struct list_head link;
	const struct session_key *key;
};

u32 session_next_id(void);
struct session *session_find_or_make(struct making *making);
void session_list(struct session *session);
void session_made(struct making *making, struct session *session);
void session_unlist(struct session *session);

/* session.c */
struct session *session_get(const struct perf_event *event,
			    const struct session_config *config);
struct session *session_new(const struct session_config *config);

/**
 * struct session_folders - How sessions are shown to users
 * @show: Show a session, which is complete. Return 0 or an errno.
 * @hide: Hide it, and wait for those who look at it.
 */
struct session_folders {
	int (*show)(struct session *session);
	void (*hide)(struct session *session);
};

/* Tell how, before there can be sessions. */
void sessions_show_in(const struct session_folders *folders);

static inline struct root *event_root(const struct perf_event *event)
{
	return (event->parent ? event->parent : event)->pmu_private;
}

/* Return current as programs get it. */
static inline u64 session_task(const struct session *session)
{
	return (u64)task_tgid_nr_ns(current, session->pid_ns) << 32 |
	       (u32)task_pid_nr_ns(current, session->pid_ns);
}

static inline struct session *event_session(const struct perf_event *event)
{
	return event_root(event)->session;
}

/* Under RCU: return the number of the event's cgroup; 0: it has none. */
static inline u64 event_cgroup(const struct perf_event *event)
{
#ifdef CONFIG_CGROUP_PERF
	/* Perf takes it away before it lets us know that the event is gone. */
	const struct perf_cgroup *cgroup = READ_ONCE(event->cgrp);

	return cgroup ? cgroup_id(cgroup->css.cgroup) : 0;
#else
	return 0;
#endif
}

/*
 * Return true if the event is of the cgroup that its session is of, as far as
 * the session gives rows to events. Perf looks the cgroup up after
 * event_init(): it is another one if the program has exchanged the file
 * descriptor meanwhile. Such an event feeds nothing, and gets no rows.
 */
static inline bool event_fits(const struct perf_event *event)
{
	const struct session *session = event_session(event);

	return session->fetched || event_cgroup(event) == session->key.cgroup;
}

/* Return the time by the clock of the session's rows, in ns. */
static inline u64 session_now(const struct session *session)
{
	return moment_by(session->key.clock);
}

/* Return true if rows of the session may be about processes of everybody. */
static inline bool session_has_strangers(const struct session *session)
{
	return session->rows && READ_ONCE(session->wide);
}

/* Return true if the CPU runs a program that the session may see. */
static inline bool session_sees_program(const struct session *session)
{
	return session->config.user && current->mm &&
	       !(current->flags & PF_KTHREAD);
}

/* space.c */
u32 space_of_current(struct session *session);
struct space *space_find(struct session *session, u32 id);
void space_free(struct space *space);
u32 space_sampled(struct session *session);
void space_stopped(struct session *session);

/* space_end.c; sources are enum source_id */
void spaces_prepare_exec(unsigned int source);
void spaces_exec(unsigned int source);
void spaces_exit(unsigned int source);
void spaces_probe(void);
void spaces_unprobe(void);

/* lane.c */
/*
 * For start() and stop() of a source that interrupts everything else. All is
 * ready before the lane is open. Once it is closed, a handler that begins
 * leaves it alone.
 */
void lane_open(struct lane *lane);
void lane_close(struct lane *lane);
void lane_start(struct lane *lane, struct perf_event *event);
void lane_stop(struct lane *lane, struct perf_event *event);
void lane_bind(struct lane *lane, u64 steps, u64 at);
void lane_gap(struct lane *lane, u64 at);
void lane_unbind(struct lane *lane, u64 steps);
/* For lane_feed(): of sessions that see everything, and of others. */
void lane_feed_everything(struct lane *lane, struct stream_event *stream,
			  struct pt_regs *regs);
void lane_feed_narrowed(struct lane *lane, struct stream_event *stream,
			struct pt_regs *regs);
void lane_feed_window(struct lane *lane, struct window *window);
void lane_window(struct lane *lane, u64 ip, u32 space);
void lane_feed_sample(struct lane *lane, struct stream_event *sample);
void lane_feed_stack(struct lane *lane, struct stream_stack *stack);

/*
 * Feed one event of current. @regs are its user registers; they are needed only
 * if the event is a unit.
 */
static inline void lane_feed(struct lane *lane, struct stream_event *stream,
			     struct pt_regs *regs)
{
	if (likely(!READ_ONCE(lane->session->narrowed)))
		lane_feed_everything(lane, stream, regs);
	else
		lane_feed_narrowed(lane, stream, regs);
}

/*
 * The session's trigger has counted @period, whether a window follows or not.
 * Its windows weigh as much for programs.
 */
static inline void lane_wait(struct lane *lane, u64 period)
{
	if (unlikely(lane->session->programs.mask))
		lane->program.waited += period;
}

/*
 * A window or sample is fed. Choose the trigger's next period as programs want
 * it; the period before may have been one that they wanted.
 */
static inline void lane_pace(struct lane *lane, struct perf_event *trigger)
{
	if (unlikely(lane->session->programs.mask))
		programs_pace(lane, trigger,
			      !lane->session->config.budget_permille);
}

/* news.c */
void session_note_news(struct session *session);
void session_want_flush(struct session *session);
/* The last thread of the lane's process exits: see flush_at_exit(). */
void lane_exits(struct lane *lane);

/* flush.c */
bool session_flush(struct session *session, u32 space);
void session_flush_left(struct session *session);
bool session_flush_around(struct session *session,
			  void (*change)(struct session *session,
					 void *context),
			  void *context);
void session_set_rings(struct session *session, struct rings *rings);

/* profile.c */
/* Things of a profile that settle(), rows() or forget() look at in one go. */
enum { PROFILE_LOOKS = 1 << 16 };
void session_forget(struct session *session, struct space *space);
void session_note_left(struct session *session);
void session_keep_left(struct session *session);
void session_forget_left(struct session *session);
void session_settle(struct session *session, u32 space);
bool session_fetch(struct session *session, bool fresh);
void session_fetched(struct session *session, bool all);
int session_reset(struct session *session);
int session_totals_now(struct session *session, struct hwprof_row_totals *row);

/* totals.c */
void session_totals(struct session *session, struct hwprof_row_totals *row);

/* row_trace.c */
void row_trace(const struct hwprof_row *header, const void *row);

/* emit.c */
u64 session_sign(struct session *session, struct hwprof_row *row);
void lane_emit(struct lane *lane);

/* table_pool.c */
int table_take(struct session *session);
void lane_change_table(struct lane *lane, int table);
bool table_merge_step(struct session *session, unsigned int number,
		      struct ended ended);
void tables_merge_free(struct session *session, struct ended ended);
/* Return true if the profile has a part of a table, and lacks the rest. */
bool tables_merge(const struct session *session);
bool tables_retire(struct session *session, struct ended ended);

/*
 * Add to a count of the lane, on its CPU. Readers on other CPUs take no lock:
 * they may see an old count, but never half of one. An NMI in between would get
 * lost, so a count is added to either in NMI or elsewhere.
 */
static inline void lane_count(u64 *count, u64 more)
{
	WRITE_ONCE(*count, *count + more);
}

/* Add to the event's count what the lane has had since the last time. */
static inline void lane_update(struct lane *lane, struct perf_event *event)
{
	u64 now = READ_ONCE(lane->units);	/* an NMI may go on counting */
	u64 before = local64_xchg(&event->hw.prev_count, now);

	local64_add(now - before, &event->count);
}

/* Something is fed to the lane. In any context, on the lane's CPU. */
static inline void lane_note_news(struct lane *lane)
{
	if (likely(READ_ONCE(lane->news)))
		return;
	WRITE_ONCE(lane->news, true);
	session_note_news(lane->session);
}

#endif /* HWPROF_SESSION_H */
