// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <unistd.h>

#include "check.h"
#include "jobs.h"
#include "windows.h"
#include "wire.h"

#define SECOND	1000000000ULL
#define DAY	(24 * 60 * 60 * SECOND)

uint64_t __real_wire_now(void);
uint64_t __wrap_wire_now(void);

/* Windows of the last hour exist on a machine that has just begun, too. */
uint64_t __wrap_wire_now(void)
{
	return __real_wire_now() + DAY;
}

void window_add(struct timeline *timeline, uint64_t ago,
		struct fixture *recording)
{
	const struct job job = { .recording = true };
	uint64_t end = wire_now() - ago * SECOND;
	struct parts parts = { .count = 0 };
	struct worker worker;
	FILE *file;

	file = fopen(recording->path, "r");
	assert_non_null(file);
	assert_int_equal(worker_start(&worker, job_merge, &job,
				      WORKER_NO_FILES, fileno(file), 60), 0);
	assert_int_equal(worker_wait(&worker), ANSWER_OK);
	assert_int_equal(parts_read(&parts, worker.out,
				    lseek(worker.out, 0, SEEK_END)), 0);
	close(worker.out);
	fclose(file);
	fixture_remove(recording);
	assert_int_equal(timeline_add(timeline, end - SECOND, end, &parts), 0);
}
