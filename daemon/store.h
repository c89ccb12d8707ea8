/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows of time on disk: an SQLite database with one writer. Its size is
 * bounded; when it is full, the oldest windows go, and are counted. A kill or a
 * power cut loses what was not committed, and nothing else.
 *
 * Times are seconds of the store's clock. That is the system's time when the
 * store was first opened in a boot, and then runs as CLOCK_BOOTTIME does:
 * setting the system's clock neither repeats nor skips a window. It never goes
 * behind the end of the newest window.
 */
#ifndef HWPROFD_STORE_H
#define HWPROFD_STORE_H

#include "parts.h"

struct store;

/* Levels of windows, by length. STORE_MEMORY is not in the store. */
enum store_level {
	STORE_MEMORY = 0,
	STORE_MINUTE = 1,
	STORE_TEN_MINUTES = 2,
	STORE_HOUR = 3,
	STORE_LEVELS = 4,
};

/* Returns the length of a level's windows in seconds; 0 in memory. */
int64_t store_level_seconds(enum store_level level);

struct window {
	int64_t id;			/* in the store */
	enum store_level level;
	int64_t begin, end;		/* seconds of the store's clock */
	int64_t wall;			/* the system's time at its end */
};

struct store_counts {
	uint64_t windows;		/* in the store */
	uint64_t bytes;			/* of the database's pages in use */
	uint64_t evicted;		/* windows deleted for lack of room */
	uint64_t failures;		/* writes that failed even so */
};

/*
 * Opens or makes the store in folder @path, bounded to @mib MiB. *@store is
 * NULL only after -ENOMEM; otherwise store_error() describes a failure. A
 * database that is damaged is put aside as hwprofd.db.damaged, and a new one
 * begun. All functions return 0 or a negative errno.
 */
int store_open(struct store **store, const char *path, uint64_t mib);
void store_close(struct store *store);
const char *store_error(const struct store *store);

/* Returns the present time on the store's clock. */
int64_t store_now(const struct store *store);

/*
 * Writes a window with its parts, and deletes the windows @merged[0] to
 * [@count - 1], which it replaces, all or nothing. Sets the window's id.
 * -ENOSPC: there is no room, even without older windows, or the disk is full.
 */
int store_write(struct store *store, struct window *window,
		const struct parts *parts, const int64_t *merged, size_t count);

/*
 * Calls @fn for each window that overlaps [@from, @to), the oldest first. A
 * result of @fn other than 0 ends it, and is returned.
 */
typedef int (*store_window_fn)(void *context, const struct window *window);
int store_windows(struct store *store, int64_t from, int64_t to,
		  store_window_fn fn, void *context);

/* A window of the store, behind which a reader goes on. */
struct store_place {
	int64_t begin, id;
	uint64_t count;			/* of windows up to it */
};

#define STORE_BEGIN	((struct store_place){ .begin = INT64_MIN })

/*
 * Does so for the first @most windows behind @place (below 0: for all), which
 * moves to the last of them, and counts them.
 */
int store_windows_from(struct store *store, struct store_place *place,
		       int64_t from, int64_t to, int most, store_window_fn fn,
		       void *context);

/*
 * Adds to @parts those of window @id that are of @kind, as of part_is_wanted(),
 * and of builds that begin with @build_id ("": of any). The account comes only
 * with any build.
 */
int store_parts(struct store *store, int64_t id, int kind,
		const char *build_id, struct parts *parts);

/* Calls @fn for the heads of all parts of a window, which have no bytes. */
typedef int (*store_head_fn)(void *context, const struct window *window,
			     const struct part_head *head);
int store_heads(struct store *store, const struct window *window,
		store_head_fn fn, void *context);

/* Changes the bound. What is there already goes when room is needed. */
int store_resize(struct store *store, uint64_t mib);
void store_count(struct store *store, struct store_counts *counts);

#endif /* HWPROFD_STORE_H */
