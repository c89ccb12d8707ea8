/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The format of perf.data files, as far as <linux/perf_event.h> leaves it to
 * the perf tool (tools/perf/util/header.h and
 * Documentation/perf.data-file-format in the kernel's source).
 */
#ifndef HWPROF_PERFDATA_H
#define HWPROF_PERFDATA_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PERFDATA_MAGIC		0x32454c4946524550ULL	/* "PERFILE2" */
#define PERFDATA_MAGIC_SWAPPED	0x50455246494c4532ULL
#define PERFDATA_MAGIC_OLD	0x454c494646524550ULL	/* "PERFFILE" */

struct perfdata_section {
	uint64_t offset;
	uint64_t size;
};

enum {
	PERFDATA_FEATURES = 256,	/* bits of the header */
};

struct perfdata_header {
	uint64_t magic;
	uint64_t size;			/* of this header; in pipe mode it is
					 * 16, and nothing follows */
	uint64_t attr_size;		/* of an attr and the section of its
					 * ids */
	struct perfdata_section attrs;
	struct perfdata_section data;	/* size 0: the writer was killed */
	struct perfdata_section event_types;
	uint64_t features[PERFDATA_FEATURES / 64];
};

enum {
	PERFDATA_PIPE_HEADER = 16,
};

/* Sections behind the data, in the order of their bits. */
enum perfdata_feature {
	PERFDATA_BUILD_ID	= 2,
	PERFDATA_HOSTNAME	= 3,
	PERFDATA_OSRELEASE	= 4,
	PERFDATA_VERSION	= 5,
	PERFDATA_ARCH		= 6,
	PERFDATA_NRCPUS		= 7,
	PERFDATA_CPUDESC	= 8,
	PERFDATA_CPUID		= 9,
	PERFDATA_CMDLINE	= 11,
	PERFDATA_EVENT_DESC	= 12,
	PERFDATA_PMU_MAPPINGS	= 16,
	PERFDATA_GROUP_DESC	= 17,
	PERFDATA_AUXTRACE_SECTION = 18,
	PERFDATA_SAMPLE_TIME	= 21,
	PERFDATA_DIR_FORMAT	= 24,	/* more of the data is in other files */
	PERFDATA_COMPRESSED	= 27,
	/* hwprof's own; perf skips them. */
	PERFDATA_DISTANCES	= 252,
	PERFDATA_MASKS		= 253,
	PERFDATA_LABELS		= 254,
	PERFDATA_REPLAY		= 255,
};

/* Records that the tool writes, not the kernel. */
enum perfdata_record_type {
	PERFDATA_USER_TYPES	= 64,	/* the first of them */
	PERFDATA_HEADER_ATTR	= 64,
	/* A u32 size, and that many bytes behind it. */
	PERFDATA_TRACING_DATA	= 66,
	PERFDATA_HEADER_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND	= 68,
	PERFDATA_AUXTRACE_INFO	= 70,
	/* A u64 size, and that many bytes behind it. */
	PERFDATA_AUXTRACE	= 71,
	PERFDATA_HEADER_FEATURE	= 80,
	PERFDATA_ZSTD		= 81,	/* records, compressed */
	PERFDATA_ZSTD_SIZED	= 83,	/* the same, after its u64 size */
};

/*
 * Linux 6.19 and newer: if the user part of a call chain comes in a record of
 * its own, the chain ends with this marker and a u64 cookie. That record has
 * the cookie, a u64 count, and that many addresses.
 */
#define PERFDATA_CONTEXT_USER_DEFERRED	((uint64_t)-640)

enum { PERFDATA_CALLCHAIN_DEFERRED = 22 };

/* An entry of the BUILD_ID section; the file's name follows it. */
struct perfdata_build_id {
	struct perf_event_header header;
	int32_t pid;			/* -1: of any process */
	uint8_t id[20];
	/* 20 without PERFDATA_MISC_BUILD_ID_SIZE. */
	uint8_t size;
	uint8_t reserved[3];
};

#define PERFDATA_MISC_BUILD_ID_SIZE	(1 << 15)

enum {
	BUILD_ID_MAX = 20,
	BUILD_ID_TEXT = 2 * BUILD_ID_MAX + 1,
};

struct build_id {
	uint8_t bytes[BUILD_ID_MAX];	/* followed by zeros */
	uint8_t size;			/* 0: unknown */
};

/*
 * The fields of a PERF_RECORD_MMAP2 with PERF_RECORD_MISC_MMAP_BUILD_ID, from
 * the header to the file's name.
 */
struct perfdata_mmap2_build_id {
	uint32_t pid, tid;
	uint64_t start, size;
	uint64_t offset;		/* of @start in the file */
	uint8_t id_size, reserved[3], id[BUILD_ID_MAX];
	uint32_t protection, flags;	/* as of mmap() */
};

/*
 * Makes a build id of @size bytes, 20 at most. Recorders that write no size pad
 * shorter ids with zeros to 20 bytes. The result gets the largest size that
 * linkers use (8, 16 or 20 bytes) and the zeros allow.
 */
static inline struct build_id build_id_of(const uint8_t *bytes, uint8_t size)
{
	struct build_id id = { .size = size };
	uint8_t used = size;

	memcpy(id.bytes, bytes, size);
	while (used && !bytes[used - 1])
		used--;
	if (!used)
		id.size = 0;
	else if (size == BUILD_ID_MAX && used <= 16)
		id.size = used <= 8 ? 8 : 16;
	return id;
}

/* Returns true for equal ids. The shorter one may lack only the padding. */
static inline bool build_id_same(const struct build_id *a,
				 const struct build_id *b)
{
	return a->size && b->size &&
	       !memcmp(a->bytes, b->bytes, sizeof(a->bytes));
}

#endif /* HWPROF_PERFDATA_H */
