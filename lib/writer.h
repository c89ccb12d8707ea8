/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a perf.data file that perf reads too: events, then data as it came
 * from the rings, then the sections that say what it was recorded on.
 */
#ifndef HWPROF_WRITER_H
#define HWPROF_WRITER_H

#include "perfdata.h"

#include <stddef.h>

struct writer;

struct writer_event {
	struct perf_event_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t id_count;
	size_t members;			/* of its group, which are behind it */
};

struct writer_facts {
	int argc;			/* the command line that recorded */
	char *const *argv;
	uint32_t pmu_type;		/* of hwprof */
};

/* What was written, for a last line. */
struct writer_summary {
	uint64_t samples;		/* of hwprof: rows, or samples */
	uint64_t sessions;
	uint64_t lost;			/* records */
	uint64_t bytes;			/* the file's size */
};

/*
 * Begins the file @path anew. *@writer is NULL only for -ENOMEM; otherwise
 * writer_error() has the sentence. All of them return a negative errno.
 */
int writer_open(struct writer **writer, const char *path,
		const struct writer_event *events, size_t count);
/* Whole records, or the pieces of some in their order. */
int writer_add(struct writer *writer, const void *bytes, size_t size);
/* Writes the sections and the header; then the file is one. */
int writer_finish(struct writer *writer, const struct writer_facts *facts,
		  struct writer_summary *summary);
uint64_t writer_bytes(const struct writer *writer);
const char *writer_error(const struct writer *writer);
void writer_close(struct writer *writer);

/* sections.c: what the sections behind the data are made of. */
struct section_facts {
	const struct writer_facts *facts;
	const struct writer_event *events;
	size_t event_count;
	const struct file_build_id *build_ids;
	size_t build_id_count;
	uint64_t first_time, last_time;
};

/* The sections that are written, in the order of the file; 0 ends them. */
extern const enum perfdata_feature sections_written[];

/*
 * Makes the body of @feature in memory: *@body (free() it) and *@size. 0;
 * -ENOMEM; or -ENOENT: this machine does not say.
 */
int section_make(enum perfdata_feature feature,
		 const struct section_facts *facts, char **body, size_t *size);

#endif /* HWPROF_WRITER_H */
