// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "place.h"

/* Ranges are of addresses, whichever object made them. */
static bool is_of_ranges(const struct hwprof_profile *profile)
{
	return profile->kind->kind == HWPROF_KIND_RANGES;
}

static bool in_kernel(uint64_t address)
{
	return address >> 63;
}

/* Returns true if every process has the same code at the same offset. */
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
 * Zeroed memory that is not in an object's file (.bss) follows the object's
 * mapping. If @place is there, attributes it to the object. Returns 0 or
 * -ENOMEM.
 */
static int find_zeroed(struct place *place,
		       const struct hwprof_profile *profile,
		       uint32_t pid, uint64_t time,
		       const struct mapping *mapping)
{
	const struct mapping *before =
		processes_find(profile->collected.processes, pid, time,
			       mapping->start - 1);
	uint64_t address = place->address, left;
	struct object *object;

	if (!before)
		return 0;
	object = processes_object(profile->objects, profile->file, before);
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

/*
 * Finds the object of anonymous memory. If @place still belongs to its process,
 * it may be the heap.
 */
static int find_anonymous(struct place *place,
			  const struct hwprof_profile *profile,
			  uint64_t time, const struct mapping *mapping)
{
	static const struct build_id none = { .size = 0 };
	uint32_t pid = place->pid;
	int error = find_zeroed(place, profile, pid, time, mapping);

	if (error || !place->pid ||
	    !processes_is_heap(profile->collected.processes, pid, time,
			       mapping))
		return error;
	place->object = objects_get(profile->objects, "[heap]", &none);
	return place->object ? 0 : -ENOMEM;
}

/* Nothing is known about the maps of a guest. */
static int find_guest(struct place *place, const struct hwprof_profile *profile,
		      uint64_t address)
{
	static const struct build_id none = { .size = 0 };
	bool kernel = in_kernel(address);

	place->object = objects_get(profile->objects,
				    kernel ? "[guest kernel]" : "[guest]",
				    &none);
	place->left = kernel ? -address : 1ULL << 63;
	return place->object ? 0 : -ENOMEM;
}

/*
 * Finds the name of code that the process made. It looks even where nothing is
 * known to be mapped, because memory that becomes code later has no record.
 * Returns 0 or -ENOMEM.
 */
static int find_made(struct place *place, const struct hwprof_profile *profile,
		     uint64_t address)
{
	struct object *object = objects_get_made(profile->objects, place->pid);
	uint64_t offset;

	if (!object)
		return -ENOMEM;
	if (object_symbol(object, address, &offset))
		place->object = object;
	return 0;
}

static int find_user(struct place *place, const struct hwprof_profile *profile,
		     const struct row_origin *origin, uint64_t address)
{
	const struct processes *processes = profile->collected.processes;
	static const struct build_id none = { .size = 0 };
	const struct mapping *mapping;

	mapping =
		processes_find(processes, origin->pid, origin->first, address);
	if (!mapping)
		mapping = processes_find(processes, origin->pid, origin->last,
					 address);
	place->object = mapping ?
		processes_object(profile->objects, profile->file, mapping) :
		objects_get(profile->objects, "[unknown]", &none);
	place->pid = origin->pid;
	if (!place->object)
		return -ENOMEM;
	if (processes_may_be_made(mapping) && !is_of_ranges(profile) &&
	    find_made(place, profile, address))
		return -ENOMEM;
	if (!mapping)
		return 0;
	place->left = mapping->size - (address - mapping->start);
	if (is_shared(place->object)) {
		place->pid = 0;
		place->address = object_address(place->object,
						address - mapping->start +
						mapping->offset);
	} else if (is_anonymous(mapping) && !object_is_made(place->object)) {
		return find_anonymous(place, profile, origin->last, mapping);
	}
	return 0;
}

/*
 * Addresses of ranges are not converted, because their parts must stay inside.
 */
static int find_kernel(struct place *place,
		       const struct hwprof_profile *profile,
		       uint64_t address)
{
	place->object = processes_kernel(profile->collected.processes,
					 profile->objects, profile->file,
					 &place->address,
					 !is_of_ranges(profile));
	place->left = -address;
	return place->object ? 0 : -ENOMEM;
}

int place_find(struct place *place, const struct hwprof_profile *profile,
	       const struct row_origin *origin, uint64_t address)
{
	int error;

	*place = (struct place){ .address = address };
	if (origin->pid & PROCESS_GUEST)
		error = find_guest(place, profile, address);
	else if (in_kernel(address))
		error = find_kernel(place, profile, address);
	else
		error = find_user(place, profile, origin, address);
	if (profile->flags & HWPROF_PER_PROCESS)
		place->pid = origin->pid & ~PROCESS_GUEST;
	if (place->pid)
		place->file = profile->file_count + 1;
	return error;
}
