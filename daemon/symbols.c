// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

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
	COPY_SECONDS = 30,
	AGAIN_SECONDS = 60,		/* after the first failure; then more */
	AGAIN_MOST = 3600,
	PATH_SIZE = 4096,
};

/* A file that is wanted. */
struct wanted {
	char build_id[ID_SIZE];
	char object[PART_OBJECT];
};

/* A build that was seen; the key is its id. */
struct build {
	char build_id[ID_SIZE];
	uint64_t size;			/* of the file that is kept; 0: none */
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

/* A worker's: copies the file, if it is of that build. */
static enum answer copy_file(const void *context, int out)
{
	const struct rlimit most = { FILE_MAX, FILE_MAX };
	const struct wanted *wanted = context;
	uint64_t size;
	int fd = open_wanted(wanted, &size);

	if (fd < 0 || !is_wanted(wanted, fd))
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
 * the disk.
 */
static int write_file(const struct symbols *symbols, const char *id, int from,
		      uint64_t size)
{
	char path[PATH_SIZE], partial[PATH_SIZE + 16];
	int error = make_folders(symbols, id), fd;

	if (error)
		return error;
	path_of(symbols, id, path);
	snprintf(partial, sizeof(partial), "%s" PARTIAL, path);
	fd = open(partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC |
			   O_NOFOLLOW, 0640);
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

static void keep(struct symbols *symbols, struct build *build)
{
	off_t size = lseek(symbols->worker.out, 0, SEEK_END);
	int error;

	if (build->size || size <= 0 || size > FILE_MAX ||
	    !make_room(symbols, size))
		return;
	error = write_file(symbols, build->build_id, symbols->worker.out, size);
	if (error) {
		note_failure(symbols, build, strerror(-error));
		return;
	}
	symbols->failed = false;
	build->size = size;
	build->since = time(NULL);
	symbols->counts.builds++;
	symbols->counts.bytes += size;
}

/* A worker has looked at the file. */
static void finish_copy(struct symbols *symbols, enum answer answer)
{
	bool is_new;
	struct build *build = build_of(symbols, symbols->waiting[0].build_id,
				       &is_new);

	if (!build)
		return;
	build->again = 0;
	if (answer == ANSWER_OK)
		keep(symbols, build);
	else if (answer == ANSWER_FAILED)
		note_failure(symbols, build, "a file cannot be read whole");
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

	if (worker_ended(&symbols->worker, &answer)) {
		finish_copy(symbols, answer);
		close(symbols->worker.out);
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

/* Returns true if the build was never looked at, or is to be once more. */
static bool is_due(struct symbols *symbols, const char *id)
{
	bool is_new = false;
	struct build *build = build_of(symbols, id, &is_new);

	if (!build)
		return false;
	if (!is_new && (!build->again || time(NULL) < build->again))
		return false;
	build->again = 0;
	return true;
}

static void note_part(struct symbols *symbols, const struct part_head *head)
{
	struct wanted *wanted = &symbols->waiting[symbols->waiting_count];

	if (strlen(head->build_id) < 4 || *head->object != '/' ||
	    symbols->waiting_count == WAITING_MAX ||
	    !is_due(symbols, head->build_id))
		return;
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
