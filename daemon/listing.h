/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of what there is: /api/v1/builds and /api/v1/windows; /api/v1/now. */
#ifndef HWPROFD_LISTING_H
#define HWPROFD_LISTING_H

#include "query.h"
#include "timeline.h"

/*
 * Returns the JSON that answers @query, which the caller frees; NULL without
 * memory.
 */
char *listing_text(struct timeline *timeline, const struct query *query);

/*
 * Returns the JSON that says how hwprofd is at time @now, which the caller
 * frees; NULL without memory. @trouble is why it is not ready; NULL: it is.
 */
char *listing_now(const struct config *config, int64_t now,
		  const char *trouble);

#endif /* HWPROFD_LISTING_H */
