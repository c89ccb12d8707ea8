/* SPDX-License-Identifier: GPL-2.0-only */
/* Builds recordings record by record, as hwprof and its module write them. */
#ifndef HWPROF_TEST_FIXTURE_H
#define HWPROF_TEST_FIXTURE_H

#include "hwprof.h"
#include "live/writer.h"
#include "perfdata/distances.h"
#include "perfdata/labels.h"

enum {
	FIXTURE_PMU_TYPE = 42,
	FIXTURE_ID = 7001,		/* of the event */
	FIXTURE_COUNTERS = 8,
	FIXTURE_FILES = 2,		/* at most, in a profile */
};

struct fixture {
	char path[64];
	uint64_t id;
	uint64_t counter_ids[FIXTURE_COUNTERS];
	struct writer_event events[1 + FIXTURE_COUNTERS];
	struct writer *writer;
	struct label_table labels;	/* of processes */
	struct numbers masks;		/* of sessions, as text */
	struct distances distances;	/* of sessions */
};

/* Begins a recording of @event in a new temporary file. */
void fixture_begin(struct fixture *fixture, const char *event);
/*
 * Begins a recording with counters in the event's group; NULL ends their names.
 */
void fixture_begin_group(struct fixture *fixture, const char *event,
			 const char *const *counters);

void fixture_comm(struct fixture *fixture, uint64_t time, uint32_t pid,
		  const char *name, bool exec);
void fixture_fork(struct fixture *fixture, uint64_t time, uint32_t pid,
		  uint32_t parent);
void fixture_exit(struct fixture *fixture, uint64_t time, uint32_t pid);
/* @id may be NULL. */
void fixture_map(struct fixture *fixture, uint64_t time, uint32_t pid,
		 uint64_t start, uint64_t size, uint64_t offset,
		 const char *name, const struct build_id *id);
void fixture_lost(struct fixture *fixture, uint64_t time, uint64_t lost);

/* Adds a sample with @row as raw data. */
void fixture_row(struct fixture *fixture, uint64_t time, uint64_t ip,
		 uint64_t addr, uint64_t period, const struct hwprof_row *row);

/* Adds a sample without raw data, as perf records it without -R. */
void fixture_bare(struct fixture *fixture, uint64_t time, uint32_t pid,
		  uint64_t ip, uint64_t addr, uint64_t period);

/*
 * Returns an exact row of a loop with one tail. The caller sets further fields.
 */
struct hwprof_row_loop fixture_loop(uint32_t space, uint32_t pid, uint64_t head,
				    uint64_t tail, uint64_t back_edges,
				    int64_t entries);
void fixture_add_loop(struct fixture *fixture, uint64_t time,
		      const struct hwprof_row_loop *row);
/* Adds totals of a run that delivered all of @produced. */
void fixture_add_totals(struct fixture *fixture, uint64_t time,
			uint32_t session, uint64_t produced);
/* Adds @count branches to @first + 16 and on, 16 bytes apart. */
void fixture_add_branches(struct fixture *fixture, uint64_t time, uint32_t pid,
			  uint64_t sequence, uint32_t count, uint64_t first);

/* Notes a mask in the file. */
void fixture_mask(struct fixture *fixture, const char *text);

/* Completes the file. */
void fixture_end(struct fixture *fixture);
/* Reads the loops of the file, and asserts that this works. */
struct hwprof_profile *fixture_loops(const struct fixture *fixture,
				   unsigned int flags);
/*
 * Completes the recordings, reads one kind of profile of all, and removes them.
 * Asserts that this works. @options may be NULL.
 */
struct hwprof_profile *fixture_read(struct fixture *fixtures, size_t count,
				    enum hwprof_kind kind,
				    const struct hwprof_options *options);
/*
 * The same for one recording that may be refused. Returns what the library
 * does; a message must name the file.
 */
int fixture_try(struct fixture *fixture, enum hwprof_kind kind,
		const struct hwprof_options *options,
		struct hwprof_profile **profile);
/* Removes the file. */
void fixture_remove(struct fixture *fixture);

/* Runs a shell command. Copies its output to @output, and ends it with 0. */
int fixture_shell(char *output, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* HWPROF_TEST_FIXTURE_H */
