// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "converted.h"

enum { KEPT_MAX = 32 << 10 };

static char *json_of(const struct hwprof_profile *profile, size_t *size)
{
	char *text;
	FILE *out = open_memstream(&text, size);

	assert_non_null(out);
	assert_int_equal(hwprof_profile_json(profile, NULL, out), 0);
	fclose(out);
	return text;
}

static struct hwprof_file *open_file(const char *path)
{
	struct hwprof_file *file;
	int error = hwprof_file_open(&file, path);

	if (error)
		print_message("# %s\n", hwprof_file_error(file));
	assert_int_equal(error, 0);
	return file;
}

static struct hwprof_profile *
convert(enum hwprof_kind kind, const char *path,
	const struct hwprof_options *options,
	const struct hwprof_replay_options *replay)
{
	struct hwprof_file *file = open_file(path);
	struct hwprof_profile *profile;
	int error = hwprof_profile_replay(&profile, kind, file, options,
					  replay);

	if (error)
		print_message("# %s\n", hwprof_file_error(file));
	assert_int_equal(error, 0);
	hwprof_file_close(file);
	return profile;
}

static struct hwprof_profile *read_back(enum hwprof_kind kind, const char *path,
					const struct hwprof_options *options)
{
	struct hwprof_file *file = open_file(path);
	struct hwprof_profile *profile;
	int error = hwprof_profile_read(&profile, kind, &file, 1, options);

	if (error)
		print_message("# %s\n", hwprof_file_error(file));
	assert_int_equal(error, 0);
	hwprof_file_close(file);
	return profile;
}

/* Fails with the lines in which the texts differ first. */
static void expect_same(const char *text, const char *again)
{
	size_t same = 0;

	while (text[same] && text[same] == again[same])
		same++;
	if (text[same] == again[same])
		return;
	while (same && text[same - 1] != '\n')
		same--;
	fail_msg("replayed:\n%.400s\nread back:\n%.400s", text + same,
		 again + same);
}

static void copy(const char *path, const char *folder, const char *target,
		 unsigned int number)
{
	char command[512];

	snprintf(command, sizeof(command), "cp '%s' '%s/%s/%d.%u'", path,
		 folder, target, getpid(), number);
	assert_int_equal(system(command), 0);
}

/*
 * Keeps a copy of a file among the seeds of @target, if the environment names
 * a folder for them; not of a large one, which would make the target slow.
 */
static void keep(const char *path, const char *target)
{
	static unsigned int count;
	const char *folder = getenv("HWPROF_TEST_KEEP");
	struct stat status;

	if (folder && !stat(path, &status) && S_ISREG(status.st_mode) &&
	    status.st_size <= KEPT_MAX)
		copy(path, folder, target, count++);
}

void converted_check(enum hwprof_kind kind, const char *path,
		     const struct hwprof_options *options,
		     const struct hwprof_replay_options *replay)
{
	struct hwprof_replay_options to_file = { .output = NULL };
	char output[] = "/tmp/hwprof-test-XXXXXX";
	struct hwprof_profile *profile, *again;
	size_t size, size_again;
	char *text, *text_again;

	close(mkstemp(output));
	if (replay)
		to_file = *replay;
	to_file.output = output;
	profile = convert(kind, path, options, &to_file);
	keep(path, "fuzz-replay");
	keep(output, "fuzz-perfdata");
	again = read_back(kind, output, options);
	text = json_of(profile, &size);
	text_again = json_of(again, &size_again);
	expect_same(text, text_again);
	if (hwprof_profile_event(profile))
		assert_string_equal(hwprof_profile_event(profile),
				    hwprof_profile_event(again));
	else
		assert_null(hwprof_profile_event(again));
	free(text);
	free(text_again);
	hwprof_profile_free(profile);
	hwprof_profile_free(again);
	unlink(output);
}

int converted_replay(enum hwprof_kind kind, const char *path,
		     const struct hwprof_options *options,
		     const struct hwprof_replay_options *replay,
		     struct hwprof_profile **profile, char message[512])
{
	struct hwprof_file *file;
	int error = hwprof_file_open(&file, path);

	*profile = NULL;
	if (!error)
		error = hwprof_profile_replay(profile, kind, file, options,
					      replay);
	snprintf(message, 512, "%s", error ? hwprof_file_error(file) : "");
	hwprof_file_close(file);
	if (!error)
		converted_check(kind, path, options, replay);
	return error;
}
