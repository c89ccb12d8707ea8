/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Chooses how often a session looks. While nearly all that it sees is known, it
 * lengthens distances step by step; when it sees what it does not know, it goes
 * back to what was asked for.
 *
 * Windows are judged by the batch. A thing is known that was in enough batches
 * before. The unknown part of a batch is the share of its units that things
 * have which were not known; of several kinds, the largest share. If there are
 * more windows than units, it is the share of these.
 */
#ifndef HWPROF_CONVERGENCE_H
#define HWPROF_CONVERGENCE_H

#include <stdbool.h>
#include "hwprof.h"
#include "perfdata/distances.h"

struct convergence;

/*
 * Completes options, which may be NULL. Returns 0, or -EINVAL with a sentence
 * in @message of @size bytes.
 */
int convergence_options(struct hwprof_converge *to,
			const struct hwprof_converge *options, char *message,
			size_t size);

/*
 * Returns 0 if sessions of @event can converge, or -EOPNOTSUPP with the rest of
 * a sentence that begins with "event 'NAME' ".
 */
int convergence_check(const struct hwprof_event *event, char *why, size_t size);

/*
 * Begins with the parameters that a session has now. @options are complete.
 * Returns NULL if out of memory.
 */
struct convergence *convergence_new(const struct hwprof_converge *options,
				    const struct hwprof_tuning *asked);
void convergence_free(struct convergence *convergence);

/*
 * Returns the distance that a session has from @begin on. @filtered: it has a
 * filter.
 */
struct distance convergence_distance(const struct hwprof_tuning *tuning,
				     bool filtered, uint64_t begin);

/* Takes a row of the session, but no totals. Returns 0 or -ENOMEM. */
int convergence_row(struct convergence *convergence,
		    const struct hwprof_row *row);
/*
 * Takes totals, which follow other rows. Returns true if distances are to
 * change as @change says; call convergence_changed() if they did. Otherwise the
 * change is wanted again later.
 */
bool convergence_totals(struct convergence *convergence,
			const struct hwprof_row_totals *row,
			struct hwprof_tuning *change);
void convergence_changed(struct convergence *convergence);
/* Totals count from 0 again. */
void convergence_reset(struct convergence *convergence);

#endif /* HWPROF_CONVERGENCE_H */
