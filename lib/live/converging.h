/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sessions of a recording that converge. */
#ifndef HWPROF_CONVERGING_H
#define HWPROF_CONVERGING_H

#include <stdbool.h>

#include "hwprof.h"
#include "writer.h"

struct converging;
struct distances;

/*
 * Begins with the @count kinds of events of a recording. @options are complete;
 * see convergence.h. @filtered: events have filters. @device is a descriptor of
 * /dev/hwprof, which the result owns. Returns NULL if out of memory; then
 * @device is closed.
 */
struct converging *converging_new(const struct hwprof_converge *options,
				  const struct writer_event *kinds,
				  size_t count, bool filtered, int device);
void converging_close(struct converging *converging);

/*
 * converging_begin() comes before the rings are read, and converging_take()
 * takes what they have: whole records, or their pieces in order.
 */
void converging_begin(struct converging *converging);
void converging_take(struct converging *converging, const void *bytes,
		     size_t size);
/*
 * Changes the distances of sessions for which it is time. Returns 0, or -ENOMEM
 * also if that was met before.
 */
int converging_step(struct converging *converging);

/* Returns the distances so far. */
const struct distances *converging_distances(const struct converging *it);
/* Returns a sentence about a session that cannot be changed; NULL: none. */
const char *converging_warning(const struct converging *converging);

#endif /* HWPROF_CONVERGING_H */
