/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A perf.data file while it is read. file.c opens it and reports errors,
 * features.c reads the sections behind the data, records.c iterates over the
 * data, and sample.c parses single records.
 */
#ifndef HWPROF_FILE_H
#define HWPROF_FILE_H

#include "hwprof.h"
#include "distances.h"
#include "input.h"
#include "labels.h"
#include "perfdata.h"
#include "base/byte_reader.h"
#include "base/warnings.h"

/* An event of the recording: its attr, and the name that perf gave it. */
struct file_event {
	struct perf_event_attr attr;
	char *name;			/* may be NULL */
	size_t members;			/* events of its group, which follow
					 * it */
};

struct file_id {
	uint64_t id;
	size_t event;			/* index */
};

/* The recorder's statement about a mapped object. */
struct file_build_id {
	char *name;
	struct build_id id;
	uint16_t misc;			/* of the entry: whose object it is */
};

/* A section that describes the recorded machine, as it is in the file. */
struct file_section {
	enum perfdata_feature feature;
	void *bytes;
	size_t size;
};

/* The facts that a replay knew besides its rows, in a file that it wrote. */
struct file_replay {
	bool known;			/* a replay wrote the file */
	bool several;			/* it was of several events */
	char *event;			/* the first of them; NULL: unknown */
	double inferred;		/* share of branches whose kinds were
					 * inferred */
	uint64_t lost, lost_samples;	/* as below, of the file that was
					 * replayed */
	struct warnings warnings;
	struct file_build_id *missing;	/* objects whose code it lacked */
	size_t missing_count;
};

/* Whether the recording's CPU sometimes records its newest branch twice. */
enum file_cpu {
	FILE_CPU_UNKNOWN,
	FILE_CPU_COPIES,
	FILE_CPU_OTHER,			/* it does not */
};

struct hwprof_file {
	char *name;			/* for errors */
	char message[512];
	int fd;
	bool pipe;			/* no sections; attrs come as records */
	bool consumed;
	int *parts;			/* files with further records, by
					 * number */
	size_t part_count;		/* (perf record --threads) */
	struct perfdata_header header;

	struct file_event *events;
	size_t event_count;
	struct file_id *ids;		/* sorted by id once read */
	size_t id_count;
	bool ids_sorted;

	struct file_build_id *build_ids;
	size_t build_id_count;

	struct file_section *sections;	/* for a file that is made from it */
	size_t section_count;
	struct file_replay replay;
	struct label_table labels;		/* of processes */
	struct numbers masks;		/* of its sessions, as text */
	struct distances distances;	/* of sessions that changed */

	bool foreign;			/* the machine was no x86 */
	enum file_cpu cpu;
	bool traced;			/* it has a CPU's trace, which is not
					 * decoded */
	bool pmus_known;		/* the file has a table of PMUs */
	bool pmu_found;			/* hwprof is in that table, with
					 * pmu_type */
	uint32_t pmu_type;

	uint64_t lost;			/* records, counted by
					 * PERF_RECORD_LOST */
	uint64_t lost_samples;		/* counted by
					 * PERF_RECORD_LOST_SAMPLES */

	struct warnings warnings;	/* damage that left the rest readable */
	size_t header_warnings;		/* how many of these are not about
					 * records */

	uint64_t *row;			/* an aligned copy of the current row */
	const struct file_event *row_event;	/* event of that row; NULL:
					 * unknown */
};

/*
 * Makes a file without a header, for data from elsewhere. @fd is -1 if there is
 * none. Returns NULL if out of memory.
 */
struct hwprof_file *file_new(int fd, const char *name);

/* Sets the message, with "NAME: " before it, and returns @error. */
int file_fail(struct hwprof_file *file, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Sets the message for damage at @offset, and returns -EBADMSG. */
int file_damaged(struct hwprof_file *file, uint64_t offset,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds a warning about damage at @offset. Returns 0 or -ENOMEM. */
int file_warn(struct hwprof_file *file, uint64_t offset,
	      const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Adds an event and its ids: u64 values, the rest of @ids. */
int file_add_event(struct hwprof_file *file, const struct perf_event_attr *attr,
		   struct byte_reader ids);

/* Returns the event of @id; the only event if there is one; NULL if unknown. */
const struct file_event *file_event_of(struct hwprof_file *file, uint64_t id);

/* Returns the event's name, in @text if the file has none. */
enum { EVENT_TEXT = 64 };
const char *file_event_name(const struct file_event *event,
			    char text[EVENT_TEXT]);

/* Returns true for an event of hwprof. */
bool file_event_is_hwprof(const struct hwprof_file *file,
			  const struct file_event *event);

/*
 * Copies an attr, whose size may be older or newer than ours. Returns false if
 * @bytes is no attr.
 */
bool file_read_attr(struct byte_reader bytes, struct perf_event_attr *attr);

/* Returns how many records were lost: perf counts some of them twice. */
static inline uint64_t file_lost(const struct hwprof_file *file)
{
	return file->lost > file->lost_samples ? file->lost :
						 file->lost_samples;
}

/*
 * Adds an object to a list of @count, which has a copy of its name then.
 * Returns 0 or -ENOMEM.
 */
int build_ids_add(struct file_build_id **all, size_t *count,
		  const char *name, const struct build_id *id, uint16_t misc);
/* Frees the content. */
void file_replay_free(struct file_replay *replay);

/* In features.c. */
int features_read(struct hwprof_file *file);
int feature_parse(struct hwprof_file *file, unsigned int feature,
		  uint64_t offset, struct byte_reader body);

/* A record, and the fields that all records have. */
struct record {
	uint32_t type;
	uint16_t misc;
	uint64_t offset;		/* in the file */
	struct byte_reader body;		/* behind the header; other than
					 * samples: without the fields below */
	const struct file_event *event;	/* NULL: unknown */
	uint64_t time;			/* UINT64_MAX: the file has none */
	uint32_t pid, tid, cpu;		/* UINT32_MAX: not in the file */
};

typedef int (*record_fn)(void *context, const struct record *record);

/*
 * Calls @fn for each record of the data, one part after the other; in
 * records.c.
 */
int records_read(struct hwprof_file *file, record_fn fn, void *context);
/* Allows reading all records again. Only for a file with parts. */
void records_rewind(struct hwprof_file *file);
/* Calls @fn for one record, whose @body is behind the header. */
int record_deliver(struct hwprof_file *file,
		   const struct perf_event_header *header,
		   struct byte_reader body, uint64_t offset, record_fn fn,
		   void *context);

struct sample {
	uint64_t ip, addr, period;
	struct byte_reader callchain;	/* u64's, as PERF_SAMPLE_CALLCHAIN */
	struct byte_reader raw;		/* empty: none */
	struct byte_reader branches;	/* struct perf_branch_entry's, newest
					 * first */
	uint64_t abi;			/* of the user's registers; 0: none */
	struct byte_reader registers;	/* u64's, of sample_regs_user */
	struct byte_reader stack;	/* the user's memory from its sp on */
};

/* Sets the event, time, pid, tid and cpu of @record; in sample.c. */
int sample_identify(struct hwprof_file *file, struct record *record);
/* Parses the rest of a PERF_RECORD_SAMPLE after sample_identify(). */
int sample_parse(struct hwprof_file *file, const struct record *record,
		 struct sample *sample);

/* Converts a record to a hwprof_sample. Returns 0 if it is none; in rows.c. */
int rows_decode(struct hwprof_file *file, const struct record *record,
		struct hwprof_sample *sample);
/* Copies the row at the start of @raw to file->row, and checks it. */
int row_copy(struct hwprof_file *file, uint64_t offset, struct byte_reader raw,
	     const struct hwprof_row **row);
/* Sets the fields of a sample that its row has: ip, addr, period, pid. */
void row_describe(struct hwprof_sample *sample);
/* Fails unless the file has a hwprof event. */
int rows_expected(struct hwprof_file *file);

#endif /* HWPROF_FILE_H */
