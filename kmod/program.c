// SPDX-License-Identifier: GPL-2.0-only
/*
 * BPF programs of a session. They are of the type raw tracepoint, which reads
 * an array of words, and are called by this file alone; no hook of the kernel
 * knows of it.
 *
 * A program may be called in an NMI, but only in one that interrupted user
 * code: an NMI that interrupts the kernel may find a lock of a map held.
 */
#include <linux/bpf.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/math64.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/timex.h>

#include "arch.h"
#include "compat.h"
#include "engine/window.h"
#include "filter.h"
#include "program.h"
#include "right.h"
#include "session.h"
#include "source/source.h"

enum {
	WORDS		= HWPROF_PROGRAM_WORDS,
	KINDS_ALL	= (1 << HWPROF_PROGRAM_KINDS) - 1,
	/* Programs of these kinds may be called for a branch, too. */
	SEVERAL		= 1 << HWPROF_PROGRAM_CALL |
			  1 << HWPROF_PROGRAM_RETURN |
			  1 << HWPROF_PROGRAM_PATH_END,
	/* A program is taken away after so many overruns in a row, ... */
	STRIKES		= 3,
	/* ... or if one run of so many is one, after FEW_RUNS runs. */
	OVERRUN_SHARE	= 64,
	FEW_RUNS	= 1024,
	PACE_MOST	= 1,
	/* Instructions by which a branch may lengthen a burst. */
	EXTEND_STEPS	= 64,
};

/* All written on their own CPU. */
struct program_counts {
	u64 runs;
	u64 missed;
	u64 dropped;
	u64 overruns;
	u64 cycles;
	u64 last_overrun;	/* value of runs */
	u32 strikes;
	/* Helpers find the cookie by it. */
	struct bpf_trace_run_ctx context;
};

/* A program, with the kinds of events that it was given for at once. */
struct program {
	struct bpf_prog *bpf;
	u64 cookie;
	u64 limit;			/* of a run, in cycles */
	u32 limit_us;
	unsigned int users;		/* kinds that it still has */
	bool taken;			/* it is not called any more */
	bool said;			/* and the log has it */
	struct program_counts __percpu *counts;
};

/* --- a run ---------------------------------------------------------------- */

static u64 program_cycles_of_us(u64 us)
{
	u64 khz = arch_cycles_khz();

	return khz ? div_u64(us * khz, 1000) : ~0ULL;
}

static u64 program_ns_of_cycles(u64 cycles)
{
	u64 khz = arch_cycles_khz();

	return khz ? mul_u64_u64_div_u64(cycles, 1000000, khz) : 0;
}

/*
 * Call the program no more. This may be an NMI, which takes no lock. In case
 * somebody writes the same just now, the irq_work calls program_update() once
 * more.
 */
static void program_take_away(struct session *session, struct program *program)
{
	struct programs *programs = &session->programs;
	int i;

	WRITE_ONCE(program->taken, true);
	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++)
		cmpxchg(&programs->runs[i], program, NULL);
	irq_work_queue(&programs->taken);
}

/*
 * A run took longer than its limit. Now and then, that is due to a hypervisor
 * that had other things to do.
 */
static noinline void program_overrun(struct lane *lane, struct program *program,
				     struct program_counts *counts)
{
	bool again = counts->runs - counts->last_overrun == 1;

	counts->overruns++;
	counts->strikes = again ? counts->strikes + 1 : 1;
	counts->last_overrun = counts->runs;
	if (counts->strikes >= STRIKES ||
	    (counts->runs >= FEW_RUNS &&
	     counts->overruns * OVERRUN_SHARE > counts->runs))
		program_take_away(lane->session, program);
}

static __always_inline bool program_can_drop(unsigned int kind)
{
	const u32 kinds = 1 << HWPROF_PROGRAM_BRANCH |
			  1 << HWPROF_PROGRAM_LOAD |
			  1 << HWPROF_PROGRAM_STORE |
			  1 << HWPROF_PROGRAM_CALL |
			  1 << HWPROF_PROGRAM_RETURN |
			  1 << HWPROF_PROGRAM_SAMPLE;

	return kinds >> kind & 1;
}

static void program_steer_burst(struct burst *burst, u32 verdict)
{
	if (!burst->runs)
		return;
	if (verdict & HWPROF_PROGRAM_END) {
		burst->window.most_steps = 0;
		burst->window.most_branches = 0;
	} else if (verdict & HWPROF_PROGRAM_EXTEND &&
		   burst->window.most_branches &&
		   burst->window.most_branches < 2 * HWPROF_BURST_MAX) {
		burst->window.most_branches++;
		burst->window.most_steps += EXTEND_STEPS;
	}
}

/* Do what a program has returned. Return true if it drops the event. */
static noinline bool program_obey(struct lane *lane,
				  struct program_counts *counts,
				  unsigned int kind, u32 verdict)
{
	bool drops = verdict & HWPROF_PROGRAM_DROP && program_can_drop(kind);

	if (verdict & (HWPROF_PROGRAM_END | HWPROF_PROGRAM_EXTEND))
		program_steer_burst(&lane->burst, verdict);
	if (verdict & HWPROF_PROGRAM_SOONER)
		lane->program.pace = -PACE_MOST;
	else if (verdict & HWPROF_PROGRAM_LATER)
		lane->program.pace = PACE_MOST;
	counts->dropped += drops;
	return drops;
}

static struct program *program_of(const struct lane *lane, unsigned int kind)
{
	return READ_ONCE(lane->session->programs.runs[kind]);
}

static noinline void program_miss(const struct program *program)
{
	this_cpu_ptr(program->counts)->missed++;
}

/*
 * Run the program for the event in the lane's words. Return true if it drops
 * the event. Interrupts are off or this is an NMI, which is as good as
 * rcu_read_lock(). The program's own counter keeps it from running within
 * itself, also from elsewhere.
 */
static __always_inline bool program_run(struct lane *lane,
					struct program *program,
					unsigned int kind)
{
	struct program_counts *counts = this_cpu_ptr(program->counts);
	struct bpf_prog *bpf = program->bpf;
	struct bpf_run_ctx *outer;
	u32 verdict = 0;
	u64 took;

	if (likely(compat_program_enter(bpf))) {
		took = get_cycles();
		outer = bpf_set_run_ctx(&counts->context.run_ctx);
		verdict = bpf_prog_run(bpf, lane->program.words);
		bpf_reset_run_ctx(outer);
		took = get_cycles() - took;
		counts->runs++;
		counts->cycles += took;
		lane->program.cycles += took;
		if (unlikely(took > program->limit))
			program_overrun(lane, program, counts);
	} else {
		counts->missed++;
	}
	compat_program_leave(bpf);
	if (likely(!verdict))
		return false;
	if (likely(verdict == HWPROF_PROGRAM_DROP && program_can_drop(kind))) {
		counts->dropped++;
		return true;
	}
	return program_obey(lane, counts, kind, verdict);
}

/* --- events --------------------------------------------------------------- */

/* The task that an event is of, and what the event stands for. */
struct whose {
	u64 task;
	u64 weight;
	u32 space;
};

/* The words that differ from kind to kind, in their order. */
struct details {
	u64 first, second, third, fourth, fifth;
};

static __always_inline bool program_call(struct lane *lane, unsigned int kind,
					 struct whose whose,
					 struct details details)
{
	struct program *program = program_of(lane, kind);
	u64 *words = lane->program.words;

	if (unlikely(!program))
		return false;
	if (unlikely(lane->program.quiet || !whose.space)) {
		program_miss(program);
		return false;
	}
	words[HWPROF_PROGRAM_WORD_KIND] = kind;
	words[HWPROF_PROGRAM_WORD_SPACE] = whose.space;
	words[HWPROF_PROGRAM_WORD_TASK] = whose.task;
	words[HWPROF_PROGRAM_WORD_WEIGHT] = whose.weight;
	words[HWPROF_PROGRAM_WORD_COOKIE] = program->cookie;
	words[HWPROF_PROGRAM_WORD_FIRST] = details.first;
	words[HWPROF_PROGRAM_WORD_FIRST + 1] = details.second;
	words[HWPROF_PROGRAM_WORD_FIRST + 2] = details.third;
	words[HWPROF_PROGRAM_WORD_FIRST + 3] = details.fourth;
	words[HWPROF_PROGRAM_WORD_LAST] = details.fifth;
	return program_run(lane, program, kind);
}

static __always_inline bool
program_call_branch(struct lane *lane, struct whose whose,
		    const struct stream_event *event)
{
	const struct details details = {
		event->from, event->to, event->kind,
		event->flags & (STREAM_MISPREDICTED | STREAM_PREDICTED),
		event->cycles,
	};

	return program_call(lane, HWPROF_PROGRAM_BRANCH, whose, details);
}

static bool program_call_access(struct lane *lane, struct whose whose,
				const struct stream_event *event)
{
	bool known = !(event->flags & STREAM_NO_VALUE);
	const struct details details = {
		event->from, event->to, event->width,
		known ? 0 : HWPROF_PROGRAM_NO_VALUE,
		known ? event->value : 0,
	};

	return program_call(lane, event->kind == STREAM_LOAD ?
				  HWPROF_PROGRAM_LOAD : HWPROF_PROGRAM_STORE,
			    whose, details);
}

static bool program_call_call(struct lane *lane, struct whose whose,
			      const struct stream_event *event)
{
	const struct details details = {
		event->from, event->to,
		event->flags & STREAM_STACK ? event->value : 0,
	};

	return program_call(lane, event->kind == STREAM_CALL ?
				  HWPROF_PROGRAM_CALL : HWPROF_PROGRAM_RETURN,
			    whose, details);
}

/* Tell that a path ends with this branch, which the engine has not seen yet. */
static void program_call_path_end(struct lane *lane, struct whose whose,
				  const struct stream_event *event)
{
	const struct session *session = lane->session;
	struct engine_path path;
	struct details details;

	if (!session->engine->path_end(lane->cursor->engine, event,
				       whose.space, &path))
		return;
	details = (struct details) {
		path.start, path.end, path.target, path.length, path.signature,
	};
	program_call(lane, HWPROF_PROGRAM_PATH_END, whose, details);
}

static __always_inline struct whose
program_whose_of_cursor(const struct lane *lane)
{
	const struct cursor *cursor = lane->cursor;

	return (struct whose) {
		.task = cursor ? cursor->task : 0,
		.space = cursor ? cursor->space : 0,
		.weight = lane->program.weight,
	};
}

/* Feed a branch to the programs of branches, calls and returns. */
static bool program_feed_branch(struct lane *lane, struct whose whose,
				const struct stream_event *event)
{
	bool drops = program_call_branch(lane, whose, event);

	if (event->kind == STREAM_CALL || event->kind == STREAM_RET)
		drops |= program_call_call(lane, whose, event);
	return drops;
}

/* Feed a branch to any programs. */
static noinline bool program_feed_all(struct lane *lane,
				      const struct stream_event *event)
{
	const struct whose whose = program_whose_of_cursor(lane);

	if (program_feed_branch(lane, whose, event))
		return true;
	if (program_of(lane, HWPROF_PROGRAM_PATH_END) && lane->cursor)
		program_call_path_end(lane, whose, event);
	return false;
}

static noinline bool program_feed_access(struct lane *lane,
					 const struct stream_event *event)
{
	const struct whose whose = program_whose_of_cursor(lane);

	return program_call_access(lane, whose, event) |
	       lane->session->programs.accesses;
}

/* The common case is inline: a program of branches alone. */
bool programs_feed(struct lane *lane, const struct stream_event *event)
{
	const struct whose whose = program_whose_of_cursor(lane);

	if (unlikely(stream_is_access(event->kind)))
		return program_feed_access(lane, event);
	if (likely(!READ_ONCE(lane->session->programs.several) ?
		   !program_call_branch(lane, whose, event) :
		   !program_feed_all(lane, event)))
		return false;
	/* Code ran that the engine does not see. */
	lane->missed = true;
	return true;
}

/* --- windows and samples -------------------------------------------------- */

static struct whose program_whose_of_current(const struct lane *lane, u32 space)
{
	return (struct whose) {
		.task = session_task(lane->session),
		.space = space,
		.weight = lane->program.weight,
	};
}

/* System calls in a window have no branch that the source could mask. */
static bool program_passes(struct lane *lane, const struct stream_event *event)
{
	const struct mask *mask = mask_now(lane->session);

	return filter_passes(lane, event->from, 0) &&
	       (!mask || mask_passes(mask, event));
}

void programs_feed_window(struct lane *lane,
			  const struct window_branch *branches, u8 *kinds,
			  u32 count, u32 space)
{
	const struct whose whose = program_whose_of_current(lane, space);
	const struct stream_event *event;
	struct window window;

	window_begin(&window, branches, kinds, count, space);
	while ((event = window_next(&window)))
		if (programs_want(&lane->session->programs, event->kind) &&
		    program_passes(lane, event) &&
		    program_feed_branch(lane, whose, event))
			kinds[window.kind - kinds] = 0;
}

static u64 program_hash_of(const struct stream_stack *stack)
{
	u64 hash = 0;
	u32 i;

	for (i = 0; i < stack->depth; i++)
		hash = (hash ^ stack->sites[i]) * HASH_PRIME ^ hash >> 29;
	return hash;
}

bool programs_feed_sample(struct lane *lane, u64 ip, u64 weight, u32 space,
			  const struct stream_stack *stack)
{
	const struct details details = {
		ip, stack ? stack->depth : 0,
		stack ? program_hash_of(stack) : 0,
	};
	struct whose whose = program_whose_of_current(lane, space);

	whose.weight = weight;
	return program_call(lane, HWPROF_PROGRAM_SAMPLE, whose, details);
}

static void program_call_window(struct lane *lane, unsigned int kind, u64 ip,
				u32 space, u64 branches)
{
	const struct whose whose = program_whose_of_current(lane, space);
	const struct details details = { ip, branches };

	program_call(lane, kind, whose, details);
}

void programs_begin_window(struct lane *lane, u64 ip, u32 space, u64 branches,
			   u64 cost)
{
	struct program_lane *mine = &lane->program;

	mine->weight = max(mine->waited - min(mine->waited, cost), 1ULL);
	mine->waited = 0;
	if (programs_want(&lane->session->programs, PROGRAM_WINDOW_BEGIN))
		program_call_window(lane, HWPROF_PROGRAM_WINDOW_BEGIN, ip,
				    space, branches);
}

void programs_end_window(struct lane *lane, u64 ip, u32 space, u64 branches)
{
	program_call_window(lane, HWPROF_PROGRAM_WINDOW_END, ip, space,
			    branches);
}

/* An execution of a loop has ended. */
static void program_on_loop_exit(struct engine_listener *listener, u64 head,
				 u64 tail, u64 trips)
{
	struct session *session = container_of(listener, struct session,
					       programs.listener);
	struct lane *lane = this_cpu_ptr(session->lanes);
	const struct details details = { head, tail, trips };
	struct whose whose;

	if (!programs_want(&session->programs, PROGRAM_LOOP_EXIT))
		return;
	whose = program_whose_of_cursor(lane);
	program_call(lane, HWPROF_PROGRAM_LOOP_EXIT, whose, details);
}

/* --- what they cost, and how often ---------------------------------------- */

u64 programs_spent(struct lane *lane)
{
	u64 cycles = lane->program.cycles;

	if (likely(!cycles))
		return 0;
	lane->program.cycles = 0;
	return program_ns_of_cycles(cycles);
}

void programs_pace(struct lane *lane, struct perf_event *trigger, bool fixed)
{
	s8 pace = lane->program.pace;
	u64 period = fixed ? trigger->attr.sample_period :
			     trigger->hw.sample_period;

	if (trigger->attr.freq || !period || period > S64_MAX / 2)
		return;
	lane->program.pace = 0;
	period = pace < 0 ? period >> -pace : period << pace;
	trigger->hw.sample_period = max(period, 1ULL);
}

/* --- which programs a session has ----------------------------------------- */

/* The bits of programs.mask that a program of each kind needs. */
static const u32 bits_of[HWPROF_PROGRAM_KINDS] = {
	[HWPROF_PROGRAM_BRANCH]		= 1 << STREAM_COND | 1 << STREAM_JUMP |
					  1 << STREAM_INDIRECT |
					  1 << STREAM_CALL | 1 << STREAM_RET |
					  1 << STREAM_SYSCALL |
					  1 << STREAM_SIGNAL |
					  1 << STREAM_SIGRETURN,
	[HWPROF_PROGRAM_LOAD]		= 1 << STREAM_LOAD,
	[HWPROF_PROGRAM_STORE]		= 1 << STREAM_STORE,
	[HWPROF_PROGRAM_CALL]		= 1 << STREAM_CALL,
	[HWPROF_PROGRAM_RETURN]		= 1 << STREAM_RET,
	[HWPROF_PROGRAM_LOOP_EXIT]	= 1 << PROGRAM_LOOP_EXIT,
	[HWPROF_PROGRAM_PATH_END]	= 1 << STREAM_COND | 1 << STREAM_JUMP |
					  1 << STREAM_INDIRECT |
					  1 << STREAM_RET,
	[HWPROF_PROGRAM_WINDOW_BEGIN]	= 1 << PROGRAM_WINDOW_BEGIN,
	[HWPROF_PROGRAM_WINDOW_END]	= 1 << PROGRAM_WINDOW_END,
	[HWPROF_PROGRAM_SAMPLE]		= 1 << STREAM_SAMPLE,
};

/*
 * Let those programs be called that the session has, and that were not taken
 * away. Accesses that the engine must not see stay in the mask. The caller
 * holds the lock.
 */
static void program_update(struct session *session)
{
	struct programs *programs = &session->programs;
	u32 mask = programs->accesses ? 1 << STREAM_LOAD | 1 << STREAM_STORE :
					0;
	bool several = false;
	int i;

	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++) {
		struct program *program = programs->of[i];

		if (program && READ_ONCE(program->taken))
			program = NULL;
		if (program)
			mask |= bits_of[i];
		several |= program && SEVERAL >> i & 1;
		smp_store_release(&programs->runs[i], program);
	}
	WRITE_ONCE(programs->several, several);
	WRITE_ONCE(programs->mask, mask);
}

/* Say in the log which programs were taken away. */
static void program_on_taken(struct irq_work *work)
{
	struct programs *programs = container_of(work, struct programs, taken);
	struct session *session = container_of(programs, struct session,
					       programs);
	u32 limits[HWPROF_PROGRAM_KINDS];
	unsigned long flags;
	int i, count = 0;

	raw_spin_lock_irqsave(&programs->lock, flags);
	program_update(session);
	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++) {
		struct program *program = programs->of[i];

		if (!program || !READ_ONCE(program->taken) || program->said)
			continue;
		program->said = true;
		limits[count++] = program->limit_us;
	}
	raw_spin_unlock_irqrestore(&programs->lock, flags);
	while (count--)
		pr_warn("session %u: a program took longer than %u us too often; it is not called any more\n",
			session->id, limits[count]);
}

void programs_init_lane(struct lane *lane)
{
	lane->program.weight = 1;
	lane->program.words[HWPROF_PROGRAM_WORD_SESSION] = lane->session->id;
}

void programs_init(struct session *session)
{
	struct programs *programs = &session->programs;

	raw_spin_lock_init(&programs->lock);
	init_irq_work(&programs->taken, program_on_taken);
	programs->listener.loop_exit = program_on_loop_exit;
}

static void program_free(struct program *program)
{
	if (!program)
		return;
	if (program->bpf)
		bpf_prog_put(program->bpf);
	free_percpu(program->counts);
	kfree(program);
}

/*
 * Return true if the program can be run here: it does not read behind the
 * words, and does not sleep. A program that it calls by a tail call may read as
 * many words as a raw tracepoint has: see program_lane.words.
 */
static bool program_fits(const struct bpf_prog *bpf)
{
	return bpf->aux->max_ctx_offset <= WORDS * sizeof(u64) &&
	       !compat_program_sleeps(bpf);
}

static struct bpf_prog *program_get_bpf(int fd)
{
	struct bpf_prog *bpf =
		bpf_prog_get_type_dev(fd, BPF_PROG_TYPE_RAW_TRACEPOINT, false);

	if (!IS_ERR(bpf) && !program_fits(bpf)) {
		bpf_prog_put(bpf);
		return ERR_PTR(-EINVAL);
	}
	return bpf;
}

static struct program *program_new(const struct hwprof_program *request)
{
	struct program *program = kzalloc(sizeof(*program), GFP_KERNEL_ACCOUNT);
	struct bpf_prog *bpf;
	int cpu;

	if (!program)
		return ERR_PTR(-ENOMEM);
	program->counts = alloc_percpu_gfp(struct program_counts,
					   GFP_KERNEL_ACCOUNT);
	bpf = program->counts ? program_get_bpf(request->fd) : ERR_PTR(-ENOMEM);
	if (IS_ERR(bpf)) {
		program_free(program);
		return ERR_CAST(bpf);
	}
	program->bpf = bpf;
	program->cookie = request->cookie;
	program->limit_us = request->limit_us ?:
			    HWPROF_PROGRAM_DEFAULT_LIMIT_US;
	program->limit = program_cycles_of_us(program->limit_us);
	for_each_possible_cpu(cpu)
		per_cpu_ptr(program->counts, cpu)->context.bpf_cookie =
			request->cookie;
	return program;
}

/* --- what a session can give ---------------------------------------------- */

/* Return the kinds that the session's source and engine have. */
static u32 program_kinds_of(const struct session *session)
{
	const struct session_config *config = &session->config;
	const u32 branches = 1 << HWPROF_PROGRAM_BRANCH |
			     1 << HWPROF_PROGRAM_CALL |
			     1 << HWPROF_PROGRAM_RETURN;
	bool steps = config->source_caps & SOURCE_WHOLE;
	u32 kinds = 0;

	if (config->source_caps & SOURCE_SAMPLES ||
	    (session->engine->feed_stack && !steps))
		return 1 << HWPROF_PROGRAM_SAMPLE;
	kinds |= branches;
	if (config->source_caps & SOURCE_ACCESSES)
		kinds |= 1 << HWPROF_PROGRAM_LOAD | 1 << HWPROF_PROGRAM_STORE;
	if (config->windows)
		kinds |= 1 << HWPROF_PROGRAM_WINDOW_BEGIN |
			 1 << HWPROF_PROGRAM_WINDOW_END;
	else if (config_has_engine(config, ENGINE_EXITS))
		kinds |= 1 << HWPROF_PROGRAM_LOOP_EXIT;
	if (steps && config_has_engine(config, ENGINE_PATHS))
		kinds |= 1 << HWPROF_PROGRAM_PATH_END;
	return kinds;
}

/*
 * Needs of programs that the session does not look for yet: loads and stores,
 * what stores write, exits of loops.
 */
struct needs {
	bool accesses;
	bool stored;
	bool exits;
};

static struct needs program_needs_of(const struct session *session, u32 kinds)
{
	return (struct needs) {
		.accesses = kinds & (1 << HWPROF_PROGRAM_LOAD |
				     1 << HWPROF_PROGRAM_STORE) &&
			    !session->config.accesses,
		.stored = kinds >> HWPROF_PROGRAM_STORE & 1 &&
			  !session->programs.stored,
		.exits = kinds >> HWPROF_PROGRAM_LOOP_EXIT & 1 &&
			 !session->programs.listens,
	};
}

static void program_meet(struct session *session, struct needs needs)
{
	struct programs *programs = &session->programs;
	unsigned int i;

	if (needs.accesses)
		programs->accesses = session->config.accesses = true;
	if (needs.stored)
		programs->stored = true;
	if (!needs.exits)
		return;
	programs->listens = true;
	for (i = 0; i < session->table_count; i++)
		session->engine->listen(session->tables[i].memory,
					&programs->listener);
}

/*
 * Let the session look for what these kinds are about. CPUs that feed it must
 * not see that change, so there must be no event yet. An event that is about to
 * be added waits for the lock.
 */
static int program_prepare(struct session *session, u32 kinds)
{
	struct needs needs = program_needs_of(session, kinds);
	unsigned long flags;
	int err = 0;

	if (!needs.accesses && !needs.stored && !needs.exits)
		return 0;
	if (needs.accesses)
		err = session->source->see_accesses();
	if (err)
		return err;
	raw_spin_lock_irqsave(&session->roots_lock, flags);
	if (session->root_count)
		err = -EBUSY;
	else
		program_meet(session, needs);
	raw_spin_unlock_irqrestore(&session->roots_lock, flags);
	return err;
}

/*
 * Put @program (NULL: none) in place of the programs of these kinds. Return the
 * old ones that are left with no kind, in @gone, and their number.
 */
static unsigned int program_exchange(struct session *session, u32 kinds,
				     struct program *program,
				     struct program **gone)
{
	struct programs *programs = &session->programs;
	unsigned int i, count = 0;
	unsigned long flags;

	raw_spin_lock_irqsave(&programs->lock, flags);
	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++) {
		struct program *old = programs->of[i];

		if (!(kinds >> i & 1))
			continue;
		if (old && !--old->users)
			gone[count++] = old;
		if (program)
			program->users++;
		programs->of[i] = program;
	}
	program_update(session);
	raw_spin_unlock_irqrestore(&programs->lock, flags);
	return count;
}

/* CPUs call programs with interrupts off, or in NMIs. */
static void program_replace(struct session *session, u32 kinds,
			    struct program *program)
{
	struct program *gone[HWPROF_PROGRAM_KINDS];
	unsigned int count = program_exchange(session, kinds, program, gone);

	if (!count)
		return;
	synchronize_rcu();
	while (count)
		program_free(gone[--count]);
}

static int program_check_request(const struct session *session,
				 const struct hwprof_program *request)
{
	const struct session_config *config = &session->config;

	if (request->flags || request->reserved || !request->kinds ||
	    request->kinds & ~KINDS_ALL || request->fd < -1 ||
	    request->limit_us > HWPROF_PROGRAM_LIMIT_US_MAX)
		return -EINVAL;
	if (request->kinds & ~program_kinds_of(session))
		return -EOPNOTSUPP;
	if (config->kernel && !(config->source_caps & SOURCE_USER_ONLY))
		return -EINVAL;
	return 0;
}

/* A descriptor can be passed on, so who uses it here needs the rights, too. */
static int program_check_rights(const struct session *session)
{
	int err = opener_check(&session->key.opener);

	if (err)
		return err;
	return right_read_all() ? 0 : -EPERM;
}

int programs_set(struct session *session, const struct hwprof_program *request)
{
	struct program *program = NULL;
	int err = program_check_request(session, request) ?:
		  program_check_rights(session);

	if (err)
		return err;
	if (request->fd >= 0) {
		program = program_new(request);
		if (IS_ERR(program))
			return PTR_ERR(program);
		err = program_prepare(session, request->kinds);
		if (err) {
			program_free(program);
			return err;
		}
	}
	program_replace(session, request->kinds, program);
	return 0;
}

void programs_account(struct session *session,
		      struct hwprof_program_account *account)
{
	const struct program *program = session->programs.of[account->kind];
	u64 cycles = 0;
	int cpu;

	if (!program)
		return;
	account->state = READ_ONCE(program->taken) ? HWPROF_PROGRAM_TAKEN :
						     HWPROF_PROGRAM_RUNS;
	account->cookie = program->cookie;
	for_each_possible_cpu(cpu) {
		const struct program_counts *counts =
			per_cpu_ptr(program->counts, cpu);

		account->runs += READ_ONCE(counts->runs);
		account->missed += READ_ONCE(counts->missed);
		account->dropped += READ_ONCE(counts->dropped);
		account->overruns += READ_ONCE(counts->overruns);
		cycles += READ_ONCE(counts->cycles);
	}
	account->time_ns = program_ns_of_cycles(cycles);
}

void programs_free(struct session *session)
{
	program_replace(session, KINDS_ALL, NULL);
	irq_work_sync(&session->programs.taken);
}
