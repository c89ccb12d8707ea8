// SPDX-License-Identifier: GPL-2.0-only
/*
 * heap PID [INTERVALS]: every second, draws bars of the parts of its heap that
 * a process loads from most. Ranges with at least 2 % of all loads are found
 * while it runs.
 */
#include <hwprof.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR = 40 };

static void print_bar(const struct hwprof_range *range)
{
	int length = range->share * BAR + 0.5, i;

	printf("%16" PRIx64 "-%-16" PRIx64 " %6.2f%% ", range->low, range->high,
	       100 * range->share);
	for (i = 0; i < length; i++)
		putchar('#');
	putchar('\n');
}

static void print(const struct hwprof_profile *profile)
{
	size_t i;

	printf("loads: %" PRIu64 "\n", hwprof_ranges_get(profile, 0)->least);
	for (i = 1; i < hwprof_ranges_count(profile); i++) {
		const struct hwprof_range *range =
			hwprof_ranges_get(profile, i);

		if (range->object && !strcmp(range->object, "[heap]"))
			print_bar(range);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	const struct hwprof_session_options options = { .profile.hot = 0.02 };
	struct hwprof_target target = { .id = argc > 1 ? atoi(argv[1]) : 0 };
	int left = argc > 2 ? atoi(argv[2]) : 10, error;
	struct hwprof_profile *profile;
	struct hwprof_session *session;

	error = hwprof_session_open(&session, "ranges,of=load-address",
				    &options);
	if (!error)
		error = hwprof_session_attach(session, &target);
	if (!error)
		error = hwprof_session_start(session);
	while (!error && left--) {
		sleep(1);
		error = hwprof_session_snapshot(session, &profile);
		if (error)
			break;
		print(profile);
		hwprof_profile_free(profile);
	}
	if (error)
		fprintf(stderr, "heap: %s\n", hwprof_session_error(session));
	hwprof_session_close(session);
	return error ? 1 : 0;
}
