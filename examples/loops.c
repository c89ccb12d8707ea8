// SPDX-License-Identifier: GPL-2.0-only
/* loops PID [SECONDS]: the ten loops in which a process makes most iterations. */
#include <hwprof.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

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
	for (size_t i = 0; profile && i < 10 && i < hwprof_loops_count(profile); i++) {
		const struct hwprof_loop *loop = hwprof_loops_get(profile, i);

		printf("%6.2f%% %10" PRIu64 " iterations %8" PRIu64 " entries  %s+0x%" PRIx64 "\n",
		       100 * loop->share, loop->iterations, loop->entries,
		       loop->function ? loop->function : loop->object,
		       loop->function ? loop->function_offset : loop->head);
	}
	hwprof_profile_free(profile);
	hwprof_session_close(session);
	return error ? 1 : 0;
}
