// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that uses the installed library, compiled as C and as C++. It
 * counts the samples of a recording.
 */
#include <hwprof.h>
#include <inttypes.h>
#include <stdio.h>

static int count(void *context, const struct hwprof_sample *sample)
{
	uint64_t *samples = (uint64_t *)context;

	*samples += sample->row != NULL;
	return 0;
}

int main(int argc, char **argv)
{
	struct hwprof_event event;
	struct hwprof_file *file;
	uint64_t samples = 0;
	char message[256];
	int error;

	error = hwprof_event_parse(&event, "loops,rows/u", message,
				   sizeof(message));
	if (error || argc != 2)
		return 2;
	error = hwprof_file_open(&file, argv[1]);
	if (!error)
		error = hwprof_file_samples(file, count, &samples);
	if (error)
		fprintf(stderr, "%s\n", hwprof_file_error(file));
	else
		printf("%" PRIu64 " samples, hwprof %s\n", samples,
		       HWPROF_VERSION);
	hwprof_file_close(file);
	return error ? 1 : 0;
}
