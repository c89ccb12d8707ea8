/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Distances at which sessions looked, where these changed while they ran. A
 * section of hwprof's own in a recording has them.
 */
#ifndef HWPROF_DISTANCES_H
#define HWPROF_DISTANCES_H

#include <stdbool.h>
#include <stdio.h>

#include "base/byte_reader.h"

enum {
	DISTANCES_MAX = 1 << 18,	/* further ones have no room */
};

#define DISTANCE_NEVER	UINT64_MAX

/**
 * struct distance - What a session looked at from one change to the next
 * @session: number of the session.
 * @number: how often its parameters had changed: 0 for its beginning.
 * @begin: rows of later times are from then, until the next distance begins;
 *	DISTANCE_NEVER: there are none yet.
 * @period: of the trigger; or its frequency in Hz. 0: as the budget allows.
 * @frequency: @period is a frequency.
 * @burst: branches of a burst; 0: there are no bursts.
 * @budget_permille: the budget; 0: there is none.
 * @filtered: a filter leaves out code, which takes time but no window.
 */
struct distance {
	uint32_t session;
	uint32_t number;
	uint64_t begin;
	uint64_t period;
	bool frequency;
	uint32_t burst;
	uint32_t budget_permille;
	bool filtered;
};

/* Sorted by session and number. All 0: there are none. */
struct distances {
	struct distance *all;
	size_t count, room;
};

/*
 * Adds a distance. Returns 0, -EEXIST if the session has one of this number,
 * -ENOSPC, or -ENOMEM.
 */
int distances_add(struct distances *distances, const struct distance *distance);
/* Returns true if there is no room for another distance. */
bool distances_full(const struct distances *distances);
/*
 * Returns the distances of a session, and sets *@count; NULL: there are none.
 */
struct distance *distances_of(const struct distances *distances,
			      uint32_t session, size_t *count);
/*
 * Notes the time of totals that have this number of changes. The earliest says
 * when the distance began: those of another CPU may be read before them.
 */
void distances_date(struct distances *distances, uint32_t session,
		    uint32_t number, uint64_t time);
/* Forgets all distances of @session before its last one. */
void distances_forget(struct distances *distances, uint32_t session);
void distances_free(struct distances *distances);

/* Writes the body of the section. Returns the number of distances. */
size_t distances_put(const struct distances *distances, FILE *out);
/*
 * Reads it. Returns 0; -EBADMSG if it is damaged, with what could be read; or
 * -ENOMEM.
 */
int distances_parse(struct distances *distances, struct byte_reader body);

#endif /* HWPROF_DISTANCES_H */
