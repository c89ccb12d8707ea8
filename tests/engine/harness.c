// SPDX-License-Identifier: GPL-2.0-only
#include "harness.h"

#include "random.h"
#include "tests/oracle/array.h"

void harness_init(struct harness *h, const struct harness_style *style,
		  u64 span, u64 seed)
{
	unsigned int i;

	*h = (struct harness){
		.style = *style, .random = seed,
		.params = { .span = span, .basis = HWPROF_BASIS_EXACT },
	};
	h->params.seed = random_next(&h->random);
	h->tables = tables_make(&loop_engine, &h->params, style->tables,
				style->table_size, style->profile_size);
	h->cursors = array_more(NULL, style->tasks, sizeof(void *));
	h->table_of = array_more(NULL, style->tasks, sizeof(unsigned int));
	for (i = 0; i < style->tasks; i++) {
		h->cursors[i] = cursor_new(&loop_engine, i);
		h->table_of[i] = i % style->tables;
	}
}

void harness_free(struct harness *h)
{
	unsigned int i;

	tables_free(&h->tables);
	for (i = 0; i < h->style.tasks; i++)
		free(h->cursors[i]);
	free(h->cursors);
	free(h->table_of);
	free(h->loops.items);
	free(h->slots);
}

/* --- loops from rows ----------------------------------------------------- */

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
	h->tables.delivered += period;

	loop = seen(h, row->row.space, row->head);
	loop->tail = row->tail;
	loop->back_edges += row->back_edges;
	loop->entries += row->entries;
	loop->executions += row->executions;
	loop->unclosed += row->unclosed;
	loop->tolerance += row->tolerance;
	loop->trip_min = row->trip_min;
	loop->trip_max = row->trip_max;
	loop->trip_recent = row->trip_recent;
	loop->tails = row->tails;
	for (i = 0; i < HWPROF_TRIP_BUCKETS; i++)
		loop->trips[i] += row->trips[i];
	return true;
}

/* --- housekeeping -------------------------------------------------------- */

static void retire(struct harness *h, void *table)
{
	size_t limit;

	h->retirements++;
	do {
		limit = 1 + random_below(&h->random, 300);
	} while (loop_engine.merge(h->tables.profile, table, limit) == limit);
}

/* Reads rows. After a refused row, tries it again or gives up for this time. */
static bool read_rows(struct harness *h)
{
	size_t at = 0;

	while (!loop_engine.settle(h->tables.profile, 0, &at,
				   1 + random_below(&h->random, 300)))
		;
	at = 0;
	while (!loop_engine.rows(h->tables.profile, 0, &at, ~0UL, take, h))
		if (random_once_in(&h->random, 8))
			return false;
	return true;
}

static void keep_house(struct harness *h, unsigned int task)
{
	if (random_once_in(&h->random, h->style.exchanges))
		h->table_of[task] = random_below(&h->random, h->style.tables);
	if (random_once_in(&h->random, h->style.exchanges)) {
		retire(h, h->tables.items[h->table_of[task]]);
		tables_account(&h->tables);
	}
	if (random_once_in(&h->random, h->style.readings)) {
		read_rows(h);
		tables_account(&h->tables);
	}
}

void harness_feed(struct harness *h, unsigned int task,
		  const struct stream_event *event)
{
	void *table = h->tables.items[h->table_of[task]];

	h->tables.produced += loop_engine.unit(&h->params, event);
	if (!loop_engine.feed(table, h->cursors[task], event))
		retire(h, table);
	keep_house(h, task);
}

void harness_finish(struct harness *h)
{
	unsigned int i;

	for (i = 0; i < h->style.tables; i++)
		retire(h, h->tables.items[i]);
	while (!read_rows(h))
		;
	tables_account(&h->tables);
	assert_int_equal(loop_engine.pending(h->tables.profile), 0);
}
