/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files that processes have mapped, which may be in other mount namespaces, and
 * may have been replaced since.
 */
#ifndef HWPROF_MAPPED_FILE_H
#define HWPROF_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "code/code_facts.h"

enum { MAPPED_FILE_NAME = 192 };

/**
 * struct mapped_file - A file, as a line of /proc/PID/maps or a record names it
 * @major: of the device; with @minor and @inode what the file is known by.
 * @minor: of the device.
 * @inode: 0 for memory without a file.
 * @size: when it was opened last; 0: never.
 * @changed_ns: time of its last change then.
 * @root: it belonged to root then.
 * @name: under which it was opened; empty: it was not, or the name is longer.
 */
struct mapped_file {
	unsigned int major, minor;
	uint64_t inode;
	uint64_t size;
	int64_t changed_ns;
	bool root;
	char name[MAPPED_FILE_NAME];
};

/* Compares what files are known by; see tree_compare. */
int mapped_file_compare(const void *a, const void *b);

/*
 * Finds a file in this process, without opening it. Returns a descriptor that
 * stands for it (O_PATH); or -ENOENT if there is no such file any more, or
 * another has its name. A file system that does not answer is waited for.
 */
int mapped_file_find(const struct wanted_file *wanted,
		     struct found_file *found);
/*
 * Opens what was found, for reading, and closes @found. Returns a descriptor or
 * a negative errno.
 */
int mapped_file_open_found(int found);

/*
 * Opens the file that process @pid has mapped and calls @name, for reading.
 * Returns -1 if there is no such file any more, or another has its name.
 * @reader finds it; NULL: this process.
 */
int mapped_file_open(struct mapped_file *file, const struct code_reader *reader,
		     uint32_t pid, const char *name);

/*
 * Returns true if the file of this number is another one than that which was
 * opened last, or was written to since. A file that is gone is the same as long
 * as its number has the same name.
 */
bool mapped_file_changed(const struct mapped_file *file,
			 const struct code_reader *reader, uint32_t pid,
			 const char *name);

/* Makes mapped_file_changed() say that it is another, so that it is read. */
void mapped_file_forget(struct mapped_file *file);

#endif /* HWPROF_MAPPED_FILE_H */
