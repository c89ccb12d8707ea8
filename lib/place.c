// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "place.h"

enum {
	KERNEL_PID = UINT32_MAX,	/* as perf calls the kernel's maps */
};

static bool in_kernel(uint64_t address)
{
	return address >> 63;
}

/* The same code at the same offset in every process? */
static bool is_shared(const struct object *object)
{
	return object_is_file(object) || !strcmp(object_name(object), "[vdso]");
}

static bool is_anonymous(const struct mapping *mapping)
{
	return !strcmp(mapping->name, "//anon") ||
	       !strcmp(mapping->name, "[heap]");
}

/*
 * What an object has zeroed in memory and not in its file (.bss) lies directly
 * behind that: if @place is there, it becomes the object's. -ENOMEM.
 */
static int find_zeroed(struct place *place, struct objects *objects,
		       const struct processes *processes,
		       const struct hwprof_file *file, uint32_t pid,
		       uint64_t time, const struct mapping *mapping)
{
	const struct mapping *before = processes_find(processes, pid, time,
						      mapping->start - 1);
	uint64_t address = place->address, left;
	struct object *object;
	struct build_id id;

	if (!before)
		return 0;
	id = processes_build_id(file, before);
	object = objects_get(objects, before->name, &id);
	if (!object)
		return -ENOMEM;
	if (!object_is_file(object))
		return 0;
	address += object_address(object, before->offset) - before->start;
	left = object_left(object, address);
	if (!left)
		return 0;
	place->object = object;
	place->pid = 0;
	place->address = address;
	if (left < place->left)
		place->left = left;
	return 0;
}

/* An object's or, where @place has its process's memory, maybe the heap. */
static int find_anonymous(struct place *place, struct objects *objects,
			  const struct processes *processes,
			  const struct hwprof_file *file, uint64_t time,
			  const struct mapping *mapping)
{
	static const struct build_id none = { .size = 0 };
	uint32_t pid = place->pid;
	int error = find_zeroed(place, objects, processes, file, pid, time,
				mapping);

	if (error || !place->pid ||
	    !processes_is_heap(processes, pid, time, mapping))
		return error;
	place->object = objects_get(objects, "[heap]", &none);
	return place->object ? 0 : -ENOMEM;
}

int place_find(struct place *place, struct objects *objects,
	       const struct processes *processes,
	       const struct hwprof_file *file, uint32_t pid, uint64_t first,
	       uint64_t last, uint64_t address)
{
	bool kernel = in_kernel(address);
	uint32_t owner = kernel ? (uint32_t)KERNEL_PID : pid;
	const char *name = kernel ? "[kernel]" : "[unknown]";
	struct build_id id = { .size = 0 };
	const struct mapping *mapping;

	mapping = processes_find(processes, owner, first, address);
	if (!mapping)
		mapping = processes_find(processes, owner, last, address);
	if (mapping && !kernel) {
		name = mapping->name;
		id = processes_build_id(file, mapping);
	}
	*place = (struct place){
		.object = objects_get(objects, name, &id),
		.pid = kernel ? 0 : pid,
		.address = address,
	};
	if (!place->object)
		return -ENOMEM;
	if (kernel)
		place->left = -address;
	else if (mapping)
		place->left = mapping->size - (address - mapping->start);
	if (mapping && is_shared(place->object)) {
		place->pid = 0;
		place->address = object_address(place->object,
						address - mapping->start +
						mapping->offset);
	} else if (mapping && !kernel && is_anonymous(mapping)) {
		return find_anonymous(place, objects, processes, file, last,
				      mapping);
	}
	return 0;
}
