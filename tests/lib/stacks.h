/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Builds recordings of branch stacks (perf record -b) as different versions of
 * perf write them, and of call stacks (perf record -g).
 */
#ifndef HWPROF_TEST_STACKS_H
#define HWPROF_TEST_STACKS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct stacks_style {
	bool pipe;		/* events come as records instead of a table */
	bool zstd;		/* records are compressed in other records */
	uint32_t attr_size;	/* as an older perf has it; 0: today's size */
	uint32_t type;		/* of the event */
	uint64_t config;
	bool freq;
	bool kernel;		/* not :u */
	uint64_t sample_type;	/* fields besides IP, TID, PERIOD and the
				 * stacks; not registers or later ones */
	uint64_t read_format;
	uint64_t filter;	/* branch_sample_type; 0: ANY */
	unsigned int events;	/* number of events. Of several, the last has
				 * the branch stacks; all have call stacks, with
				 * successive configs */
	bool chains;		/* call stacks; no branches unless the filter
				 * says that they are calls */
	uint16_t max_stack;	/* perf record --max-stack; 0: not given */
	bool synthesized;	/* made by perf inject: the filter is used as it
				 * is, even 0 */
};

/* A section behind the data. */
struct stacks_section {
	unsigned int feature;
	void *bytes;
	size_t size;
};

enum { STACKS_SECTIONS = 8 };

struct stacks {
	FILE *file;
	struct stacks_style style;
	struct perf_event_attr attr;
	uint64_t ip;		/* of further samples with branch stacks */
	uint16_t misc;		/* of further samples: their CPU mode */
	unsigned int event;	/* of further samples; initially the last
				 * event */
	uint64_t registers[3];	/* bp, sp and ip of x86, if samples have them */
	const void *memory;	/* the stack */
	size_t memory_size, memory_room; /* and the room recorded for it */
	FILE *part;		/* receives the records; NULL: the file does */
	struct stacks_section sections[STACKS_SECTIONS];
	size_t section_count;
	uint8_t *records;	/* to be compressed */
	size_t size, room;
	void *zstd;
};

/* Creates or replaces the file @path. */
void stacks_begin(struct stacks *stacks, const char *path,
		  const struct stacks_style *style);
void stacks_comm(struct stacks *stacks, uint64_t time, uint32_t pid,
		 const char *name, bool exec);
void stacks_map(struct stacks *stacks, uint64_t time, uint32_t pid,
		uint64_t start, uint64_t size, uint64_t offset,
		const char *name);
/* @entries has the newest first. */
void stacks_sample(struct stacks *stacks, uint64_t time, uint32_t pid,
		   const struct perf_branch_entry *entries, size_t count);
/*
 * @chain is as in PERF_SAMPLE_CALLCHAIN; with CALL_STACK, @entries has the
 * calls.
 */
void stacks_chain(struct stacks *stacks, uint64_t time, uint32_t pid,
		  uint64_t ip, uint64_t period, const uint64_t *chain,
		  size_t length, const struct perf_branch_entry *entries,
		  size_t count);
/* Adds an arbitrary record. */
void stacks_record(struct stacks *stacks, uint32_t type, uint16_t misc,
		   const void *body, size_t size);
/*
 * Writes further records to the new file @path without a header, like the parts
 * of perf record --threads.
 */
void stacks_part(struct stacks *stacks, const char *path);
void stacks_round(struct stacks *stacks);
/*
 * Adds a copy of @bytes as a section. Sections must come in the order of
 * @feature.
 */
void stacks_section(struct stacks *stacks, unsigned int feature,
		    const void *bytes, size_t size);
void stacks_end(struct stacks *stacks);

enum { STACKS_CODE = 0x1000 };

/* Writes an x86-64 ELF file that has @code at STACKS_CODE. */
void stacks_object(const char *path, const void *code, size_t size);

#endif /* HWPROF_TEST_STACKS_H */
