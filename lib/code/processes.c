// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "processes.h"
#include "base/array.h"

enum { HEAP_DISTANCE = 1 << 30 };	/* largest random distance from the
					 * program */

#define KERNEL_PID	UINT32_MAX

/* A program in a process: from fork or exec to exec or exit. */
struct image {
	uint32_t number;		/* from 1 on, over all processes */
	uint64_t begin;			/* 0: existed before the recording */
	bool assumed;			/* no record is about it */
	const struct image *parent;	/* fork: had the same maps at @begin */
	const char *comm;
	struct mapping *maps;		/* by time */
	size_t map_count;
};

struct process {
	uint32_t pid;
	struct image **images;		/* by time; the last one is current */
	size_t image_count;
};

struct processes {
	struct process_change *changes;
	size_t change_count, change_room;
	size_t settled;			/* number of changes that were
					 * applied */
	uint64_t settled_time;		/* latest time of these */
	uint32_t image_count;
	uint32_t mapped;		/* images with known maps */
	atomic_uint users;
	struct process **slots;		/* hash table by pid, at most half
					 * full */
	size_t slot_count;		/* a power of two */
	size_t process_count;
	struct kernel_text kernel;	/* of the host */
};

struct processes *processes_new(void)
{
	struct processes *processes = calloc(1, sizeof(*processes));

	if (processes)
		atomic_init(&processes->users, 1);
	return processes;
}

struct processes *processes_share(struct processes *processes)
{
	atomic_fetch_add(&processes->users, 1);
	return processes;
}

static void free_process(struct process *process)
{
	size_t i;

	if (!process)
		return;
	for (i = 0; i < process->image_count; i++) {
		free(process->images[i]->maps);
		free(process->images[i]);
	}
	free(process->images);
	free(process);
}

void processes_free(struct processes *processes)
{
	size_t i;

	if (!processes || atomic_fetch_sub(&processes->users, 1) > 1)
		return;
	for (i = 0; i < processes->change_count; i++)
		free(processes->changes[i].name);
	free(processes->changes);
	for (i = 0; i < processes->slot_count; i++)
		free_process(processes->slots[i]);
	free(processes->slots);
	free(processes);
}

static int add_change(struct processes *processes, struct hwprof_file *file,
		      const struct record *record,
		      struct process_change change, const char *name)
{
	struct process_change *all = array_grow(processes->changes,
						&processes->change_room,
						processes->change_count + 1,
						sizeof(*all));

	if (!all)
		return file_fail(file, -ENOMEM, "out of memory");
	processes->changes = all;
	if (name) {
		change.name = strdup(name);
		if (!change.name)
			return file_fail(file, -ENOMEM, "out of memory");
	}
	/* Without times, use the order of the file. */
	change.time = record->time == UINT64_MAX ? 0 : record->time;
	change.order = processes->change_count;
	processes->changes[processes->change_count++] = change;
	return 0;
}

/* Notes the place of the kernel's symbol from "[kernel.kallsyms]_text". */
static void note_kernel(struct processes *processes,
			const struct mapping *mapping, const char *name)
{
	static const char prefix[] = "[kernel.kallsyms]";
	struct kernel_text *kernel = &processes->kernel;
	const char *symbol = name + sizeof(prefix) - 1;

	if (strncmp(name, prefix, sizeof(prefix) - 1) || !*symbol ||
	    strlen(symbol) >= sizeof(kernel->symbol))
		return;
	strcpy(kernel->symbol, symbol);
	kernel->begin = mapping->start;
	kernel->size = mapping->size;
	kernel->symbol_at = mapping->offset;
	kernel->id = mapping->build_id;
}

static int note_mmap(struct processes *processes, struct hwprof_file *file,
		     const struct record *record)
{
	struct process_change change = { .kind = CHANGE_MAP };
	struct mapping *mapping = &change.mapping;
	struct byte_reader at = record->body, id = { 0 };
	bool second = record->type == PERF_RECORD_MMAP2;
	uint32_t protection = PROT_EXEC;
	const char *name;

	if (!reader_u32(&at, &change.pid) || !reader_skip(&at, 4) ||
	    !reader_u64(&at, &mapping->start) ||
	    !reader_u64(&at, &mapping->size) ||
	    !reader_u64(&at, &mapping->offset) ||
	    (second &&
	     (!reader_part(&at, 24, &id) || !reader_u32(&at, &protection) ||
	      !reader_skip(&at, 4))) ||
	    !(name = reader_string(&at)))
		return file_damaged(file, record->offset,
				    "a record of a mapping is cut off");
	mapping->code = protection & PROT_EXEC &&
			!(record->misc & PERF_RECORD_MISC_MMAP_DATA);
	mapping->anonymous = !names_file(name) && strcmp(name, "[vdso]") &&
			     strcmp(name, "[vsyscall]");
	mapping->copy = mapping->code &&
			(!strcmp(name, "//anon") ||
			 !strncmp(name, "/anon_hugepage", 14));
	if (second && record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		if (id.at[0] > BUILD_ID_MAX)
			return file_damaged(
				file, record->offset,
				"a build id has %d bytes: up to %d are allowed",
				id.at[0], BUILD_ID_MAX);
		mapping->build_id = build_id_of(id.at + 4, id.at[0]);
	}
	if (change.pid == KERNEL_PID)
		note_kernel(processes, mapping, name);
	return add_change(processes, file, record, change, name);
}

static int note_comm(struct processes *processes, struct hwprof_file *file,
		     const struct record *record)
{
	struct process_change change = { .kind = CHANGE_COMM };
	struct byte_reader at = record->body;
	const char *name;
	uint32_t tid;

	if (!reader_u32(&at, &change.pid) || !reader_u32(&at, &tid) ||
	    !(name = reader_string(&at)))
		return file_damaged(file, record->offset,
				    "a record of a name is cut off");
	if (record->misc & PERF_RECORD_MISC_COMM_EXEC)
		change.kind = CHANGE_EXEC;
	else if (tid != change.pid)
		return 0;	/* a thread's own name */
	return add_change(processes, file, record, change, name);
}

static int note_task(struct processes *processes, struct hwprof_file *file,
		     const struct record *record)
{
	struct process_change change = { .kind = CHANGE_FORK };
	struct byte_reader at = record->body;
	uint32_t tid;

	if (!reader_u32(&at, &change.pid) || !reader_u32(&at, &change.parent) ||
	    !reader_u32(&at, &tid))
		return file_damaged(file, record->offset,
				    "a record of a fork or exit is cut off");
	if (record->type == PERF_RECORD_EXIT)
		change.kind = CHANGE_EXIT;
	/* Ignore threads: only the process matters. */
	if (change.kind == CHANGE_FORK ? change.pid == change.parent :
	    change.pid != tid)
		return 0;
	return add_change(processes, file, record, change, NULL);
}

/* Returns true for a record about a guest's memory (perf kvm). */
static bool is_of_guest(const struct record *record)
{
	unsigned int mode = record->misc & PERF_RECORD_MISC_CPUMODE_MASK;

	return mode == PERF_RECORD_MISC_GUEST_KERNEL ||
	       mode == PERF_RECORD_MISC_GUEST_USER;
}

int processes_note(struct processes *processes, struct hwprof_file *file,
		   const struct record *record)
{
	if (is_of_guest(record))
		return 0;
	switch (record->type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return note_mmap(processes, file, record);
	case PERF_RECORD_COMM:
		return note_comm(processes, file, record);
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return note_task(processes, file, record);
	}
	return 0;
}

static int compare_changes(const void *a, const void *b)
{
	const struct process_change *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Returns the slot of @pid, or the free one where it belongs. */
static struct process **find_slot(struct process **slots, size_t count,
				  uint32_t pid)
{
	size_t at = (uint32_t)(pid * 0x9e3779b1U) & (count - 1);

	while (slots[at] && slots[at]->pid != pid)
		at = (at + 1) & (count - 1);
	return &slots[at];
}

static struct process *find_process(const struct processes *processes,
				    uint32_t pid)
{
	return processes->slot_count ?
	       *find_slot(processes->slots, processes->slot_count, pid) : NULL;
}

static int make_slots(struct processes *processes)
{
	size_t count = processes->slot_count ? 2 * processes->slot_count : 64;
	struct process **slots;
	size_t i;

	if (2 * processes->process_count < processes->slot_count)
		return 0;
	slots = calloc(count, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (i = 0; i < processes->slot_count; i++)
		if (processes->slots[i])
			*find_slot(slots, count, processes->slots[i]->pid) =
				processes->slots[i];
	free(processes->slots);
	processes->slots = slots;
	processes->slot_count = count;
	return 0;
}

static struct process *get_process(struct processes *processes, uint32_t pid)
{
	struct process *process = find_process(processes, pid);

	if (process)
		return process;
	if (make_slots(processes))
		return NULL;
	process = calloc(1, sizeof(*process));
	if (!process)
		return NULL;
	process->pid = pid;
	*find_slot(processes->slots, processes->slot_count, pid) = process;
	processes->process_count++;
	return process;
}

static struct image *current_image(const struct process *process)
{
	if (!process || !process->image_count)
		return NULL;
	return process->images[process->image_count - 1];
}

static struct image *add_image(struct processes *processes,
			       struct process *process, uint64_t begin)
{
	struct image **all = reallocarray(process->images,
					  process->image_count + 1,
					  sizeof(*all));
	struct image *image = calloc(1, sizeof(*image));

	if (all)
		process->images = all;
	if (!all || !image) {
		free(image);
		return NULL;
	}
	image->number = ++processes->image_count;
	image->begin = begin;
	all[process->image_count++] = image;
	return image;
}

/* Adds a map. The room doubles at powers of two. */
static int add_mapping(struct image *image,
		       const struct process_change *change)
{
	size_t count = image->map_count;

	if (!(count & (count - 1))) {
		struct mapping *maps = reallocarray(image->maps,
						    count ? count * 2 : 1,
						    sizeof(*maps));

		if (!maps)
			return -ENOMEM;
		image->maps = maps;
	}
	image->maps[count] = change->mapping;
	image->maps[count].time = change->time;
	image->maps[count].name = change->name;
	image->map_count++;
	return 0;
}

/* Returns true if it has maps, its own or those of its parent. */
static bool is_mapped(const struct image *image)
{
	return image->map_count || image->parent;
}

static int apply(struct processes *processes,
		 const struct process_change *change)
{
	struct process *process = get_process(processes, change->pid);
	struct image *image;

	if (!process)
		return -ENOMEM;
	image = current_image(process);
	if (change->kind == CHANGE_EXIT)
		return 0;	/* late rows still need the maps */
	if (!image || change->kind == CHANGE_EXEC ||
	    change->kind == CHANGE_FORK) {
		/* Without a fork or exec, the image existed from the start. */
		bool first = !image && change->kind != CHANGE_EXEC &&
			     change->kind != CHANGE_FORK;

		image = add_image(processes, process, first ? 0 : change->time);
		if (!image)
			return -ENOMEM;
	}
	image->assumed = false;
	if (change->kind == CHANGE_MAP) {
		processes->mapped += !is_mapped(image);
		return add_mapping(image, change);
	}
	if (change->kind == CHANGE_FORK) {
		image->parent = current_image(find_process(processes,
							   change->parent));
		processes->mapped += is_mapped(image);
		image->comm = image->parent ? image->parent->comm : NULL;
	} else {
		image->comm = change->name;
	}
	return 0;
}

int processes_settle(struct processes *processes, uint64_t time)
{
	struct process_change *changes = processes->changes;
	uint64_t before = processes->settled_time;

	if (processes->change_count > processes->settled)
		qsort(changes + processes->settled,
		      processes->change_count - processes->settled,
		      sizeof(*changes), compare_changes);
	processes->settled_time = time;
	while (processes->settled < processes->change_count &&
	       changes[processes->settled].time <= time) {
		struct process_change *change = &changes[processes->settled++];
		int error;

		/* A late change holds from the time that was settled before. */
		if (change->time < before)
			change->time = before;
		error = apply(processes, change);
		if (error)
			return error;
	}
	return 0;
}

int processes_list(const struct processes *processes,
		   int (*fn)(void *context,
			     const struct process_change *change),
		   void *context)
{
	int error = 0;
	size_t i;

	for (i = 0; i < processes->settled && !error; i++)
		error = fn(context, &processes->changes[i]);
	return error;
}

/*
 * Returns the index of the image of @pid at @time. A row is no later than the
 * end of its program, so the time of an exec belongs to the old program.
 */
static size_t find_index(const struct process *process, uint64_t time)
{
	size_t low = 0, high;

	high = process->image_count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (process->images[middle]->begin < time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static const struct image *find_image(const struct processes *processes,
				      uint32_t pid, uint64_t time)
{
	const struct process *process = find_process(processes, pid);
	size_t index;

	if (!process || !process->image_count)
		return NULL;
	index = find_index(process, time);
	/* Nothing is known about an assumed program, which is the first. */
	if (process->images[index]->assumed && process->image_count > 1)
		index++;
	return process->images[index];
}

uint32_t processes_program(struct processes *processes, uint32_t pid,
			   uint64_t time)
{
	struct process *process = get_process(processes, pid);

	if (!process)
		return 0;
	if (!process->image_count) {
		struct image *image = add_image(processes, process, 0);

		if (!image)
			return 0;
		image->assumed = true;
	}
	return process->images[find_index(process, time)]->number;
}

/*
 * An image that has only a name before its exec is the recorder's, and does not
 * count.
 */
uint32_t processes_programs(const struct processes *processes, uint32_t pid)
{
	const struct process *process;

	if (!pid)
		return processes->mapped;
	process = find_process(processes, pid);
	if (!process || (process->image_count == 1 &&
			 process->images[0]->assumed))
		return 0;
	return process->image_count - (process->image_count > 1 &&
				       !process->images[0]->begin &&
				       !is_mapped(process->images[0]));
}

static bool is_at(const struct mapping *mapping, uint64_t time,
		  uint64_t address)
{
	return mapping->time <= time && address >= mapping->start &&
	       address - mapping->start < mapping->size;
}

static bool has_file(const struct mapping *mapping)
{
	return mapping->name[0] == '/' && mapping->name[1] != '/' &&
	       !mapping->copy;
}

/*
 * Later maps hide earlier ones. However, code in anonymous memory where a
 * file's code used to be is that file's code.
 */
static const struct mapping *find_mapping(const struct image *image,
					  uint64_t time, uint64_t address)
{
	const struct mapping *copy = NULL;
	size_t i;

	for (i = image->map_count; i--;) {
		const struct mapping *mapping = &image->maps[i];

		if (!is_at(mapping, time, address))
			continue;
		if (copy && mapping->code && has_file(mapping))
			return mapping;
		if (!copy && !mapping->copy)
			return mapping;
		if (!copy)
			copy = mapping;
	}
	return copy;
}

const struct mapping *processes_find(const struct processes *processes,
				     uint32_t pid, uint64_t time,
				     uint64_t address)
{
	const struct image *image = find_image(processes, pid, time);

	while (image) {
		const struct mapping *mapping = find_mapping(image, time,
							     address);

		if (mapping)
			return mapping;
		/*
		 * Maps that the parent made after the fork are not the child's.
		 */
		if (time > image->begin)
			time = image->begin;
		image = image->parent;
	}
	return NULL;
}

/* Returns the executed program, which is the first file to be mapped. */
static const struct mapping *find_program(const struct image *image)
{
	size_t i;

	while (image->parent)
		image = image->parent;
	for (i = 0; i < image->map_count; i++)
		if (image->maps[i].name[0] == '/' &&
		    image->maps[i].name[1] != '/')
			return &image->maps[i];
	return NULL;
}

bool processes_is_heap(const struct processes *processes, uint32_t pid,
		       uint64_t time, const struct mapping *mapping)
{
	const struct image *image = find_image(processes, pid, time);
	const struct mapping *program = image ? find_program(image) : NULL;
	const struct mapping *part = program;
	uint64_t end = 0;

	if (!program || mapping->start < program->start)
		return false;
	/* The program's parts are adjacent, and zeroed memory follows them. */
	while (part && part->start < mapping->start) {
		end = part->start + part->size;
		part = processes_find(processes, pid, time, end);
	}
	return mapping->start > end && mapping->start - end <= HEAP_DISTANCE;
}

const char *processes_comm(const struct processes *processes, uint32_t pid,
			   uint64_t time)
{
	const struct image *image = find_image(processes, pid, time);

	if (pid & PROCESS_GUEST)
		return "guest";
	return image ? image->comm : NULL;
}

bool processes_may_be_made(const struct mapping *mapping)
{
	return !mapping || mapping->anonymous;
}

static struct build_id known_build_id(const struct hwprof_file *file,
				      const struct build_id *id,
				      const char *name)
{
	size_t i;

	if (id->size)
		return *id;
	for (i = 0; i < file->build_id_count; i++)
		if (!strcmp(file->build_ids[i].name, name))
			return file->build_ids[i].id;
	return (struct build_id){ .size = 0 };
}

struct object *processes_kernel(const struct processes *processes,
				struct objects *objects,
				const struct hwprof_file *file,
				uint64_t *address, bool moved)
{
	const struct kernel_text *kernel = &processes->kernel;
	struct build_id id = known_build_id(file, &kernel->id,
					    "[kernel.kallsyms]");
	struct object *object = objects_get(objects, "[kernel]", &id);
	uint64_t distance;

	if (!object || !id.size)
		return object;
	distance = object_kernel_distance(object, kernel);
	if (!distance)
		return object;
	if (moved && *address - kernel->begin < kernel->size) {
		*address += distance;
		return object;
	}
	id = (struct build_id){ .size = 0 };
	object = objects_get(objects, "[kernel]", &id);
	if (object)
		object_is_elsewhere(object);
	return object;
}

struct build_id processes_build_id(const struct hwprof_file *file,
				   const struct mapping *mapping)
{
	return known_build_id(file, &mapping->build_id, mapping->name);
}

struct object *processes_object(struct objects *objects,
				const struct hwprof_file *file,
				const struct mapping *mapping)
{
	const struct build_id id = processes_build_id(file, mapping);

	return objects_get(objects, mapping->name, &id);
}
