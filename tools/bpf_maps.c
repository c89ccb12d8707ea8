// SPDX-License-Identifier: GPL-2.0-only
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf.h"
#include "base/json.h"
#include "table.h"
#include "base/array.h"

/* --- types ---------------------------------------------------------------- */

/* Names that mean addresses of code or data. */
static bool is_address(const char *name)
{
	static const char *const names[] = {
		"from", "to", "ip", "address", "site", "callee", "head", "tail",
		"start", "end", "target", "stack",
	};
	const char *last = strrchr(name, '.');
	size_t length = strlen(name), i;

	if (length > 3 && !strcmp(name + length - 3, "_ip"))
		return true;
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(last ? last + 1 : name, names[i]))
			return true;
	return false;
}

static void add_leaf(struct bpf_layout *layout, const char *name, size_t offset,
		     size_t size)
{
	struct bpf_leaf *leaf = &layout->leaves[layout->count];

	if (layout->count == BPF_LEAVES_MAX)
		return;
	layout->count++;
	snprintf(leaf->name, sizeof(leaf->name), "%s", name);
	leaf->offset = offset;
	leaf->size = size;
	leaf->address = size == 8 && is_address(leaf->name);
	leaf->has_sign = false;
}

static bool add_type(struct bpf_layout *layout, const struct btf *btf, int id,
		     const char *name, size_t offset);

static bool add_members(struct bpf_layout *layout, const struct btf *btf,
			const struct btf_type *type, const char *name,
			size_t offset)
{
	const struct btf_member *member = btf_members(type);
	bool known = true;
	int i;

	for (i = 0; i < btf_vlen(type) && known; i++, member++) {
		const char *own = btf__name_by_offset(btf, member->name_off);
		char full[64];

		snprintf(full, sizeof(full), "%.30s%s%.30s", name,
			 *name && *own ? "." : "", own);
		known = !btf_member_bitfield_size(type, i) &&
			add_type(layout, btf, member->type, full, offset +
				 btf_member_bit_offset(type, i) / 8);
	}
	return known;
}

static bool add_elements(struct bpf_layout *layout, const struct btf *btf,
			 const struct btf_array *array, const char *name,
			 size_t offset)
{
	int size = btf__resolve_size(btf, array->type);
	bool known = size > 0;
	unsigned int i;

	for (i = 0; i < array->nelems && known; i++) {
		char full[64];

		snprintf(full, sizeof(full), "%.50s[%u]", name, i);
		known = add_type(layout, btf, array->type, full,
				 offset + (size_t)size * i);
	}
	return known;
}

/*
 * Adds the numbers of a type, whose value is at @offset. Returns false if it
 * has anything else, such as bit fields.
 */
static bool add_type(struct bpf_layout *layout, const struct btf *btf, int id,
		     const char *name, size_t offset)
{
	int plain = btf__resolve_type(btf, id);
	const struct btf_type *type = btf__type_by_id(btf, plain);

	if (plain < 0 || !type || layout->count == BPF_LEAVES_MAX)
		return false;
	if (btf_is_struct(type))
		return add_members(layout, btf, type, name, offset);
	if (btf_is_array(type))
		return add_elements(layout, btf, btf_array(type), name, offset);
	if (!btf_is_int(type) && !btf_is_any_enum(type) && !btf_is_ptr(type))
		return false;
	if (!btf_is_ptr(type) && type->size > 8)
		return false;
	add_leaf(layout, name, offset, btf_is_ptr(type) ? 8 : type->size);
	if (btf_is_int(type) && btf_int_encoding(type) & BTF_INT_SIGNED)
		layout->leaves[layout->count - 1].has_sign = true;
	return true;
}

static void add_words(struct bpf_layout *layout, size_t size, const char *name)
{
	size_t at = 0, width;

	for (; at < size && layout->count < BPF_LEAVES_MAX; at += width) {
		char full[64];

		for (width = 8; width > size - at; width /= 2)
			;
		snprintf(full, sizeof(full), "%s%zu", name, at);
		add_leaf(layout, size > 8 ? full : name, at, width);
	}
}

void bpf_layout_of(struct bpf_layout *layout, const struct btf *btf, int id,
		   size_t size, const char *name)
{
	const struct btf_type *type = NULL;
	int plain = btf && id ? btf__resolve_type(btf, id) : 0;

	if (plain > 0)
		type = btf__type_by_id(btf, plain);
	layout->count = 0;
	if (type && add_type(layout, btf, id, btf_is_struct(type) ? "" : name,
			     0))
		return;
	layout->count = 0;
	add_words(layout, size, name);
}

/* --- maps ----------------------------------------------------------------- */

static bool is_of_cpus(const struct bpf_map *map)
{
	enum bpf_map_type type = bpf_map__type(map);

	return type == BPF_MAP_TYPE_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_LRU_PERCPU_HASH ||
	       type == BPF_MAP_TYPE_PERCPU_ARRAY;
}

static bool is_array(const struct bpf_map *map)
{
	return bpf_map__type(map) == BPF_MAP_TYPE_ARRAY ||
	       bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY;
}

bool bpf_is_printed(const struct bpf_map *map)
{
	return !bpf_map__is_internal(map) && *bpf_map__name(map) != '_' &&
	       (is_of_cpus(map) || is_array(map) ||
		bpf_map__type(map) == BPF_MAP_TYPE_HASH ||
		bpf_map__type(map) == BPF_MAP_TYPE_LRU_HASH);
}

static uint64_t number_at(const struct bpf_leaf *leaf, const void *memory)
{
	uint64_t number = 0;

	memcpy(&number, memory + leaf->offset, leaf->size);
	if (leaf->has_sign && leaf->size < 8 &&
	    number >> (8 * leaf->size - 1))
		number |= ~0ULL << 8 * leaf->size;
	return number;
}

/* A map that is being read. */
struct reading {
	const struct bpf_map *map;
	size_t stride;		/* bytes between two CPUs' values */
	unsigned int cpus;
	uint8_t *key, *next, *value;
	size_t room;		/* of rows */
};

static size_t width_of(const struct bpf_content *content)
{
	return content->key.count + content->value.count;
}

/* Adds a row for the present key and value. */
static int add_row(struct bpf_content *content, struct reading *reading)
{
	size_t width = width_of(content), i;
	uint64_t *row, sum = 0;
	unsigned int cpu;

	row = array_grow(content->numbers, &reading->room, content->rows + 1,
			 width * sizeof(*row));
	if (!row)
		return -ENOMEM;
	content->numbers = row;
	row = &content->numbers[content->rows * width];
	memset(row, 0, width * sizeof(*row));
	for (i = 0; i < content->key.count; i++)
		*row++ = number_at(&content->key.leaves[i], reading->key);
	for (i = 0; i < content->value.count; i++, sum |= *row++)
		for (cpu = 0; cpu < reading->cpus; cpu++)
			*row += number_at(&content->value.leaves[i],
					  reading->value +
					  cpu * reading->stride);
	content->rows += sum || !is_array(reading->map);
	return 0;
}

/* Keys that are deleted meanwhile have no value, and are left out. */
static int read_rows(struct bpf_content *content, struct reading *reading)
{
	int fd = bpf_map__fd(reading->map), error = 0;
	bool more = !bpf_map_get_next_key(fd, NULL, reading->key);

	while (more && !error) {
		if (!bpf_map_lookup_elem(fd, reading->key, reading->value))
			error = add_row(content, reading);
		more = !bpf_map_get_next_key(fd, reading->key, reading->next);
		memcpy(reading->key, reading->next,
		       bpf_map__key_size(reading->map));
	}
	return error;
}

/* qsort_r() passes the content on. */
static int compare(const void *a, const void *b, void *context)
{
	const struct bpf_content *content = context;
	const uint64_t *left = a, *right = b;
	size_t first = content->value.count ? content->key.count : 0, i;

	if (left[first] != right[first])
		return left[first] < right[first] ? 1 : -1;
	for (i = 0; i < content->key.count; i++)
		if (left[i] != right[i])
			return left[i] < right[i] ? -1 : 1;
	return 0;
}

int bpf_read(struct bpf_content *content, const struct bpf_map *map,
	     const struct btf *btf)
{
	size_t key = bpf_map__key_size(map), value = bpf_map__value_size(map);
	struct reading reading = {
		.map = map, .stride = (value + 7) & ~(size_t)7,
		.cpus = is_of_cpus(map) ? libbpf_num_possible_cpus() : 1,
	};
	int error = -ENOMEM;

	*content = (struct bpf_content){ .rows = 0 };
	bpf_layout_of(&content->key, btf, bpf_map__btf_key_type_id(map), key,
		      "key");
	bpf_layout_of(&content->value, btf, bpf_map__btf_value_type_id(map),
		      value, "value");
	reading.key = calloc(2, key);
	reading.next = reading.key + key;
	reading.value = calloc(reading.cpus, reading.stride);
	if (reading.key && reading.value)
		error = read_rows(content, &reading);
	free(reading.key);
	free(reading.value);
	if (content->rows)
		qsort_r(content->numbers, content->rows,
			width_of(content) * sizeof(*content->numbers), compare,
			content);
	return error;
}

void bpf_free(struct bpf_content *content)
{
	free(content->numbers);
}

/* --- output --------------------------------------------------------------- */

static const struct bpf_leaf *leaf_at(const struct bpf_content *content,
				      size_t i)
{
	return i < content->key.count
		       ? &content->key.leaves[i]
		       : &content->value.leaves[i - content->key.count];
}

static const char *format_of(const struct bpf_leaf *leaf)
{
	return leaf->address ? "0x%" PRIx64 : leaf->has_sign ? "%" PRId64 :
							       "%" PRIu64;
}

static size_t rows_up_to(const struct bpf_content *content, size_t limit)
{
	return limit && limit < content->rows ? limit : content->rows;
}

void bpf_print(const struct bpf_content *content, size_t limit, FILE *out)
{
	struct table_column columns[2 * BPF_LEAVES_MAX] = { { NULL, 0, 0 } };
	size_t width = width_of(content), i;
	struct table table = { .columns = columns, .column_count = width };

	for (i = 0; i < width; i++)
		columns[i] = (struct table_column){
			.title = leaf_at(content, i)->name, .right = true,
		};
	for (i = 0; i < rows_up_to(content, limit) * width; i++)
		table_add(&table, format_of(leaf_at(content, i % width)),
			  content->numbers[i]);
	table_print(&table, 0, out);
	table_free(&table);
	if (rows_up_to(content, limit) < content->rows)
		fprintf(out, "and %zu more\n",
			content->rows - rows_up_to(content, limit));
}

static void put_numbers(const struct bpf_layout *layout, const char *name,
			const uint64_t *numbers, struct json *json)
{
	size_t i;

	json_open(json, name, '{');
	for (i = 0; i < layout->count; i++) {
		const struct bpf_leaf *leaf = &layout->leaves[i];

		if (leaf->address)
			json_hex(json, leaf->name, numbers[i]);
		else if (leaf->has_sign)
			json_signed(json, leaf->name, numbers[i]);
		else
			json_unsigned(json, leaf->name, numbers[i]);
	}
	json_close(json, '}');
}

void bpf_print_json(const struct bpf_content *content, size_t limit,
		    struct json *json)
{
	size_t i;

	for (i = 0; i < rows_up_to(content, limit); i++) {
		const uint64_t *row =
			&content->numbers[i * width_of(content)];

		json_open(json, NULL, '{');
		put_numbers(&content->key, "key", row, json);
		put_numbers(&content->value, "value", row + content->key.count,
			    json);
		json_close(json, '}');
	}
}
