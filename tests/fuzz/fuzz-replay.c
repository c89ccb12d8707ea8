// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as a recording of branch stacks, or of stacks of calls. The replay
 * must end, with loops, calls, paths, ranges and contexts that add up, or with
 * an error message. Objects are not opened, since their names could be any file
 * of this machine.
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

static const struct hwprof_replay_options replay = { .memory_mib = 1 };
static const struct hwprof_options options = { .flags = HWPROF_NO_OBJECTS };
static const struct hwprof_options callees = {
	.flags = HWPROF_NO_OBJECTS | HWPROF_RANGES_OF_FLAG(HWPROF_RANGE_CALLEE),
};

static int open_bytes(struct hwprof_file **file, const uint8_t *bytes,
		      size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	lseek(fd, 0, SEEK_SET);
	return hwprof_file_open_fd(file, fd, "fuzz");
}

static void replay_into(enum hwprof_kind kind,
			const struct hwprof_options *wanted,
			const uint8_t *bytes, size_t size)
{
	struct hwprof_profile *profile = NULL;
	struct hwprof_file *file;
	int error = open_bytes(&file, bytes, size);

	if (!error)
		error = hwprof_profile_replay(&profile, kind, file, wanted,
					      &replay);
	if (error && !*hwprof_file_error(file))
		abort();
	if (profile) {
		check_totals(hwprof_profile_totals(profile));
		if (hwprof_profile_json(profile, NULL, sink))
			abort();
	}
	hwprof_profile_free(profile);
	hwprof_file_close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	replay_into(HWPROF_KIND_LOOPS, &options, bytes, size);
	replay_into(HWPROF_KIND_CALLS, &options, bytes, size);
	replay_into(HWPROF_KIND_PATHS, &options, bytes, size);
	replay_into(HWPROF_KIND_EDGES, &options, bytes, size);
	replay_into(HWPROF_KIND_RANGES, &options, bytes, size);
	replay_into(HWPROF_KIND_RANGES, &callees, bytes, size);
	replay_into(HWPROF_KIND_CCT, &options, bytes, size);
	return 0;
}
