// SPDX-License-Identifier: GPL-2.0-only
/*
 * flat [-n EVENTS] FILE...
 * flat [-n EVENTS] -v NAME < LOADS
 *
 * Does an event cost the same, however many came before? The branches of all
 * FILEs go through each engine, one file after the other and from the first
 * again, up to EVENTS (a billion by default). The table is merged into a
 * profile whenever it asks for it, which counts. Prints nanoseconds per event:
 * for the first million, for the others of the first ten million, and so on.
 * -v: the same for the value engine and the loads of a program, as
 * tests/accuracy/loads.c writes them.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/engine.h"
#include "measure.h"
#include "stream.h"
#include "tests/oracle/rows.h"

enum {
	FIRST = 1000000,
	TABLE_SIZE = 2 << 20,	/* as 16 MiB gives a CPU of two */
	PROFILE_SIZE = 8 << 20,
};

/* Puts each program into an address space of its own. */
static void take(void *context, u32 thread, const struct stream_event *event)
{
	struct stream *stream = context;
	u32 space = stream->items[stream->count - 1].space;
	struct stream_event *taken = array_push(stream);

	*taken = *event;
	taken->space = space;
}

/* Reads a file. No branch leads from one program to the next. */
static void read_file(struct stream *stream, const char *name, u32 space)
{
	struct branch_rows rows = { 0 };
	struct loop_rows none = { 0 };

	if (!rows_read(name, &rows, &none))
		exit(2);
	*array_push(stream) = (struct stream_event) {
		.kind = STREAM_GAP, .space = space,
	};
	rows_branches(&rows, take, stream);
	rows_free(&rows, &none);
}

struct engine {
	const struct engine_ops *ops;
	void *table, *profile, *cursor;
	const struct stream *stream;
	size_t at;		/* in the stream */
};

static struct engine engine_new(const struct engine_ops *ops,
				const struct stream *stream)
{
	const struct engine_params params = {
		.span = HWPROF_DEFAULT_SPAN, .basis = HWPROF_BASIS_EXACT,
		.seed = 0x1234567,
	};
	struct engine engine = {
		.ops = ops, .stream = stream,
		.table = memory_zeroed(TABLE_SIZE),
		.profile = memory_zeroed(PROFILE_SIZE),
		.cursor = memory_zeroed(ops->cursor_size + 1),
	};

	ops->table_init(engine.table, TABLE_SIZE, &params);
	ops->table_init(engine.profile, PROFILE_SIZE, &params);
	ops->cursor_init(engine.cursor, 1);
	return engine;
}

static void engine_free(struct engine *engine)
{
	free(engine->table);
	free(engine->profile);
	free(engine->cursor);
}

static void feed(struct engine *engine, u64 count)
{
	const struct stream_event *events = engine->stream->items;

	while (count--) {
		if (!engine->ops->feed(engine->table, engine->cursor,
				       &events[engine->at]))
			engine->ops->merge(engine->profile, engine->table,
					   SIZE_MAX);
		if (++engine->at == engine->stream->count)
			engine->at = 0;
	}
}

static void time_engine(const char *name, const struct engine_ops *ops,
			const struct stream *stream, u64 most)
{
	struct engine engine = engine_new(ops, stream);
	u64 end, fed = 0;

	printf("%-7s", name);
	for (end = FIRST; fed < most; end = min(10 * end, most)) {
		double start = cpu_time();

		feed(&engine, end - fed);
		printf("  %11llu: %5.2f ns", (unsigned long long)end,
		       (cpu_time() - start) / (end - fed));
		fflush(stdout);
		fed = end;
	}
	printf("\n");
	engine_free(&engine);
}

int main(int argc, char **argv)
{
	static const struct engine_ops *const engines[] = {
		&loop_engine, &call_engine, &path_engine, &cct_engine,
		&range_engine,
	};
	struct stream stream = { 0 };
	u64 most = 1000 * FIRST;
	bool loads = false;
	int option, i;

	while ((option = getopt(argc, argv, "n:v")) != -1) {
		if (option == 'n')
			most = strtoull(optarg, NULL, 0);
		else if (option == 'v')
			loads = true;
		else
			return 2;
	}
	if (optind == argc || most < FIRST || (loads && optind + 1 < argc)) {
		fprintf(stderr,
			"usage: flat [-n EVENTS] FILE...|-v NAME; EVENTS: %d at least\n",
			FIRST);
		return 2;
	}
	if (loads)
		stream_read_loads(&stream);
	else
		for (i = optind; i < argc; i++)
			read_file(&stream, argv[i], i);
	if (!stream.count)
		return 2;
	if (loads)
		time_engine(argv[optind], &value_engine, &stream, most);
	else
		for (i = 0; i < (int)(sizeof(engines) / sizeof(*engines)); i++)
			time_engine(engines[i]->name, engines[i], &stream,
				    most);
	free(stream.items);
	return 0;
}
