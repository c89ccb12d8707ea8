// SPDX-License-Identifier: GPL-2.0-only
/*
 * Computes by the plainest code what the programs depend, cache and stride must
 * count, from all events of a run, which trace.bpf.c has kept.
 *
 * usage: simulate depend|cache|stride [SIZE WAYS LINE RECENT] < TRACE
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/hwprof.h>

enum {
	EVENTS_MAX	= 1 << 19,
	NUMBERS		= 4,	/* of a count */
	FAR		= 4096,
};

struct event {
	uint64_t kind, from, to, what;
};

static struct event events[EVENTS_MAX];
static size_t event_count;

/* Rows of output: a name and sums. */
struct row {
	uint64_t name[2], sums[NUMBERS];
};

static struct row *rows;
static size_t row_count;

static struct row *row_of(uint64_t first, uint64_t second)
{
	size_t i;

	for (i = 0; i < row_count; i++)
		if (rows[i].name[0] == first && rows[i].name[1] == second)
			return &rows[i];
	rows = reallocarray(rows, row_count + 1, sizeof(*rows));
	if (!rows)
		exit(2);
	rows[row_count] = (struct row){ .name = { first, second } };
	return &rows[row_count++];
}

static bool read_events(void)
{
	char line[512];

	while (fgets(line, sizeof(line), stdin)) {
		struct event *event = &events[event_count];
		uint64_t number, left;

		if (sscanf(line, "%" SCNu64 " %" SCNu64 " %" SCNu64
			   " %" SCNx64 " %" SCNx64 " %" SCNu64, &number, &left,
			   &event->kind, &event->from, &event->to,
			   &event->what) != 6)
			continue;
		if (number != event_count)
			return false;
		event_count++;
	}
	return event_count && event_count < EVENTS_MAX;
}

static bool is_access(const struct event *event)
{
	return event->kind != HWPROF_PROGRAM_BRANCH;
}

/* --- depend --------------------------------------------------------------- */

/* The last store before event @before that wrote @address; 0: none. */
static size_t writer_of(uint64_t address, size_t before)
{
	while (before--) {
		const struct event *event = &events[before];

		if (event->kind == HWPROF_PROGRAM_STORE &&
		    address - event->to < event->what)
			return before + 1;
	}
	return 0;
}

static bool is_carried(size_t store, size_t load)
{
	uint64_t one = events[store].from, other = events[load].from;
	size_t i;

	for (i = store + 1; i < load; i++) {
		const struct event *event = &events[i];

		if (!is_access(event) &&
		    event->what <= HWPROF_BRANCH_INDIRECT &&
		    event->to <= one && event->to <= other &&
		    event->from >= one && event->from >= other)
			return true;
	}
	return false;
}

static size_t accesses_between(size_t from, size_t to)
{
	size_t count = 0;

	while (from < to)
		count += is_access(&events[from++]);
	return count;
}

static void take_load(size_t load)
{
	const struct event *event = &events[load];
	size_t youngest = 0, oldest = SIZE_MAX, writer;
	struct row *row;
	uint64_t i;

	for (i = 0; i < event->what; i++) {
		writer = writer_of(event->to + i, load);
		youngest = writer > youngest ? writer : youngest;
		oldest = writer < oldest ? writer : oldest;
	}
	if (!youngest)
		return;
	row = row_of(events[youngest - 1].from, event->from);
	row->sums[0]++;
	row->sums[1] += is_carried(youngest - 1, load);
	row->sums[2] += youngest == oldest;
	row->sums[3] += accesses_between(youngest - 1, load);
}

static void depend(void)
{
	size_t i;

	for (i = 0; i < event_count; i++)
		if (events[i].kind == HWPROF_PROGRAM_LOAD)
			take_load(i);
}

/* --- cache ---------------------------------------------------------------- */

struct cache {
	uint64_t size, ways, line, recent;
};

/* A block's history: when it was used, and the misses of its set. */
struct use {
	uint64_t block;
	bool missed;
	uint64_t evicted;		/* block + 1; 0: none */
};

static struct use *uses;
static size_t use_count;

/* The blocks of a set, the one used last first: a list that is moved about. */
static bool take_block(const struct cache *cache, uint64_t block,
		       bool *conflict)
{
	uint64_t sets = cache->size / cache->line / cache->ways;
	uint64_t seen[64], count = 0, misses = 0;
	size_t i, k;
	bool hit = false;

	*conflict = false;
	/* The `ways` blocks of the set that were used last are in it. */
	for (i = use_count; i-- && count < cache->ways;) {
		if (uses[i].block % sets != block % sets)
			continue;
		for (k = 0; k < count && seen[k] != uses[i].block; k++)
			;
		if (k == count)
			seen[count++] = uses[i].block;
		if (uses[i].block == block) {
			hit = true;
			break;
		}
	}
	uses[use_count] = (struct use){ .block = block, .missed = !hit };
	if (!hit && count == cache->ways)
		uses[use_count].evicted = seen[count - 1] + 1;
	for (i = use_count; !hit && i-- && misses < cache->recent;) {
		if (uses[i].block % sets != block % sets || !uses[i].missed)
			continue;
		misses++;
		*conflict |= uses[i].evicted == block + 1;
	}
	use_count++;
	return !hit;
}

static void cache_of(const struct cache *cache)
{
	size_t i;

	uses = calloc(2 * event_count, sizeof(*uses));
	if (!uses)
		exit(2);
	for (i = 0; i < event_count; i++) {
		const struct event *event = &events[i];
		uint64_t block = event->to / cache->line;
		uint64_t last = (event->to + event->what - 1) / cache->line;
		bool conflict, missed;

		for (; is_access(event) && block <= last; block++) {
			struct row *row = row_of(event->from, 0);

			missed = take_block(cache, block, &conflict);
			row->sums[0] += missed;
			row->sums[1] += conflict;
			row->sums[2]++;
		}
	}
}

/* --- stride --------------------------------------------------------------- */

static int64_t distance(uint64_t from, uint64_t to)
{
	int64_t apart = to - from;

	return apart > FAR ? FAR : apart < -FAR ? -FAR : apart;
}

/* Finds the event of the same instruction before @at. */
static bool before(size_t at, size_t *found)
{
	size_t i;

	for (i = at; i--;)
		if (is_access(&events[i]) &&
		    events[i].from == events[at].from) {
			*found = i;
			return true;
		}
	return false;
}

static void stride(void)
{
	size_t i, last, next_to_last;

	for (i = 0; i < event_count; i++) {
		struct row *row;
		int64_t apart;

		if (!is_access(&events[i]) || !before(i, &last))
			continue;
		apart = distance(events[last].to, events[i].to);
		row = row_of(events[i].from, apart);
		row->sums[0]++;
		row->sums[1] += before(last, &next_to_last) &&
				distance(events[next_to_last].to,
					 events[last].to) == apart;
	}
}

/* --- output --------------------------------------------------------------- */

static void print(bool second, bool has_sign, int numbers)
{
	size_t i;
	int k;

	for (i = 0; i < row_count; i++) {
		printf("0x%" PRIx64, rows[i].name[0]);
		if (second)
			printf(has_sign ? " %" PRId64 : " 0x%" PRIx64,
			       rows[i].name[1]);
		for (k = 0; k < numbers; k++)
			printf(" %" PRIu64, rows[i].sums[k]);
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	const struct cache cache = {
		argc > 2 ? strtoul(argv[2], NULL, 0) : 32768,
		argc > 3 ? strtoul(argv[3], NULL, 0) : 8,
		argc > 4 ? strtoul(argv[4], NULL, 0) : 64,
		argc > 5 ? strtoul(argv[5], NULL, 0) : 8,
	};

	if (argc < 2 || !read_events()) {
		fprintf(stderr, "simulate: no trace, or not all of it\n");
		return 2;
	}
	if (!strcmp(argv[1], "depend")) {
		depend();
		print(true, false, 4);
	} else if (!strcmp(argv[1], "cache")) {
		cache_of(&cache);
		print(false, false, 3);
	} else {
		stride();
		print(true, true, 2);
	}
	return 0;
}
