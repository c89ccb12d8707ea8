/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The path engine's table. path_walk.c walks over branches and counts each path
 * by its key when it ends. path_table.c finds paths and stores what they are.
 *
 * A jump takes 8 bytes: the distance from where its line began to the jump, and
 * the distance from there to its target. A path has room for a few jumps
 * itself. Others are in blocks, which come from a pool of fixed size.
 */
#ifndef HWPROF_ENGINE_PATH_TABLE_H
#define HWPROF_ENGINE_PATH_TABLE_H

#include "engine.h"
#include "flow.h"

enum {
	PATH_JUMPS	= HWPROF_PATH_JUMPS_MAX,
	PATH_WAYS	= 4,	/* of a set: a cache line of slots */
	PATH_OWN	= 1,	/* jumps in a path */
	PATH_BLOCK	= 3,	/* jumps in a block */
	/* A jump must be less than 2^16 bytes from where its line began. */
	PATH_LINE_BITS	= 16,
};

/* The shape of a path: how it begins and ends, besides its addresses. */
enum path_shape {
	PATH_CALLED	= HWPROF_PATH_CALLED,
	PATH_UNSEEN	= HWPROF_PATH_UNSEEN,
	PATH_OPEN	= HWPROF_PATH_OPEN,
};

struct path_slot {
	u64 key;		/* 0: free; else odd */
	u64 count;		/* paths that ended; open: windows */
};

/* One cache line. */
struct path {
	u64 start;
	u64 end;		/* open: where the windows were taken */
	u64 target;		/* 0: it ends with a return, or is open */
	u64 told;		/* part of the count that rows carried */
	u64 cycles;		/* not in a row yet */
	u32 space;
	u32 more;		/* number of the first block of its jumps */
	u16 length;		/* number of jumps, also those not kept */
	u8 jumps;		/* number of jumps that are kept */
	u8 shape;
	u32 reserved;
	u64 jump[PATH_OWN];
};

struct path_block {
	u64 jump[PATH_BLOCK];
	u32 next;		/* next block of the path, if there is one */
	u32 reserved;
};

struct path_table {
	struct path_slot *slots;
	struct path *paths;	/* one per slot */
	struct path_block *blocks;	/* one per slot */
	/* One per slot. NULL: paths are not told apart by context. */
	u64 *contexts;
	u32 slot_count;
	u64 seed;
	u64 pending;		/* units that are in no row yet */
	u64 evicted;
	u32 times;		/* how often the current window was seen */
	u32 basis;
	u32 claimed;		/* how many paths were new, so far */
	u32 merged;		/* slots that path_merge() has finished */
	u32 fresh;		/* blocks that were ever used */
	u32 free;		/* number of blocks in the free list */
	u32 free_first;		/* first block of the free list */
	/* The cursor of windows. NULL: every branch is seen. */
	struct path_cursor *window;
	/* A row that is being made, with its flexible array. */
	u64 row[(sizeof(struct hwprof_row_path) +
		 PATH_JUMPS * sizeof(struct hwprof_path_jump)) / 8 + 1];
};

/**
 * path_table_size() - Compute the memory of a table
 * @slots: number of slots, a multiple of PATH_WAYS.
 * @params: parameters of the engine.
 *
 * Return: bytes of the slots and of everything that belongs to them.
 */
size_t path_table_size(u32 slots, const struct engine_params *params);
void path_table_init(struct path_table *table, void *memory, u32 slots,
		     const struct engine_params *params);

/**
 * path_table_count() - Count a path that the table knows
 * @table: the table.
 * @key: key of the path.
 * @count: how often it ran.
 * @cycles: cycles on it.
 *
 * Return: false, having done nothing, if the table does not know the path.
 */
bool path_table_count(struct path_table *table, u64 key, u64 count, u64 cycles);

/**
 * path_table_add() - Count a path that is known or new
 * @table: the table.
 * @key: key of the path.
 * @path: the path; its cycles are added.
 * @jumps: its packed jumps, path->jumps of them.
 * @context: the context that it ran in, or 0.
 * @count: how often it ran.
 */
void path_table_add(struct path_table *table, u64 key, const struct path *path,
		    const u64 *jumps, u64 context, u64 count);

/**
 * path_jumps() - Copy the jumps that a table keeps of a path
 * @table: the table.
 * @path: a path in it.
 * @jumps: where the packed jumps go: room for PATH_JUMPS.
 */
void path_jumps(const struct path_table *table, const struct path *path,
		u64 *jumps);

/*
 * Return how many units @count runs of a path are. Windows on open paths are
 * none.
 */
static inline u64 path_units(const struct path *path, u64 count)
{
	return path->shape & PATH_OPEN ? 0 : count;
}

static inline struct path *path_of(const struct path_table *table,
				   const struct path_slot *slot)
{
	return &table->paths[slot - table->slots];
}

/*
 * Return false once the table has taken so many new paths that it pays to
 * retire it.
 */
static inline bool path_table_has_room(const struct path_table *table)
{
	return table->claimed <= table->slot_count / 2 &&
	       table->free + table->slot_count - table->fresh >=
	       table->slot_count / 4;
}

/*
 * Return the slot where a path is, unless a path that runs more often is there.
 */
static __always_inline struct path_slot *
path_home(const struct path_table *table, u64 key)
{
	unsigned __int128 product = (unsigned __int128)key * table->slot_count;

	return &table->slots[(u64)(product >> 64)];
}

/* Return true if a jump can be packed. @line is where its line began. */
static __always_inline bool path_jump_fits(u64 line, u64 from, u64 to)
{
	return !(((from - line) >> PATH_LINE_BITS) |
		 ((to - from) >> (64 - PATH_LINE_BITS)));
}

static __always_inline u64 path_jump_pack(u64 line, u64 from, u64 to)
{
	return (to - from) << PATH_LINE_BITS | (from - line);
}

static inline struct hwprof_path_jump path_jump_unpack(u64 line, u64 jump)
{
	u64 from = line + (jump & ((1 << PATH_LINE_BITS) - 1));

	return (struct hwprof_path_jump){
		from, from + (jump >> PATH_LINE_BITS)
	};
}

/* path_table.c: members of engine_ops. */
size_t path_merge(void *profile, void *table, size_t limit);
bool path_rows(void *profile, u32 space, size_t *at, size_t limit,
	       engine_emit emit, void *context);
bool path_forget(void *profile, u32 space, size_t *at, size_t limit);
u64 path_pending(const void *table);
u64 path_evicted(const void *table);

#endif /* HWPROF_ENGINE_PATH_TABLE_H */
