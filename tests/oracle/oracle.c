// SPDX-License-Identifier: GPL-2.0-only
#include "oracle.h"

#include "array.h"
#include "region.h"
#include "walk.h"

struct thread {
	uint32_t id;
	struct stream_event *items;
	size_t count, room;
};

struct oracle {
	uint64_t span;
	struct { struct thread *items; size_t count, room; } threads;
	size_t last;		/* thread of the event added last */
	struct regions regions;
	struct oracle_depth depth;
};

struct oracle *oracle_new(uint64_t span)
{
	struct oracle *oracle = array_more(NULL, 1, sizeof(*oracle));

	*oracle = (struct oracle){ .span = span };
	return oracle;
}

void oracle_free(struct oracle *oracle)
{
	size_t i;

	for (i = 0; i < oracle->threads.count; i++)
		free(oracle->threads.items[i].items);
	free(oracle->threads.items);
	regions_free(&oracle->regions);
	free(oracle);
}

static struct thread *thread_of(struct oracle *oracle, uint32_t id)
{
	struct thread *threads = oracle->threads.items;

	if (oracle->last < oracle->threads.count &&
	    threads[oracle->last].id == id)
		return &threads[oracle->last];
	for (oracle->last = 0; oracle->last < oracle->threads.count;
	     oracle->last++)
		if (threads[oracle->last].id == id)
			return &threads[oracle->last];
	*array_push(&oracle->threads) = (struct thread){ .id = id };
	return &oracle->threads.items[oracle->last];
}

void oracle_add(struct oracle *oracle, uint32_t thread,
		const struct stream_event *event)
{
	struct thread *events = thread_of(oracle, thread);

	*array_push(events) = *event;
}

void oracle_run(struct oracle *oracle)
{
	size_t i, k;

	for (i = 0; i < oracle->threads.count; i++) {
		const struct thread *thread = &oracle->threads.items[i];
		const struct stream_event *event = thread->items;

		for (k = 0; k < thread->count; k++, event++)
			if (walk_is_back_edge(event, oracle->span))
				regions_add(&oracle->regions, event->space,
					    event->to, event->from);
	}
	regions_finish(&oracle->regions);
	for (i = 0; i < oracle->threads.count; i++)
		walk_thread(&oracle->regions, oracle->span,
			    oracle->threads.items[i].items,
			    oracle->threads.items[i].count, &oracle->depth);
}

struct oracle_depth oracle_depth(const struct oracle *oracle)
{
	return oracle->depth;
}

size_t oracle_loops(const struct oracle *oracle,
		    const struct oracle_loop **loops)
{
	*loops = oracle->regions.loops.items;
	return oracle->regions.loops.count;
}

const struct oracle_loop *oracle_find(const struct oracle *oracle,
				      uint32_t space, uint64_t head)
{
	const struct regions *regions = &oracle->regions;
	size_t i = regions_from(regions, space, head);

	if (i == regions->loops.count ||
	    regions->loops.items[i].space != space ||
	    regions->loops.items[i].head != head)
		return NULL;
	return &regions->loops.items[i];
}
