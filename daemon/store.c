// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "store.h"
#include "wire.h"

enum {
	VERSION = 1,			/* of the tables */
	PAGE = 4096,
	BUSY_MS = 2000,
	FULL_DISK_TRIES = 4,		/* windows' room that is made there */
	PATH_SIZE = 4096,
};

enum statement {
	INSERT_WINDOW, INSERT_PART, DELETE_WINDOW, SELECT_WINDOWS,
	SELECT_PARTS, SELECT_HEADS, OLDEST, STATEMENTS,
};

static const char *const texts[STATEMENTS] = {
	[INSERT_WINDOW] = "INSERT INTO windows(level, begin, end, wall) "
			  "VALUES(?, ?, ?, ?)",
	[INSERT_PART] = "INSERT INTO parts(window, kind, build_id, object, "
			"units, totals, bytes) VALUES(?, ?, ?, ?, ?, ?, ?)",
	[DELETE_WINDOW] = "DELETE FROM windows WHERE id = ?",
	[SELECT_WINDOWS] = "SELECT id, level, begin, end, wall FROM windows "
			   "WHERE end > ?1 AND begin < ?2 "
			   "AND (begin, id) > (?3, ?4) "
			   "ORDER BY begin, id LIMIT ?5",
	[SELECT_PARTS] = "SELECT kind, build_id, object, units, totals, bytes "
			 "FROM parts WHERE window = ?1 AND "
			 "(?2 < 0 OR kind = ?2 OR kind = ?3)",
	[SELECT_HEADS] = "SELECT kind, build_id, object, units, totals, "
			 "length(bytes) FROM parts WHERE window = ?",
	[OLDEST] = "SELECT id, (SELECT ifnull(sum(length(bytes)), 0) "
		   "FROM parts WHERE window = windows.id) "
		   "FROM windows ORDER BY begin LIMIT 1",
};

static const char schema[] =
"CREATE TABLE boots(boot_id TEXT PRIMARY KEY, offset INTEGER NOT NULL);"
"CREATE TABLE windows(id INTEGER PRIMARY KEY, level INTEGER NOT NULL,"
" begin INTEGER NOT NULL, end INTEGER NOT NULL, wall INTEGER NOT NULL);"
"CREATE INDEX windows_by_begin ON windows(begin);"
"CREATE TABLE parts(id INTEGER PRIMARY KEY, window INTEGER NOT NULL"
" REFERENCES windows(id) ON DELETE CASCADE, kind INTEGER NOT NULL,"
" build_id TEXT NOT NULL, object TEXT NOT NULL, units INTEGER NOT NULL,"
" totals BLOB, bytes BLOB NOT NULL);"
"CREATE INDEX parts_by_window ON parts(window);"
"PRAGMA user_version = 1;";

struct store {
	sqlite3 *db;
	sqlite3_stmt *statements[STATEMENTS];
	char path[PATH_SIZE];
	uint64_t mib;
	int64_t offset;			/* store's clock - CLOCK_BOOTTIME */
	uint64_t evicted, failures;
	char message[PATH_SIZE + 512];
};

const char *store_error(const struct store *store)
{
	return store ? store->message : "out of memory";
}

static int from_sqlite(int result)
{
	switch (result & 0xff) {
	case SQLITE_OK:
	case SQLITE_DONE:
	case SQLITE_ROW:
		return 0;
	case SQLITE_NOMEM:
		return -ENOMEM;
	case SQLITE_FULL:
		return -ENOSPC;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return -EBADMSG;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return -EBUSY;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CANTOPEN:
		return -EACCES;
	}
	return -EIO;
}

/* Notes why @result, of SQLite, is none that was wanted. */
static int fail(struct store *store, int result)
{
	int error = from_sqlite(result);

	if (error)
		snprintf(store->message, sizeof(store->message), "%s: %s",
			 store->path,
			 store->db ? sqlite3_errmsg(store->db) :
				     sqlite3_errstr(result));
	return error;
}

static int run(struct store *store, const char *text)
{
	return fail(store, sqlite3_exec(store->db, text, NULL, NULL, NULL));
}

/* Runs a query of one number or text. */
static int query(struct store *store, const char *text, int64_t *number,
		 char *word, size_t size)
{
	sqlite3_stmt *statement;
	int result = sqlite3_prepare_v2(store->db, text, -1, &statement, NULL);

	if (result == SQLITE_OK)
		result = sqlite3_step(statement);
	if (result == SQLITE_ROW && number)
		*number = sqlite3_column_int64(statement, 0);
	if (result == SQLITE_ROW && word)
		snprintf(word, size, "%s",
			 (const char *)sqlite3_column_text(statement, 0));
	sqlite3_finalize(statement);
	return fail(store, result);
}

/* --- opening -------------------------------------------------------------- */

static int64_t boot_seconds(void)
{
	return wire_now() / 1000000000;
}

static void read_boot_id(char id[64])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	strcpy(id, "unknown");
	if (!file)
		return;
	if (fgets(id, 64, file))
		id[strcspn(id, "\n")] = 0;
	fclose(file);
}

/* Finds the clock's offset in this boot, or chooses it. */
static int start_clock(struct store *store)
{
	int64_t newest = 0, offset = INT64_MIN;
	char id[64], text[256];
	int error;

	read_boot_id(id);
	snprintf(text, sizeof(text),
		 "SELECT offset FROM boots WHERE boot_id = '%.40s'", id);
	error = query(store, text, &offset, NULL, 0);
	if (error || offset != INT64_MIN) {
		store->offset = offset;
		return error;
	}
	error = query(store, "SELECT ifnull(max(end), 0) FROM windows",
		      &newest, NULL, 0);
	if (error)
		return error;
	store->offset = time(NULL) - boot_seconds();
	if (store->offset + boot_seconds() < newest)
		store->offset = newest - boot_seconds();
	snprintf(text, sizeof(text),
		 "INSERT INTO boots VALUES('%.40s', %lld)", id,
		 (long long)store->offset);
	return run(store, text);
}

int64_t store_now(const struct store *store)
{
	return store->offset + boot_seconds();
}

int store_resize(struct store *store, uint64_t mib)
{
	char text[64];

	store->mib = mib;
	snprintf(text, sizeof(text), "PRAGMA max_page_count = %llu",
		 (unsigned long long)(mib << 20) / PAGE);
	return run(store, text);
}

static int prepare(struct store *store)
{
	int result = SQLITE_OK, i;

	for (i = 0; i < STATEMENTS && result == SQLITE_OK; i++)
		result = sqlite3_prepare_v3(store->db, texts[i], -1,
					    SQLITE_PREPARE_PERSISTENT,
					    &store->statements[i], NULL);
	return fail(store, result);
}

static int make_tables(struct store *store)
{
	int64_t version = 0;
	int error = query(store, "PRAGMA user_version", &version, NULL, 0);

	if (error)
		return error;
	if (!version)
		error = run(store, schema);
	else if (version != VERSION)
		error = -EPROTO;
	if (error == -EPROTO)
		snprintf(store->message, sizeof(store->message),
			 "%s: is of version %lld: this program knows version %d",
			 store->path, (long long)version, VERSION);
	return error;
}

static int check_whole(struct store *store)
{
	char word[64] = "";
	int error = query(store, "PRAGMA quick_check(1)", NULL, word,
			  sizeof(word));

	if (error || !strcmp(word, "ok"))
		return error;
	snprintf(store->message, sizeof(store->message), "%s: is damaged",
		 store->path);
	return -EBADMSG;
}

static int open_database(struct store *store)
{
	int error = fail(store,
			 sqlite3_open_v2(store->path, &store->db,
					 SQLITE_OPEN_READWRITE |
					 SQLITE_OPEN_CREATE |
					 SQLITE_OPEN_NOMUTEX |
					 SQLITE_OPEN_NOFOLLOW, NULL));

	if (error)
		return error;
	sqlite3_busy_timeout(store->db, BUSY_MS);
	error = run(store, "PRAGMA page_size = 4096;"
		    "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"
		    "PRAGMA journal_size_limit = 1048576;"
		    "PRAGMA wal_autocheckpoint = 256;"
		    "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY;"
		    "PRAGMA cache_size = -2048; PRAGMA trusted_schema = OFF;");
	if (!error)
		error = check_whole(store);
	if (!error)
		error = make_tables(store);
	if (!error)
		error = store_resize(store, store->mib);
	if (!error)
		error = prepare(store);
	return error ? error : start_clock(store);
}

static void close_database(struct store *store)
{
	int i;

	for (i = 0; i < STATEMENTS; i++)
		sqlite3_finalize(store->statements[i]);
	memset(store->statements, 0, sizeof(store->statements));
	sqlite3_close(store->db);
	store->db = NULL;
}

/* Renames the damaged file; what belongs to it is of no use without it. */
static int put_aside(struct store *store)
{
	char name[PATH_SIZE + 16];

	close_database(store);
	snprintf(name, sizeof(name), "%s.damaged", store->path);
	if (rename(store->path, name))
		return -errno;
	snprintf(name, sizeof(name), "%s-wal", store->path);
	remove(name);
	snprintf(name, sizeof(name), "%s-shm", store->path);
	remove(name);
	return 0;
}

int store_open(struct store **result, const char *path, uint64_t mib)
{
	struct store *store = calloc(1, sizeof(*store));
	int error;

	*result = store;
	if (!store)
		return -ENOMEM;
	store->mib = mib;
	if ((size_t)snprintf(store->path, sizeof(store->path),
			     "%s/hwprofd.db", path) >= sizeof(store->path)) {
		snprintf(store->message, sizeof(store->message),
			 "the path of the store is too long");
		return -ENAMETOOLONG;
	}
	error = open_database(store);
	if (error == -EBADMSG && !put_aside(store))
		error = open_database(store);
	return error;
}

void store_close(struct store *store)
{
	if (!store)
		return;
	close_database(store);
	free(store);
}

/* --- writing -------------------------------------------------------------- */

/* Runs a prepared statement to its end. */
static int finish(struct store *store, sqlite3_stmt *statement)
{
	int result = sqlite3_step(statement);
	int error = fail(store, result);

	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	return error;
}

static int delete_window(struct store *store, int64_t id)
{
	sqlite3_stmt *statement = store->statements[DELETE_WINDOW];

	sqlite3_bind_int64(statement, 1, id);
	return finish(store, statement);
}

static int insert_part(struct store *store, int64_t window,
		       const struct part *part)
{
	sqlite3_stmt *statement = store->statements[INSERT_PART];
	const struct part_head *head = &part->head;

	sqlite3_bind_int64(statement, 1, window);
	sqlite3_bind_int(statement, 2, head->kind);
	sqlite3_bind_text(statement, 3, head->build_id, -1, SQLITE_STATIC);
	sqlite3_bind_text(statement, 4, head->object, -1, SQLITE_STATIC);
	sqlite3_bind_int64(statement, 5, head->units);
	if (head->kind == PART_ACCOUNT)
		sqlite3_bind_blob(statement, 6, &head->totals,
				  sizeof(head->totals), SQLITE_STATIC);
	sqlite3_bind_blob(statement, 7, part->bytes, head->size,
			  SQLITE_STATIC);
	return finish(store, statement);
}

static int insert_window(struct store *store, struct window *window,
			 const struct parts *parts)
{
	sqlite3_stmt *statement = store->statements[INSERT_WINDOW];
	int error;
	size_t i;

	sqlite3_bind_int(statement, 1, window->level);
	sqlite3_bind_int64(statement, 2, window->begin);
	sqlite3_bind_int64(statement, 3, window->end);
	sqlite3_bind_int64(statement, 4, window->wall);
	error = finish(store, statement);
	window->id = sqlite3_last_insert_rowid(store->db);
	for (i = 0; i < parts->count && !error; i++)
		error = insert_part(store, window->id, &parts->all[i]);
	return error;
}

/* Windows that make room for another. */
struct eviction {
	uint64_t room;			/* bytes that are wanted */
	uint64_t freed, windows;	/* what there was so far */
	bool all;			/* none is left */
};

static int evict_oldest(struct store *store, struct eviction *eviction)
{
	sqlite3_stmt *statement = store->statements[OLDEST];
	int result = sqlite3_step(statement), error;
	int64_t id = sqlite3_column_int64(statement, 0);
	int64_t bytes = sqlite3_column_int64(statement, 1);

	sqlite3_reset(statement);
	if (result == SQLITE_DONE)
		eviction->all = true;
	if (result != SQLITE_ROW)
		return fail(store, result);
	error = delete_window(store, id);
	eviction->freed += bytes;
	eviction->windows += !error;
	return error;
}

/* Changes the store within a transaction. */
static int change(struct store *store, struct window *window,
		  const struct parts *parts, const int64_t *merged,
		  size_t count, struct eviction *eviction)
{
	int error = 0;
	size_t i;

	for (i = 0; i < count && !error; i++)
		error = delete_window(store, merged[i]);
	while (!error && !eviction->all && eviction->freed < eviction->room)
		error = evict_oldest(store, eviction);
	return error ? error : insert_window(store, window, parts);
}

/* All or nothing. */
static int replace(struct store *store, struct window *window,
		   const struct parts *parts, const int64_t *merged,
		   size_t count, struct eviction *eviction)
{
	int error = run(store, "BEGIN IMMEDIATE");

	if (error)
		return error;
	error = change(store, window, parts, merged, count, eviction);
	if (!error)
		error = run(store, "COMMIT");
	if (error && !sqlite3_get_autocommit(store->db))
		sqlite3_exec(store->db, "ROLLBACK", NULL, NULL, NULL);
	return error;
}

/* Returns true if the store's own bound leaves no room for so many bytes. */
static bool is_at_bound(struct store *store, uint64_t bytes)
{
	int64_t pages = 0, unused = 0;

	query(store, "PRAGMA page_count", &pages, NULL, 0);
	query(store, "PRAGMA freelist_count", &unused, NULL, 0);
	return (pages - unused) * PAGE + bytes > store->mib << 20;
}

/*
 * Tries with more and more of the oldest windows gone. They come back if that
 * does not help, which is so on a disk that others have filled. There it is not
 * tried for long.
 */
static int write_window(struct store *store, struct window *window,
			const struct parts *parts, const int64_t *merged,
			size_t count)
{
	uint64_t least = parts->bytes + (parts->count + 1) * PAGE, room = 0;
	uint64_t most = is_at_bound(store, 2 * least) ?
			2 * (store->mib << 20) : FULL_DISK_TRIES * least;
	struct eviction eviction;
	int error;

	do {
		eviction = (struct eviction){ .room = room };
		error = replace(store, window, parts, merged, count, &eviction);
		room = room ? 2 * room : least;
	} while (error == -ENOSPC && !eviction.all &&
		 room <= most);
	if (!error)
		store->evicted += eviction.windows;
	return error;
}

int store_write(struct store *store, struct window *window,
		const struct parts *parts, const int64_t *merged, size_t count)
{
	int error = -ENOSPC;

	/* A window that leaves no room for others is no reason to drop them. */
	if (parts_bytes(parts) > store->mib << 19)
		snprintf(store->message, sizeof(store->message),
			 "%s: a window of %zu bytes has no room in %llu MiB",
			 store->path, parts_bytes(parts),
			 (unsigned long long)store->mib);
	else
		error = write_window(store, window, parts, merged, count);
	if (error)
		store->failures++;
	return error;
}

/* --- reading -------------------------------------------------------------- */

int store_windows_from(struct store *store, struct store_place *place,
		       int64_t from, int64_t to, int most, store_window_fn fn,
		       void *context)
{
	sqlite3_stmt *statement = store->statements[SELECT_WINDOWS];
	int result, error = 0;

	sqlite3_bind_int64(statement, 1, from);
	sqlite3_bind_int64(statement, 2, to);
	sqlite3_bind_int64(statement, 3, place->begin);
	sqlite3_bind_int64(statement, 4, place->id);
	sqlite3_bind_int64(statement, 5, most);
	while (!error && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		const struct window window = {
			.id = sqlite3_column_int64(statement, 0),
			.level = sqlite3_column_int(statement, 1),
			.begin = sqlite3_column_int64(statement, 2),
			.end = sqlite3_column_int64(statement, 3),
			.wall = sqlite3_column_int64(statement, 4),
		};

		place->begin = window.begin;
		place->id = window.id;
		place->count++;
		error = fn(context, &window);
	}
	if (!error)
		error = fail(store, result);
	sqlite3_reset(statement);
	return error;
}

int store_windows(struct store *store, int64_t from, int64_t to,
		  store_window_fn fn, void *context)
{
	struct store_place place = STORE_BEGIN;

	return store_windows_from(store, &place, from, to, -1, fn, context);
}

/* Reads the columns that both statements have. */
static void read_head(sqlite3_stmt *statement, struct part_head *head)
{
	const void *totals = sqlite3_column_blob(statement, 4);
	size_t size = sqlite3_column_bytes(statement, 4);

	*head = (struct part_head){
		.kind = sqlite3_column_int(statement, 0),
		.units = sqlite3_column_int64(statement, 3),
	};
	snprintf(head->build_id, sizeof(head->build_id), "%s",
		 (const char *)sqlite3_column_text(statement, 1));
	snprintf(head->object, sizeof(head->object), "%s",
		 (const char *)sqlite3_column_text(statement, 2));
	/* Older programs had fewer of them. */
	if (totals && size <= sizeof(head->totals))
		memcpy(&head->totals, totals, size);
}

static int take_part(sqlite3_stmt *statement, int kind, const char *build_id,
		     struct parts *parts)
{
	struct part_head head;
	const void *bytes;
	void *copy;

	read_head(statement, &head);
	if (!part_is_wanted(&head, kind, build_id))
		return 0;
	bytes = sqlite3_column_blob(statement, 5);
	head.size = sqlite3_column_bytes(statement, 5);
	if (!part_head_is_valid(&head))
		return 0;
	copy = malloc(head.size);
	if (!copy)
		return -ENOMEM;
	memcpy(copy, bytes, head.size);
	return parts_add(parts, &head, copy);
}

int store_parts(struct store *store, int64_t id, int kind,
		const char *build_id, struct parts *parts)
{
	sqlite3_stmt *statement = store->statements[SELECT_PARTS];
	int result, error = 0;

	sqlite3_bind_int64(statement, 1, id);
	sqlite3_bind_int(statement, 2, kind);
	sqlite3_bind_int(statement, 3, PART_ACCOUNT);
	while (!error && (result = sqlite3_step(statement)) == SQLITE_ROW)
		error = take_part(statement, kind, build_id, parts);
	if (!error)
		error = fail(store, result);
	sqlite3_reset(statement);
	return error;
}

int store_heads(struct store *store, const struct window *window,
		store_head_fn fn, void *context)
{
	sqlite3_stmt *statement = store->statements[SELECT_HEADS];
	int result, error = 0;

	sqlite3_bind_int64(statement, 1, window->id);
	while (!error && (result = sqlite3_step(statement)) == SQLITE_ROW) {
		struct part_head head;

		read_head(statement, &head);
		head.size = sqlite3_column_int64(statement, 5);
		error = fn(context, window, &head);
	}
	if (!error)
		error = fail(store, result);
	sqlite3_reset(statement);
	return error;
}

void store_count(struct store *store, struct store_counts *counts)
{
	int64_t windows = 0, pages = 0, unused = 0;

	query(store, "SELECT count(*) FROM windows", &windows, NULL, 0);
	query(store, "PRAGMA page_count", &pages, NULL, 0);
	query(store, "PRAGMA freelist_count", &unused, NULL, 0);
	*counts = (struct store_counts){
		.windows = windows, .bytes = (pages - unused) * PAGE,
		.evicted = store->evicted, .failures = store->failures,
	};
}

int64_t store_level_seconds(enum store_level level)
{
	static const int64_t seconds[STORE_LEVELS] = {
		[STORE_MINUTE] = 60, [STORE_TEN_MINUTES] = 600,
		[STORE_HOUR] = 3600,
	};

	return seconds[level];
}
