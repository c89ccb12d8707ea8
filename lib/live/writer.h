/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a perf.data file that perf can read: events, the data as they came
 * from the rings, and the sections that describe the recording machine.
 */
#ifndef HWPROF_WRITER_H
#define HWPROF_WRITER_H

#include "perfdata/perfdata.h"

#include <stddef.h>

struct distances;
struct file_replay;
struct hwprof_file;
struct known_files;
struct label_table;
struct numbers;
struct writer;

struct writer_event {
	struct perf_event_attr attr;
	const char *name;
	const uint64_t *ids;
	size_t id_count;
	size_t members;			/* events of its group, which follow
					 * it */
};

struct writer_facts {
	int argc;			/* command line of the recorder */
	char *const *argv;
	uint32_t pmu_type;		/* of hwprof */
	/* The replayed file, which describes the machine; NULL: this one. */
	const struct hwprof_file *of;
	const struct file_replay *replay;	/* goes with it */
	struct label_table *labels;	/* of processes; those with rows are
					 * marked as used; NULL: none */
	const struct numbers *masks;	/* of the sessions; NULL: none */
	const struct distances *distances;	/* of sessions; NULL: none */
	struct known_files *files;	/* that were read meanwhile; NULL:
					 * none */
};

/* The result of writing, for a final message. */
struct writer_summary {
	uint64_t samples;		/* of hwprof: rows or samples */
	uint64_t sessions;
	uint64_t lost;			/* lost records */
	uint64_t bytes;			/* size of the file */
};

/*
 * Creates the file @path. *@writer is NULL only after -ENOMEM; otherwise
 * writer_error() describes a failure. All functions return 0 or a negative
 * errno.
 */
int writer_open(struct writer **writer, const char *path,
		const struct writer_event *events, size_t count);
/* Adds whole records, or their pieces in order. */
int writer_add(struct writer *writer, const void *bytes, size_t size);
/* Adds how many samples an event lost, as perf says it at the end. */
int writer_add_lost(struct writer *writer, uint64_t id, uint64_t lost,
		    uint64_t time);
/* Writes the sections and the header, which completes the file. */
int writer_finish(struct writer *writer, const struct writer_facts *facts,
		  struct writer_summary *summary);
uint64_t writer_bytes(const struct writer *writer);
const char *writer_error(const struct writer *writer);
void writer_close(struct writer *writer);

/* Input of the sections behind the data; sections.c writes them. */
struct section_facts {
	const struct writer_facts *facts;
	const struct writer_event *events;
	size_t event_count;
	const struct file_build_id *build_ids;
	size_t build_id_count;
	uint64_t first_time, last_time;
};

/* The sections to write, in the order of the file; 0 ends the list. */
extern const enum perfdata_feature sections_written[];

/*
 * Makes the body of @feature: *@body, which the caller frees, and *@size.
 * Returns 0, -ENOMEM, or -ENOENT if this machine does not provide it.
 */
int section_make(enum perfdata_feature feature,
		 const struct section_facts *facts, char **body, size_t *size);

#endif /* HWPROF_WRITER_H */
