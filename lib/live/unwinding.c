// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/event_config.h"
#include "events.h"
#include "hwprof.h"
#include "base/tree.h"
#include "code/code_facts.h"
#include "map_line.h"
#include "mapped_file.h"
#include "unwinding.h"
#include "base/array.h"

enum { USER_TABLES_MAX = HWPROF_UNWIND_TABLES_MAX / 2 };

/* An object that a process has mapped. */
struct code {
	struct mapped_file file;	/* the key; all 0 for [vdso] */
	unsigned int round;		/* when the file was looked at last */
	uint32_t table;			/* the module's number; 0: no table */
	uint64_t base;			/* address in the object that the table
					 * counts from */
	struct code_part *parts;
	size_t part_count;
};

struct unwinding {
	int device;
	const struct code_reader *reader;	/* of files; NULL: this
						 * process */
	bool over;			/* the module accepts no tables */
	unsigned int tables;		/* that the module has taken */
	unsigned int user_tables;	/* those of files that are not root's */
	unsigned int refused;		/* tables, or maps of a process, without
					 * room in the module */
	uint32_t *pids;			/* noted processes */
	size_t pid_count, pid_room;
	void *codes;			/* tree of struct code */
	size_t code_count;
	unsigned int round;		/* each looks once at each file */
	struct hwprof_unwind_map *maps;	/* buffer for one process */
};

/* A line of /proc/PID/maps. */
struct line {
	uint32_t pid;
	struct map_line map;
};

bool unwinding_wanted(const uint64_t words[CONFIG_WORDS])
{
	const struct session_config config = event_config_of_words(words);

	return config.engines & 1U << ENGINE_cct &&
	       config.sources & 1U << SOURCE_sample;
}

struct unwinding *unwinding_new(int device, const struct code_reader *reader)
{
	struct unwinding *unwinding = calloc(1, sizeof(*unwinding));

	if (!unwinding)
		return NULL;
	unwinding->device = device;
	unwinding->reader = reader;
	unwinding->maps = calloc(HWPROF_UNWIND_MAPS_MAX,
				 sizeof(*unwinding->maps));
	if (unwinding->maps)
		return unwinding;
	free(unwinding);
	return NULL;
}

static void free_code(void *node)
{
	struct code *code = node;

	free(code->parts);
	free(code);
}

void unwinding_free(struct unwinding *unwinding)
{
	if (!unwinding)
		return;
	tdestroy(unwinding->codes, free_code);
	free(unwinding->maps);
	free(unwinding->pids);
	free(unwinding);
}

/* --- objects -------------------------------------------------------------- */

/* Keeps the parts. Returns false if there are none, or if out of memory. */
static bool keep_parts(struct code *code, const struct code_facts *facts)
{
	size_t size = facts->part_count * sizeof(*code->parts);

	code->parts = size ? malloc(size) : NULL;
	if (!code->parts)
		return false;
	memcpy(code->parts, facts->parts, size);
	code->part_count = facts->part_count;
	return true;
}

static void give_table(struct unwinding *unwinding, struct code *code,
		       const struct code_facts *facts)
{
	struct hwprof_unwind_table table = {
		.size = sizeof(table), .rows = (uintptr_t)facts->table.rows,
		.count = facts->table.count,
	};
	bool is_root = code->file.root || !code->file.inode;

	/* Nobody's own files take the room of the system's. */
	if (!is_root && unwinding->user_tables >= USER_TABLES_MAX) {
		unwinding->refused++;
		return;
	}
	if (!table.count || !keep_parts(code, facts))
		return;
	if (!ioctl(unwinding->device, HWPROF_IOC_UNWIND_TABLE, &table)) {
		code->table = table.table;
		unwinding->tables++;
		unwinding->user_tables += !is_root;
	} else if (errno == ENOTTY || errno == EOPNOTSUPP || errno == EPERM ||
		 errno == EACCES) {
		unwinding->over = true;
	} else if (errno == ENOMEM || errno == ENOSPC || errno == EMFILE ||
		   errno == ENFILE) {
		unwinding->refused++;
	}
	code->base = facts->table.base;
}

/*
 * Returns our own vdso, which all processes share. Its sections are at its end.
 */
static Elf *open_vdso(void)
{
	char *image = (char *)getauxval(AT_SYSINFO_EHDR);
	const Elf64_Ehdr *header = (const void *)image;

	return image ? elf_memory(image, header->e_shoff +
					 header->e_shnum *
					 header->e_shentsize) : NULL;
}

static void read_vdso(struct code_facts *facts)
{
	Elf *elf;

	*facts = (struct code_facts){ .part_count = 0 };
	elf_version(EV_CURRENT);
	elf = open_vdso();
	if (elf && elf_kind(elf) == ELF_K_ELF)
		code_facts_of(elf, facts);
	elf_end(elf);
}

/* Returns false if there is no such file any more. */
static bool read_file(const struct unwinding *unwinding, struct code *code,
		      const struct line *line, struct code_facts *facts)
{
	int fd = mapped_file_open(&code->file, unwinding->reader, line->pid,
				  line->map.name);

	if (fd < 0)
		return false;
	if (code_read(unwinding->reader, fd, line->map.name, CODE_TABLE,
		      facts) == -EAGAIN)
		mapped_file_forget(&code->file);
	close(fd);
	return true;
}

static void make_code(struct unwinding *unwinding, struct code *code,
		      const struct line *line)
{
	struct code_facts facts;

	if (!line->map.inode)
		read_vdso(&facts);
	else if (!read_file(unwinding, code, line, &facts))
		return;
	give_table(unwinding, code, &facts);
	code_facts_free(&facts);
}

/* Forgets what was made of a file that is another one now. */
static void forget_code(struct code *code)
{
	free(code->parts);
	code->parts = NULL;
	code->part_count = 0;
	code->table = 0;
}

/* Returns NULL if out of memory. */
static struct code *get_code(struct unwinding *unwinding,
			     const struct line *line)
{
	struct code key = {
		.file.major = line->map.major, .file.minor = line->map.minor,
		.file.inode = line->map.inode,
	}, *code;
	bool is_new;

	code = tree_get(&unwinding->codes, &key, sizeof(key),
			mapped_file_compare, &is_new);
	if (!code)
		return NULL;
	unwinding->code_count += is_new;
	if (!is_new && line->map.inode && code->round != unwinding->round &&
	    mapped_file_changed(&code->file, unwinding->reader, line->pid,
				line->map.name)) {
		forget_code(code);
		is_new = true;
	}
	code->round = unwinding->round;
	if (is_new)
		make_code(unwinding, code, line);
	return code;
}

/* --- processes ------------------------------------------------------------ */

/* Maps that are not marked as data are of code. */
bool unwinding_is_map(uint32_t type, uint16_t misc)
{
	return (type == PERF_RECORD_MMAP || type == PERF_RECORD_MMAP2) &&
	       !(misc & PERF_RECORD_MISC_MMAP_DATA);
}

void unwinding_note(struct unwinding *unwinding, uint32_t pid)
{
	uint32_t *all;
	size_t i;

	if (!unwinding || unwinding->over)
		return;
	/* Successive records are mostly about one process. */
	for (i = unwinding->pid_count; i--;)
		if (unwinding->pids[i] == pid)
			return;
	all = array_grow(unwinding->pids, &unwinding->pid_room,
			 unwinding->pid_count + 1, sizeof(*all));
	if (!all)
		return;
	unwinding->pids = all;
	all[unwinding->pid_count++] = pid;
}

/* Returns true for code of a file, and for the kernel's. */
static bool is_code(const struct map_line *map)
{
	return map->bits[2] == 'x' &&
	       (map->inode ? *map->name == '/' : !strcmp(map->name, "[vdso]"));
}

/*
 * Finds where the object begins in the process. Returns false if the line is
 * not its code.
 */
static bool find_load(const struct code *code, const struct map_line *map,
		      uint64_t *load)
{
	size_t i;

	for (i = 0; i < code->part_count; i++) {
		const struct code_part *part = &code->parts[i];

		/* Whole pages are mapped. */
		if (map->offset >= part->offset + part->size ||
		    map->offset + (map->end - map->start) <= part->offset)
			continue;
		*load = map->start - map->offset + part->offset -
			part->address;
		return true;
	}
	return false;
}

static bool find_map(struct unwinding *unwinding, const struct line *line,
		     struct hwprof_unwind_map *map)
{
	const struct code *code = get_code(unwinding, line);
	uint64_t load;

	if (!code || !code->table || !find_load(code, &line->map, &load))
		return false;
	*map = (struct hwprof_unwind_map){
		.start = line->map.start, .end = line->map.end,
		.base = load + code->base, .table = code->table,
	};
	return map->base <= map->start &&
	       map->end - map->base <= 1ULL << 32;
}

static uint32_t read_maps(struct unwinding *unwinding, uint32_t pid, FILE *file)
{
	struct line line = { .pid = pid };
	uint32_t count = 0;
	char *text = NULL;
	size_t room = 0;

	while (!unwinding->over && count < HWPROF_UNWIND_MAPS_MAX &&
	       getline(&text, &room, file) > 0)
		if (map_line_parse(&line.map, text) && is_code(&line.map))
			count += find_map(unwinding, &line,
					  &unwinding->maps[count]);
	free(text);
	return count;
}

/*
 * Gives the module the present maps: the process may have exec'ed since it was
 * noted.
 */
static void update_process(struct unwinding *unwinding, uint32_t pid)
{
	struct hwprof_unwind_maps maps = {
		.size = sizeof(maps), .maps = (uintptr_t)unwinding->maps,
		.pid = pid,
	};
	char path[32];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return;
	maps.count = read_maps(unwinding, pid, file);
	fclose(file);
	if (!maps.count ||
	    !ioctl(unwinding->device, HWPROF_IOC_UNWIND_MAPS, &maps))
		return;
	if (errno == EPERM)
		unwinding->over = true;	/* another process made the session */
	else if (errno == ENOMEM || errno == ENOSPC)
		unwinding->refused++;
}

void unwinding_update(struct unwinding *unwinding)
{
	size_t i;

	if (!unwinding)
		return;
	for (i = 0; i < unwinding->pid_count; i++)
		update_process(unwinding, unwinding->pids[i]);
	unwinding->pid_count = 0;
}

static int note_record(void *context, const void *bytes, size_t size)
{
	const struct perf_event_header *header = bytes;
	struct unwinding *unwinding = context;

	if (unwinding_is_map(header->type, header->misc))
		unwinding_note(unwinding, *(const uint32_t *)(header + 1));
	return 0;
}

void unwinding_begin(struct unwinding *unwinding,
		     const struct synthesis *synthesis)
{
	struct synthesis own = *synthesis;

	if (!unwinding)
		return;
	own.put = note_record;
	own.context = unwinding;
	own.files = NULL;
	own.labels = NULL;
	unwinding->round++;
	synthesize(&own);
	unwinding_update(unwinding);
}

void unwinding_continue(struct unwinding *unwinding)
{
	if (!unwinding)
		return;
	unwinding->round++;
	/* Sessions get all tables and maps with those of any process. */
	unwinding_note(unwinding, getpid());
	unwinding_update(unwinding);
}

size_t unwinding_files(const struct unwinding *unwinding)
{
	return unwinding->code_count;
}

unsigned int unwinding_tables(const struct unwinding *unwinding)
{
	return unwinding->tables;
}

unsigned int unwinding_refused(const struct unwinding *unwinding)
{
	return unwinding->refused;
}
