// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>

#include "events.h"
#include "code/names.h"
#include "known_files.h"
#include "map_line.h"
#include "process_labels.h"

enum {
	NAME_MAX_SIZE = 4096,	/* the longest that the kernel has */
	RECORD_SIZE = 256 + NAME_MAX_SIZE,
	/* Symbols before _text are those of variables of each CPU. */
	SYMBOLS_MAX = 16384,
};

/* The kernel's code is within the GiB from which modules' code is apart. */
#define KERNEL_ROOM	(1ULL << 30)

/*
 * Returns the size of the fields behind a record. All are 0, and so is the
 * time.
 */
static size_t trailer_size(uint64_t sample_type)
{
	return 8 * (!!(sample_type & PERF_SAMPLE_TID) +
		    !!(sample_type & PERF_SAMPLE_TIME) +
		    !!(sample_type & PERF_SAMPLE_ID) +
		    !!(sample_type & PERF_SAMPLE_STREAM_ID) +
		    !!(sample_type & PERF_SAMPLE_CPU) +
		    !!(sample_type & PERF_SAMPLE_IDENTIFIER));
}

/* Adds a record: fixed fields, a name padded to 8 bytes, and the trailer. */
static int add_record(const struct synthesis *synthesis,
		      struct perf_event_header header, const void *fields,
		      size_t fields_size, const char *name)
{
	_Alignas(8) char record[RECORD_SIZE] = { 0 };
	size_t name_size = strlen(name) + 1;

	header.size = sizeof(header) + fields_size + name_size +
		      -name_size % 8 + trailer_size(synthesis->sample_type);
	memcpy(record, &header, sizeof(header));
	memcpy(record + sizeof(header), fields, fields_size);
	memcpy(record + sizeof(header) + fields_size, name, name_size);
	return synthesis->put(synthesis->context, record, header.size);
}

static FILE *open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, name);
	return fopen(path, "re");
}

static int add_comm(const struct synthesis *synthesis, pid_t pid)
{
	struct perf_event_header header = { .type = PERF_RECORD_COMM };
	uint32_t ids[2] = { pid, pid };
	FILE *file = open_proc(pid, "comm");
	char name[32] = "";
	bool found;

	if (!file)
		return 0;
	found = fgets(name, sizeof(name), file);
	fclose(file);
	if (!found)
		return 0;
	name[strcspn(name, "\n")] = 0;
	return add_record(synthesis, header, ids, sizeof(ids), name);
}

/* The start of an MMAP2 record, up to its name. */
struct mmap2 {
	uint32_t pid, tid;
	uint64_t start, size, offset;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t protection, flags;
};

static struct mmap2 map_of(pid_t pid, const struct map_line *line)
{
	return (struct mmap2){
		.pid = pid, .tid = pid,
		.start = line->start, .size = line->end - line->start,
		.offset = line->offset,
		.major = line->major, .minor = line->minor,
		.inode = line->inode,
		.protection = (line->bits[0] == 'r' ? PROT_READ : 0) |
			      (line->bits[1] == 'w' ? PROT_WRITE : 0) |
			      (line->bits[2] == 'x' ? PROT_EXEC : 0),
		.flags = line->bits[3] == 's' ? MAP_SHARED : MAP_PRIVATE,
	};
}

static const struct build_id *find_id(struct known_files *files,
				      const struct mmap2 *map, const char *name)
{
	const struct mapped_file file = {
		.inode = map->inode, .major = map->major, .minor = map->minor,
	};

	return known_files_id(files, &file, map->pid, name);
}

static int add_map_of(const struct synthesis *synthesis,
		      struct perf_event_header header, const struct mmap2 *map,
		      const struct build_id *id, const char *name)
{
	struct perfdata_mmap2_build_id known = {
		.pid = map->pid, .tid = map->tid, .start = map->start,
		.size = map->size, .offset = map->offset, .id_size = id->size,
		.protection = map->protection, .flags = map->flags,
	};

	memcpy(known.id, id->bytes, sizeof(known.id));
	header.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
	return add_record(synthesis, header, &known, sizeof(known), name);
}

static int add_map(const struct synthesis *synthesis, const struct mmap2 *map,
		   const char *name)
{
	struct perf_event_header header = {
		.type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER,
	};
	const struct build_id none = { .size = 0 }, *id = &none;

	if (!(map->protection & PROT_EXEC)) {
		header.misc |= PERF_RECORD_MISC_MMAP_DATA;
		return !synthesis->data ? 0 :
		       add_record(synthesis, header, map, sizeof(*map), name);
	}
	if (synthesis->files && *name == '/' && map->inode)
		id = find_id(synthesis->files, map, name);
	if (!id)
		return -ENOMEM;
	return id->size ? add_map_of(synthesis, header, map, id, name) :
	       add_record(synthesis, header, map, sizeof(*map), name);
}

static int add_maps(const struct synthesis *synthesis, pid_t pid)
{
	FILE *file = open_proc(pid, "maps");
	struct map_line line;
	char *text = NULL;
	size_t room = 0;
	int error = 0;

	if (!file)
		return 0;
	while (!error && getline(&text, &room, file) > 0) {
		struct mmap2 map;

		if (!map_line_parse(&line, text) ||
		    strlen(line.name) >= NAME_MAX_SIZE)
			continue;
		map = map_of(pid, &line);
		error = add_map(synthesis, &map,
				*line.name ? line.name : "//anon");
	}
	free(text);
	fclose(file);
	return error;
}

/* Returns the address of the kernel's _text; 0 if it is hidden. */
static uint64_t find_text(void)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	uint64_t address, text = 0;
	char line[512], name[128];
	int count;

	if (!symbols)
		return 0;
	for (count = 0; count < SYMBOLS_MAX && !text &&
	     fgets(line, sizeof(line), symbols); count++)
		if (sscanf(line, "%" SCNx64 " %*c %127s", &address,
			   name) == 2 && !strcmp(name, "_text"))
			text = address;
	fclose(symbols);
	return text;
}

int synthesize_kernel(const struct synthesis *synthesis)
{
	const struct perf_event_header header = {
		.type = PERF_RECORD_MMAP2,
		.misc = PERF_RECORD_MISC_KERNEL |
			PERF_RECORD_MISC_MMAP_BUILD_ID,
	};
	struct perfdata_mmap2_build_id map = {
		.pid = UINT32_MAX, .protection = PROT_READ | PROT_EXEC,
	};
	struct build_id id;

	map.start = map.offset = find_text();
	if (!map.start || !names_read_notes("/sys/kernel/notes", &id))
		return 0;
	map.size = KERNEL_ROOM - map.start % KERNEL_ROOM;
	map.id_size = id.size;
	memcpy(map.id, id.bytes, sizeof(map.id));
	return add_record(synthesis, header, &map, sizeof(map),
			  "[kernel.kallsyms]_text");
}

/* Returns the process of a thread, since rows and maps belong to processes. */
static pid_t process_of(pid_t thread)
{
	FILE *file = open_proc(thread, "status");
	pid_t process = thread;
	char line[128];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &process) == 1)
			break;
	if (file)
		fclose(file);
	return process;
}

static int synthesize_process(const struct synthesis *synthesis, pid_t pid)
{
	int error = synthesis->labels ?
		    process_labels_look(synthesis->labels, pid) : 0;

	if (!error)
		error = add_comm(synthesis, pid);
	return error ? error : add_maps(synthesis, pid);
}

static int synthesize_all(const struct synthesis *synthesis)
{
	struct dirent *entry;
	int error = 0;
	DIR *all;

	all = opendir("/proc");
	while (all && !error && (entry = readdir(all)))
		if (isdigit((unsigned char)entry->d_name[0]))
			error = synthesize_process(synthesis,
						   atoi(entry->d_name));
	if (all)
		closedir(all);
	return error;
}

static int synthesize_targets(const struct synthesis *synthesis)
{
	pid_t last = 0;
	int error = 0;
	size_t i;

	for (i = 0; i < synthesis->count && !error; i++) {
		pid_t process = process_of(synthesis->targets[i]);

		/* Threads of one process are adjacent. */
		if (process != last)
			error = synthesize_process(synthesis, process);
		last = process;
	}
	return error;
}

int synthesize(const struct synthesis *synthesis)
{
	bool all = synthesis->count == 1 && synthesis->targets[0] < 0;

	if (synthesis->files)
		synthesis->files->round++;
	return all ? synthesize_all(synthesis) : synthesize_targets(synthesis);
}
