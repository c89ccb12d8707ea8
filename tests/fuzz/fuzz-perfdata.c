// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a recording: the reader ends, with loops or with a sentence.
 * Objects are left alone, whose names could be any file of this machine.
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

static int see(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_branches *branches;
	uint64_t *sum = context;
	uint32_t i;

	if (!sample->row)
		return 0;
	*sum += ((const uint8_t *)sample->row)[sample->row->size - 1];
	if (sample->row->type != HWPROF_ROW_BRANCHES)
		return 0;
	branches = (const void *)sample->row;
	for (i = 0; i < branches->count; i++)
		*sum += branches->branches[i].to;
	return 0;
}

static int open_bytes(struct hwprof_file **file, const uint8_t *bytes,
		      size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
	return hwprof_file_open_fd(file, fd, "fuzz");
}

static void need_sentence(int error, const struct hwprof_file *file)
{
	if (error && !*hwprof_file_error(file))
		abort();
}

static void read_ranges(const uint8_t *bytes, size_t size, unsigned int flags)
{
	struct hwprof_ranges *ranges = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_ranges_read(&ranges, file, 0,
					   HWPROF_NO_OBJECTS | flags);
	need_sentence(error, file);
	if (ranges && hwprof_ranges_json(ranges, sink))
		abort();
	hwprof_ranges_free(ranges);
	hwprof_file_close(file);
}

static void read_calls(const uint8_t *bytes, size_t size, unsigned int flags)
{
	struct hwprof_calls *calls = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_calls_read(&calls, file,
					  HWPROF_NO_OBJECTS | flags);
	need_sentence(error, file);
	if (calls && hwprof_calls_json(calls, 0, sink))
		abort();
	hwprof_calls_free(calls);
	hwprof_file_close(file);
}

static void read_contexts(const uint8_t *bytes, size_t size, unsigned int flags)
{
	struct hwprof_contexts *contexts = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_contexts_read(&contexts, file,
					     HWPROF_NO_OBJECTS | flags);
	need_sentence(error, file);
	if (contexts && (hwprof_contexts_json(contexts, 0, sink) ||
			 hwprof_contexts_folded(contexts, sink)))
		abort();
	hwprof_contexts_free(contexts);
	hwprof_file_close(file);
}

static void read_paths(const uint8_t *bytes, size_t size, unsigned int flags)
{
	struct hwprof_paths *paths = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_paths_read(&paths, file,
					  HWPROF_NO_OBJECTS | flags);
	need_sentence(error, file);
	if (paths && hwprof_paths_json(paths, 0, sink))
		abort();
	hwprof_paths_free(paths);
	hwprof_file_close(file);
}

static void read_values(const uint8_t *bytes, size_t size, unsigned int flags)
{
	struct hwprof_values *values = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_values_read(&values, file,
					   HWPROF_NO_OBJECTS | flags);
	need_sentence(error, file);
	if (values && hwprof_values_json(values, 0, sink))
		abort();
	hwprof_values_free(values);
	hwprof_file_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct hwprof_loops *loops = NULL;
	struct hwprof_file *file;
	uint64_t sum = 0;
	int error;

	error = open_bytes(&file, bytes, size);
	if (!error)
		error = hwprof_file_samples(file, see, &sum);
	need_sentence(error, file);
	hwprof_file_close(file);

	error = open_bytes(&file, bytes, size);
	if (!error)
		error = hwprof_loops_read(&loops, &file, 1, HWPROF_NO_OBJECTS |
					  (sum & HWPROF_PER_PROCESS));
	need_sentence(error, file);
	if (loops && hwprof_loops_json(loops, 0, sink))
		abort();
	hwprof_loops_free(loops);
	hwprof_file_close(file);
	read_ranges(bytes, size, sum & HWPROF_PER_PROCESS);
	read_calls(bytes, size, sum & HWPROF_PER_PROCESS);
	read_values(bytes, size, sum & HWPROF_PER_PROCESS);
	read_contexts(bytes, size, sum & (HWPROF_PER_PROCESS |
					  HWPROF_MERGE_SITES));
	read_paths(bytes, size, sum & HWPROF_PER_PROCESS);
	return 0;
}
