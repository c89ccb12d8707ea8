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
	}
	return 0;
}
