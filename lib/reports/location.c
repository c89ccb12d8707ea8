// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <string.h>

#include "location.h"

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
 * mapping. If @location is there, attributes it to the object. Returns 0 or
 * -ENOMEM.
 */
static int find_zeroed(struct location *location,
		       const struct hwprof_profile *profile,
		       uint32_t pid, uint64_t time,
		       const struct mapping *mapping)
{
	const struct mapping *before =
		processes_find(profile->facts.processes, pid, time,
			       mapping->start - 1);
	uint64_t address = location->address, left;
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
	location->object = object;
	location->pid = 0;
	location->address = address;
	if (left < location->left)
		location->left = left;
	return 0;
}

/*
 * Finds the object of anonymous memory. If @location still belongs to its
 * process, it may be the heap.
 */
static int find_anonymous(struct location *location,
			  const struct hwprof_profile *profile,
			  uint64_t time, const struct mapping *mapping)
{
	static const struct build_id none = { .size = 0 };
	uint32_t pid = location->pid;
	int error = find_zeroed(location, profile, pid, time, mapping);

	if (error || !location->pid ||
	    !processes_is_heap(profile->facts.processes, pid, time,
			       mapping))
		return error;
	location->object = objects_get(profile->objects, "[heap]", &none);
	return location->object ? 0 : -ENOMEM;
}

/* Nothing is known about the maps of a guest. */
static int find_guest(struct location *location,
		      const struct hwprof_profile *profile, uint64_t address)
{
	static const struct build_id none = { .size = 0 };
	bool kernel = in_kernel(address);

	location->object = objects_get(profile->objects,
				    kernel ? "[guest kernel]" : "[guest]",
				    &none);
	location->left = kernel ? -address : 1ULL << 63;
	return location->object ? 0 : -ENOMEM;
}

/*
 * Finds the name of code that the process made. It looks even where nothing is
 * known to be mapped, because memory that becomes code later has no record.
 * Returns 0 or -ENOMEM.
 */
static int find_made(struct location *location,
		     const struct hwprof_profile *profile, uint64_t address)
{
	struct object *object =
		objects_get_made(profile->objects, location->pid);
	uint64_t offset;

	if (!object)
		return -ENOMEM;
	if (object_symbol(object, address, &offset))
		location->object = object;
	return 0;
}

static int find_user(struct location *location,
		     const struct hwprof_profile *profile,
		     const struct row_origin *origin, uint64_t address)
{
	const struct processes *processes = profile->facts.processes;
	static const struct build_id none = { .size = 0 };
	const struct mapping *mapping;

	mapping =
		processes_find(processes, origin->pid, origin->first, address);
	if (!mapping)
		mapping = processes_find(processes, origin->pid, origin->last,
					 address);
	location->object = mapping ?
		processes_object(profile->objects, profile->file, mapping) :
		objects_get(profile->objects, "[unknown]", &none);
	location->pid = origin->pid;
	if (!location->object)
		return -ENOMEM;
	if (processes_may_be_made(mapping) && !is_of_ranges(profile) &&
	    find_made(location, profile, address))
		return -ENOMEM;
	if (!mapping)
		return 0;
	location->left = mapping->size - (address - mapping->start);
	if (is_shared(location->object)) {
		location->pid = 0;
		location->address = object_address(location->object,
						   address - mapping->start +
							   mapping->offset);
	} else if (is_anonymous(mapping) && !object_is_made(location->object)) {
		return find_anonymous(location, profile, origin->last, mapping);
	}
	return 0;
}

/*
 * Addresses of ranges are not converted, because their parts must stay inside.
 */
static int find_kernel(struct location *location,
		       const struct hwprof_profile *profile,
		       uint64_t address)
{
	location->object = processes_kernel(profile->facts.processes,
					 profile->objects, profile->file,
					 &location->address,
					 !is_of_ranges(profile));
	location->left = -address;
	return location->object ? 0 : -ENOMEM;
}

int location_find(struct location *location,
		  const struct hwprof_profile *profile,
		  const struct row_origin *origin, uint64_t address)
{
	int error;

	*location = (struct location){ .address = address };
	if (origin->pid & PROCESS_GUEST)
		error = find_guest(location, profile, address);
	else if (in_kernel(address))
		error = find_kernel(location, profile, address);
	else
		error = find_user(location, profile, origin, address);
	if (profile->flags & HWPROF_PER_PROCESS)
		location->pid = origin->pid & ~PROCESS_GUEST;
	if (location->pid)
		location->file = profile->file_count + 1;
	return error;
}
