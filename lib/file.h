/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A perf.data file being read. file.c opens it and has its errors, features.c
 * reads the sections behind the data, records.c goes through the data, and
 * sample.c takes single records apart.
 */
#ifndef HWPROF_FILE_H
#define HWPROF_FILE_H

#include "hwprof.h"
#include "input.h"
#include "perfdata.h"
#include "span.h"
#include "warnings.h"

/* An event that was recorded: its attr, and the name perf gave it. */
struct file_event {
	struct perf_event_attr attr;
	char *name;			/* may be NULL */
	size_t members;			/* of its group, which are behind it */
};

struct file_id {
	uint64_t id;
	size_t event;			/* index */
};

/* What the recorder said about an object that was mapped. */
struct file_build_id {
	char *name;
	struct build_id id;
};

/* Does the CPU that it is of record its newest branch twice at times? */
enum file_cpu {
	FILE_CPU_UNKNOWN,
	FILE_CPU_COPIES,
	FILE_CPU_OTHER,			/* it does not */
};

struct hwprof_file {
	char *name;			/* for errors */
	char message[512];
	int fd;
	bool pipe;			/* no sections; attrs are records */
	bool consumed;
	int *parts;			/* files of more records, by number: */
	size_t part_count;		/* perf record --threads */
	struct perfdata_header header;

	struct file_event *events;
	size_t event_count;
	struct file_id *ids;		/* sorted by id once read */
	size_t id_count;
	bool ids_sorted;

	struct file_build_id *build_ids;
	size_t build_id_count;

	bool foreign;			/* it is of no x86 */
	enum file_cpu cpu;
	bool traced;			/* it has a CPU's trace, not decoded */
	bool pmus_known;		/* the file has a table of PMUs */
	bool pmu_found;			/* and hwprof is in it, as this type */
	uint32_t pmu_type;

	uint64_t lost;			/* records, by PERF_RECORD_LOST */
	uint64_t lost_samples;		/* by PERF_RECORD_LOST_SAMPLES */

	struct warnings warnings;	/* damage that leaves the rest readable, */
	size_t header_warnings;		/* and how many are of what is no record */

	uint64_t *row;			/* an aligned copy of the current row */
	const struct file_event *row_event;	/* that it is of; NULL: not known */
};

/* Without a header: for what comes from elsewhere. -1: no @fd. NULL: no memory. */
struct hwprof_file *file_new(int fd, const char *name);

/* Sets the sentence, "NAME: " before it, and returns @error. */
int file_fail(struct hwprof_file *file, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* The same for damage at @offset; returns -EBADMSG. */
int file_damaged(struct hwprof_file *file, uint64_t offset,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Notes damage at @offset that is to be said beside what was read. -ENOMEM. */
int file_warn(struct hwprof_file *file, uint64_t offset,
	      const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds an event and its ids (u64 each, what is left of @ids). */
int file_add_event(struct hwprof_file *file, const struct perf_event_attr *attr,
		   struct span ids);

/* The event of @id; with one event only, that one. NULL: unknown. */
const struct file_event *file_event_of(struct hwprof_file *file, uint64_t id);

/* The event's name, in @text if the file says none. */
enum { EVENT_TEXT = 64 };
const char *file_event_name(const struct file_event *event,
			    char text[EVENT_TEXT]);

/* Is it one of hwprof's? */
bool file_event_is_hwprof(const struct hwprof_file *file,
			  const struct file_event *event);

/* Copies an attr of @size bytes, older or newer than ours. False: no attr. */
bool file_read_attr(struct span bytes, struct perf_event_attr *attr);

/* features.c */
int features_read(struct hwprof_file *file);
int feature_parse(struct hwprof_file *file, unsigned int feature,
		  uint64_t offset, struct span body);

/* A record, and what is common to all. */
struct record {
	uint32_t type;
	uint16_t misc;
	uint64_t offset;		/* in the file */
	struct span body;		/* behind the header; other than samples:
					 * without the fields below */
	const struct file_event *event;	/* NULL: unknown */
	uint64_t time;			/* UINT64_MAX: the file has none */
	uint32_t pid, tid, cpu;		/* UINT32_MAX: not in the file */
};

typedef int (*record_fn)(void *context, const struct record *record);

/* records.c: calls @fn for each record of the data, one part behind the other. */
int records_read(struct hwprof_file *file, record_fn fn, void *context);
/* Allows to read all records once more; only of a file with parts. */
void records_rewind(struct hwprof_file *file);
/* The same for one record, of which @body is what is behind the header. */
int record_deliver(struct hwprof_file *file,
		   const struct perf_event_header *header, struct span body,
		   uint64_t offset, record_fn fn, void *context);

struct sample {
	uint64_t ip, addr, period;
	struct span callchain;		/* u64's, as PERF_SAMPLE_CALLCHAIN */
	struct span raw;		/* empty: none */
	struct span branches;		/* struct perf_branch_entry's, newest
					 * first */
	uint64_t abi;			/* of the user's registers; 0: none */
	struct span registers;		/* u64's, of sample_regs_user */
	struct span stack;		/* the user's memory from its sp on */
};

/* sample.c: fills in @record's event, time, pid, tid, cpu. */
int sample_identify(struct hwprof_file *file, struct record *record);
/* The rest of a PERF_RECORD_SAMPLE that was identified. */
int sample_parse(struct hwprof_file *file, const struct record *record,
		 struct sample *sample);

/* rows.c: makes a hwprof_sample of a record that may be one; 0: it is none. */
int rows_decode(struct hwprof_file *file, const struct record *record,
		struct hwprof_sample *sample);
/* Copies the row at the start of @raw to where file->row points, and checks it. */
int row_copy(struct hwprof_file *file, uint64_t offset, struct span raw,
	     const struct hwprof_row **row);
/* Sets what a row says of its sample: ip, addr, period, pid. */
void row_describe(struct hwprof_sample *sample);
/* Fails unless the file has a hwprof event. */
int rows_expected(struct hwprof_file *file);

#endif /* HWPROF_FILE_H */
