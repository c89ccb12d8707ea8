// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/* Find, merge and emit paths. See path_table.h. */
#include "multi.h"
#include "path_table.h"

size_t path_table_size(u32 slots, const struct engine_params *params)
{
	return slots * (sizeof(struct path_slot) + sizeof(struct path) +
			sizeof(struct path_block) +
			(multi_has_context(params) ? sizeof(u64) : 0));
}

void path_table_init(struct path_table *table, void *memory, u32 slots,
		     const struct engine_params *params)
{
	*table = (struct path_table){
		.slots = memory,
		.slot_count = slots,
		.seed = params->seed,
		.times = 1,
		.basis = params->basis,
	};
	table->paths = (struct path *)(table->slots + slots);
	table->blocks = (struct path_block *)(table->paths + slots);
	if (multi_has_context(params))
		table->contexts = (u64 *)(table->blocks + slots);
}

static u64 *path_context_of(const struct path_table *table,
			    const struct path_slot *slot)
{
	return &table->contexts[slot - table->slots];
}

/* --- blocks --------------------------------------------------------------- */

static u32 path_blocks_needed(u32 jumps)
{
	return jumps <= PATH_OWN ? 0 :
	       (jumps - PATH_OWN + PATH_BLOCK - 1) / PATH_BLOCK;
}

static u32 path_blocks_left(const struct path_table *table)
{
	return table->free + table->slot_count - table->fresh;
}

static u32 path_block_take(struct path_table *table)
{
	u32 block = table->free_first;

	if (!table->free)
		return table->fresh++;
	table->free--;
	table->free_first = table->blocks[block].next;
	return block;
}

static void path_blocks_give(struct path_table *table, const struct path *path)
{
	u32 block = path->more, next, left = path_blocks_needed(path->jumps);

	for (; left; left--, block = next) {
		next = table->blocks[block].next;
		table->blocks[block].next = table->free_first;
		table->free_first = block;
		table->free++;
	}
}

/* --- jumps ---------------------------------------------------------------- */

/* The caller has checked that there are enough blocks. */
static void path_keep_jumps(struct path_table *table, struct path *path,
			    const u64 *jumps)
{
	u32 *next = &path->more, i;
	u64 *room = path->jump;

	for (i = 0; i < path->jumps; i++) {
		if (i >= PATH_OWN && (i - PATH_OWN) % PATH_BLOCK == 0) {
			struct path_block *block;

			*next = path_block_take(table);
			block = &table->blocks[*next];
			next = &block->next;
			room = block->jump;
		}
		*room++ = jumps[i];
	}
}

void path_jumps(const struct path_table *table, const struct path *path,
		u64 *jumps)
{
	const u64 *from = path->jump;
	u32 next = path->more, i;

	for (i = 0; i < path->jumps; i++) {
		if (i >= PATH_OWN && (i - PATH_OWN) % PATH_BLOCK == 0) {
			from = table->blocks[next].jump;
			next = table->blocks[next].next;
		}
		jumps[i] = *from++;
	}
}

/* --- slots ---------------------------------------------------------------- */

/*
 * A path is in its first set, that of its home, or in its second one, which it
 * goes to if the first is full. A table is nearly full before it has to evict.
 */
static struct path_slot *path_set(const struct path_table *table, u64 key,
				  unsigned int choice)
{
	size_t slot = path_home(table, key) - table->slots;

	if (choice)
		slot = ((u64)(u32)key * table->slot_count) >> 32;
	return &table->slots[slot & ~(size_t)(PATH_WAYS - 1)];
}

static struct path_slot *path_find(const struct path_table *table, u64 key)
{
	unsigned int choice, way;

	for (choice = 0; choice < 2; choice++) {
		struct path_slot *slot = path_set(table, key, choice);

		for (way = 0; way < PATH_WAYS; way++, slot++)
			if (slot->key == key)
				return slot;
	}
	return NULL;
}

/* Move a path that runs often to its home slot, which look-ups try first. */
static void path_prefer(struct path_table *table, struct path_slot *slot)
{
	struct path_slot *home = path_home(table, slot->key);

	if (slot->count < 2 * home->count ||
	    (slot - table->slots) / PATH_WAYS !=
	    (home - table->slots) / PATH_WAYS || slot == home)
		return;
	swap_values(*slot, *home);
	swap_values(*path_of(table, slot), *path_of(table, home));
	if (table->contexts)
		swap_values(*path_context_of(table, slot),
			    *path_context_of(table, home));
}

/* Evict a path. The part of its count that is in no row is given up. */
static void path_evict(struct path_table *table, struct path_slot *slot)
{
	struct path *path = path_of(table, slot);
	u64 untold = path_units(path, slot->count - path->told);

	path_blocks_give(table, path);
	table->pending -= untold;
	table->evicted += untold;
	slot->key = 0;
	slot->count = 0;
}

/*
 * Choose a slot for a new path: its home if that is free, or else a free slot
 * of its sets, or else the one whose path ran least.
 */
static struct path_slot *path_choose(const struct path_table *table, u64 key)
{
	struct path_slot *least = path_home(table, key);
	unsigned int choice, way;

	if (!least->key)
		return least;
	for (choice = 0; choice < 2; choice++) {
		struct path_slot *slot = path_set(table, key, choice);

		for (way = 0; way < PATH_WAYS; way++, slot++) {
			if (!slot->key)
				return slot;
			if (slot->count < least->count)
				least = slot;
		}
	}
	return least;
}

/*
 * Free a slot, and blocks for @jumps jumps. If blocks are short, evict the
 * other paths of the first set, too. Return NULL if even that is not enough.
 */
static struct path_slot *path_claim(struct path_table *table, u64 key,
				    u32 jumps)
{
	struct path_slot *slot = path_choose(table, key);
	struct path_slot *other = path_set(table, key, 0);
	unsigned int way;

	table->claimed++;
	if (slot->key)
		path_evict(table, slot);
	for (way = 0; way < PATH_WAYS; way++, other++) {
		if (path_blocks_left(table) >= path_blocks_needed(jumps))
			return slot;
		if (other->key)
			path_evict(table, other);
	}
	return path_blocks_left(table) >= path_blocks_needed(jumps) ?
	       slot : NULL;
}

bool path_table_count(struct path_table *table, u64 key, u64 count, u64 cycles)
{
	struct path_slot *slot = path_find(table, key);

	if (!slot)
		return false;
	table->pending += path_units(path_of(table, slot), count);
	slot->count += count;
	path_of(table, slot)->cycles += cycles;
	path_prefer(table, slot);
	return true;
}

void path_table_add(struct path_table *table, u64 key, const struct path *path,
		    const u64 *jumps, u64 context, u64 count)
{
	struct path_slot *slot;

	if (path_table_count(table, key, count, path->cycles))
		return;
	slot = path_claim(table, key, path->jumps);
	if (!slot) {
		table->evicted += path_units(path, count);
		return;
	}
	table->pending += path_units(path, count);
	slot->key = key;
	slot->count = count;
	*path_of(table, slot) = *path;
	path_keep_jumps(table, path_of(table, slot), jumps);
	if (table->contexts)
		*path_context_of(table, slot) = context;
}

/* --- from a table into a profile ------------------------------------------ */

static void path_take(struct path_table *profile, struct path_table *table,
		      struct path_slot *slot)
{
	struct path path = *path_of(table, slot);
	u64 jumps[PATH_JUMPS], untold = slot->count - path.told;

	path_jumps(table, &path, jumps);
	path.told = 0;
	if (untold)
		path_table_add(profile, slot->key, &path, jumps,
			       table->contexts ?
			       *path_context_of(table, slot) : 0,
			       untold);
	table->pending -= path_units(&path, untold);
	slot->key = 0;
	slot->count = 0;
}

/*
 * An item of the limit is a slot, full or not, because looking at slots takes
 * the time that callers wait for.
 */
size_t path_merge(void *memory, void *table_memory, size_t limit)
{
	struct path_table *profile = memory, *table = table_memory;
	size_t taken;

	for (taken = 0; taken < limit; taken++) {
		if (table->merged == table->slot_count)
			break;
		if (table->slots[table->merged].key)
			path_take(profile, table, &table->slots[table->merged]);
		table->merged++;
	}
	if (taken == limit)
		return taken;
	profile->evicted += table->evicted;
	table->evicted = 0;
	table->merged = 0;
	table->claimed = 0;
	table->fresh = 0;
	table->free = 0;
	return taken;
}

/* --- rows ----------------------------------------------------------------- */

static void path_spell(struct hwprof_row_path *row,
		       const struct path_table *table, const struct path *path)
{
	u64 jumps[PATH_JUMPS], line = path->start;
	u32 i;

	path_jumps(table, path, jumps);
	for (i = 0; i < path->jumps; i++) {
		row->jumps[i] = path_jump_unpack(line, jumps[i]);
		line = row->jumps[i].to;
	}
}

/* The context follows the jumps. */
static void path_add_context(struct hwprof_row_path *row, u64 context)
{
	memcpy((void *)row + row->row.size, &context, sizeof(context));
	row->row.size += sizeof(context);
	row->flags |= HWPROF_PATH_IN_CONTEXT;
}

static bool path_emit(struct path_table *table, const struct path_slot *slot,
		      engine_emit emit, void *context)
{
	struct hwprof_row_path *row = (void *)table->row;
	struct path *path = path_of(table, slot);
	u64 untold = slot->count - path->told;
	bool open = path->shape & PATH_OPEN;

	if (!untold)
		return true;
	*row = (struct hwprof_row_path){
		.row.type = HWPROF_ROW_PATH,
		.row.size = sizeof(*row) + path->jumps * sizeof(row->jumps[0]),
		.row.space = path->space,
		.start = path->start,
		.end = path->end,
		.target = path->target,
		.count = untold,
		.cycles = path->cycles,
		.length = path->length,
		.spelled = path->jumps,
		.flags = path->shape,
		.basis = table->basis,
	};
	path_spell(row, table, path);
	if (table->contexts)
		path_add_context(row, *path_context_of(table, slot));
	if (!emit(context, row, open ? path->end : path->start,
		  open ? 0 : path->end, path_units(path, untold)))
		return false;
	path->told += untold;
	path->cycles = 0;
	table->pending -= path_units(path, untold);
	return true;
}

bool path_rows(void *memory, u32 space, size_t *at, size_t limit,
	       engine_emit emit, void *context)
{
	struct path_table *table = memory;

	for (; *at < table->slot_count && limit; ++*at, limit--) {
		const struct path_slot *slot = &table->slots[*at];

		if (!slot->key ||
		    (space && path_of(table, slot)->space != space))
			continue;
		if (!path_emit(table, slot, emit, context))
			return false;
	}
	return *at == table->slot_count;
}

bool path_forget(void *memory, u32 space, size_t *at, size_t limit)
{
	struct path_table *table = memory;

	for (; *at < table->slot_count && limit; ++*at, limit--)
		if (table->slots[*at].key && table->paths[*at].space == space)
			path_evict(table, &table->slots[*at]);
	return *at == table->slot_count;
}

u64 path_pending(const void *memory)
{
	return ((const struct path_table *)memory)->pending;
}

u64 path_evicted(const void *memory)
{
	return ((const struct path_table *)memory)->evicted;
}
