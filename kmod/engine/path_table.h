/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The path engine's table: path.c walks over branches and counts each path when
 * it ends, by its key; here is where paths are found, and what they are.
 *
 * A path's jumps are kept in 8 bytes each: how far ahead of where the line began
 * the jump is, and how far it leads. Few of them are in the path itself, the
 * others in blocks, from a pool that is as fixed as all else.
 */
#ifndef HWPROF_ENGINE_PATH_TABLE_H
#define HWPROF_ENGINE_PATH_TABLE_H

#include "engine.h"
#include "flow.h"

enum {
	PATH_JUMPS	= HWPROF_PATH_JUMPS_MAX,
	PATH_WAYS	= 4,	/* of a set: a cache line of slots */
	PATH_OWN	= 1,	/* jumps in a path, */
	PATH_BLOCK	= 3,	/* and in a block */
	PATH_LINE_BITS	= 16,	/* of a jump: bytes from where the line began */
};

/* What a path is besides its addresses. */
enum path_shape {
	PATH_CALLED	= HWPROF_PATH_CALLED,
	PATH_UNSEEN	= HWPROF_PATH_UNSEEN,
	PATH_OPEN	= HWPROF_PATH_OPEN,
};

struct path_slot {
	u64 key;		/* 0: free; else odd */
	u64 count;		/* paths finished; open: windows */
};

/* A cache line. */
struct path {
	u64 start;
	u64 end;		/* open: where the windows were taken */
	u64 target;		/* 0: it ends with a return, or is open */
	u64 told;		/* of the count, what rows carried */
	u64 cycles;		/* in no row yet */
	u32 space;
	u32 more;		/* number of the block with further jumps */
	u16 length;		/* jumps; those not kept are counted, too */
	u8 jumps;		/* that are kept */
	u8 shape;
	u32 reserved;
	u64 jump[PATH_OWN];
};

struct path_block {
	u64 jump[PATH_BLOCK];
	u32 next;		/* block, if there is one */
	u32 reserved;
};

struct path_table {
	struct path_slot *slots;
	struct path *paths;	/* one for each slot */
	struct path_block *blocks;	/* likewise, */
	u64 *contexts;		/* and likewise; NULL: they are not told */
	u32 slot_count;
	u64 seed;
	u64 pending;		/* counted, and in no row */
	u64 evicted;
	u32 times;		/* that what is fed now was seen */
	u32 basis;
	u32 claimed;		/* paths that were not found, so far */
	u32 merged;		/* slots that merge() is through with */
	u32 fresh;		/* blocks that were used, ever */
	u32 free;		/* blocks in the list that begins with ... */
	u32 free_first;		/* ... this one */
	struct path_cursor *window;	/* NULL: all is seen */
	/* The row in the making, with its flexible array. */
	u64 row[(sizeof(struct hwprof_row_path) +
		 PATH_JUMPS * sizeof(struct hwprof_path_jump)) / 8 + 1];
};

/* Bytes of so many slots, with all that belongs to them. */
size_t path_table_size(u32 slots, const struct engine_params *params);
void path_table_init(struct path_table *table, void *memory, u32 slots,
		     const struct engine_params *params);

/* Adds to a path that the table knows. False: it does not. */
bool path_table_count(struct path_table *table, u64 key, u64 count, u64 cycles);

/* Adds @count and path->cycles to a path that is new or known. */
void path_table_add(struct path_table *table, u64 key, const struct path *path,
		    const u64 *jumps, u64 context, u64 count);

/* Copies all jumps that are kept. */
void path_jumps(const struct path_table *table, const struct path *path,
		u64 *jumps);

/* How many units that is: windows are none. */
static inline u64 path_units(const struct path *path, u64 count)
{
	return path->shape & PATH_OPEN ? 0 : count;
}

static inline struct path *path_of(const struct path_table *table,
				   const struct path_slot *slot)
{
	return &table->paths[slot - table->slots];
}

/* It took so many new paths that it pays to retire it: false. */
static inline bool path_table_has_room(const struct path_table *table)
{
	return table->claimed <= table->slot_count / 2 &&
	       table->free + table->slot_count - table->fresh >=
	       table->slot_count / 4;
}

/* The slot that a path is in, unless it is taken by one that runs more. */
static __always_inline struct path_slot *
path_home(const struct path_table *table, u64 key)
{
	unsigned __int128 product = (unsigned __int128)key * table->slot_count;

	return &table->slots[(u64)(product >> 64)];
}

/* Does the jump fit into what is kept of it? @line: where its line began. */
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

/* path_table.c: of engine_ops */
size_t path_merge(void *profile, void *table, size_t limit);
bool path_rows(void *profile, u32 space, size_t *at, engine_emit emit,
	       void *context);
void path_forget(void *profile, u32 space);
u64 path_pending(const void *table);
u64 path_evicted(const void *table);

#endif /* HWPROF_ENGINE_PATH_TABLE_H */
