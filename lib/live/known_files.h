/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Files with code, and their build ids: each is read once. */
#ifndef HWPROF_KNOWN_FILES_H
#define HWPROF_KNOWN_FILES_H

#include <stddef.h>
#include <stdint.h>

#include "code/code_facts.h"
#include "mapped_file.h"

/**
 * struct known_files - Files that were read
 * @tree: of those.
 * @count: of files.
 * @round: number of the round: each looks once whether a file is still the
 *	same. The caller adds 1 to begin another.
 * @reader: reads them; NULL: the calling process.
 *
 * All 0: none is known.
 */
struct known_files {
	void *tree;
	size_t count;
	unsigned int round;
	const struct code_reader *reader;
};

void known_files_free(struct known_files *files);

/*
 * Returns the build id of the file that process @pid has mapped and calls
 * @name, or an id of size 0. @file has what it is known by. Returns NULL if out
 * of memory.
 */
const struct build_id *known_files_id(struct known_files *files,
				      const struct mapped_file *file,
				      uint32_t pid, const char *name);

#endif /* HWPROF_KNOWN_FILES_H */
