/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of programs, kept by build id, so that a program which is replaced,
 * stripped or removed still has its symbols and lines. The copies are bounded;
 * when there is no room, the oldest go.
 * A build that failed is tried again, after a minute and then less and less
 * often.
 *
 * Anybody can write the build id of another's program into a file. A file of
 * root's therefore takes the place of a user's, and is never replaced. A user's
 * file is kept as long as all files that claim its build id can be looked at
 * and have the same bytes; otherwise none is kept.
 */
#ifndef HWPROFD_SYMBOLS_H
#define HWPROFD_SYMBOLS_H

#include "config.h"
#include "parts.h"

struct symbols;

/**
 * struct symbols_counts - What is kept
 * @builds: files.
 * @bytes: of those.
 * @evicted: files that were removed for lack of room.
 * @failures: files that could not be read whole, or not be written.
 * @disputed: builds of which no file is kept, since those of users differ.
 */
struct symbols_counts {
	uint64_t builds, bytes, evicted, failures, disputed;
};

/*
 * Keeps files in folder "symbols" of @store. @config may change from one call
 * to another, but not its address. Returns NULL if out of memory.
 */
struct symbols *symbols_new(const char *store, const struct config *config);
void symbols_free(struct symbols *symbols);

/* Notes the builds of a window, so that they are kept. */
void symbols_note(struct symbols *symbols, const struct parts *parts);

/* Copies what was noted, file by file. Returns true if a worker runs. */
bool symbols_run(struct symbols *symbols);

/* Returns the folder, as hwprof_options.debuginfo wants it. */
const char *symbols_folder(const struct symbols *symbols);

void symbols_count(const struct symbols *symbols,
		   struct symbols_counts *counts);

#endif /* HWPROFD_SYMBOLS_H */
