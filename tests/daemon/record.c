// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes recordings of this program, whose symbols a reader finds in its file.
 *
 * usage: record UNITS FILE STACKS [UID CGROUP]
 *
 * FILE gets loops, calls and edges of that many units, and STACKS as many
 * samples of contexts. FILE.values gets as many loads, and FILE.ranges as many
 * in one range and 120 in others. The process is that user's, and in that
 * cgroup.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "code/objects.h"
#include "recordings.h"

void leaf(int *value);
void busy(int *value);

__attribute__((noipa)) void leaf(int *value)
{
	*value += 1;
}

__attribute__((noipa)) void busy(int *value)
{
	int i;

	for (i = 0; i < 100; i++)
		leaf(value);
}

/* Finds the map of @address in this process. */
static int find_map(uint64_t address, struct recorded_code *code)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[4400];
	uint64_t end;

	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64,
			   &code->start, &end, &code->offset) == 3 &&
		    address >= code->start && address < end) {
			code->size = end - code->start;
			fclose(maps);
			return 0;
		}
	return -1;
}

static void move(struct fixture *fixture, const char *path)
{
	char command[4096];

	snprintf(command, sizeof(command), "mv '%s' '%s'", fixture->path, path);
	if (system(command))
		exit(1);
}

static void move_beside(struct fixture *fixture, const char *path,
			const char *ending)
{
	char name[4096];

	snprintf(name, sizeof(name), "%s.%s", path, ending);
	move(fixture, name);
}

int main(int argc, char **argv)
{
	struct recorded_code code = { .head = (uintptr_t)busy,
				      .callee = (uintptr_t)leaf };
	struct fixture fixture;
	struct build_id id;
	char path[4096] = "";
	uint64_t units;

	if ((argc != 4 && argc != 6) || find_map(code.head, &code) ||
	    readlink("/proc/self/exe", path, sizeof(path) - 1) < 0 ||
	    !object_read_build_id(path, &id))
		return 2;
	units = strtoull(argv[1], NULL, 10);
	code.path = path;
	code.id = &id;
	if (argc == 6)
		code.label = (struct label){
			.uid = atoi(argv[4]), .seen = true,
			.cgroup = argv[5],
		};
	recordings_make(&fixture, &code, units);
	move(&fixture, argv[2]);
	recordings_make_stacks(&fixture, &code, units);
	move(&fixture, argv[3]);
	recordings_make_values(&fixture, &code, units);
	move_beside(&fixture, argv[2], "values");
	recordings_make_ranges(&fixture, &code, units);
	move_beside(&fixture, argv[2], "ranges");
	return 0;
}
