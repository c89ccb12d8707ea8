/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session: what one opener asked for with one configuration, however many
 * perf events, CPUs, threads and forks that takes.
 *
 *   source -> slot (per CPU) -> engine: table of the CPU, cursor of the task
 *                                  | retired by flush.c
 *                                  v
 *                               profile -> rows -> a ring of the session
 */
#ifndef HWPROF_SESSION_H
#define HWPROF_SESSION_H

#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/pid_namespace.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/task_work.h>
#include <linux/workqueue.h>

#include "config/config_rules.h"
#include "engine/burst.h"
#include "engine/engine.h"
#include "source/core_pmus.h"

struct rings;
struct session;
struct source_ops;
struct stage;
struct unwind;
struct window;

/* The largest row with the four zero bytes behind it, rounded up. */
#define HWPROF_ROW_MAX	(sizeof(struct hwprof_row_branches) +		       \
			 HWPROF_ROW_BRANCHES_MAX *			       \
			 sizeof(struct hwprof_branch) + 8)

/*
 * A process as it is from one exec to the next, with the same credentials: what
 * it has asked for is not for the program after it, which may be somebody else's,
 * nor for what it is once it has dropped rights.
 */
struct opener {
	pid_t tgid;
	u64 born;			/* a number is used again */
	u64 exec;			/* task_struct.self_exec_id */
	const struct cred *cred;	/* compared by its address: whoever keeps
					 * an opener holds a reference */
};

/* What makes two events of one opener the same session. */
struct session_key {
	struct opener opener;
	u64 words[CONFIG_WORDS];
	u64 exclude;			/* enum config_exclude */
	bool inherit;
	bool sampling;
	u64 period;			/* of the source's trigger, or its frequency */
	bool freq;
	struct pid *target;		/* process; NULL: CPUs, or the device's */
};

/* An address space: a process from one exec to the next. */
struct space {
	u64 key;			/* see space_key(); 0: free */
	u32 id;				/* of the stream and in rows; never 0 */
	u32 pid;			/* in the opener's namespace */
	u64 end;			/* local_clock() at exec or exit; 0: alive */
	u64 seen;			/* when it ran last, if the source says */
	struct session *session;
	struct callback_head work;	/* flushes at exec and exit */
	bool left;			/* its last rows are still to go out */
};

/*
 * Where a task is just now: its engine's cursor. Bound to a CPU's slot while
 * the task runs there; `busy` is that binding, and owns all other fields.
 */
struct cursor {
	u64 key;			/* task_key(); 0: free */
	atomic_t busy;
	u32 space;			/* struct space.id */
	u64 exec;			/* task_struct.self_exec_id */
	u64 seen;			/* steps of the task when it was unbound */
	u64 used;			/* local_clock() then; 0: its task exits */
	u64 engine[];
};

/* What an engine fills. A set bit in table_free: no slot, no flush holds it. */
struct table {
	void *memory;
	u64 fed;			/* units given to it, not accounted yet */
	u64 evicted;			/* of an immediate engine, when emitted */
	u64 pass;			/* of the flush that merged it last */
	bool merging;			/* it is not free until that is done; the
					 * profile's owner's */
};

/* Stepping for a while: of the step source. */
struct burst {
	bool runs;
	u32 skip;			/* branches before it really begins, */
	u32 patience;			/* and instructions, at most */
	u32 branches, steps;		/* since then, */
	u32 most_branches, most_steps;	/* and when it is over */
	u64 all_branches, all_steps;	/* of all bursts here */
	bool due;			/* an NMI has asked for it */
	bool begun;			/* a branch was seen */
	u64 ip;				/* where it began */
	const void *clock;		/* that began it; not a reference */
	u64 clock_time;			/* of that then, in ns */
	u64 begin;			/* the same: local_clock() */
	u64 last;			/* at its last step */
	u64 cost;			/* of the last one, in ns */
	u64 distance;			/* to the next one, in ns */
	u64 random;
};

/* What a session costs on a CPU, of the time of what it sees there, in ns. */
struct budget {
	struct burst_control control;	/* permille 0: no limit */
	/* NMIs write them, too. */
	local64_t since;		/* busy_clock(): time is known until then */
	local64_t time;			/* with the cost in it */
	local64_t cost;
	u64 told_time, told_cost;	/* at the last tick */
	u64 handler;			/* of a trigger, on average */
	u64 random;
};

/* A session on one CPU. Written on that CPU only, with interrupts off. */
struct slot {
	struct session *session;
	struct list_head link;		/* source's list of the CPU's slots */
	struct list_head events;	/* started events: hw.tp_list */
	struct list_head roots;		/* struct root: events of this CPU */
	unsigned int active;		/* how many they are */
	unsigned int wide;		/* of these, of the whole CPU */
	int table;			/* number in the pool; -1: none */
	bool news;			/* something was fed since its table was
					 * last exchanged */
	bool missed;			/* an event was lost: a gap is due */
	bool open;			/* to a source that interrupts all else */
	struct cursor *cursor;		/* of the task that runs; NULL: none */
	u64 left_out;			/* of the step source: not fed since; 0: it is */
	u64 units;			/* produced */
	u64 fed;			/* of these, those in its table */
	u64 lost;			/* those that no engine saw */
	u64 events_seen;
	u64 lost_events;
	u64 gaps;
	u64 windows;			/* that were fed */
	u64 throttled;			/* overflows after which perf took a rest */
	u64 unmeasured;			/* samples without metrics; */
	u64 metrics[HWPROF_METRICS_MAX];	/* sums of the others' */
	u64 callers;			/* in stacks of programs, */
	u64 unwound;			/* and of these, those that tables told */
	struct burst burst;
	struct budget budget;
	u64 *row;			/* room for the largest row, see emit.h */
	struct irq_work exit_kick;	/* its task exits: see flush_at_exit() */
	struct tasklet_struct exit_flush;
};

struct session {
	struct list_head link;		/* sessions, RCU */
	struct list_head made;		/* sessions_made */
	struct kref ref;
	struct rcu_head rcu;
	struct session_key key;
	struct session_config config;	/* what was asked for */
	u32 id;				/* never 0 */
	const struct engine_ops *engine;
	const struct source_ops *source;
	struct engine_params params;
	struct pid_namespace *pid_ns;	/* the opener's */
	struct pid *owner;		/* the opener, as sysfs shows it, */
	struct kobject *folder;		/* where; NULL: nowhere */
	struct user_struct *user;	/* who pays for the memory */
	kuid_t viewer;			/* whose the folder is: the opener's euid */
	size_t memory;			/* bytes, fixed */
	size_t ring_memory;		/* bytes of rings, besides */
	bool rows;			/* has an engine at work, and tables */
	bool fetched;			/* rows wait for who asks: snapshot.c */
	bool reader;			/* who may; else nobody takes rows */
	struct rings *rings;		/* they go here by themselves; or NULL */
	unsigned int interval;		/* jiffies between rows */
	u64 metrics[HWPROF_METRICS_MAX];	/* what counts each; 0: none yet */
	struct unwind *unwind;		/* set once; NULL: no tables, yet */
	bool foreign;			/* it sees stacks that tables are not for */
	bool privileged;		/* its opener may attach to whatever runs */

	struct slot __percpu *slots;

	struct table *tables;
	unsigned int table_count;
	size_t table_size;
	unsigned long *table_free;
	unsigned long *table_dirty;	/* holds something to be merged */
	u64 pass;

	void *profile;
	size_t profile_size;
	u64 settled;			/* `pass` of then */
	/*
	 * Taken for a step at a time, with interrupts on: the profile, the
	 * stage, and tables that are being merged. Who fetches rows holds
	 * flush_lock instead: no softirq flushes such sessions.
	 */
	spinlock_t profile_lock;
	u32 profile_version;		/* changes with what settling is about */
	bool kept;			/* the profile may have more to tell */
	struct stage *stage;		/* rows on their way; NULL: none go out */
	struct mutex flush_lock;	/* one flush in process context at a time */
	struct delayed_work flush_work;
	unsigned long pause;		/* jiffies until news are flushed */
	unsigned int retry_ms;		/* after a ring was full */
	bool news;			/* something was learnt: a flush will come */
	bool flush_wanted;		/* and soon */
	struct irq_work flush_kick;
	atomic64_t flush_cost;		/* in ns, that no slot has accounted for */
	struct work_struct end_work;

	struct cursor *cursors;
	size_t cursor_size;
	unsigned int cursor_count;

	struct space *spaces;
	unsigned int space_count;
	atomic_t space_ids;

	raw_spinlock_t roots_lock;
	struct list_head roots;		/* struct root: events of no one CPU */
	unsigned int root_count;	/* with those of CPUs */

	/*
	 * Written by who owns the profile; of an immediate engine, which has
	 * none, under roots_lock.
	 */
	u64 fed;			/* units of tables that were merged */
	u64 delivered;
	struct hwprof_row_totals told;
	struct hwprof_row_totals base;	/* of slots, when it was last reset */
};

/* A root perf event: one that was opened, not inherited. */
struct root {
	struct list_head link;
	struct session *session;
	struct perf_event *event;	/* NULL: it is gone, or was refused */
	struct perf_event *triggers[CORE_PMUS_MAX];	/* the source's counters, */
	unsigned int trigger_count;	/* so many, */
	bool wide;			/* which are a whole CPU's */
	bool has_budget;		/* the event itself names one */
	struct work_struct close_work;
	refcount_t users;		/* the event, and begin_work */
	struct callback_head begin_work;	/* starts the trigger */
};

/* What is held besides sessions. */
struct holding {
	struct list_head link;
	struct user_struct *user;	/* who pays */
	size_t memory;			/* bytes, of whole pages */
};

/* session.c */
struct opener opener_of_current(void);	/* without a reference */
bool opener_equal(const struct opener *a, const struct opener *b);
/* Is it current? 0; EPERM: not its process; EACCES: with other credentials. */
int opener_check(const struct opener *opener);
void holding_begin(struct holding *holding);
int holding_charge(struct holding *holding, size_t bytes);
void holding_uncharge(struct holding *holding, size_t bytes);
void holding_end(struct holding *holding);
void sessions_unwind(struct unwind *unwind, const struct opener *opener,
		     struct session *only);
struct session *session_get(const struct perf_event *event,
			    const struct session_config *config);
struct session *session_new(const struct session_config *config);
struct session *session_find(u32 id);
int session_charge_rings(struct session *session, size_t bytes);
void session_uncharge_rings(struct session *session);
void session_put(struct session *session);
bool session_tryget(struct session *session);
void session_for_each(void (*visit)(struct session *session, void *context),
		      void *context);	/* under RCU */
void sessions_visit(void (*visit)(struct session *session, void *context),
		    void *context);	/* each held, in process context */
void session_add_root(struct session *session, struct root *root);
void session_remove_root(struct session *session, struct root *root);
unsigned int session_count(void);
int sessions_init(void);
void sessions_wait(void);	/* for the end of all; no event is left */
void sessions_exit(void);
extern struct workqueue_struct *hwprof_workqueue;

static inline struct root *event_root(const struct perf_event *event)
{
	return (event->parent ? event->parent : event)->pmu_private;
}

static inline struct session *event_session(const struct perf_event *event)
{
	return event_root(event)->session;
}

/* Does the CPU run a program that it may see? */
static inline bool session_sees_program(const struct session *session)
{
	return session->config.user && current->mm &&
	       !(current->flags & PF_KTHREAD);
}

/* front/class.c: the session's folder in sysfs */
int session_show(struct session *session);
void session_hide(struct session *session);

/* space.c */
u32 space_of_current(struct session *session);
struct space *space_find(struct session *session, u32 id);
void space_free(struct space *space);
u32 space_sampled(struct session *session);
void spaces_exec(const struct source_ops *source, u64 time);
void spaces_exit(const struct source_ops *source);

/* slot.c */
void slot_start(struct slot *slot, struct perf_event *event);
void slot_stop(struct slot *slot, struct perf_event *event);
void slot_update(struct slot *slot, struct perf_event *event);
void slot_bind(struct slot *slot, u64 steps, u64 at);
void slot_gap(struct slot *slot, u64 at);
void slot_unbind(struct slot *slot, u64 steps);
void slot_feed(struct slot *slot, struct stream_event *stream,
	       struct pt_regs *regs);
void slot_feed_window(struct slot *slot, struct window *window);
void slot_window(struct slot *slot, u64 ip, u32 space);
void slot_feed_sample(struct slot *slot, struct stream_event *sample);
void slot_feed_stack(struct slot *slot, struct stream_stack *stack);
int slots_init(void);

/* flush.c */
enum { SETTLE_LOOKS = 1 << 16 };	/* of engine_ops.settle at a time */
void session_flush(struct session *session, u32 space);
void session_note_news(struct session *session);
void session_want_flush(struct session *session);
void session_settle(struct session *session, u32 space);
bool session_fetch(struct session *session, bool fresh);
void session_fetched(struct session *session, bool all);
int session_reset(struct session *session);
int session_totals_now(struct session *session, struct hwprof_row_totals *row);
void session_set_rings(struct session *session, struct rings *rings);

/* totals.c */
void session_totals(struct session *session, struct hwprof_row_totals *row);
void session_totals_locked(struct session *session,
			   struct hwprof_row_totals *row);

/* emit.c */
u64 session_sign(struct session *session, struct hwprof_row *row);
void slot_emit(struct slot *slot);

/* table_pool.c */
int table_take(struct session *session);
void slot_change_table(struct slot *slot, int table);
bool table_merge_step(struct session *session, unsigned int number, u32 over);
void tables_merge_free(struct session *session, u32 over);
bool tables_retire(struct session *session, u32 over);

/* Something is fed to the slot. In any context, on the slot's CPU. */
static inline void slot_note_news(struct slot *slot)
{
	if (likely(slot->news))
		return;
	WRITE_ONCE(slot->news, true);
	session_note_news(slot->session);
}

#endif /* HWPROF_SESSION_H */
