// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a recording of branch stacks, or of stacks of calls: the replay
 * ends, with loops, calls and contexts that add up or with a sentence. Objects are
 * left alone: their names could be any file of this machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hwprof.h"

static FILE *sink;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	sink = fopen("/dev/null", "w");
	return sink ? 0 : 1;
}

static void check_totals(const struct hwprof_totals *totals)
{
	if (totals->produced != totals->delivered + totals->evicted ||
	    totals->pending || totals->gaps > totals->events)
		abort();
}

static const struct hwprof_replay_options options = { .memory_mib = 1 };

static int open_bytes(struct hwprof_file **file, const uint8_t *bytes,
		      size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
	return hwprof_file_open_fd(file, fd, "fuzz");
}

static void replay_calls(const uint8_t *bytes, size_t size)
{
	struct hwprof_calls *calls = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_calls_replay(&calls, file, HWPROF_NO_OBJECTS,
					    &options);
	if (error && !*hwprof_file_error(file))
		abort();
	if (calls) {
		check_totals(hwprof_calls_totals(calls));
		if (hwprof_calls_json(calls, 0, sink))
			abort();
	}
	hwprof_calls_free(calls);
	hwprof_file_close(file);
}

static void replay_contexts(const uint8_t *bytes, size_t size)
{
	struct hwprof_contexts *contexts = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_contexts_replay(&contexts, file,
					       HWPROF_NO_OBJECTS, &options);
	if (error && !*hwprof_file_error(file))
		abort();
	if (contexts) {
		check_totals(hwprof_contexts_totals(contexts));
		if (hwprof_contexts_json(contexts, 0, sink))
			abort();
	}
	hwprof_contexts_free(contexts);
	hwprof_file_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hwprof_loops *loops = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_loops_replay(&loops, file, HWPROF_NO_OBJECTS,
					    &options);
	if (error && !*hwprof_file_error(file))
		abort();
	if (loops) {
		check_totals(hwprof_loops_totals(loops));
		if (hwprof_loops_json(loops, 0, sink))
			abort();
	}
	hwprof_loops_free(loops);
	hwprof_file_close(file);
	replay_calls(bytes, size);
	replay_contexts(bytes, size);
	return 0;
}
