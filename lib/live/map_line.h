/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A line of /proc/PID/maps. The kernel writes it, but users choose the names in
 * it. They begin with '/' if they are those of files. The kernel writes the end
 * of a line in a name as "\012", and marks files that are gone by " (deleted)",
 * which a name may have by itself, too. A name may be longer than PATH_MAX.
 */
#ifndef HWPROF_MAP_LINE_H
#define HWPROF_MAP_LINE_H

#include <stdbool.h>
#include <stdint.h>

/**
 * struct map_line - A mapping of a process
 * @start: address.
 * @end: address behind it; not below @start.
 * @offset: in the file.
 * @major: of the file's device.
 * @minor: of the file's device.
 * @inode: number of the file; 0: memory without one.
 * @bits: "rwxp", with '-' for what is not allowed, or 's' for shared memory.
 * @name: "" if there is none.
 */
struct map_line {
	uint64_t start, end, offset;
	unsigned int major, minor;
	uint64_t inode;
	char bits[5];
	const char *name;
};

/*
 * Parses a line, whose end is cut off; the name is a part of it. Returns false
 * for another form.
 */
bool map_line_parse(struct map_line *line, char *text);

#endif /* HWPROF_MAP_LINE_H */
