// SPDX-License-Identifier: GPL-2.0-only
/* The example engine, from the name of its event to its rows. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/engine.h"
#include "base/event_config.h"

enum { TABLE_SIZE = 64 * 1024, SPACE = 7 };

struct seen {
	unsigned int rows;
	uint64_t from, to, returns;
};

static bool emit(void *context, const void *data, u64 ip, u64 addr, u64 period)
{
	const struct hwprof_row_return *row = data;
	struct seen *seen = context;

	assert_int_equal(row->row.type, HWPROF_ROW_RETURN);
	assert_int_equal(row->row.space, SPACE);
	assert_int_equal(row->returns, period);
	*seen = (struct seen){ seen->rows + 1, row->from, row->to, period };
	return true;
}

static struct session_config parsed(const char *text)
{
	struct hwprof_event event;
	char message[256];

	assert_int_equal(hwprof_event_parse(&event, text, message,
					    sizeof(message)), 0);
	assert_int_equal(event_refusal(&event).error, 0);
	return event_config(&event, ALL_SOURCES);
}

static void test_event(void **state)
{
	const struct session_config config = parsed("returns");
	struct hwprof_event event;
	char message[256];

	assert_int_equal(config.engines, 1 << ENGINE_returns);
	assert_int_equal(config.source, SOURCE_step);
	assert_int_not_equal(hwprof_event_parse(&event, "returns,loops",
						message, sizeof(message)), 0);
	assert_int_equal(hwprof_event_parse(&event, "returns,lbr", message,
					    sizeof(message)), 0);
	assert_int_equal(event_refusal(&event).error, -EOPNOTSUPP);
}

static void *new_table(const struct engine_ops *engine)
{
	const struct engine_params params = { .basis = HWPROF_BASIS_EXACT };
	void *table = calloc(1, TABLE_SIZE);

	assert_non_null(table);
	engine->table_init(table, TABLE_SIZE, &params);
	return table;
}

static void test_engine(void **state)
{
	const struct engine_ops *engine = engines[ENGINE_returns];
	const struct stream_event events[] = {
		{ .kind = STREAM_CALL, .from = 1, .to = 2, .space = SPACE },
		{ .kind = STREAM_RET, .from = 0x40, .to = 0x80,
		  .space = SPACE },
		{ .kind = STREAM_RET, .from = 0x40, .to = 0x80,
		  .space = SPACE },
	};
	void *table = new_table(engine), *profile = new_table(engine);
	struct seen seen = { 0 };
	size_t i, at = 0;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		assert_true(engine->feed(table, NULL, &events[i]));
	assert_int_equal(engine->pending(table), 2);
	engine->merge(profile, table, ~0UL);
	assert_int_equal(engine->pending(table), 0);
	assert_true(engine->rows(profile, 0, &at, ~0UL, emit, &seen));
	assert_int_equal(seen.rows, 1);
	assert_int_equal(seen.from, 0x40);
	assert_int_equal(seen.to, 0x80);
	assert_int_equal(seen.returns, 2);
	free(table);
	free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_engine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
