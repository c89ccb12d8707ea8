// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/cct/: the calling context tree (Ammons, Ball, Larus: Exploiting
 * Hardware Performance Counters with Flow and Context Sensitive Profiling,
 * section 4) of exact calls. cct_stack.h is for sampled stacks. Call sites are
 * distinguished. A procedure is on a chain once: a call of it from below itself
 * is a recursive edge to the node where it is already (section 4.1).
 *
 * Beyond the paper:
 *
 * - Returns are matched by address (walk.h), so a tail call closes the frames
 *   that it leaves. The stack pointer says which frame a longjmp() or an
 *   exception leads to.
 * - A signal's handler is a root, as the paper proposes (section 4.2). So is
 *   code whose callers are not known: after a gap, in a new thread, or behind a
 *   return that matches no call, up to a return that matches one.
 * - A procedure whose first instruction is an indirect jump (a PLT's entry) is
 *   a stub: the call counts as one of the jump's target.
 * - Memory is fixed. Frames are forgotten from the lowest on, and a chain is at
 *   most as long as there are frames. A direct recursion takes one frame,
 *   however deep it is.
 */
#include "cct.h"
#include "cct_stack.h"

enum {
	/* Most nodes on a chain: as many as frames. */
	CCT_DEPTH	= WALK_DEPTH,
	/* Bytes of the endbr64 that a stub may begin with. */
	CCT_ENDBR64	= 4,
	/* Stubs whose targets are known; a power of two. */
	CCT_STUBS	= 256,
};

/* A stub, and where it jumped last. It nearly always jumps there again. */
struct cct_stub {
	u64 address;
	u64 target;
	u32 space;
	u32 reserved;
};

struct cct_table {
	struct cct_tree tree;
	struct cct_stacks *stacks;	/* NULL: calls are exact */
	struct cct_stub stubs[CCT_STUBS];
	u64 seed;
	u32 basis;
};

static void cct_table_init(void *memory, size_t size,
			   const struct engine_params *params)
{
	size_t header = (sizeof(struct cct_table) + 63) & ~(size_t)63;
	struct cct_table *table = memory;

	table->seed = params->seed;
	table->basis = params->basis;
	if (params->basis != HWPROF_BASIS_EXACT)
		header += cct_stacks_init(&table->stacks, memory + header,
					  size, params->seed);
	cct_tree_init(&table->tree, memory + header, size - header,
		      table->stacks ? params->metrics : 0, params->seed);
}

static void cct_cursor_init(void *memory, u32 tid)
{
	struct cct_cursor *cursor = memory;

	memset(cursor, 0, offsetof(struct cct_cursor, walk));
	walk_init(&cursor->walk);
	cursor->called = WALK_NOWHERE;
}

/*
 * Calls and signals enter a node; each is one unit. A sample is as many as its
 * weight.
 */
static unsigned int cct_unit(const struct engine_params *params,
			     const struct stream_event *event)
{
	if (event->kind == STREAM_SAMPLE)
		return min(event->value, (u64)U32_MAX);
	return event->kind == STREAM_CALL || event->kind == STREAM_SIGNAL;
}

/* --- frames ------------------------------------------------------------- */

static __always_inline struct cct_frame *cct_frame_at(struct cct_cursor *cursor,
						      u32 depth)
{
	return depth == cursor->walk.bottom ? &cursor->base :
	       &cursor->frame[walk_index(depth)];
}

/* Return the running frame. */
static __always_inline struct cct_frame *
cct_frame_now(struct cct_cursor *cursor)
{
	return cct_frame_at(cursor, cursor->walk.depth);
}

static bool cct_is_kept(const struct cct_cursor *cursor, u32 depth)
{
	const struct walk *walk = &cursor->walk;

	return depth - walk->bottom - 1 < walk->depth - walk->bottom;
}

/* Return why the frame below waits. The frame @depth must be kept. */
static enum walk_kind cct_begun_by(const struct cct_cursor *cursor, u32 depth)
{
	return cursor->walk.kind[walk_index(depth - 1)];
}

static u64 cct_site_of(const struct cct_cursor *cursor, u32 depth)
{
	return cursor->walk.site[walk_index(depth - 1)];
}

static __always_inline struct cct_frame *cct_push(struct cct_cursor *cursor,
						  u64 site, enum walk_kind kind)
{
	if (unlikely(!walk_has_room(&cursor->walk))) {
		cursor->base = *cct_frame_at(cursor, cursor->walk.bottom + 1);
		cursor->base.again = false;
		cursor->walk.bottom++;
	}
	walk_push(&cursor->walk, site, kind);
	return cct_frame_now(cursor);
}

/*
 * The frame above has returned. If it stands for several, one less of them is
 * left.
 */
static void cct_pop_repeat(struct cct_cursor *cursor)
{
	u32 depth = cursor->walk.depth + 1;
	struct cct_frame *frame = cct_frame_at(cursor, depth);

	if (!frame->repeats)
		return;
	frame->repeats--;
	cursor->walk.depth = depth;
}

/*
 * Return a frame of the procedure on the chain of the running frame, or NULL.
 */
static const struct cct_frame *cct_find_on_chain(struct cct_cursor *cursor,
						 u64 callee)
{
	u32 depth = cursor->walk.depth;

	for (;;) {
		const struct cct_frame *frame = cct_frame_at(cursor, depth);

		if (frame->callee == callee && callee)
			return frame;
		if (depth == cursor->walk.bottom ||
		    !cct_is_kept(cursor, frame->entry_depth) ||
		    cct_begun_by(cursor, frame->entry_depth) != WALK_CALL)
			return NULL;
		depth = frame->entry_depth - 1;
	}
}

/* Return the stack pointer of the event; 0 if it is not known. */
static __always_inline u64 cct_stack_of(const struct stream_event *event)
{
	return event->flags & STREAM_STACK ? event->value : 0;
}

/* Return true if the stack pointer is above where the frame began. */
static __always_inline bool cct_is_over(const struct cct_frame *frame,
					u64 stack)
{
	return frame->stack && stack > frame->stack;
}

/*
 * Return true if the frame below @above, and each one that it stands for, can
 * have pushed nothing but the return address of its call. Where calls push
 * nothing, a frame that makes calls takes at least 16 bytes.
 */
static bool cct_is_lean(const struct cct_frame *frame,
			const struct cct_frame *above)
{
	return frame->stack - above->stack - 1 <
	       16 * ((u64)frame->repeats + 1) - 1;
}

/*
 * Return the depth of the frame that runs, judging by the stack pointer.
 *
 * Frames that began below the stack pointer are over. A frame that began just
 * there may go on, because a call pushes nothing on some CPUs. A frame whose
 * beginning is not known is not over. If all frames are over, the task is on
 * another stack, or in a frame that is forgotten: then the pointer says
 * nothing, and the answer is the frame that ran.
 */
static u32 cct_frame_by_stack(struct cct_cursor *cursor, u64 stack)
{
	u32 ran = cursor->walk.depth, depth = ran;
	const struct cct_frame *frame = cct_frame_now(cursor), *above;

	if (depth == cursor->walk.bottom || !cct_is_over(frame, stack))
		return ran;
	while (--depth != cursor->walk.bottom) {
		above = frame;
		frame = cct_frame_at(cursor, depth);
		if (!frame->stack || stack < frame->stack ||
		    (stack == frame->stack && cct_is_lean(frame, above)))
			return depth;
	}
	return ran;
}

/* --- nodes -------------------------------------------------------------- */

static u64 cct_root_id(const struct cct_table *table, u32 space)
{
	return cct_id(table->seed, space, HWPROF_CONTEXT_ROOT);
}

static void cct_set_node(struct cct_node *node, u64 parent, u64 site,
			 u64 callee, u32 space, enum hwprof_context_kind kind)
{
	node->parent = parent;
	node->callee = callee;
	node->site = site;
	node->space = space;
	node->kind = kind;
	node->untold = false;
}

/* Return NULL if there is no room. */
static struct cct_node *cct_make_node(struct cct_table *table, u64 id,
				      u64 parent, u64 site, u64 callee,
				      u32 space, enum hwprof_context_kind kind)
{
	struct cct_node *node = cct_get(&table->tree, id);

	if (node)
		cct_set_node(node, parent, site, callee, space, kind);
	return node;
}

/*
 * Recreate the node of @frame in this table. Return NULL if it is full, or if
 * the caller is forgotten.
 */
static struct cct_node *cct_make_again(struct cct_table *table,
				       struct cct_cursor *cursor,
				       const struct cct_frame *frame)
{
	u32 depth = frame->entry_depth;

	if (frame->id == cct_root_id(table, cursor->walk.space))
		return cct_make_node(table, frame->id, 0, 0, 0,
				     cursor->walk.space, HWPROF_CONTEXT_ROOT);
	if (!cct_is_kept(cursor, depth))
		return NULL;
	frame = cct_frame_at(cursor, depth);
	if (cct_begun_by(cursor, depth) == WALK_HANDLER)
		return cct_make_node(table, frame->id, 0, 0, frame->callee,
				     cursor->walk.space, HWPROF_CONTEXT_SIGNAL);
	return cct_make_node(table, frame->id,
			     cct_frame_at(cursor, depth - 1)->id,
			     cct_site_of(cursor, depth), frame->callee,
			     cursor->walk.space, HWPROF_CONTEXT_CALL);
}

/* Return the node of a frame; NULL if there is no memory for it. */
static struct cct_node *cct_node_of(struct cct_table *table,
				    struct cct_cursor *cursor,
				    struct cct_frame *frame)
{
	struct cct_node *node = cct_at(&table->tree, frame->node, frame->id);

	if (likely(node))
		return node;
	node = cct_find(&table->tree, frame->id);
	if (!node)
		node = cct_make_again(table, cursor, frame);
	if (node)
		frame->node = cct_number(&table->tree, node);
	return node;
}

/* Count the branches of the running frame, which is about to be left. */
static void cct_spend(struct cct_table *table, struct cct_cursor *cursor)
{
	struct cct_node *node;

	if (!cursor->branches)
		return;
	node = cct_node_of(table, cursor, cct_frame_now(cursor));
	if (node)
		node->branches += cursor->branches;
	cursor->branches = 0;
}

/* --- calls -------------------------------------------------------------- */

/* Make the call's node or recursive edge in this table. */
static struct cct_node *cct_make_edge(struct cct_table *table,
				      struct cct_cursor *cursor, u64 id,
				      u64 site, u64 callee,
				      const struct cct_frame *ancestor)
{
	const struct cct_frame *caller = cct_frame_now(cursor);
	struct cct_node *edge;

	edge = cct_make_node(table, id, caller->id, site, callee,
			     cursor->walk.space,
			     ancestor ? HWPROF_CONTEXT_RECURSION :
				    HWPROF_CONTEXT_CALL);
	if (edge && ancestor)
		edge->target = ancestor->id;
	return edge;
}

static void cct_count_node(struct cct_table *table, struct cct_node *edge)
{
	if (likely(edge)) {
		edge->calls++;
		table->tree.pending++;
	} else {
		table->tree.evicted++;
	}
}

/*
 * Enter a frame in the node of @ancestor; if that is forgotten, in the node
 * @id.
 */
static void cct_enter_again(struct cct_cursor *cursor, u64 site, u64 callee,
			    u64 id, const struct cct_frame *ancestor)
{
	struct cct_frame *caller = cct_frame_now(cursor);
	struct cct_frame frame = {
		.id = id, .callee = callee,
		.node = ancestor ? ancestor->node : CCT_NO_NODE,
		.entry_depth = ancestor ? ancestor->entry_depth : 0,
		.level = ancestor ? ancestor->level : caller->level,
		.stack = cursor->stack,
		.again = true,
	};

	if (caller->again && caller->id == id &&
	    cct_site_of(cursor, cursor->walk.depth) == site)
		caller->repeats++;
	else
		*cct_push(cursor, site, WALK_CALL) = frame;
}

/*
 * Take a call from a chain that is as long as it may be. The caller's node
 * counts it, and all calls below it.
 */
static void cct_enter_deeper(struct cct_table *table, struct cct_cursor *cursor,
			     u64 site)
{
	struct cct_frame *caller = cct_frame_now(cursor);
	struct cct_node *node = cct_node_of(table, cursor, caller);

	if (node) {
		node->deeper++;
		table->tree.pending++;
	} else {
		table->tree.evicted++;
	}
	cursor->edge = 0;
	cct_enter_again(cursor, site, caller->callee, caller->id, caller);
}

static __always_inline void cct_enter_child(struct cct_cursor *cursor, u64 site,
					    u64 callee, u64 id, u32 node)
{
	u16 level = cct_frame_now(cursor)->level + 1;
	struct cct_frame *frame = cct_push(cursor, site, WALK_CALL);

	frame->id = id;
	frame->callee = callee;
	frame->node = node;
	frame->entry_depth = cursor->walk.depth;
	frame->repeats = 0;
	frame->stack = cursor->stack;
	frame->level = level;
	frame->again = false;
}

/*
 * Take a call at @site: the three cases of the paper (section 4.2), and a chain
 * that is too long.
 */
static void cct_enter(struct cct_table *table, struct cct_cursor *cursor,
		      u64 site, u64 callee)
{
	const struct cct_frame *caller = cct_frame_now(cursor);
	const struct cct_frame *ancestor = NULL;
	u64 id = cct_id(caller->id, site, callee);
	struct cct_node *edge = cct_find(&table->tree, id);

	if (unlikely(!edge) || edge->kind == HWPROF_CONTEXT_RECURSION)
		ancestor = cct_find_on_chain(cursor, callee);
	if (unlikely(!edge)) {
		if (!ancestor && caller->level >= CCT_DEPTH) {
			cct_enter_deeper(table, cursor, site);
			return;
		}
		edge = cct_make_edge(table, cursor, id, site, callee, ancestor);
	}
	cct_count_node(table, edge);
	cursor->edge = edge ? id : 0;
	if (ancestor)
		cct_enter_again(cursor, site, callee, ancestor->id, ancestor);
	else if (edge && edge->kind == HWPROF_CONTEXT_RECURSION)
		cct_enter_again(cursor, site, callee, edge->target, NULL);
	else
		cct_enter_child(cursor, site, callee, id, edge ?
				cct_number(&table->tree, edge) : CCT_NO_NODE);
}

/*
 * Return true if the procedure at @called can be a stub that has jumped @from.
 */
static __always_inline bool cct_is_of_stub(u64 called, u64 from)
{
	return from == called || from == called + CCT_ENDBR64;
}

static __always_inline struct cct_stub *cct_stub_of(struct cct_table *table,
						    u64 address)
{
	return &table->stubs[(address * HASH_PRIME >> 32) & (CCT_STUBS - 1)];
}

/* Return the procedure that a call to @address enters, as far as is known. */
static __always_inline u64 cct_callee_of(struct cct_table *table,
					 const struct cct_cursor *cursor,
					 u64 address)
{
	const struct cct_stub *stub = cct_stub_of(table, address);

	return unlikely(stub->address == address &&
			stub->space == cursor->walk.space) ? stub->target :
							      address;
}

static void cct_enter_call(struct cct_table *table, struct cct_cursor *cursor,
			   const struct stream_event *event)
{
	cursor->called = event->to;
	cursor->entered = cct_callee_of(table, cursor, event->to);
	cursor->stack = cct_stack_of(event);
	cct_enter(table, cursor, event->from, cursor->entered);
}

/*
 * The last call was counted for the wrong procedure: count it for @callee
 * instead.
 */
static void cct_enter_instead(struct cct_table *table,
			      struct cct_cursor *cursor, u64 callee)
{
	struct cct_node *edge = cursor->edge ?
				cct_find(&table->tree, cursor->edge) : NULL;
	u32 depth = cursor->walk.depth;
	u64 site = cct_site_of(cursor, depth);

	if (!edge || !edge->calls)
		return;		/* It was counted in a table that is gone; leave
				 * it there. */
	edge->calls--;
	table->tree.pending--;
	if (cct_is_told(edge))
		cct_remove(&table->tree, edge);
	cursor->walk.depth--;
	cct_pop_repeat(cursor);
	cct_enter(table, cursor, site, callee);
}

/* The event behind a call tells whether the call led to a stub. */
static void cct_settle_call(struct cct_table *table, struct cct_cursor *cursor,
			    const struct stream_event *event)
{
	u64 called = cursor->called, callee = called;

	cursor->called = WALK_NOWHERE;
	if (event->kind == STREAM_INDIRECT &&
	    event->space == cursor->walk.space &&
	    cct_is_of_stub(called, event->from)) {
		callee = event->to;
		*cct_stub_of(table, called) = (struct cct_stub) {
			called, callee, event->space, 0,
		};
	}
	if (callee != cursor->entered)
		cct_enter_instead(table, cursor, callee);
}

static void cct_enter_handler(struct cct_table *table,
			      struct cct_cursor *cursor,
			      const struct stream_event *event)
{
	u64 next = event->from, handler = event->to;
	u64 id = cct_id(cct_root_id(table, cursor->walk.space),
			HWPROF_CONTEXT_SIGNAL, handler);
	struct cct_node *node = cct_find(&table->tree, id);
	struct cct_frame *frame = cct_push(cursor, next, WALK_HANDLER);

	if (!node)
		node = cct_make_node(table, id, 0, 0, handler,
				     cursor->walk.space, HWPROF_CONTEXT_SIGNAL);
	cct_count_node(table, node);
	*frame = (struct cct_frame) {
		.id = id, .callee = handler,
		.node = node ? cct_number(&table->tree, node) : CCT_NO_NODE,
		.entry_depth = cursor->walk.depth,
		.stack = cct_stack_of(event),
	};
}

/* --- returns ------------------------------------------------------------ */

/*
 * Forget all frames. The task runs at @to, or at an unknown address if that is
 * 0.
 */
static void cct_restart(const struct cct_table *table,
			struct cct_cursor *cursor, u64 to, u32 space)
{
	walk_restart(&cursor->walk, to ? to : WALK_NOWHERE, space);
	cursor->base = (struct cct_frame) {
		.id = cct_root_id(table, space), .node = CCT_NO_NODE,
	};
}

/* Enter a root, for a procedure that unseen code has called. */
static void cct_enter_root(const struct cct_table *table,
			   struct cct_cursor *cursor,
			   const struct stream_event *event,
			   enum walk_kind kind)
{
	struct cct_frame *frame = cct_push(cursor, event->from, kind);

	*frame = (struct cct_frame) {
		.id = cct_root_id(table, cursor->walk.space),
		.node = CCT_NO_NODE,
		.entry_depth = cursor->walk.depth,
		.stack = cct_stack_of(event),
	};
}

/* Enter a root, for code that a return led to without matching a call. */
static void cct_enter_stray(const struct cct_table *table,
			    struct cct_cursor *cursor)
{
	struct cct_frame *frame = cct_push(cursor, 0, WALK_STRAY);

	*frame = (struct cct_frame) {
		.id = cct_root_id(table, cursor->walk.space),
		.node = CCT_NO_NODE,
		.entry_depth = cursor->walk.depth,
	};
}

/*
 * Take a return. If it leads behind the call that began the running frame, it
 * is that call's, whatever the stack pointer says: a caller that has pushed
 * nothing began at the same stack pointer.
 */
static void cct_leave(const struct cct_table *table, struct cct_cursor *cursor,
		      const struct stream_event *event)
{
	u32 runs = cursor->walk.depth;

	if (!walk_returns(&cursor->walk, event->to)) {
		cursor->walk.depth =
			cct_frame_by_stack(cursor, cct_stack_of(event));
		if (cursor->walk.depth != runs)
			return;
	}
	switch (walk_return(&cursor->walk, event->to)) {
	case WALK_BACK:
		cct_pop_repeat(cursor);
		break;
	case WALK_RESTORER:
		break;
	case WALK_LOST:
		if (runs != cursor->walk.bottom)
			cct_enter_stray(table, cursor);
		else
			cct_restart(table, cursor, event->to,
				    cursor->walk.space);
		break;
	}
}

/*
 * Return true if the jump leaves the frame: a longjmp(), or code that jumps
 * instead of returning.
 */
static __always_inline bool cct_jumps_out(struct cct_cursor *cursor,
					  const struct stream_event *event)
{
	return event->kind == STREAM_INDIRECT &&
	       cct_is_over(cct_frame_now(cursor), cct_stack_of(event));
}

/* --- feeding ------------------------------------------------------------ */

/* Take an event that changes which frame runs. */
static void cct_turn(struct cct_table *table, struct cct_cursor *cursor,
		     const struct stream_event *event)
{
	u64 to = event->to;

	cct_spend(table, cursor);
	switch (event->kind) {
	case STREAM_INDIRECT:
		cursor->walk.depth =
			cct_frame_by_stack(cursor, cct_stack_of(event));
		break;
	case STREAM_CALL:
		cct_enter_call(table, cursor, event);
		break;
	case STREAM_RET:
		cct_leave(table, cursor, event);
		break;
	case STREAM_SIGNAL:
		cct_enter_handler(table, cursor, event);
		break;
	case STREAM_SIGRETURN:
		if (walk_sigreturn(&cursor->walk, to) == WALK_LOST)
			cct_restart(table, cursor, to, event->space);
		break;
	default:
		cct_restart(table, cursor, to, event->space);
	}
}

/*
 * Take an arrival, which is no call that counts. A call that leads into what is
 * looked at enters a root.
 */
static void cct_arrive(struct cct_table *table, struct cct_cursor *cursor,
		       const struct stream_event *event)
{
	cct_spend(table, cursor);
	cursor->called = WALK_NOWHERE;
	if (event->space != cursor->walk.space)
		cct_restart(table, cursor, 0, event->space);
	cursor->walk.position = event->to;
	switch (event->width) {
	case STREAM_INDIRECT:
		cursor->walk.depth =
			cct_frame_by_stack(cursor, cct_stack_of(event));
		break;
	case STREAM_CALL:
		cct_enter_root(table, cursor, event, WALK_CALL);
		break;
	case STREAM_SIGNAL:
		cct_enter_root(table, cursor, event, WALK_HANDLER);
		break;
	case STREAM_RET:
		cct_leave(table, cursor, event);
		break;
	case STREAM_SIGRETURN:
		if (walk_sigreturn(&cursor->walk, event->to) == WALK_LOST)
			cct_restart(table, cursor, event->to, event->space);
		break;
	}
}

static noinline bool cct_feed_any(struct cct_table *table,
				  struct cct_cursor *cursor,
				  const struct stream_event *event)
{
	if (unlikely(event->kind == STREAM_ARRIVAL))
		cct_arrive(table, cursor, event);
	if (unlikely(event->kind > STREAM_GAP))
		return true;
	if (cursor->called != WALK_NOWHERE)
		cct_settle_call(table, cursor, event);
	if (unlikely(!walk_may_follow(&cursor->walk, event))) {
		cct_spend(table, cursor);
		cct_restart(table, cursor, event->from, event->space);
	}
	cursor->walk.position = event->to;
	cursor->branches += stream_is_branch(event->kind);
	if (stream_is_jump(event->kind) && !cct_jumps_out(cursor, event))
		return true;
	if (event->kind == STREAM_SYSCALL && walk_steps_over(event))
		return true;	/* an instruction of its line */
	cct_turn(table, cursor, event);
	return cct_has_room(&table->tree);
}

/*
 * Return true if the event agrees with the procedure that the last call was
 * counted for.
 */
static __always_inline bool cct_call_holds(const struct cct_cursor *cursor,
					   const struct stream_event *event)
{
	u64 called = cursor->called;

	if (called == WALK_NOWHERE)
		return true;
	if (event->kind == STREAM_INDIRECT &&
	    cct_is_of_stub(called, event->from))
		return event->to == cursor->entered && event->to != called;
	return called == cursor->entered;
}

/* Return the running frame's node if its number is right; else NULL. */
static __always_inline struct cct_node *
cct_node_known(const struct cct_table *table, const struct cct_frame *frame)
{
	return cct_at(&table->tree, frame->node, frame->id);
}

static __always_inline bool cct_feed_call(struct cct_table *table,
					  struct cct_cursor *cursor,
					  const struct stream_event *event)
{
	const struct cct_frame *caller = cct_frame_now(cursor);
	struct cct_node *node = cct_node_known(table, caller), *edge;
	u64 callee = cct_callee_of(table, cursor, event->to);
	u64 id = cct_id(caller->id, event->from, callee);

	edge = cct_find_hinted(&table->tree, id);
	if (unlikely(!node || !edge || edge->kind != HWPROF_CONTEXT_CALL ||
		     !walk_has_room(&cursor->walk)))
		return cct_feed_any(table, cursor, event);
	node->branches += cursor->branches + 1;
	cursor->branches = 0;
	edge->calls++;
	table->tree.pending++;
	cursor->called = event->to;
	cursor->entered = callee;
	cursor->edge = id;
	cursor->stack = cct_stack_of(event);
	cursor->walk.position = event->to;
	cct_enter_child(cursor, event->from, callee, id,
			cct_number(&table->tree, edge));
	return true;
}

static __always_inline bool cct_feed_return(struct cct_table *table,
					    struct cct_cursor *cursor,
					    const struct stream_event *event)
{
	const struct cct_frame *frame = cct_frame_now(cursor);
	struct cct_node *node = cct_node_known(table, frame);

	if (unlikely(!node || frame->repeats ||
		     !walk_returns(&cursor->walk, event->to)))
		return cct_feed_any(table, cursor, event);
	node->branches += cursor->branches + 1;
	cursor->branches = 0;
	cursor->called = WALK_NOWHERE;
	cursor->walk.position = event->to;
	cursor->walk.depth--;
	return true;
}

/*
 * The common cases. All calls are tail calls, so that this needs no stack.
 * Everything else is left to cct_feed_any(), which begins anew.
 */
bool cct_feed(void *memory, void *cursor_memory,
		     const struct stream_event *event)
{
	struct cct_cursor *cursor = cursor_memory;
	struct cct_table *table = memory;

	if (unlikely(!walk_follows(&cursor->walk, event->space, event->from) ||
		     !cct_call_holds(cursor, event)))
		return cct_feed_any(table, cursor, event);
	if (stream_is_jump(event->kind)) {
		if (unlikely(cct_jumps_out(cursor, event)))
			return cct_feed_any(table, cursor, event);
		cursor->called = WALK_NOWHERE;
		cursor->walk.position = event->to;
		cursor->branches++;
		return true;
	}
	if (event->kind == STREAM_CALL)
		return cct_feed_call(table, cursor, event);
	if (event->kind == STREAM_RET)
		return cct_feed_return(table, cursor, event);
	return cct_feed_any(table, cursor, event);
}

u64 cct_context(void *table, void *cursor_memory,
		const struct stream_event *event)
{
	struct cct_cursor *cursor = cursor_memory;

	if (cursor->called != WALK_NOWHERE && event->kind <= STREAM_GAP)
		cct_settle_call(table, cursor, event);
	return cct_frame_now(cursor)->id;
}

static bool cct_count_stack(void *memory, const struct stream_stack *stack)
{
	struct cct_table *table = memory;

	return cct_stack_count(&table->tree, table->stacks, stack);
}

static bool cct_feed_stack(void *memory, const struct stream_stack *stack)
{
	struct cct_table *table = memory;

	cct_stack_walk(&table->tree, table->stacks, stack);
	return cct_has_room(&table->tree);
}

/* --- from a table into a profile ---------------------------------------- */

static void cct_take(struct cct_table *profile, struct cct_table *table,
		     const struct cct_node *from)
{
	u64 calls = from->calls + from->deeper;
	struct cct_node *to;

	if (cct_is_told(from))
		return;
	to = cct_get(&profile->tree, from->id);
	if (!to) {
		profile->tree.evicted += calls;
		return;
	}
	if (!to->kind) {
		cct_set_node(to, from->parent, from->site, from->callee,
			     from->space, from->kind);
		to->untold = from->untold;
	}
	to->calls += from->calls;
	to->deeper += from->deeper;
	profile->tree.pending += calls;
	if (from->kind == HWPROF_CONTEXT_RECURSION &&
	    to->kind == HWPROF_CONTEXT_RECURSION)
		to->target = from->target;
	else if (from->kind == to->kind)
		to->branches += from->branches;
	cct_add_metrics(&profile->tree, to, cct_metrics(&table->tree, from));
}

static size_t cct_merge(void *memory, void *table_memory, size_t limit)
{
	struct cct_table *profile = memory, *table = table_memory;
	struct cct_tree *tree = &table->tree;
	size_t taken;

	/* From the last node on, so that the pool shrinks with it. */
	for (taken = 0; taken < limit && tree->top; taken++) {
		struct cct_node *node = &tree->nodes[tree->top - 1];

		if (!node->id) {
			tree->top--;
			continue;
		}
		cct_take(profile, table, node);
		cct_remove(tree, node);
	}
	if (taken == limit)
		return taken;
	profile->tree.evicted += tree->evicted;
	tree->evicted = 0;
	cct_tree_restart(tree);
	return taken;
}

/* --- rows --------------------------------------------------------------- */

static void cct_put_metrics(const struct cct_tree *tree,
			    const struct cct_node *node,
			    struct hwprof_row_context *row)
{
	if (!tree->metric_count)
		return;
	row->row.size = sizeof(*row);
	row->metric_count = tree->metric_count;
	memcpy(row->metrics, cct_metrics(tree, node),
	       tree->metric_count * sizeof(u64));
}

static bool cct_emit_node(struct cct_table *table, struct cct_node *node,
			  engine_emit emit, void *context)
{
	struct hwprof_row_context row = {
		.row.type = HWPROF_ROW_CONTEXT,
		.row.size = HWPROF_ROW_CONTEXT_SIZE_VER0,
		.row.space = node->space,
		.id = node->id,
		.parent = node->parent,
		.callee = node->callee,
		.site = node->site,
		.calls = node->calls,
		.deeper = node->deeper,
		.kind = node->kind,
		.basis = table->basis,
	};
	bool recursion = node->kind == HWPROF_CONTEXT_RECURSION;

	if (cct_is_told(node))
		return true;
	if (recursion)
		row.target = node->target;
	else
		row.branches = node->branches;
	cct_put_metrics(&table->tree, node, &row);
	if (!emit(context, &row, row.callee, row.site, row.calls + row.deeper))
		return false;
	table->tree.pending -= row.calls + row.deeper;
	node->calls = 0;
	node->deeper = 0;
	node->untold = false;
	if (!recursion)
		node->branches = 0;
	memset(cct_metrics(&table->tree, node), 0,
	       table->tree.metric_count * sizeof(u64));
	return true;
}

static bool cct_rows(void *memory, u32 space, size_t *at, size_t limit,
		     engine_emit emit, void *context)
{
	struct cct_table *table = memory;
	struct cct_tree *tree = &table->tree;

	for (; *at < tree->top && limit; ++*at, limit--) {
		struct cct_node *node = &tree->nodes[*at];

		if (!node->id || (space && node->space != space))
			continue;
		if (!cct_emit_node(table, node, emit, context))
			return false;
	}
	return *at >= tree->top;
}

static void cct_sample(const struct engine_params *params,
		       const struct stream_event *event, u64 period,
		       struct engine_sample *sample)
{
	struct hwprof_row_context *row = &sample->context;

	memset(row, 0, sizeof(*row));
	row->row.type = HWPROF_ROW_CONTEXT;
	row->row.size = HWPROF_ROW_CONTEXT_SIZE_VER0;
	sample->ip = row->callee = event->to;
	sample->addr = event->from;
	row->kind = HWPROF_CONTEXT_SIGNAL;
	if (event->kind == STREAM_CALL) {
		row->kind = HWPROF_CONTEXT_CALL;
		row->site = event->from;
	}
	row->calls = period;
	row->basis = HWPROF_BASIS_EXACT;
}

/*
 * From the last node down, so that the top comes down as well. *@at counts
 * nodes that were looked at, with those above the top.
 */
static bool cct_forget(void *memory, u32 space, size_t *at, size_t limit)
{
	struct cct_tree *tree = &((struct cct_table *)memory)->tree;
	size_t above = tree->node_count - tree->top;

	*at = max(*at, above);
	for (; *at < tree->node_count && limit; ++*at, limit--) {
		struct cct_node *node =
			&tree->nodes[tree->node_count - 1 - *at];

		if (!node->id || node->space != space)
			continue;
		tree->evicted += node->calls + node->deeper;
		cct_remove(tree, node);
	}
	return *at == tree->node_count;
}

static u64 cct_evicted(const void *memory)
{
	return ((const struct cct_table *)memory)->tree.evicted;
}

static u64 cct_pending(const void *memory)
{
	return ((const struct cct_table *)memory)->tree.pending;
}

const struct engine_ops cct_engine = {
	.name		= "cct",
	.cursor_size	= sizeof(struct cct_cursor),
	.table_min	= 64 * 1024,
	.table_init	= cct_table_init,
	.cursor_init	= cct_cursor_init,
	.unit		= cct_unit,
	.feed		= cct_feed,
	.count_stack	= cct_count_stack,
	.feed_stack	= cct_feed_stack,
	.merge		= cct_merge,
	.rows		= cct_rows,
	.sample		= cct_sample,
	.forget		= cct_forget,
	.evicted	= cct_evicted,
	.pending	= cct_pending,
};
