// SPDX-License-Identifier: GPL-2.0-only
/*
 * torture [-f FIRST] [-m MODES] [-h HALF] [-s NAME] FOLDER
 *
 * Programs must run the same while hwprof steps them: same output, same status.
 * FOLDER has the subjects. -m: number of modes to try on each subject, in turn
 * (default: all), from -f on. -h: only every second subject, from 0 or 1 on.
 * -s: only this subject, or only `outside`; several are allowed. Then a subject
 * that cannot run fails.
 */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "outside.h"
#include "subject/list.h"
#include "tap.h"

#define X(name) #name,
static const char * const both[] = { SUBJECTS(X) NULL };
static const char * const only_64[] = { SUBJECTS_64(X) NULL };
static const char * const only_32[] = { SUBJECTS_32(X) NULL };
#undef X

enum { ONLY_MAX = 8 };

static const char *only[ONLY_MAX];
static unsigned int only_count;
static int half = -1;

/*
 * Tells whether the subject looks at system calls. In bursts, events see them
 * differently from events that step everything.
 */
static bool is_about_calls(const char *name)
{
	static const char * const names[] = {
		"syscall_r11", "syscall_r11_of_child", "sysenter", "int80",
		"frames", "altstack", "push_flags", "own_tf_and_calls",
		"own_tf_by_frame",
	};
	unsigned int i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static void test_mode(const char *program, const char *name, const char *what,
		      const struct ending *native,
		      const struct profile_mode *mode)
{
	struct ending watched;

	child_run(program, name, mode, &watched);
	child_same(native, &watched, what, mode->name);
}

/* Returns why a subject cannot run here, which it has printed; NULL: it can. */
static const char *why_skipped(struct ending *native)
{
	static const char skip[] = "skip: ";

	if (strncmp(native->output, skip, strlen(skip)))
		return NULL;
	native->output[strcspn(native->output, "\n")] = '\0';
	return native->output + strlen(skip);
}

static bool is_wanted(const char *name)
{
	unsigned int i;

	for (i = 0; i < only_count; i++)
		if (!strcmp(only[i], name))
			return true;
	return !only_count;
}

static void test_subject(const char *program, const char *name,
			 const char *bits)
{
	struct ending native;
	unsigned int i;
	char what[128];

	if (!is_wanted(name))
		return;
	snprintf(what, sizeof(what), "%s, %s", name, bits);
	child_run(program, name, NULL, &native);
	if (native.late || strstr(native.output, "expected")) {
		tap_test(false, "%s: natively", what);
		tap_note("%.800s", native.output);
		return;
	}
	if (why_skipped(&native) && only_count) {
		tap_test(false, "%s: it can run here", what);
		tap_note("%s", native.output);
		return;
	}
	if (why_skipped(&native)) {
		tap_skip(why_skipped(&native), "%s", what);
		return;
	}
	for (i = 0; i < profile_each; i++)
		test_mode(program, name, what, &native, profile_next());
	if (is_about_calls(name))
		test_mode(program, name, what, &native, &often_in_bursts);
}

static void test_subjects(const char *program, const char * const *names,
			  const char *bits)
{
	static int number;

	for (; *names; names++) {
		if (half >= 0 && number++ % 2 != half)
			continue;
		if (access(program, X_OK))
			tap_skip("not built: gcc-12-multilib is not installed",
				 "%s, %s", *names, bits);
		else
			test_subject(program, *names, bits);
	}
}

static void test_outside(const char *folder, const char *subject)
{
	char count[512];

	snprintf(count, sizeof(count), "%s/count", folder);
	test_counts(count);
	test_rights(subject);
	test_core(subject);
	test_debugged(subject);
	test_probes(subject);
	test_killed(subject);
	test_stopped(subject);
	test_attached(subject);
	test_unloaded(subject);
}

static _Noreturn void usage(void)
{
	fprintf(stderr, "usage: torture [-f FIRST] [-m MODES] [-h 0|1] [-s NAME] FOLDER\n");
	exit(2);
}

int main(int argc, char **argv)
{
	char subject[512], subject32[512], *folder;
	int option;

	while ((option = getopt(argc, argv, "f:m:h:s:")) >= 0)
		if (option == 'm' && atoi(optarg) > 0)
			profile_each = atoi(optarg);
		else if (option == 'f')
			profile_begin_with(atoi(optarg));
		else if (option == 'h' && atoi(optarg) <= 1)
			half = atoi(optarg);
		else if (option == 's' && only_count < ONLY_MAX)
			only[only_count++] = optarg;
		else
			usage();
	if (optind + 1 != argc)
		usage();
	folder = realpath(argv[optind], NULL);
	if (!folder)
		tap_bail("%s: %s", argv[optind], strerror(errno));
	snprintf(subject, sizeof(subject), "%s/subject", folder);
	snprintf(subject32, sizeof(subject32), "%s/subject32", folder);
	signal(SIGPIPE, SIG_IGN);

	test_subjects(subject, both, "64 bits");
	test_subjects(subject, only_64, "64 bits");
	test_subjects(subject32, both, "32 bits");
	test_subjects(subject32, only_32, "32 bits");
	if (is_wanted("outside"))
		test_outside(folder, subject);
	return tap_end();
}
