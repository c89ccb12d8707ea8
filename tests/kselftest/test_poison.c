// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records of an ordinary user on a machine with poisoned memory. slub_debug=P
 * poisons the slabs, and a process fills pages with poison. No poisoned byte
 * and no kernel address may arrive. The stack has poison if the module was
 * compiled with -ftrivial-auto-var-init=pattern.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "include/kselftest_harness.h"

#include "device.h"
#include "known.h"
#include "text.h"

enum {
	PAGE = 4096, BUFFER = 64 << 10, RING = 1 << 20, PAGES = 64,
	FILL_MIB = 256, FILL = 0xa5,
};

#define KERNEL		0xffff800000000000ULL
#define NEGATIVE	0x10000ULL	/* lowest negative value that is
					 * allowed */

/* --- poison --------------------------------------------------------------- */

/* In slabs: free, in use; in stacks; in pages. */
static const uint32_t poisons[] = {
	0x6b6b6b6b, 0x5a5a5a5a, 0xfefefefe, 0xa5a5a5a5,
};

static bool slabs_are_poisoned(void)
{
	char poison[2];

	return !text_read("/sys/kernel/slab/kmalloc-64/poison", poison,
			  sizeof(poison)) && *poison == '1';
}

/* Fills pages that the kernel will use next. */
static void fill_pages(struct __test_metadata *_metadata)
{
	size_t size = (size_t)FILL_MIB << 20;
	int status;

	if (!fork()) {
		void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (memory == MAP_FAILED)
			_exit(1);
		memset(memory, FILL, size);
		_exit(*((volatile char *)memory + size - 1) != (char)FILL);
	}
	wait(&status);
	ASSERT_EQ(0, status);
}

/* --- rows ----------------------------------------------------------------- */

struct seen {
	unsigned int types;		/* 1 << type */
	unsigned int rows, wrong;
	bool raw;			/* four zero bytes follow the row */
};

static bool is_zero(const void *memory, size_t size)
{
	const char *at = memory;

	while (size--)
		if (*at++)
			return false;
	return true;
}

/*
 * Entries may be negative, strides are arbitrary, and values may be slightly
 * negative.
 */
static bool is_address_of_kernel(const struct hwprof_row *row, size_t at,
				 uint64_t word)
{
	if (word < KERNEL)
		return false;
	if (row->type == HWPROF_ROW_LOOP &&
	    at == offsetof(struct hwprof_row_loop, entries))
		return false;
	if (row->type != HWPROF_ROW_VALUE)
		return true;
	return at != offsetof(struct hwprof_row_value, stride) &&
	       word < -NEGATIVE;
}

static const char *bad_word(const struct hwprof_row *row)
{
	unsigned int i;
	uint64_t word;
	size_t at;

	for (at = sizeof(*row); at < row->size; at += sizeof(word)) {
		memcpy(&word, (const char *)row + at, sizeof(word));
		if (is_address_of_kernel(row, at, word))
			return "an address of the kernel";
		for (i = 0; i < sizeof(poisons) / sizeof(poisons[0]); i++)
			if ((uint32_t)word == poisons[i] ||
			    word >> 32 == poisons[i])
				return "poison";
	}
	return NULL;
}

static size_t fixed_size(const struct hwprof_row *row)
{
	const struct hwprof_row_branches *branches = (const void *)row;
	const struct hwprof_row_path *path = (const void *)row;

	switch (row->type) {
	case HWPROF_ROW_TOTALS:
		return sizeof(struct hwprof_row_totals);
	case HWPROF_ROW_BRANCHES:
		return sizeof(*branches) +
		       branches->count * sizeof(branches->branches[0]);
	case HWPROF_ROW_LOOP:
		return sizeof(struct hwprof_row_loop);
	case HWPROF_ROW_RANGE:
		return sizeof(struct hwprof_row_range);
	case HWPROF_ROW_TIME:
		return sizeof(struct hwprof_row_time);
	case HWPROF_ROW_CALL:
		return sizeof(struct hwprof_row_call);
	case HWPROF_ROW_CONTEXT:
		return HWPROF_ROW_CONTEXT_SIZE_VER0;
	case HWPROF_ROW_PATH:
		return sizeof(*path) + path->spelled * sizeof(path->jumps[0]) +
		       (path->flags & HWPROF_PATH_IN_CONTEXT ? sizeof(uint64_t)
							     : 0);
	case HWPROF_ROW_VALUE:
		return sizeof(struct hwprof_row_value);
	}
	return 0;
}

/*
 * Returns the name of a field that must be 0, or one of few values, and is not.
 */
static const char *bad_field(const struct hwprof_row *row)
{
	const struct hwprof_row_branches *branches = (const void *)row;
	const struct hwprof_row_value *value = (const void *)row;
	const struct hwprof_row_context *context = (const void *)row;
	unsigned int i;

	switch (row->type) {
	case HWPROF_ROW_TOTALS:
		return ((const struct hwprof_row_totals *)row)->changes ?
		       "changes" : NULL;
	case HWPROF_ROW_LOOP:
		return ((const struct hwprof_row_loop *)row)->reserved ?
		       "reserved" : NULL;
	case HWPROF_ROW_CALL:
		return ((const struct hwprof_row_call *)row)->reserved ?
		       "reserved" : NULL;
	case HWPROF_ROW_PATH:
		return ((const struct hwprof_row_path *)row)->flags &
		       ~(HWPROF_PATH_CALLED | HWPROF_PATH_UNSEEN |
			 HWPROF_PATH_OPEN | HWPROF_PATH_IN_CONTEXT) ?
		       "flags" : NULL;
	case HWPROF_ROW_CONTEXT:
		return context->kind < HWPROF_CONTEXT_ROOT ||
		       context->kind > HWPROF_CONTEXT_RECURSION ? "kind" : NULL;
	case HWPROF_ROW_BRANCHES:
		for (i = 0; i < branches->count; i++)
			if (branches->branches[i].flags & HWPROF_BRANCH_STACK
				    ? branches->branches[i].flags &
					      HWPROF_BRANCH_MISPREDICTED
				    : branches->branches[i].flags ||
					      branches->branches[i].cycles)
				return "flags or cycles, which stepping has not";
		return NULL;
	case HWPROF_ROW_VALUE:
		if (value->reserved || value->count > HWPROF_VALUES_MAX)
			return "reserved or count";
		return is_zero(&value->values[value->count],
			       (HWPROF_VALUES_MAX - value->count) *
			       sizeof(value->values[0])) ?
		       NULL : "the rest of the values";
	}
	return NULL;
}

static void check_row(struct seen *seen, const struct hwprof_row *row)
{
	const char *wrong = bad_field(row) ?: bad_word(row);

	if (row->size != fixed_size(row))
		wrong = "size";
	else if (seen->raw && !is_zero((const char *)row + row->size, 4))
		wrong = "four bytes behind it";
	seen->types |= 1U << row->type;
	seen->rows++;
	if (!wrong)
		return;
	if (!seen->wrong++)
		printf("# a row of type %u: %s\n", row->type, wrong);
}

static void see(struct tally *tally, const struct sample *sample)
{
	struct seen *seen = tally->context;

	check_row(seen, sample->row);
	if (sample->ip >= KERNEL || sample->addr >= KERNEL) {
		printf("# ip %#llx addr %#llx\n",
		       (unsigned long long)sample->ip,
		       (unsigned long long)sample->addr);
		seen->wrong++;
	}
}

/* --- profiled code -------------------------------------------------------- */

static const struct kind {
	const char *name, *source;
	uint64_t config, config1, config2;
	bool immediate;
} kinds[] = {
	{ "branches", "step", EVENT_BRANCHES | EVENT_STEP, 0, 0, true },
	{ "loops", "step", EVENT_LOOPS | EVENT_STEP, 0, 0, false },
	{ "loops in bursts", "step", EVENT_LOOPS | EVENT_STEP, 200, 0, false },
	{ "calls", "step", EVENT_CALLS | EVENT_STEP, 0, 0, false },
	{ "paths", "step", EVENT_PATHS | EVENT_STEP, 0, 0, false },
	{ "values", "step", EVENT_VALUES | EVENT_STEP, 0, 0, false },
	{ "contexts", "step", EVENT_CCT | EVENT_STEP, 0, 0, false },
	{ "all at once", "step", EVENT_LOOPS | EVENT_CALLS | EVENT_PATHS |
	  EVENT_CCT | EVENT_STEP, 0, 0, false },
	{ "ranges", "step", EVENT_RANGES | EVENT_STEP, 0, 0, false },
	{ "ranges of addresses", "step", EVENT_RANGES | EVENT_STEP, 0,
	  EVENT_RANGE_OF(HWPROF_RANGE_STORE_ADDRESS), false },
	{ "ranges of samples", "sample", EVENT_RANGES | EVENT_SAMPLE, 0, 0,
	  false },
	{ "contexts of samples", "sample", EVENT_CCT | EVENT_SAMPLE, 0, 0,
	  false },
	{ "loops of records", "lbr", EVENT_LOOPS | EVENT_LBR, 0, 0, false },
};

enum { KINDS = sizeof(kinds) / sizeof(kinds[0]), WORK_MS = 200 };

static volatile unsigned int sink[64];

/* Runs for a while, loads, stores, and makes system calls. */
static void work(void *context)
{
	struct timespec start, now;
	unsigned int i;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (i = 0; i < 64; i++)
			sink[i] += i + sink[(i * 7) % 64] % 3;
		known_run();
		getppid();
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - start.tv_sec) * 1000 +
		 (now.tv_nsec - start.tv_nsec) / 1000000 < WORK_MS);
}

/* Uses perf's ring, with or without rows. */
static void run_perf(struct __test_metadata *_metadata, const struct kind *kind,
		     bool rows, struct seen *seen)
{
	struct perf_event_attr attr =
		event_attr_sampling(kind->config | (rows ? EVENT_ROWS : 0), 1);
	struct child child = child_start(work, NULL);
	struct recording recording;
	struct tally tally = { .see = see, .context = seen };
	unsigned int before = seen->rows, try;

	attr.config1 = kind->config1 | EVENT_INTERVAL(20);
	attr.config2 = kind->config2;
	attr.sample_period = !rows ? 997 : strcmp(kind->source, "step") ||
			     kind->config1 ? 1000003 : 1;
	seen->raw = true;
	ASSERT_EQ(0, recording_begin(&recording, &attr, &child, PAGES, &tally));
	EXPECT_EQ(0, recording_wait(&recording, child.pid));
	/* The last rows may still be under way. */
	for (try = 0; try < 500 && seen->rows == before; try++)
		recording_read_for(&recording, 10);
	recording_close(&recording);
	EXPECT_EQ(0, tally.totals.changes);
}

/* Checks all records of a buffer, including totals. */
static void check_records(struct seen *seen, const char *at, long size)
{
	const struct hwprof_record *record;
	const char *end = at + size;

	for (; at < end; at += sizeof(record->time) + record->row.size) {
		record = (const void *)at;
		check_row(seen, &record->row);
		if (record->time >= KERNEL)
			seen->wrong++;
	}
	if (at != end)
		seen->wrong++;
}

static bool is_filled(const char *at, const char *end)
{
	while (at < end)
		if (*at++ != (char)FILL)
			return false;
	return true;
}

static void read_snapshot(struct __test_metadata *_metadata, int fd,
			  struct seen *seen)
{
	static _Alignas(8) char buffer[BUFFER];
	bool more;
	long size;

	do {
		memset(buffer, FILL, sizeof(buffer));
		size = device_read(fd, buffer, sizeof(buffer), &more);
		ASSERT_LT(0, size);
		check_records(seen, buffer, size);
		EXPECT_TRUE(is_filled(buffer + size, buffer + sizeof(buffer)));
	} while (more);
}

/* Unwritten parts of a ring are 0, also in the control page. */
static void check_ring(struct __test_metadata *_metadata,
		       const struct hwprof_ring_page *page, struct seen *seen)
{
	const char *data = (const char *)page + page->data_offset;
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);

	ASSERT_GE(page->data_size, head);
	check_records(seen, data, head);
	EXPECT_TRUE(is_zero(data + head, page->data_size - head));
	EXPECT_TRUE(is_zero(page->reserved, sizeof(page->reserved)));
	EXPECT_TRUE(is_zero(page + 1, PAGE - sizeof(*page)));
}

static void check_rings(struct __test_metadata *_metadata,
			struct hwprof_ring_page *first, int rings,
			struct seen *seen)
{
	int i;

	for (i = 0; i < rings; i++)
		check_ring(_metadata, device_nth(first, i), seen);
}

static void run_device(struct __test_metadata *_metadata,
		       const struct kind *kind, bool ring, struct seen *seen)
{
	struct hwprof_config config = device_config(kind->config);
	struct child child = child_start(work, NULL);
	struct hwprof_ring_page *page = NULL;
	struct recording events;
	struct perf_event_attr attr;
	int fd, rings = 0;

	seen->raw = false;
	config.config1 = kind->config1;
	config.config2 = kind->config2;
	if (strcmp(kind->source, "step"))
		config.period = 1000003;
	fd = device_open(&config);
	ASSERT_LE(0, fd);
	if (ring) {
		rings = device_ring(fd, RING, 0);
		ASSERT_LT(0, rings);
		page = device_map(fd, RING, rings);
		ASSERT_NE(NULL, page);
		check_rings(_metadata, page, rings, seen);
	}
	attr = device_feeder(&config);
	ASSERT_EQ(0, recording_begin(&events, &attr, &child, 0, NULL));
	waitpid(child.pid, NULL, 0);
	recording_close(&events);
	check_rings(_metadata, page, rings, seen);
	read_snapshot(_metadata, fd, seen);
	if (page)
		munmap(page, rings * (PAGE + RING));
	close(fd);
}

FIXTURE(poison)
{
	struct seen seen;
};

FIXTURE_SETUP(poison)
{
	if (!slabs_are_poisoned())
		SKIP(return, "booted without slub_debug=P");
	ASSERT_EQ(0, sysctl_write("perf_event_paranoid", 2));
	fill_pages(_metadata);
	ASSERT_EQ(0, setresgid(1000, 1000, 1000));
	ASSERT_EQ(0, setresuid(1000, 1000, 1000));
	prctl(PR_SET_DUMPABLE, 1);	/* children may be looked at */
}

FIXTURE_TEARDOWN(poison)
{
}

FIXTURE_VARIANT(poison)
{
	void (*run)(struct __test_metadata *_metadata, const struct kind *kind,
		    bool more, struct seen *seen);
	bool more;
	bool immediate;			/* also for kinds that report at once */
	bool samples;			/* for kinds that can give samples */
	unsigned int types;		/* of rows that come with step */
};

#define TYPES	(1 << HWPROF_ROW_LOOP | 1 << HWPROF_ROW_CALL |		       \
		 1 << HWPROF_ROW_PATH | 1 << HWPROF_ROW_VALUE |		       \
		 1 << HWPROF_ROW_CONTEXT | 1 << HWPROF_ROW_RANGE)

FIXTURE_VARIANT_ADD(poison, perf_rows)
{
	.run = run_perf, .more = true, .immediate = true,
	.types = TYPES | 1 << HWPROF_ROW_BRANCHES | 1 << HWPROF_ROW_TIME,
};

FIXTURE_VARIANT_ADD(poison, perf_samples)
{
	.run = run_perf, .more = false, .immediate = true, .samples = true,
	.types = TYPES | 1 << HWPROF_ROW_BRANCHES,
};

FIXTURE_VARIANT_ADD(poison, snapshots)
{
	.run = run_device, .more = false,
	.types = TYPES | 1 << HWPROF_ROW_TIME | 1 << HWPROF_ROW_TOTALS,
};

FIXTURE_VARIANT_ADD(poison, ring)
{
	.run = run_device, .more = true,
	.types = TYPES | 1 << HWPROF_ROW_TIME | 1 << HWPROF_ROW_TOTALS,
};

TEST_F(poison, rows)
{
	unsigned int i, before;

	for (i = 0; i < KINDS; i++) {
		if (event_missing(kinds[i].source) ||
		    (kinds[i].immediate && !variant->immediate) ||
		    (variant->samples && (kinds[i].config1 ||
					  strcmp(kinds[i].source, "step"))))
			continue;
		before = self->seen.rows;
		self->seen.wrong = 0;
		variant->run(_metadata, &kinds[i], variant->more, &self->seen);
		EXPECT_LT(before, self->seen.rows) {
			TH_LOG("no rows of %s", kinds[i].name);
		}
		EXPECT_EQ(0, self->seen.wrong) {
			TH_LOG("after %s", kinds[i].name);
		}
	}
	if (event_missing("step"))
		return;
	EXPECT_EQ(variant->types, self->seen.types & variant->types);
	TH_LOG("%u rows", self->seen.rows);
}

TEST_HARNESS_MAIN
