/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Files with code, as far as a recording reads them. Anybody may have written
 * such a file. A program with capabilities therefore has another process read
 * it: see struct code_reader.
 */
#ifndef HWPROF_CODE_FACTS_H
#define HWPROF_CODE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cfi_table.h"
#include "objects.h"

enum { CODE_PARTS_MAX = 64 };		/* parts that are kept of a file */

/* A part of the file that is mapped as code. */
struct code_part {
	uint64_t offset, size;
	uint64_t address;
};

/**
 * struct code_facts - What is known of a file
 * @id: build id; of size 0: none.
 * @parts: parts that are mapped as code.
 * @part_count: number of those.
 * @table: for unwinding; its count is 0 if there is none.
 */
struct code_facts {
	struct build_id id;
	struct code_part parts[CODE_PARTS_MAX];
	size_t part_count;
	struct cfi_table table;
};

enum code_wanted {
	CODE_ID,			/* the build id alone */
	CODE_TABLE,			/* parts and table alone */
};

/**
 * struct wanted_file - A file that a process has mapped
 * @pid: the process.
 * @name: what it calls the file.
 * @major: of the file's device.
 * @minor: of the file's device.
 * @inode: its number there.
 */
struct wanted_file {
	uint32_t pid;
	const char *name;
	unsigned int major, minor;
	uint64_t inode;
};

/**
 * struct found_file - What is known of it when it was found
 * @size: in bytes.
 * @changed_ns: time of its last change.
 * @root: it is root's.
 */
struct found_file {
	uint64_t size;
	int64_t changed_ns;
	bool root;
};

/**
 * struct code_reader - Finds and reads files, instead of the calling process
 * @find: finds a file. Returns a descriptor for reading, or 0 without @open;
 *	-ENOENT if there is no such file any more; or another negative errno.
 * @read: sets @facts from file @fd, which the recorded process calls @name.
 *	Returns 0, also if there is nothing to know; -EAGAIN if the file is to
 *	be asked for later; or another negative errno. @facts is empty on
 *	failure.
 * @context: for both.
 */
struct code_reader {
	int (*find)(void *context, const struct wanted_file *wanted, bool open,
		    struct found_file *found);
	int (*read)(void *context, int fd, const char *name,
		    enum code_wanted wanted, struct code_facts *facts);
	void *context;
};

/* Reads by @reader; NULL: in this process. Returns what it does. */
int code_read(const struct code_reader *reader, int fd, const char *name,
	      enum code_wanted wanted, struct code_facts *facts);

/* Sets parts and table of @facts, which is empty, from an object. */
void code_facts_of(Elf *elf, struct code_facts *facts);

/* Frees what @facts has; it is empty then. */
void code_facts_free(struct code_facts *facts);

#endif /* HWPROF_CODE_FACTS_H */
