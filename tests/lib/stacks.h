/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of branch stacks, as perf record -b has written them over time, and of
 * stacks of calls, perf record -g.
 */
#ifndef HWPROF_TEST_STACKS_H
#define HWPROF_TEST_STACKS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct stacks_style {
	bool pipe;		/* no table of events, but records of them */
	bool zstd;		/* records in records, packed */
	uint32_t attr_size;	/* of an older perf; 0: today's */
	uint32_t type;		/* of the event */
	uint64_t config;
	bool freq;
	bool kernel;		/* not :u */
	uint64_t sample_type;	/* what there is besides IP, TID, PERIOD and
				 * the stacks: any but registers and later */
	uint64_t read_format;
	uint64_t filter;	/* branch_sample_type; 0: ANY */
	unsigned int events;	/* more than one: the last has the stacks; of
				 * calls, all have, with configs that follow */
	bool chains;		/* stacks of calls; no branches, unless filter says
				 * that these are calls */
	uint16_t max_stack;	/* perf record --max-stack; 0: not said */
	bool synthesized;	/* by perf inject: the filter is as it is, even 0 */
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
	uint64_t ip;		/* of samples with branch stacks, from now on */
	uint16_t misc;		/* of samples, from now on: their CPU mode */
	unsigned int event;	/* of samples, from now on: the last, so far */
	uint64_t registers[3];	/* of x86: bp, sp, ip, if samples have them, */
	const void *memory;	/* and the stack, */
	size_t memory_size, memory_room;	/* in so much room */
	FILE *part;		/* where records go; NULL: into the file */
	struct stacks_section sections[STACKS_SECTIONS];
	size_t section_count;
	uint8_t *records;	/* to be packed */
	size_t size, room;
	void *zstd;
};

/* Into the new or old file @path. */
void stacks_begin(struct stacks *stacks, const char *path,
		  const struct stacks_style *style);
void stacks_comm(struct stacks *stacks, uint64_t time, uint32_t pid,
		 const char *name, bool exec);
void stacks_map(struct stacks *stacks, uint64_t time, uint32_t pid,
		uint64_t start, uint64_t size, uint64_t offset,
		const char *name);
/* @entries: newest first. */
void stacks_sample(struct stacks *stacks, uint64_t time, uint32_t pid,
		   const struct perf_branch_entry *entries, size_t count);
/* @chain: as PERF_SAMPLE_CALLCHAIN; and, with CALL_STACK, @entries. */
void stacks_chain(struct stacks *stacks, uint64_t time, uint32_t pid,
		  uint64_t ip, uint64_t period, const uint64_t *chain,
		  size_t length, const struct perf_branch_entry *entries,
		  size_t count);
/* Any record at all. */
void stacks_record(struct stacks *stacks, uint32_t type, uint16_t misc,
		   const void *body, size_t size);
/*
 * Records go into the new file @path from now on, without a header, as perf
 * record --threads has them beside the file that has one.
 */
void stacks_part(struct stacks *stacks, const char *path);
void stacks_round(struct stacks *stacks);
/* A copy of @bytes becomes a section, in the order of @feature's numbers. */
void stacks_section(struct stacks *stacks, unsigned int feature,
		    const void *bytes, size_t size);
void stacks_end(struct stacks *stacks);

enum { STACKS_CODE = 0x1000 };

/* Writes an x86-64 ELF file that has @code at STACKS_CODE. */
void stacks_object(const char *path, const void *code, size_t size);

#endif /* HWPROF_TEST_STACKS_H */
