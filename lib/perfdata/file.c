// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/event_names.h"
#include "base/read_whole.h"
#include "file.h"

enum {
	/* perf writes one event per counter, not per CPU: some dozens */
	EVENTS_MAX = 1 << 16,
	ATTR_SIZE_MAX = 4096,
	IDS_SIZE_MAX = 64 << 20,
	PARTS_MAX = 1 << 16,	/* more threads than any recorder has */
};

const char *hwprof_file_error(const struct hwprof_file *file)
{
	return file ? file->message : "out of memory";
}

const char *hwprof_file_warning(const struct hwprof_file *file, size_t index)
{
	return warnings_get(&file->warnings, index);
}

bool file_read_attr(struct byte_reader bytes, struct perf_event_attr *attr)
{
	size_t size = reader_left(&bytes);

	if (size < PERF_ATTR_SIZE_VER0)
		return false;
	memset(attr, 0, sizeof(*attr));
	memcpy(attr, bytes.at, size < sizeof(*attr) ? size : sizeof(*attr));
	return true;
}

int file_add_event(struct hwprof_file *file, const struct perf_event_attr *attr,
		   struct byte_reader ids)
{
	size_t more = reader_left(&ids) / sizeof(uint64_t);
	struct file_event *events;
	struct file_id *all;

	if (file->event_count == EVENTS_MAX)
		return file_fail(
			file, -EBADMSG,
			"more than %d events: no recorder writes so many",
			EVENTS_MAX);
	events = reallocarray(file->events, file->event_count + 1,
			      sizeof(*events));
	if (!events)
		return file_fail(file, -ENOMEM, "out of memory");
	file->events = events;
	events[file->event_count] = (struct file_event){ .attr = *attr };

	all = reallocarray(file->ids, file->id_count + more + 1, sizeof(*all));
	if (!all)
		return file_fail(file, -ENOMEM, "out of memory");
	file->ids = all;
	while (more--) {
		struct file_id *id = &file->ids[file->id_count++];

		id->event = file->event_count;
		reader_u64(&ids, &id->id);
	}
	file->event_count++;
	file->ids_sorted = false;
	return 0;
}

static int compare_ids(const void *a, const void *b)
{
	uint64_t x = ((const struct file_id *)a)->id;
	uint64_t y = ((const struct file_id *)b)->id;

	return (x > y) - (x < y);
}

const struct file_event *file_event_of(struct hwprof_file *file, uint64_t id)
{
	struct file_id key = { .id = id };
	const struct file_id *found;

	if (file->event_count == 1)
		return file->events;
	if (!file->id_count)
		return NULL;
	if (!file->ids_sorted) {
		qsort(file->ids, file->id_count, sizeof(*file->ids),
		      compare_ids);
		file->ids_sorted = true;
	}
	found = bsearch(&key, file->ids, file->id_count, sizeof(*file->ids),
			compare_ids);
	return found ? &file->events[found->event] : NULL;
}

const char *file_event_name(const struct file_event *event,
			    char text[EVENT_TEXT])
{
	const struct perf_event_attr *attr = &event->attr;
	const char *name = event->name;

	if (!name)
		name = event_name(attr->type, attr->config);
	if (name)
		return name;
	if (attr->type == PERF_TYPE_RAW)
		snprintf(text, EVENT_TEXT, "r%" PRIx64, (uint64_t)attr->config);
	else
		snprintf(text, EVENT_TEXT, "type %u, config 0x%" PRIx64,
			 attr->type, (uint64_t)attr->config);
	return text;
}

bool file_event_is_hwprof(const struct hwprof_file *file,
			  const struct file_event *event)
{
	if (file->pmus_known)
		return file->pmu_found && event->attr.type == file->pmu_type;
	return event->name && !strncmp(event->name, HWPROF_PMU_NAME "/",
				       strlen(HWPROF_PMU_NAME "/"));
}

/* Fails if the file has no @size bytes at @offset. */
static int check_reach(struct hwprof_file *file, uint64_t offset, size_t size,
		       const char *what)
{
	if (offset > INT64_MAX - size)
		return file_damaged(file, offset,
				    "%s is said to be here, beyond any file",
				    what);
	if (ends_before(file->fd, size, offset))
		return file_damaged(file, offset, "the file ends in %s", what);
	return 0;
}

/* Reads exactly @size bytes at @offset. */
static int read_at(struct hwprof_file *file, uint64_t offset, void *to,
		   size_t size, const char *what)
{
	int error = check_reach(file, offset, size, what);

	if (error)
		return error;
	error = read_whole(file->fd, to, size, offset);
	return error ? file_fail(file, error, "cannot read: %s",
				 strerror(-error)) : 0;
}

/* Reads an attr of the header's table, and the ids that it points to. */
static int read_attr(struct hwprof_file *file, uint64_t offset,
		     uint8_t *entry, size_t size)
{
	struct perfdata_section section;
	struct perf_event_attr attr;
	struct byte_reader bytes;
	uint8_t *ids;
	int error;

	error = read_at(file, offset, entry, size, "the table of events");
	if (error)
		return error;
	bytes = reader_of(entry, size - sizeof(section));
	memcpy(&section, bytes.end, sizeof(section));
	if (!file_read_attr(bytes, &attr))
		return file_damaged(file, offset,
				    "an event is described in %zu bytes: %d or more are needed",
				    reader_left(&bytes), PERF_ATTR_SIZE_VER0);
	if (section.size > IDS_SIZE_MAX || section.size % sizeof(uint64_t))
		return file_damaged(
			file, offset,
			"the ids of an event take %" PRIu64
			" bytes: a multiple of 8 up to %d is allowed",
			section.size, IDS_SIZE_MAX);
	error = check_reach(file, section.offset, section.size,
			    "the ids of an event");
	if (error)
		return error;
	ids = malloc(section.size + 1);
	if (!ids)
		return file_fail(file, -ENOMEM, "out of memory");
	error = read_at(file, section.offset, ids, section.size,
			"the ids of an event");
	if (!error)
		error = file_add_event(file, &attr,
				       reader_of(ids, section.size));
	free(ids);
	return error;
}

static int read_attrs(struct hwprof_file *file)
{
	const struct perfdata_section *table = &file->header.attrs;
	uint64_t size = file->header.attr_size;
	uint8_t entry[ATTR_SIZE_MAX];
	uint64_t i;

	if (size < PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section) ||
	    size > sizeof(entry))
		return file_damaged(
			file, 16,
			"events are said to be described in %" PRIu64
			" bytes each: %zu to %zu are allowed",
			size,
			PERF_ATTR_SIZE_VER0 + sizeof(struct perfdata_section),
			sizeof(entry));
	if (!table->size || table->size % size ||
	    table->size / size > EVENTS_MAX)
		return file_damaged(file, 24,
				    "the table of events takes %" PRIu64
				    " bytes: a multiple of %" PRIu64
				    " is needed",
				    table->size, size);
	for (i = 0; i < table->size / size; i++) {
		int error = read_attr(file, table->offset + i * size, entry,
				      size);

		if (error)
			return error;
	}
	return 0;
}

/*
 * Reads up to @size bytes of the start of a file or pipe. Returns their number,
 * or a negative errno.
 */
static ssize_t read_start(int fd, void *to, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t got = read(fd, (char *)to + done, size - done);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (!got)
			break;
		done += got;
	}
	return done;
}

static int check_magic(struct hwprof_file *file, ssize_t got)
{
	if (got < 0)
		return file_fail(file, got, "cannot read: %s", strerror(-got));
	if (!got)
		return file_fail(file, -EBADMSG, "is empty, not a recording");
	if (got < PERFDATA_PIPE_HEADER)
		return file_fail(file, -EBADMSG,
				 "is no perf.data file: it has %zd bytes, less than any header",
				 got);
	switch (file->header.magic) {
	case PERFDATA_MAGIC:
		return 0;
	case PERFDATA_MAGIC_SWAPPED:
		return file_fail(file, -ENOTSUP,
				 "was recorded on a machine of the other byte order: read it on one of the same");
	case PERFDATA_MAGIC_OLD:
		return file_fail(file, -ENOTSUP,
				 "has the format of perf before Linux 3.2, which is not supported");
	}
	return file_fail(
		file, -EBADMSG,
		"is no perf.data file: it does not begin with PERFILE2");
}

static int read_header(struct hwprof_file *file)
{
	struct perfdata_header *header = &file->header;
	ssize_t got;
	int error;

	got = read_start(file->fd, header, PERFDATA_PIPE_HEADER);
	error = check_magic(file, got);
	if (error)
		return error;
	file->pipe = header->size == PERFDATA_PIPE_HEADER;
	if (file->pipe)
		return 0;
	if (header->size != sizeof(*header))
		return file_damaged(file, 8,
				    "the header is said to take %" PRIu64
				    " bytes: %d or %zu are allowed",
				    header->size, PERFDATA_PIPE_HEADER,
				    sizeof(*header));
	if (lseek(file->fd, 0, SEEK_CUR) < 0)
		return file_fail(file, -ESPIPE,
				 "a recording of this kind cannot be read from a pipe: give its file, or record to a pipe");
	error = read_at(file, 0, header, sizeof(*header), "the header");
	if (!error)
		error = read_attrs(file);
	if (!error)
		error = features_read(file);
	return error;
}

struct hwprof_file *file_new(int fd, const char *name)
{
	struct hwprof_file *file = calloc(1, sizeof(*file));

	if (!file)
		return NULL;
	file->fd = fd;
	file->name = strdup(name);
	file->row = malloc(UINT16_MAX + 1);
	if (!file->name || !file->row) {
		hwprof_file_close(file);
		return NULL;
	}
	return file;
}

int hwprof_file_open_fd(struct hwprof_file **file, int fd, const char *name)
{
	*file = file_new(fd, name);
	if (!*file) {
		close(fd);
		return -ENOMEM;
	}
	return read_header(*file);
}

static int add_part(struct hwprof_file *file, int fd)
{
	int *parts = reallocarray(file->parts, file->part_count + 1,
				  sizeof(*parts));

	if (!parts) {
		close(fd);
		return file_fail(file, -ENOMEM, "out of memory");
	}
	file->parts = parts;
	parts[file->part_count++] = fd;
	return 0;
}

/*
 * Opens data.0, data.1 and so on in @folder, up to the first that is missing.
 */
static int open_parts(struct hwprof_file *file, int folder)
{
	int error = 0;

	while (!error && file->part_count < PARTS_MAX) {
		char name[32];
		int fd;

		snprintf(name, sizeof(name), "data.%zu", file->part_count);
		fd = openat(folder, name, O_RDONLY | O_CLOEXEC);
		if (fd < 0 && errno == ENOENT)
			return 0;
		if (fd < 0)
			return file_fail(file, -errno, "cannot open %s: %s",
					 name, strerror(errno));
		error = add_part(file, fd);
	}
	return error;
}

static int open_folder(struct hwprof_file *file, int folder)
{
	int error;

	file->fd = openat(folder, "data", O_RDONLY | O_CLOEXEC);
	if (file->fd < 0)
		return file_fail(
			file, -EISDIR,
			"is a directory, and not of 'perf record --threads', as it has no file 'data': give a recording");
	error = read_header(file);
	return error ? error : open_parts(file, folder);
}

/* Opens the other parts of a recording if @path is the part with the header. */
static int open_folder_of(struct hwprof_file *file, const char *path)
{
	uint64_t bit = 1ULL << PERFDATA_DIR_FORMAT;
	int folder, error;
	char *name;

	if (file->pipe || !(file->header.features[0] & bit))
		return 0;
	name = strdup(path);
	if (!name)
		return file_fail(file, -ENOMEM, "out of memory");
	folder = open(dirname(name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(name);
	if (folder < 0)
		return file_fail(file, -errno, "cannot open its folder: %s",
				 strerror(errno));
	error = open_parts(file, folder);
	close(folder);
	return error;
}

int hwprof_file_open(struct hwprof_file **file, const char *path)
{
	struct stat status;
	int fd, error;

	if (!strcmp(path, "-"))
		return hwprof_file_open_fd(file, dup(STDIN_FILENO),
					   "standard input");
	*file = file_new(-1, path);
	if (!*file)
		return -ENOMEM;
	/*
	 * O_NONBLOCK would not hang on a FIFO without a writer, but is not
	 * worth it.
	 */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return file_fail(*file, -errno, "cannot open: %s",
				 strerror(errno));
	if (!fstat(fd, &status) && S_ISDIR(status.st_mode)) {
		error = open_folder(*file, fd);
		close(fd);
		return error;
	}
	(*file)->fd = fd;
	error = read_header(*file);
	return error ? error : open_folder_of(*file, path);
}

void file_replay_free(struct file_replay *replay)
{
	while (replay->missing_count)
		free(replay->missing[--replay->missing_count].name);
	free(replay->missing);
	free(replay->event);
	warnings_free(&replay->warnings);
}

void hwprof_file_close(struct hwprof_file *file)
{
	size_t i;

	if (!file)
		return;
	if (file->fd >= 0)
		close(file->fd);
	for (i = 0; i < file->event_count; i++)
		free(file->events[i].name);
	for (i = 0; i < file->build_id_count; i++)
		free(file->build_ids[i].name);
	for (i = 0; i < file->section_count; i++)
		free(file->sections[i].bytes);
	free(file->sections);
	file_replay_free(&file->replay);
	labels_free(&file->labels);
	numbers_free(&file->masks);
	distances_free(&file->distances);
	while (file->part_count)
		close(file->parts[--file->part_count]);
	free(file->parts);
	free(file->events);
	free(file->ids);
	free(file->build_ids);
	warnings_free(&file->warnings);
	free(file->row);
	free(file->name);
	free(file);
}
