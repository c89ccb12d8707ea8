// SPDX-License-Identifier: GPL-2.0-only
#include "harness.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#include "random.h"
#include "tests/oracle/array.h"

static void *table_new(const struct harness *h, size_t size)
{
	/* exactly so much, so that ASan sees a byte too far */
	void *table = calloc(1, size);

	h->ops->table_init(table, size, &h->params);
	return table;
}

void harness_init(struct harness *h, const struct harness_style *style,
		  u64 span, u64 seed)
{
	unsigned int i;

	*h = (struct harness){
		.ops = &loop_engine, .style = *style, .random = seed,
		.params = { .span = span, .basis = HWPROF_BASIS_EXACT },
	};
	h->params.seed = random_next(&h->random);
	h->tables = array_more(NULL, style->tables, sizeof(void *));
	h->cursors = array_more(NULL, style->tasks, sizeof(void *));
	h->table_of = array_more(NULL, style->tasks, sizeof(unsigned int));
	for (i = 0; i < style->tables; i++)
		h->tables[i] = table_new(h, style->table_size);
	for (i = 0; i < style->tasks; i++) {
		h->cursors[i] = array_more(NULL, 1, h->ops->cursor_size);
		memset(h->cursors[i], 0xa5, h->ops->cursor_size);
		h->ops->cursor_init(h->cursors[i], i);
		h->table_of[i] = i % style->tables;
	}
	h->profile = table_new(h, style->profile_size);
}

void harness_free(struct harness *h)
{
	unsigned int i;

	for (i = 0; i < h->style.tables; i++)
		free(h->tables[i]);
	for (i = 0; i < h->style.tasks; i++)
		free(h->cursors[i]);
	free(h->tables);
	free(h->cursors);
	free(h->table_of);
	free(h->profile);
	free(h->loops.items);
	free(h->slots);
}

/* --- the loops that rows told of ----------------------------------------- */

static size_t slot_of(const struct harness *h, u32 space, u64 head)
{
	size_t slot = (head * 0x9e3779b97f4a7c15ULL >> 20 ^ space) %
		      h->slot_count;

	while (h->slots[slot] != SIZE_MAX) {
		const struct seen_loop *loop = &h->loops.items[h->slots[slot]];

		if (loop->space == space && loop->head == head)
			break;
		slot = (slot + 1) % h->slot_count;
	}
	return slot;
}

struct seen_loop *harness_find(const struct harness *h, u32 space, u64 head)
{
	size_t slot;

	if (!h->slot_count)
		return NULL;
	slot = slot_of(h, space, head);
	return h->slots[slot] == SIZE_MAX ? NULL :
					    &h->loops.items[h->slots[slot]];
}

static void more_slots(struct harness *h)
{
	size_t i;

	h->slot_count = h->slot_count ? 4 * h->slot_count : 256;
	h->slots = array_more(h->slots, h->slot_count, sizeof(*h->slots));
	for (i = 0; i < h->slot_count; i++)
		h->slots[i] = SIZE_MAX;
	for (i = 0; i < h->loops.count; i++)
		h->slots[slot_of(h, h->loops.items[i].space,
				 h->loops.items[i].head)] = i;
}

static struct seen_loop *seen(struct harness *h, u32 space, u64 head)
{
	size_t slot;

	if (2 * h->loops.count >= h->slot_count)
		more_slots(h);
	slot = slot_of(h, space, head);
	if (h->slots[slot] == SIZE_MAX) {
		h->slots[slot] = h->loops.count;
		*array_push(&h->loops) = (struct seen_loop){
			.space = space, .head = head,
		};
	}
	return &h->loops.items[h->slots[slot]];
}

static bool take(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_loop *row = data;
	struct harness *h = context;
	struct seen_loop *loop;
	unsigned int i;

	if (random_once_in(&h->random, h->style.refusals))
		return false;
	assert_int_equal(row->row.type, HWPROF_ROW_LOOP);
	assert_int_equal(row->row.size, sizeof(*row));
	assert_int_equal(row->head, ip);
	assert_int_equal(row->tail, addr);
	assert_int_equal(row->back_edges, period);
	assert_true(row->head <= row->tail);
	assert_true(row->tail - row->head <= h->params.span);
	assert_true(row->tails >= 1);
	h->delivered += period;

	loop = seen(h, row->row.space, row->head);
	loop->tail = row->tail;
	loop->back_edges += row->back_edges;
	loop->entries += row->entries;
	loop->executions += row->executions;
	loop->unclosed += row->unclosed;
	loop->tolerance += row->tolerance;
	loop->trip_min = row->trip_min;
	loop->trip_max = row->trip_max;
	loop->tails = row->tails;
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		loop->trips[i] += row->trips[i];
	return true;
}

/* --- housekeeping -------------------------------------------------------- */

void harness_account(const struct harness *h)
{
	u64 rest = h->ops->evicted(h->profile) + h->ops->pending(h->profile);
	unsigned int i;

	for (i = 0; i < h->style.tables; i++)
		rest += h->ops->evicted(h->tables[i]) +
			h->ops->pending(h->tables[i]);
	assert_int_equal(h->produced, h->delivered + rest);
}

static void retire(struct harness *h, void *table)
{
	size_t limit;

	h->retirements++;
	do {
		limit = 1 + random_below(&h->random, 300);
	} while (h->ops->merge(h->profile, table, limit) == limit);
}

/* Where a row is refused, tries that one again or gives up for this time. */
static bool read_rows(struct harness *h)
{
	size_t at = 0;

	if (h->ops->settle)
		h->ops->settle(h->profile, 0);
	while (!h->ops->rows(h->profile, 0, &at, take, h))
		if (random_once_in(&h->random, 8))
			return false;
	return true;
}

static void keep_house(struct harness *h, unsigned int task)
{
	if (random_once_in(&h->random, h->style.exchanges))
		h->table_of[task] = random_below(&h->random, h->style.tables);
	if (random_once_in(&h->random, h->style.exchanges)) {
		retire(h, h->tables[h->table_of[task]]);
		harness_account(h);
	}
	if (random_once_in(&h->random, h->style.readings)) {
		read_rows(h);
		harness_account(h);
	}
}

void harness_feed(struct harness *h, unsigned int task,
		  const struct stream_event *event)
{
	void *table = h->tables[h->table_of[task]];

	h->produced += h->ops->unit(&h->params, event);
	if (!h->ops->feed(table, h->cursors[task], event))
		retire(h, table);
	keep_house(h, task);
}

void harness_finish(struct harness *h)
{
	unsigned int i;

	for (i = 0; i < h->style.tables; i++)
		retire(h, h->tables[i]);
	while (!read_rows(h))
		;
	harness_account(h);
	assert_int_equal(h->ops->pending(h->profile), 0);
}
