/* SPDX-License-Identifier: GPL-2.0-only */
/* From a profile through the session's stage into rings of perf events. */
#ifndef HWPROF_EMIT_H
#define HWPROF_EMIT_H

#include <linux/types.h>

#include "session.h"

/* A row that was signed; four zero bytes behind it make it a raw record. */
struct staged {
	u64 ip, addr, period;
	u64 end;		/* session_sign() */
	struct hwprof_row row;
};

/* The bytes of the largest one. */
#define STAGED_MAX	(offsetof(struct staged, row) + HWPROF_ROW_MAX)

/*
 * Rows that have left the profile and wait for a ring. Who holds the profile
 * holds the stage, too.
 */
struct stage {
	u32 used;	/* bytes that were filled, */
	u32 taken;	/* and of these, bytes that were written to a ring */
	u64 units;	/* sum of the periods of rows that were not */
	u8 bytes[] __aligned(8);
};

/* One flush's way through the profile. */
struct emit {
	struct session *session;
	u32 space;		/* rows of this address space; 0: of all */
	u32 version;		/* session->profile_version that all below is of */
	bool settled;
	size_t settled_at, at;	/* how far settling and rows have got */
	bool done;		/* all rows were staged */
	bool told;		/* and totals after them */
	bool ring, full;	/* of the last piece: was there a ring, or no room? */
	bool stuck;		/* some ring had no room */
};

struct stage *stage_new(void);
bool stage_is_empty(const struct stage *stage);

bool emit_all(struct emit *emit);
bool emit_all_here(struct emit *emit, unsigned int steps);

#endif /* HWPROF_EMIT_H */
