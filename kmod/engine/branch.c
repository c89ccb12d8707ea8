// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * hwprof/branches/: the branches themselves, in order. Other tools, and the
 * oracle of the tests, read them. Nothing is summarised: a table is a row that
 * is being filled, of one thread at a time.
 */
#include "engine.h"
#include "../../uapi/linux/hwprof.h"

#define ASSERT_SAME(what)						      \
	_Static_assert((int)STREAM_##what == (int)HWPROF_BRANCH_##what, #what)

ASSERT_SAME(COND);
ASSERT_SAME(JUMP);
ASSERT_SAME(INDIRECT);
ASSERT_SAME(CALL);
ASSERT_SAME(RET);
ASSERT_SAME(SYSCALL);
ASSERT_SAME(SIGNAL);
ASSERT_SAME(SIGRETURN);
ASSERT_SAME(GAP);
ASSERT_SAME(MISPREDICTED);

struct branch_cursor {
	u64 sequence;		/* number of the thread's next event */
	u32 tid;
};

struct branch_table {
	u64 evicted;
	u64 units;		/* branches in the row, without gaps */
	/* A row with its flexible array. */
	u64 row[(sizeof(struct hwprof_row_branches) +
		 HWPROF_ROW_BRANCHES_MAX * sizeof(struct hwprof_branch)) / 8];
};

static struct hwprof_row_branches *branch_row(struct branch_table *table)
{
	return (struct hwprof_row_branches *)table->row;
}

static void branch_table_init(void *memory, size_t size,
			      const struct engine_params *params)
{
	memset(memory, 0, sizeof(struct branch_table));
}

static void branch_cursor_init(void *memory, u32 tid)
{
	struct branch_cursor *cursor = memory;

	cursor->sequence = 0;
	cursor->tid = tid;
}

static unsigned int branch_unit(const struct engine_params *params,
				const struct stream_event *event)
{
	return event->kind >= STREAM_COND && event->kind <= STREAM_RET;
}

static struct hwprof_branch branch_of(const struct stream_event *event)
{
	struct hwprof_branch branch = {
		.from = event->from, .to = event->to, .kind = event->kind,
		.flags = event->flags & STREAM_MISPREDICTED,
		.cycles = event->cycles,
	};

	if (event->flags & STREAM_STACK && !(event->value >> 48)) {
		branch.flags |= HWPROF_BRANCH_STACK | event->value >> 34 << 2;
		branch.stack = event->value >> 2;
	}
	return branch;
}

static bool branch_feed(void *memory, void *cursor_memory,
			const struct stream_event *event)
{
	struct branch_cursor *cursor = cursor_memory;
	struct branch_table *table = memory;
	struct hwprof_row_branches *row = branch_row(table);
	u64 sequence = cursor->sequence++;

	if (event->kind > STREAM_GAP)
		return true;
	/* The row was not emitted in time. Give this event up. */
	if (row->count == HWPROF_ROW_BRANCHES_MAX ||
	    (row->count && (row->tid != cursor->tid ||
			    row->row.space != event->space))) {
		table->evicted += branch_unit(NULL, event);
		return false;
	}
	if (!row->count) {
		row->row.space = event->space;
		row->tid = cursor->tid;
		row->sequence = sequence;
	}
	row->branches[row->count++] = branch_of(event);
	table->units += branch_unit(NULL, event);
	return row->count < HWPROF_ROW_BRANCHES_MAX;
}

static bool branch_rows(void *memory, u32 space, size_t *at, size_t limit,
			engine_emit emit, void *context)
{
	struct branch_table *table = memory;
	struct hwprof_row_branches *row = branch_row(table);

	if (!row->count || (space && row->row.space != space))
		return true;
	row->row.type = HWPROF_ROW_BRANCHES;
	row->row.size = sizeof(*row) + row->count * sizeof(row->branches[0]);
	if (!emit(context, row, row->branches[0].from, row->branches[0].to,
		  table->units))
		return false;
	row->count = 0;
	table->units = 0;
	return true;
}

static bool branch_forget(void *memory, u32 space, size_t *at, size_t limit)
{
	struct branch_table *table = memory;
	struct hwprof_row_branches *row = branch_row(table);

	if (space && row->row.space != space)
		return true;
	table->evicted += table->units;
	table->units = 0;
	row->count = 0;
	return true;
}

static u64 branch_evicted(const void *memory)
{
	return ((const struct branch_table *)memory)->evicted;
}

static u64 branch_pending(const void *memory)
{
	return ((const struct branch_table *)memory)->units;
}

static void branch_sample(const struct engine_params *params,
			  const struct stream_event *event, u64 period,
			  struct engine_sample *sample)
{
	struct hwprof_row_branches *row = &sample->branch.row;

	memset(&sample->branch, 0, sizeof(sample->branch));
	row->row.type = HWPROF_ROW_BRANCHES;
	row->row.size = sizeof(sample->branch);
	row->count = 1;
	sample->ip = event->from;
	sample->addr = event->to;
	sample->branch.branch = branch_of(event);
}

const struct engine_ops branch_engine = {
	.name		= "branches",
	.immediate	= true,
	.cursor_size	= sizeof(struct branch_cursor),
	.table_min	= sizeof(struct branch_table),
	.table_init	= branch_table_init,
	.cursor_init	= branch_cursor_init,
	.unit		= branch_unit,
	.feed		= branch_feed,
	.rows		= branch_rows,
	.sample		= branch_sample,
	.forget		= branch_forget,
	.evicted	= branch_evicted,
	.pending	= branch_pending,
};
