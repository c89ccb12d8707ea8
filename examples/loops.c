// SPDX-License-Identifier: GPL-2.0-only
/*
 * loops PID [SECONDS]: prints the ten hottest loops of a running process. The
 * event names no source, so it costs the process 1 % of its time, and sees
 * windows. Trip counts therefore have intervals, and totals are unknown.
 */
#include <hwprof.h>
#include <math.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

static void print(const struct hwprof_loop *loop)
{
	printf("%6.2f%%", 100 * loop->share);
	if (isnan(loop->trip))
		printf("  unknown iterations an entry");
	else
		printf(" %8.1f iterations an entry", loop->trip);
	if (!isnan(loop->trip_low))
		printf(" (%.1f to %.1f)", loop->trip_low, loop->trip_high);
	printf(", %" PRIu64 " back edges seen  %s+0x%" PRIx64 "\n",
	       loop->back_edges_seen,
	       loop->function ? loop->function : loop->object,
	       loop->function ? loop->function_offset : loop->head);
}

int main(int argc, char **argv)
{
	struct hwprof_target target = { .id = argc > 1 ? atoi(argv[1]) : 0 };
	struct hwprof_profile *profile = NULL;
	struct hwprof_session *session;
	int error = hwprof_session_open(&session, "loops", NULL);

	if (!error)
		error = hwprof_session_attach(session, &target);
	if (!error)
		error = hwprof_session_start(session);
	if (!error) {
		sleep(argc > 2 ? atoi(argv[2]) : 3);
		error = hwprof_session_snapshot(session, &profile);
	}
	if (error)
		fprintf(stderr, "loops: %s\n", hwprof_session_error(session));
	for (size_t i = 0; profile && i < 10 && i < hwprof_loops_count(profile);
	     i++)
		print(hwprof_loops_get(profile, i));
	hwprof_profile_free(profile);
	hwprof_session_close(session);
	return error ? 1 : 0;
}
