/* SPDX-License-Identifier: GPL-2.0-only */
/* From a profile through the session's stage into rings of perf events. */
#ifndef HWPROF_EMIT_H
#define HWPROF_EMIT_H

#include <linux/types.h>

#include "session.h"

/* A signed row. Four zero bytes behind it make it a raw record. */
struct staged {
	u64 ip, addr, period;
	u64 end;		/* session_sign() */
	struct hwprof_row row;
};

/* bytes of the largest one */
#define STAGED_MAX	(offsetof(struct staged, row) + HWPROF_ROW_MAX)

/*
 * Rows that have left the profile and wait for a ring. The owner of the profile
 * also owns the stage.
 */
struct stage {
	u32 used;	/* bytes in use */
	u32 taken;	/* bytes of these that were written to a ring */
	u64 units;	/* sum of the periods of the other rows */
	u8 bytes[] __aligned(8);
};

/* The progress of one flush through the profile. */
struct emit {
	struct session *session;
	u32 space;		/* rows of this address space; 0: of all */
	bool last;		/* no later flush may come */
	/* The session->profile_version that everything below refers to. */
	u32 version;
	bool settled;
	size_t settled_at, at;	/* progress of settling, and of rows */
	bool done;		/* all rows were staged */
	bool told;		/* and totals behind them */
	/* The last piece: whether there was a ring, and whether it was full. */
	bool ring, full;
	/* Attempts of emit_hold_counts() that did not get a context's lock. */
	unsigned int lock_tries;
	unsigned int restarts;	/* how often the profile has changed */
	bool stuck;		/* some ring was full, or too many restarts */
};

struct stage *stage_new(void);
bool stage_is_empty(const struct stage *stage);
void stage_date(struct session *session);

bool emit_has_rings(struct session *session);
bool emit_all(struct emit *emit);
bool emit_all_here(struct emit *emit, unsigned int steps);

#endif /* HWPROF_EMIT_H */
