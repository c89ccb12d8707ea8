// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "row_table.h"

enum { FIRST_SLOTS = 1024 };

/* The jumps of a path; NULL for other rows. */
static const struct hwprof_path_jump *jumps_of(const struct hwprof_row *row,
					       size_t *count)
{
	const struct hwprof_row_path *path = (const void *)row;

	*count = row->type == HWPROF_ROW_PATH ? path->spelled : 0;
	return *count ? path->jumps : NULL;
}

static uint64_t hash_of(const struct row_fields *fields,
			const struct hwprof_row *row)
{
	uint64_t hash = hash_mix(0, row->type);
	const struct hwprof_path_jump *jumps;
	size_t count, i;

	hash = hash_mix(hash, (uint64_t)row->session << 32 | row->space);
	hash = hash_mix(hash, row->pid);
	for (i = 0; i < fields->count; i++)
		if (row_field_names(&fields->fields[i]))
			hash = hash_mix(hash,
					row_get(row, &fields->fields[i], 0));
	jumps = jumps_of(row, &count);
	for (i = 0; i < count; i++)
		hash = hash_mix(hash_mix(hash, jumps[i].from), jumps[i].to);
	return hash;
}

static bool same_thing(const struct row_fields *fields,
		       const struct hwprof_row *a, const struct hwprof_row *b)
{
	const struct hwprof_path_jump *jumps_a, *jumps_b;
	size_t count_a, count_b, i;

	if (a->type != b->type || a->session != b->session ||
	    a->space != b->space || a->pid != b->pid)
		return false;
	for (i = 0; i < fields->count; i++) {
		const struct row_field *field = &fields->fields[i];

		if (row_field_names(field) &&
		    row_get(a, field, 0) != row_get(b, field, 0))
			return false;
	}
	jumps_a = jumps_of(a, &count_a);
	jumps_b = jumps_of(b, &count_b);
	return count_a == count_b &&
	       (!count_a ||
		!memcmp(jumps_a, jumps_b, count_a * sizeof(*jumps_a)));
}

/* Returns the slot of the thing, or the free one where it would be. */
static size_t slot_of(const struct row_table *table,
		      const struct row_fields *fields,
		      const struct hwprof_row *row, uint64_t hash)
{
	size_t mask = table->slot_count - 1, slot;

	for (slot = hash & mask; table->slots[slot]; slot = (slot + 1) & mask) {
		const struct row_entry *entry =
			table->entries[table->slots[slot] - 1];

		if (entry->hash == hash && same_thing(fields, entry->row, row))
			break;
	}
	return slot;
}

/* Keeps at least half of the slots free. */
static int make_room(struct row_table *table)
{
	size_t wanted = table->slot_count ? table->slot_count : FIRST_SLOTS;
	struct row_entry **entries;
	size_t *slots, i;

	entries = array_grow(table->entries, &table->room, table->count + 1,
			     sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	table->entries = entries;
	if (2 * (table->count + 1) <= table->slot_count)
		return 0;
	if (table->slot_count)
		wanted *= 2;
	slots = calloc(wanted, sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	free(table->slots);
	table->slots = slots;
	table->slot_count = wanted;
	for (i = 0; i < table->count; i++) {
		const struct row_entry *entry = entries[i];

		slots[slot_of(table, entry->fields, entry->row,
			      entry->hash)] = i + 1;
	}
	return 0;
}

static struct row_entry *entry_new(const struct row_fields *fields,
				   const struct hwprof_row *row)
{
	struct row_entry *entry = calloc(1, sizeof(*entry));
	struct hwprof_row *copy = malloc(row->size);

	if (!entry || !copy) {
		free(entry);
		free(copy);
		return NULL;
	}
	memcpy(copy, row, row->size);
	*entry = (struct row_entry){ .fields = fields, .row = copy };
	return entry;
}

int row_table_add(struct row_table *table, const struct row_fields *fields,
		  const struct hwprof_row *row, uint64_t first, uint64_t last,
		  bool sessions, struct row_entry **result)
{
	uint64_t hash = hash_of(fields, row);
	struct row_entry *entry;
	size_t slot;

	if (make_room(table))
		return -ENOMEM;
	slot = slot_of(table, fields, row, hash);
	if (table->slots[slot]) {
		entry = table->entries[table->slots[slot] - 1];
		row_add(fields, entry->row, row, sessions, last >= entry->last);
	} else {
		entry = entry_new(fields, row);
		if (!entry)
			return -ENOMEM;
		entry->hash = hash;
		entry->first = first;
		table->entries[table->count++] = entry;
		table->slots[slot] = table->count;
	}
	if (first < entry->first)
		entry->first = first;
	if (last > entry->last)
		entry->last = last;
	if (result)
		*result = entry;
	return 0;
}

struct row_entry *row_table_find(const struct row_table *table,
				 const struct row_fields *fields,
				 const struct hwprof_row *row)
{
	size_t slot;

	if (!table->slot_count)
		return NULL;
	slot = slot_of(table, fields, row, hash_of(fields, row));
	return table->slots[slot] ? table->entries[table->slots[slot] - 1] :
				    NULL;
}

void row_table_free(struct row_table *table)
{
	size_t i;

	for (i = 0; i < table->count; i++) {
		free(table->entries[i]->row);
		free(table->entries[i]);
	}
	free(table->entries);
	free(table->slots);
	*table = (struct row_table){ .count = 0 };
}
