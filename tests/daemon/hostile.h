/* SPDX-License-Identifier: GPL-2.0-only */
/* Files that look like programs, and are to harm who reads them. */
#ifndef HWPROF_TEST_HOSTILE_H
#define HWPROF_TEST_HOSTILE_H

/*
 * HOSTILE(name, what): what is hostile about it.
 */
#define HOSTILE_FILES(HOSTILE)						\
	HOSTILE(cut, "ends within its table of segments")		\
	HOSTILE(sections, "says that it has 2^56 sections")		\
	HOSTILE(segments, "says that it has 2^32 - 1 segments")		\
	HOSTILE(note, "has a build id of 2^32 - 1 bytes")		\
	HOSTILE(bomb, "has a section that unpacks to 2^40 bytes")	\
	HOSTILE(frames, "says that it has 2^26 procedures")		\
	HOSTILE(slow, "needs 10^11 steps to make its table of")

enum hostile_file {
#define HOSTILE_NAME(name, what)	HOSTILE_##name,
	HOSTILE_FILES(HOSTILE_NAME)
	HOSTILE_COUNT
};

const char *hostile_name(enum hostile_file file);

/* Writes the file to @fd, which is empty. Returns 0 or a negative errno. */
int hostile_write(enum hostile_file file, int fd);

#endif /* HWPROF_TEST_HOSTILE_H */
