// SPDX-License-Identifier: GPL-2.0-only
/* Constants of BPF objects: `const volatile` numbers that --set changes. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"

/* A constant: its place in the map .rodata. */
struct place {
	size_t offset, size;
};

/* Finds a number in a section of variables. */
static bool find_in(const struct btf *btf, const struct btf_type *section,
		    const char *name, size_t length, struct place *place)
{
	const struct btf_var_secinfo *variable = btf_var_secinfos(section);
	int i;

	for (i = 0; i < btf_vlen(section); i++, variable++) {
		const struct btf_type *type =
			btf__type_by_id(btf, variable->type);
		const char *own = btf__name_by_offset(btf, type->name_off);
		const struct btf_type *plain;

		if (strlen(own) != length || strncmp(own, name, length))
			continue;
		plain = btf__type_by_id(btf,
					btf__resolve_type(btf, type->type));
		*place = (struct place){ variable->offset, variable->size };
		return plain && btf_is_int(plain) && variable->size <= 8;
	}
	return false;
}

static bool find(const struct btf *btf, const char *name, size_t length,
		 struct place *place)
{
	int id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);

	return id > 0 && find_in(btf, btf__type_by_id(btf, id), name, length,
				 place);
}

/* Changes bytes of a map that is not made yet. Returns false if it cannot. */
static bool change(struct bpf_map *map, struct place place, uint64_t number)
{
	size_t size;
	const void *old = bpf_map__initial_value(map, &size);
	uint8_t *bytes = old && place.offset + place.size <= size ?
			 malloc(size) : NULL;
	bool done;

	if (!bytes)
		return false;
	memcpy(bytes, old, size);
	memcpy(bytes + place.offset, &number, place.size);
	done = !bpf_map__set_initial_value(map, bytes, size);
	free(bytes);
	return done;
}

bool bpf_get(const struct bpf_object *object, const char *name,
	     uint64_t *number)
{
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");
	const struct btf *btf = bpf_object__btf(object);
	const uint8_t *bytes;
	struct place place;
	size_t size;

	if (!map || !btf || !find(btf, name, strlen(name), &place))
		return false;
	bytes = bpf_map__initial_value(map, &size);
	if (!bytes || place.offset + place.size > size)
		return false;
	*number = 0;
	memcpy(number, bytes + place.offset, place.size);
	return true;
}

const char *bpf_set(struct bpf_object *object, const char *text)
{
	const char *equals = strchr(text, '=');
	struct bpf_map *map = bpf_object__find_map_by_name(object, ".rodata");
	const struct btf *btf = bpf_object__btf(object);
	struct place place;
	uint64_t number;
	char *end;

	if (!equals || equals[1] < '0' || equals[1] > '9')
		return "allowed is NAME=NUMBER";
	number = strtoull(equals + 1, &end, 0);
	if (*end)
		return "allowed is NAME=NUMBER";
	if (!map || !btf || !find(btf, text, equals - text, &place))
		return "the program has no such number";
	if (place.size < 8 && number >> 8 * place.size)
		return "the number is too large";
	return change(map, place, number) ? NULL : "it cannot be changed";
}
