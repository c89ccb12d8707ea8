/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of what there is: /api/v1/builds and /api/v1/windows. */
#ifndef HWPROFD_LISTING_H
#define HWPROFD_LISTING_H

#include "query.h"
#include "timeline.h"

/*
 * Returns the JSON that answers @query, which the caller frees; NULL without
 * memory.
 */
char *listing_text(struct timeline *timeline, const struct query *query);

#endif /* HWPROFD_LISTING_H */
