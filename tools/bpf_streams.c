// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"
#include "bpf_streams.h"
#include "command.h"
#include "streams.h"
#include "table.h"

#define RING	"references"

enum { REFERENCES_SHOWN = 4 };

/* As in programs/streams.bpf.c. */
struct event {
	uint64_t ip;
	uint64_t address;
	uint64_t task;
	uint64_t weight;
	uint64_t number;
};

struct bpf_streams {
	struct ring_buffer *ring;
	struct streams *streams;
	struct event last;
	bool any;			/* there is a last one */
	bool failed;			/* out of memory */
};

/*
 * A reference follows the one before if it has the next number, of the same
 * thread, in the same burst: bursts have weights of their own.
 */
static bool follows(const struct bpf_streams *streams,
		    const struct event *event)
{
	const struct event *last = &streams->last;

	return streams->any && event->number == last->number + 1 &&
	       event->task == last->task && event->weight == last->weight;
}

static int take(void *context, void *data, size_t size)
{
	struct bpf_streams *streams = context;
	const struct event *event = data;

	if (size < sizeof(*event))
		return 0;
	if (!follows(streams, event))
		streams->failed |= !streams_break(streams->streams);
	streams->failed |= !streams_add(streams->streams, (struct reference){
		event->ip, event->address,
	});
	streams->last = *event;
	streams->any = true;
	return streams->failed ? -ENOMEM : 0;
}

static uint64_t number_of(const struct bpf_object *object, const char *name,
			  uint64_t otherwise)
{
	uint64_t number;

	return bpf_get(object, name, &number) ? number : otherwise;
}

static struct streams_limits limits_of(const struct bpf_object *object)
{
	return (struct streams_limits){
		.references = number_of(object, "keep", 1 << 20),
		.shortest = number_of(object, "shortest", 2),
		.longest = number_of(object, "longest", 100),
		.share = number_of(object, "permille", 5) / 1000.,
	};
}

int bpf_streams_open(struct bpf_streams **result, struct bpf_object *object)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, RING);
	const struct streams_limits limits = limits_of(object);
	struct bpf_streams *streams;

	*result = NULL;
	if (!map || bpf_map__type(map) != BPF_MAP_TYPE_RINGBUF)
		return -1;
	if (limits.shortest < 2 || limits.longest < limits.shortest)
		return usage_error("--set shortest, longest: streams have 2 references or more, up to longest");
	streams = calloc(1, sizeof(*streams));
	if (!streams)
		return failed("out of memory");
	*result = streams;
	streams->streams = streams_new(&limits);
	streams->ring = ring_buffer__new(bpf_map__fd(map), take, streams, NULL);
	if (!streams->streams)
		return failed("out of memory");
	return streams->ring ? -1 : failed("map %s: %s", RING, strerror(errno));
}

void bpf_streams_close(struct bpf_streams *streams)
{
	if (!streams)
		return;
	ring_buffer__free(streams->ring);
	streams_free(streams->streams);
	free(streams);
}

void bpf_streams_drain(struct bpf_streams *streams)
{
	if (!streams->failed)
		ring_buffer__consume(streams->ring);
}

int bpf_streams_find(struct bpf_streams *streams)
{
	if (streams->failed || !streams_find(streams->streams))
		return failed("out of memory");
	return -1;
}

static double share_of(const struct streams *all, const struct stream *stream)
{
	return (double)stream->heat / streams_kept(all);
}

static size_t shown_of(const struct streams *all, size_t limit)
{
	size_t count = streams_count(all);

	return limit && limit < count ? limit : count;
}

/* Writes the first references of a stream, as INSTRUCTION@ADDRESS. */
static void write_references(const struct streams *all,
			     const struct stream *stream, char *text,
			     size_t size)
{
	size_t used = 0, i;

	for (i = 0; i < stream->length && i < REFERENCES_SHOWN; i++) {
		struct reference reference =
			streams_reference(all, stream->first + i);

		used += snprintf(text + used, size - used,
				 "%s0x%" PRIx64 "@0x%" PRIx64, i ? " " : "",
				 reference.ip, reference.address);
	}
	if (stream->length > REFERENCES_SHOWN)
		snprintf(text + used, size - used, " ...");
}

static void add_row(struct table *table, const struct streams *all,
		    const struct stream *stream)
{
	char text[REFERENCES_SHOWN * 40 + 8];

	write_references(all, stream, text, sizeof(text));
	table_add(table, "%" PRIu64, stream->heat);
	table_add(table, "%.1f %%", 100 * share_of(all, stream));
	table_add(table, "%zu", stream->length);
	table_add(table, "%" PRIu64, stream->times);
	table_add(table, "%s", text);
}

void bpf_streams_print(const struct bpf_streams *streams, size_t limit,
		       FILE *out)
{
	static const struct table_column columns[] = {
		{ "heat", true, false }, { "share", true, false },
		{ "length", true, false }, { "times", true, false },
		{ "references", false, false },
	};
	struct table table = { .columns = columns, .column_count = 5 };
	const struct streams *all = streams->streams;
	size_t shown = shown_of(all, limit), i;

	fprintf(out, "%zu hot streams in %zu references, %zu different; %" PRIu64 " left out\n",
		streams_count(all), streams_kept(all), streams_different(all),
		streams_left_out(all));
	for (i = 0; i < shown; i++)
		add_row(&table, all, streams_get(all, i));
	if (shown)
		table_print(&table, 0, out);
	table_free(&table);
	if (shown < streams_count(all))
		fprintf(out, "and %zu more\n", streams_count(all) - shown);
	fputc('\n', out);
}

static void put_stream(const struct streams *all, const struct stream *stream,
		       struct json *json)
{
	size_t i;

	json_open(json, NULL, '{');
	json_unsigned(json, "heat", stream->heat);
	json_number(json, "share", share_of(all, stream));
	json_unsigned(json, "length", stream->length);
	json_unsigned(json, "times", stream->times);
	json_open(json, "references", '[');
	for (i = 0; i < stream->length; i++) {
		struct reference reference =
			streams_reference(all, stream->first + i);

		json_open(json, NULL, '{');
		json_hex(json, "ip", reference.ip);
		json_hex(json, "address", reference.address);
		json_close(json, '}');
	}
	json_close(json, ']');
	json_close(json, '}');
}

void bpf_streams_put(const struct bpf_streams *streams, size_t limit,
		     struct json *json)
{
	const struct streams *all = streams->streams;
	size_t i;

	json_unsigned(json, "references", streams_kept(all));
	json_unsigned(json, "different", streams_different(all));
	json_unsigned(json, "left_out", streams_left_out(all));
	json_open(json, "streams", '[');
	for (i = 0; i < shown_of(all, limit); i++)
		put_stream(all, streams_get(all, i), json);
	json_close(json, ']');
}
