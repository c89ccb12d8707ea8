/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Parts: what a window of time is stored as. A part is a recording that
 * lib/merge wrote, of one kind and one build, compressed with zstd. The account
 * is a part, too, whose kind is PART_ACCOUNT.
 */
#ifndef HWPROFD_PARTS_H
#define HWPROFD_PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hwprof.h"

enum {
	PART_ACCOUNT = HWPROF_KINDS,
	PART_OBJECT = 256,		/* longer names lose their end */
	PART_SIZE_MAX = 64 << 20,
	PARTS_MAX = 65536,		/* of a window */
};

/*
 * Kinds whose parts are whole recordings, as the collector made them: they tell
 * values or addresses of data, which cannot be added up by build.
 */
#define PARTS_WHOLE	(1U << HWPROF_KIND_VALUES | 1U << HWPROF_KIND_RANGES)

/* Instead of a kind, for readers of several. */
enum {
	PARTS_MERGED = -1,		/* all but whole recordings */
	PARTS_ALL = -2,
};

static inline bool part_kind_is_whole(uint32_t kind)
{
	return kind < HWPROF_KINDS && PARTS_WHOLE >> kind & 1;
}

/* The account of a window in numbers, for metrics. */
struct part_totals {
	uint64_t produced, delivered, lost, evicted, pending;
	uint64_t windows, events, cost_ns, task_ns, lost_records;
	uint64_t folded;		/* units without labels, which were
					 * too many */
};

/*
 * struct part_head - What is known about a part without reading it
 * @kind: enum hwprof_kind, or PART_ACCOUNT.
 * @size: bytes that follow the head in a stream of parts.
 * @units: what its rows carry.
 * @build_id: in hexadecimal digits; "" if unknown.
 * @object: name of the object.
 * @totals: of PART_ACCOUNT; otherwise all 0.
 */
struct part_head {
	uint32_t kind;
	uint32_t size;
	uint64_t units;
	char build_id[48];
	char object[PART_OBJECT];
	struct part_totals totals;
};

/* Adds all numbers of @from to those of @to. */
void part_totals_add(struct part_totals *to, const struct part_totals *from);

struct part {
	struct part_head head;
	void *bytes;			/* head.size of them */
	int64_t from, to;		/* of its window, as timeline_parts()
					 * has it; otherwise 0 */
};

struct parts {
	struct part *all;
	size_t count, room;
	size_t bytes;			/* of all parts */
};

/* Adds a part, and takes @bytes over, also on failure. Returns 0 or -ENOMEM. */
int parts_add(struct parts *parts, const struct part_head *head, void *bytes);
void parts_free(struct parts *parts);
/* Returns what they take in memory. */
size_t parts_bytes(const struct parts *parts);

/*
 * Reads a stream of parts of @size bytes from descriptor @fd: a head, its
 * bytes, the next head. The writer is not trusted. Returns 0, -EBADMSG if
 * anything contradicts itself, -ENOMEM, or what pread() failed with.
 */
int parts_read(struct parts *parts, int fd, uint64_t size);

/*
 * Returns a descriptor of the part's recording, at its beginning, or a negative
 * errno.
 */
int part_unpack(const struct part *part);

/* Returns true if the head is one that hwprofd writes. */
bool part_head_is_valid(const struct part_head *head);

/*
 * Returns true if a part is what a reader of @kind, or PARTS_MERGED or
 * PARTS_ALL, and of @build_id wants.
 */
bool part_is_wanted(const struct part_head *head, int kind,
		    const char *build_id);

/* Adds copies of the parts that are wanted. Returns 0 or -ENOMEM. */
int parts_copy(struct parts *to, const struct parts *from, int kind,
	       const char *build_id);

#endif /* HWPROFD_PARTS_H */
