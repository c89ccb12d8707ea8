// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/tree.h"
#include "code/objects.h"
#include "log.h"
#include "symbols.h"
#include "worker.h"

#define SUFFIX	".debug"
#define PARTIAL	".partial"

enum {
	ID_SIZE = sizeof(((struct part_head *)NULL)->build_id),
	WAITING_MAX = 256,
	SEEN_MAX = 16384,		/* builds that are remembered */
	FILE_MAX = 64 << 20,		/* bytes; larger ones are not kept */
	NAMES_MAX = 16,			/* of one build */
	COPY_SECONDS = 30,
	AGAIN_SECONDS = 60,		/* after the first failure; then more */
	AGAIN_MOST = 3600,
	PATH_SIZE = 4096,
};

/* A file that is wanted. */
struct wanted {
	char build_id[ID_SIZE];
	char object[PART_OBJECT];
	bool users;			/* it may be a user's */
};

/* A build that was seen; the key is its id. */
struct build {
	char build_id[ID_SIZE];
	uint64_t size;			/* of the file that is kept; 0: none */
	bool root;			/* it was root's */
	bool unread;			/* a file could not be looked at */
	bool disputed;			/* users' files are not kept */
	uint64_t names[NAMES_MAX];	/* hashes of names that were noted */
	unsigned int name_count;
	int64_t since;			/* when it was copied */
	unsigned int failures;		/* that need not happen again */
	int64_t again;			/* when it is tried again; 0: never */
};

struct symbols {
	const struct config *config;
	char folder[PATH_SIZE];
	void *builds;			/* a tree */
	size_t seen;
	struct wanted waiting[WAITING_MAX];
	size_t waiting_count;
	struct worker worker;		/* copies waiting[0] */
	bool failed;			/* it was said that nothing is kept */
	uint64_t secret;		/* of hashes */
	struct symbols_counts counts;
};

static int compare_builds(const void *a, const void *b)
{
	const struct build *x = a, *y = b;

	return strcmp(x->build_id, y->build_id);
}

/* Returns NULL if out of memory. */
static struct build *build_of(struct symbols *symbols, const char *id,
			      bool *is_new)
{
	struct build key = { .size = 0 }, *build;

	snprintf(key.build_id, sizeof(key.build_id), "%s", id);
	build = tree_get(&symbols->builds, &key, sizeof(key), compare_builds,
			 is_new);
	if (build && *is_new)
		symbols->seen++;
	return build;
}

const char *symbols_folder(const struct symbols *symbols)
{
	return symbols->folder;
}

static void path_of(const struct symbols *symbols, const char *id,
		    char path[PATH_SIZE])
{
	snprintf(path, PATH_SIZE, "%.3900s/.build-id/%.2s/%.46s" SUFFIX,
		 symbols->folder, id, id + 2);
}

/* --- what is there -------------------------------------------------------- */

static bool ends_with(const char *name, const char *end)
{
	size_t length = strlen(name), size = strlen(end);

	return length > size && !strcmp(name + length - size, end);
}

/* Notes a file. One that a crash has cut, or left empty, is removed. */
static void note_file(struct symbols *symbols, const char *prefix,
		      const char *name)
{
	char id[ID_SIZE], path[PATH_SIZE];
	struct stat status;
	struct build *build;
	bool is_new;
	int digits;

	snprintf(path, sizeof(path), "%.3900s/.build-id/%.2s/%.160s",
		 symbols->folder, prefix, name);
	if (lstat(path, &status) || !S_ISREG(status.st_mode))
		return;
	if (ends_with(name, PARTIAL) ||
	    (ends_with(name, SUFFIX) && !status.st_size)) {
		unlink(path);
		return;
	}
	digits = strlen(name) - strlen(SUFFIX);
	if (!ends_with(name, SUFFIX) || digits + 2 >= ID_SIZE)
		return;
	snprintf(id, sizeof(id), "%.2s%.*s", prefix, digits, name);
	build = build_of(symbols, id, &is_new);
	if (!build || !is_new)
		return;
	build->size = status.st_size;
	build->root = !(status.st_mode & S_IWUSR);
	build->since = status.st_mtime;
	symbols->counts.builds++;
	symbols->counts.bytes += build->size;
}

/* Calls @fn for the names in a folder that do not begin with a dot. */
static void each_name(struct symbols *symbols, const char *path,
		      const char *prefix,
		      void (*fn)(struct symbols *symbols, const char *prefix,
				 const char *name))
{
	struct dirent *entry;
	DIR *folder = opendir(path);

	while (folder && (entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			fn(symbols, prefix, entry->d_name);
	if (folder)
		closedir(folder);
}

static void note_prefix(struct symbols *symbols, const char *parent,
			const char *name)
{
	char path[PATH_SIZE];

	(void)parent;
	snprintf(path, sizeof(path), "%.3900s/.build-id/%.64s",
		 symbols->folder, name);
	if (strlen(name) == 2)
		each_name(symbols, path, name, note_file);
}

/* --- room ----------------------------------------------------------------- */

static void remove_build(struct symbols *symbols, struct build *build)
{
	char path[PATH_SIZE];

	path_of(symbols, build->build_id, path);
	unlink(path);
	symbols->counts.builds--;
	symbols->counts.bytes -= build->size;
	build->size = 0;
}

static struct build *oldest(struct symbols *symbols)
{
	size_t count = 0, i;
	struct build **all = (struct build **)tree_list(symbols->builds,
							&count);
	struct build *found = NULL;

	for (i = 0; all && i < count; i++)
		if (all[i]->size && (!found || all[i]->since < found->since))
			found = all[i];
	free(all);
	return found;
}

/* Returns false if there can be no room for so many bytes. */
static bool make_room(struct symbols *symbols, uint64_t size)
{
	uint64_t most = symbols->config->symbols_mib << 20;

	if (size > most)
		return false;
	while (symbols->counts.bytes + size > most) {
		struct build *build = oldest(symbols);

		if (!build)
			return false;
		remove_build(symbols, build);
		symbols->counts.evicted++;
	}
	return true;
}

/* --- copying -------------------------------------------------------------- */

/* Opens the file, and sets *@size to the bytes that it has. */
static int open_wanted(const struct wanted *wanted, uint64_t *size)
{
	int fd = open(wanted->object, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
				      O_NOCTTY);
	struct stat status;

	if (fd >= 0 && (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
			status.st_size > FILE_MAX)) {
		close(fd);
		fd = -1;
	}
	*size = fd < 0 ? 0 : status.st_size;
	return fd;
}

static bool is_wanted(const struct wanted *wanted, int fd)
{
	char text[BUILD_ID_TEXT];
	struct build_id id;

	if (!object_build_id_of(fd, &id))
		return false;
	build_id_print(&id, text);
	return !strcmp(text, wanted->build_id);
}

/* Copies a file of @size bytes. One that has more or fewer is no copy. */
static int copy_all(int to, int from, uint64_t size)
{
	off_t at = 0;
	ssize_t done;

	/* One byte more shows that the file has grown. */
	do {
		done = sendfile(to, from, &at, size + 1 - at);
	} while (done > 0 && (uint64_t)at <= size);
	if (done < 0)
		return -errno;
	return (uint64_t)at == size ? 0 : -ESTALE;
}

/*
 * A worker's: copies the file, if it is of that build. Files of users are asked
 * for separately: one that takes its reader over could say that it is root's.
 */
static enum answer copy_file(const void *context, int out)
{
	const struct rlimit most = { FILE_MAX, FILE_MAX };
	const struct wanted *wanted = context;
	uint64_t size;
	int fd = open_wanted(wanted, &size);

	if (fd < 0 || (!wanted->users && !object_is_roots(fd)) ||
	    !is_wanted(wanted, fd))
		return ANSWER_NOTHING;
	if (setrlimit(RLIMIT_FSIZE, &most))
		return ANSWER_FAILED;
	return copy_all(out, fd, size) ? ANSWER_FAILED : ANSWER_OK;
}

static int make_folders(const struct symbols *symbols, const char *id)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%.3900s", symbols->folder);
	if (mkdir(path, 0750) && errno != EEXIST)
		return -errno;
	strcat(path, "/.build-id");
	if (mkdir(path, 0750) && errno != EEXIST)
		return -errno;
	snprintf(path + strlen(path), 8, "/%.2s", id);
	return mkdir(path, 0750) && errno != EEXIST ? -errno : 0;
}

/*
 * Copies so many bytes. The file has another name until it is whole, also on
 * the disk. A copy of root's file is read-only.
 */
static int write_file(const struct symbols *symbols, const char *id, int from,
		      uint64_t size, bool root)
{
	char path[PATH_SIZE], partial[PATH_SIZE + 16];
	int error = make_folders(symbols, id), fd;

	if (error)
		return error;
	path_of(symbols, id, path);
	snprintf(partial, sizeof(partial), "%s" PARTIAL, path);
	unlink(partial);
	fd = open(partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		  root ? 0440 : 0640);
	if (fd < 0)
		return -errno;
	error = copy_all(fd, from, size);
	if (!error && fsync(fd))
		error = -errno;
	if (close(fd) && !error)
		error = -errno;
	if (!error && rename(partial, path))
		error = -errno;
	if (error)
		unlink(partial);
	return error;
}

/* The build waits for another try, longer after each failure. */
static void try_again(struct build *build)
{
	int64_t wait = AGAIN_SECONDS;

	if (build->failures < 6)
		wait <<= build->failures++;
	else
		wait = AGAIN_MOST;
	build->again = time(NULL) + wait;
}

static void note_failure(struct symbols *symbols, struct build *build,
			 const char *why)
{
	symbols->counts.failures++;
	if (!symbols->failed)
		log_warning("symbols are not kept in %s: %s", symbols->folder,
			    why);
	symbols->failed = true;
	try_again(build);
}

/* --- which file is kept --------------------------------------------------- */

/* Returns true if the kept file has the same bytes as the first ones of @fd. */
static bool is_same(const struct symbols *symbols, const struct build *build,
		    int fd, uint64_t size)
{
	char path[PATH_SIZE];
	void *kept = MAP_FAILED, *other = MAP_FAILED;
	int file;
	bool same;

	path_of(symbols, build->build_id, path);
	file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (file >= 0 && build->size == size) {
		kept = mmap(NULL, size, PROT_READ, MAP_PRIVATE, file, 0);
		other = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
	}
	same = kept != MAP_FAILED && other != MAP_FAILED &&
	       !memcmp(kept, other, size);
	if (kept != MAP_FAILED)
		munmap(kept, size);
	if (other != MAP_FAILED)
		munmap(other, size);
	if (file >= 0)
		close(file);
	return same;
}

/* Nobody knows which user's file is the true one, so none is kept. */
static void dispute(struct symbols *symbols, struct build *build)
{
	if (build->size)
		remove_build(symbols, build);
	if (!symbols->counts.disputed)
		log_warning("files of users claim build id %s, and nobody knows which is right: none is kept",
			    build->build_id);
	symbols->counts.disputed += !build->disputed;
	build->disputed = true;
}

/*
 * A file of root's takes the place of a user's. Returns false if the new one,
 * of @size bytes, is not to be kept.
 */
static bool is_better(struct symbols *symbols, struct build *build,
		      uint64_t size, bool root)
{
	if (build->size && build->root)
		return false;
	if (root)
		return true;
	if (build->disputed || build->unread ||
	    (build->size &&
	     !is_same(symbols, build, symbols->worker.out, size))) {
		dispute(symbols, build);
		return false;
	}
	return !build->size;
}

/*
 * A file that cannot be looked at may be the true one. Names of files that are
 * gone tell nothing new.
 */
static void note_unread(struct symbols *symbols, struct build *build,
			const char *name)
{
	if (ends_with(name, " (deleted)"))
		return;
	build->unread = true;
	if (build->size && !build->root)
		dispute(symbols, build);
}

static void keep(struct symbols *symbols, struct build *build, bool root)
{
	off_t size = lseek(symbols->worker.out, 0, SEEK_END);
	int error;

	if (size <= 0 || size > FILE_MAX ||
	    !is_better(symbols, build, size, root))
		return;
	if (build->size)
		remove_build(symbols, build);
	if (!make_room(symbols, size))
		return;
	error = write_file(symbols, build->build_id, symbols->worker.out, size,
			   root);
	if (error) {
		note_failure(symbols, build, strerror(-error));
		return;
	}
	symbols->failed = false;
	build->size = size;
	build->root = root;
	build->since = time(NULL);
	symbols->counts.builds++;
	symbols->counts.bytes += size;
}

/* A worker has looked at the file. Returns true if it is to look again. */
static bool finish_copy(struct symbols *symbols, enum answer answer)
{
	struct wanted *wanted = &symbols->waiting[0];
	bool is_new, root = !wanted->users;
	struct build *build = build_of(symbols, wanted->build_id, &is_new);

	if (!build)
		return false;
	build->again = 0;
	if (answer == ANSWER_OK) {
		keep(symbols, build, root);
	} else if (answer == ANSWER_NOTHING && root) {
		wanted->users = !build->disputed;
	} else if (answer == ANSWER_NOTHING) {
		note_unread(symbols, build, wanted->object);
	} else if (answer == ANSWER_FAILED) {
		note_failure(symbols, build, "a file cannot be read whole");
	}
	return root && wanted->users;
}

static void pop(struct symbols *symbols)
{
	symbols->waiting_count--;
	memmove(symbols->waiting, symbols->waiting + 1,
		symbols->waiting_count * sizeof(symbols->waiting[0]));
}

bool symbols_run(struct symbols *symbols)
{
	enum answer answer;
	bool again;

	if (worker_ended(&symbols->worker, &answer)) {
		again = finish_copy(symbols, answer);
		close(symbols->worker.out);
		if (!again)
			pop(symbols);
	}
	/* If none can be started, it is tried again. */
	if (!symbols->worker.pid && symbols->waiting_count)
		worker_start(&symbols->worker, copy_file, &symbols->waiting[0],
			     WORKER_READS_FILES, -1, COPY_SECONDS);
	return symbols->worker.pid;
}

/* --- from begin to end ---------------------------------------------------- */

/* Builds that are not kept are looked for again. */
static void forget_seen(struct symbols *symbols)
{
	tdestroy(symbols->builds, free);
	symbols->builds = NULL;
	symbols->seen = 0;
	symbols->counts.builds = symbols->counts.bytes = 0;
}

static void scan(struct symbols *symbols)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), "%.3900s/.build-id", symbols->folder);
	each_name(symbols, path, "", note_prefix);
}

static uint64_t hash_name(const struct symbols *symbols, const char *name)
{
	uint64_t hash = symbols->secret;

	while (*name)
		hash = hash_mix(hash, (unsigned char)*name++);
	return hash;
}

/*
 * Notes a name of a build. Returns false if it was noted before. A build with
 * so many names is no user's, since their files cannot all be compared; root's
 * is still looked for.
 */
static bool note_name(struct symbols *symbols, struct build *build,
		      const char *name)
{
	uint64_t hash = hash_name(symbols, name);
	unsigned int i;

	for (i = 0; i < build->name_count && i < NAMES_MAX; i++)
		if (build->names[i] == hash)
			return false;
	build->names[build->name_count % NAMES_MAX] = hash;
	if (++build->name_count > NAMES_MAX)
		dispute(symbols, build);
	return true;
}

/*
 * Returns true if the build was never looked at under this name, or is to be
 * once more. If root's file is kept, no other can be better.
 */
static bool is_due(struct symbols *symbols, const struct part_head *head)
{
	bool is_new = false;
	struct build *build = build_of(symbols, head->build_id, &is_new);

	if (!build || (build->size && build->root))
		return false;
	if (!note_name(symbols, build, head->object) &&
	    (!build->again || time(NULL) < build->again))
		return false;
	build->again = 0;
	return true;
}

static void note_part(struct symbols *symbols, const struct part_head *head)
{
	struct wanted *wanted = &symbols->waiting[symbols->waiting_count];

	if (strlen(head->build_id) < 4 || *head->object != '/' ||
	    symbols->waiting_count == WAITING_MAX ||
	    !is_due(symbols, head))
		return;
	wanted->users = false;
	strcpy(wanted->build_id, head->build_id);
	strcpy(wanted->object, head->object);
	symbols->waiting_count++;
}

void symbols_note(struct symbols *symbols, const struct parts *parts)
{
	size_t i;

	if (!symbols->config->symbols_mib)
		return;
	if (symbols->seen > SEEN_MAX && !symbols->waiting_count) {
		forget_seen(symbols);
		scan(symbols);
	}
	for (i = 0; i < parts->count; i++)
		note_part(symbols, &parts->all[i].head);
}

struct symbols *symbols_new(const char *store, const struct config *config)
{
	struct symbols *symbols = calloc(1, sizeof(*symbols));

	if (!symbols)
		return NULL;
	symbols->config = config;
	if (getrandom(&symbols->secret, sizeof(symbols->secret), 0) < 0)
		symbols->secret = time(NULL);
	snprintf(symbols->folder, sizeof(symbols->folder), "%s/symbols", store);
	scan(symbols);
	return symbols;
}

void symbols_free(struct symbols *symbols)
{
	if (!symbols)
		return;
	if (symbols->worker.pid) {
		worker_stop(&symbols->worker);
		close(symbols->worker.out);
	}
	forget_seen(symbols);
	free(symbols);
}

void symbols_count(const struct symbols *symbols,
		   struct symbols_counts *counts)
{
	*counts = symbols->counts;
}
