// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls [INTERVALS]: prints the most frequent calls of the whole system every
 * second. Rows arrive through the session's ring, and wake us up.
 */
#include <hwprof.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>

enum { SHOWN = 10 };

static const char *name_of(const struct hwprof_code *code)
{
	return code->function ? code->function : code->object;
}

static void print(const struct hwprof_profile *profile)
{
	size_t count = hwprof_calls_pair_count(profile), i;

	printf("%zu call pairs\n", count);
	for (i = 0; i < count && i < SHOWN; i++) {
		const struct hwprof_pair *pair = hwprof_calls_pair(profile, i);

		printf("%6.2f%% %10" PRIu64 "  %s -> %s\n",
		       100 * pair->called.share, pair->called.least,
		       name_of(&pair->site), name_of(&pair->callee));
	}
	fflush(stdout);
}

static int show(struct hwprof_session *session, int intervals)
{
	struct pollfd rows = { .events = POLLIN };
	struct hwprof_profile *profile;
	int error = 0;

	rows.fd = hwprof_session_fd(session);
	if (rows.fd < 0)
		return rows.fd;
	while (!error && intervals--) {
		poll(&rows, 1, 2000);
		error = hwprof_session_snapshot(session, &profile);
		if (error)
			break;
		print(profile);
		hwprof_profile_free(profile);
	}
	return error;
}

int main(int argc, char **argv)
{
	const struct hwprof_target everything = {.kind = HWPROF_TARGET_SYSTEM};
	struct hwprof_session *session;
	int error =
		hwprof_session_open(&session, "calls,interval_ms=1000", NULL);

	if (!error)
		error = hwprof_session_attach(session, &everything);
	if (!error)
		error = hwprof_session_start(session);
	if (!error)
		error = show(session, argc > 1 ? atoi(argv[1]) : 10);
	if (error)
		fprintf(stderr, "calls: %s\n", hwprof_session_error(session));
	hwprof_session_close(session);
	return error ? 1 : 0;
}
