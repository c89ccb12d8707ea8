// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "engine/window.h"
#include "procedures.h"

enum { LINE_BITS = 15 };

#define KERNEL	(1ULL << 63)	/* start of its half of the addresses */
#define GUEST	1ULL		/* stands for all user addresses */

struct line {
	uint64_t address;
	uint64_t begin;
	uint32_t program;	/* 0: free */
};

struct procedures {
	const struct hwprof_file *file;
	const struct processes *processes;
	struct objects *objects;
	struct line lines[1 << LINE_BITS];
};

struct procedures *procedures_new(const struct hwprof_file *file,
				  const struct processes *processes,
				  struct objects *objects)
{
	struct procedures *procedures = calloc(1, sizeof(*procedures));

	if (!procedures)
		return NULL;
	procedures->file = file;
	procedures->processes = processes;
	procedures->objects = objects;
	return procedures;
}

void procedures_free(struct procedures *procedures)
{
	free(procedures);
}

static int look_up(const struct procedures *procedures, uint32_t pid,
		   uint64_t time, uint64_t address, uint64_t *begin)
{
	const struct mapping *mapping;
	struct object *object;
	uint64_t at, first;

	*begin = 0;
	mapping = processes_find(procedures->processes, pid, time, address);
	if (processes_may_be_made(mapping)) {
		object = objects_get_made(procedures->objects, pid);
		if (!object)
			return -ENOMEM;
		if (object_bounds(object, address, begin, &first))
			return 0;
		*begin = 0;
	}
	if (!mapping)
		return 0;
	*begin = mapping->start;
	object = processes_object(procedures->objects, procedures->file,
				  mapping);
	if (!object)
		return -ENOMEM;
	at = object_address(object, address - mapping->start + mapping->offset);
	/* A procedure that begins before the map begins with the map. */
	if (object_procedure(object, at, &first) &&
	    at - first <= address - mapping->start)
		*begin = address - (at - first);
	return 0;
}

/* The kernel is one procedure if its names are unknown. */
static int look_up_kernel(const struct procedures *procedures,
			  uint64_t address, uint64_t *begin)
{
	uint64_t at = address, offset;
	struct object *object = processes_kernel(procedures->processes,
						 procedures->objects,
						 procedures->file, &at, true);

	if (!object)
		return -ENOMEM;
	*begin = object_has_names(object) && object_symbol(object, at, &offset)
			 ? address - offset
			 : KERNEL;
	return 0;
}

/*
 * Returns the line of an address. Neighbouring addresses have neighbouring
 * lines.
 */
static struct line *line_of(struct procedures *procedures, uint32_t program,
			    uint64_t address)
{
	uint64_t page = address >> LINE_BITS ^ (uint64_t)program << 40;
	uint64_t hash = address + (page * HASH_PRIME >> 32);

	return &procedures->lines[hash & ((1 << LINE_BITS) - 1)];
}

int procedures_find(struct procedures *procedures, uint32_t program,
		    uint32_t pid, uint64_t time, uint64_t address,
		    uint64_t *begin)
{
	struct line *line = line_of(procedures, program, address);
	int error = 0;

	/* A guest's code is unknown: each side is one procedure. */
	if (pid & PROCESS_GUEST) {
		*begin = window_in_kernel(address) ? KERNEL : GUEST;
		return 0;
	}
	if (line->address != address || line->program != program) {
		line->program = 0;
		error = window_in_kernel(address) ?
			look_up_kernel(procedures, address, &line->begin) :
			look_up(procedures, pid, time, address, &line->begin);
		if (!error) {
			line->address = address;
			line->program = program;
		}
	}
	*begin = line->begin;
	return error;
}
