/* SPDX-License-Identifier: GPL-2.0-only */
/* Small recordings of a program, for tests of the daemon. */
#ifndef HWPROF_TEST_RECORDINGS_H
#define HWPROF_TEST_RECORDINGS_H

#include "fixture.h"

/**
 * struct recorded_code - Code that a recording is about
 * @path: its file.
 * @id: build id; NULL: not in the recording.
 * @start: address of the map.
 * @size: bytes of the map.
 * @offset: of the map in the file.
 * @head: address of a loop, in the map; its tail is 16 bytes above.
 * @callee: address of a function that the loop calls.
 * @label: of the process, apart from its pid; its cgroup may be NULL: none.
 */
struct recorded_code {
	const char *path;
	const struct build_id *id;
	uint64_t start, size, offset;
	uint64_t head, callee;
	struct label label;
};

/*
 * Makes a recording of a loop with @units back edges, as many calls and edges,
 * and 7 units that were lost. The caller removes it by fixture_remove().
 */
void recordings_make(struct fixture *fixture, const struct recorded_code *code,
		     uint64_t units);

/* The same, of calling contexts: @units samples in the callee. */
void recordings_make_stacks(struct fixture *fixture,
			    const struct recorded_code *code, uint64_t units);

/* The same, of values: the load at the loop's head returned 42 @units times. */
void recordings_make_values(struct fixture *fixture,
			    const struct recorded_code *code, uint64_t units);

/* Where the ranges begin. */
#define RECORDED_DATA	0x60000000

/*
 * The same, of ranges of loads' addresses: @units in the first 64 bytes of
 * RECORDED_DATA, 100 in 64 bytes 16 KiB behind, and 20 somewhere in 64 KiB.
 */
void recordings_make_ranges(struct fixture *fixture,
			    const struct recorded_code *code, uint64_t units);

#endif /* HWPROF_TEST_RECORDINGS_H */
