// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as branches: the loop engine must neither crash nor lose count.
 * Eight bytes make an event; small numbers pick addresses near each other, so
 * that loops, calls and returns come about.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine.h"
#include "linux/hwprof.h"

enum { TASKS = 2, PROFILE_SIZE = 256 << 10 };

struct bytes {
	uint8_t kind;		/* low nibble; high bits: what to do after it */
	uint8_t task_space;
	uint16_t from, to;
	uint8_t scale_from, scale_to;
};

static struct {
	void *table, *profile, *cursor[TASKS];
	u64 produced, delivered;
	unsigned int refuse;
} run;

static void *fresh_table(size_t size)
{
	const struct engine_params params = {
		.span = 1 << 20, .basis = HWPROF_BASIS_EXACT, .seed = 42,
	};
	void *table = calloc(1, size);

	loop_engine.table_init(table, size, &params);
	return table;
}

static void start(void)
{
	unsigned int i;

	memset(&run, 0, sizeof(run));
	run.table = fresh_table(loop_engine.table_min);
	run.profile = fresh_table(PROFILE_SIZE);
	for (i = 0; i < TASKS; i++) {
		run.cursor[i] = malloc(loop_engine.cursor_size);
		loop_engine.cursor_init(run.cursor[i], i);
	}
}

static void stop(void)
{
	unsigned int i;

	for (i = 0; i < TASKS; i++)
		free(run.cursor[i]);
	free(run.table);
	free(run.profile);
}

static void account(void)
{
	u64 rest = loop_engine.pending(run.table) +
		   loop_engine.evicted(run.table) +
		   loop_engine.pending(run.profile) +
		   loop_engine.evicted(run.profile);

	if (run.produced != run.delivered + rest) {
		fprintf(stderr, "produced %llu, delivered %llu, rest %llu\n",
			(unsigned long long)run.produced,
			(unsigned long long)run.delivered,
			(unsigned long long)rest);
		abort();
	}
}

static bool take(void *context, const void *row, u64 ip, u64 addr, u64 period)
{
	if (run.refuse && !(++run.refuse % 3))
		return false;
	run.delivered += period;
	return true;
}

static void retire(size_t limit)
{
	while (loop_engine.merge(run.profile, run.table, limit) == limit)
		;
	account();
}

static void read_rows(void)
{
	size_t at = 0;

	if (loop_engine.settle)
		loop_engine.settle(run.profile, 0);
	loop_engine.rows(run.profile, 0, &at, take, NULL);
	account();
}

/* From everywhere near to everywhere at all. */
static u64 address(uint16_t low, uint8_t scale)
{
	u64 base = (u64)(scale >> 4) * 0x1111111111111111ULL;

	return scale < 16 ? 0x400000 + (low & 0xff) :
			    base + ((u64)low << (scale & 15));
}

static void feed(const struct bytes *bytes)
{
	const struct stream_event event = {
		.from = address(bytes->from, bytes->scale_from),
		.to = address(bytes->to, bytes->scale_to),
		.kind = bytes->kind & 15,
		.space = bytes->task_space >> 6,
	};
	unsigned int task = bytes->task_space % TASKS;
	const struct engine_params params = { .span = 1 << 20 };

	run.produced += loop_engine.unit(&params, &event);
	if (!loop_engine.feed(run.table, run.cursor[task], &event))
		retire(64);
	switch (bytes->kind >> 4) {
	case 1:
		retire(1 + (bytes->task_space & 31));
		break;
	case 2:
		read_rows();
		break;
	case 3:
		run.refuse ^= 1;
		break;
	case 4:
		retire(1000);
		loop_engine.forget(run.profile, event.space);
		account();
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes bytes;

	start();
	for (; size >= sizeof(bytes); size -= sizeof(bytes)) {
		memcpy(&bytes, data, sizeof(bytes));
		data += sizeof(bytes);
		feed(&bytes);
	}
	account();
	stop();
	return 0;
}
