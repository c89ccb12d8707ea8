/* SPDX-License-Identifier: GPL-2.0-only */
/* Lists of what there is: /api/v1/builds and /api/v1/windows; /api/v1/now. */
#ifndef HWPROFD_LISTING_H
#define HWPROFD_LISTING_H

#include "query.h"
#include "timeline.h"

struct json;
struct window_list;

/*
 * Begins the JSON that answers @query. It is made step by step, so that the
 * caller can do other things between. Returns NULL without memory.
 */
struct window_list *window_list_new(struct timeline *timeline,
			    const struct query *query);
void window_list_free(struct window_list *listing);

/* Returns 1 if there is more to do; 0 at the end; or a negative errno. */
int window_list_step(struct window_list *listing);

/* Returns the JSON, which belongs to the list, after its end. */
const char *window_list_text(const struct window_list *listing);

/*
 * Returns the JSON that says how hwprofd is at time @now, which the caller
 * frees; NULL without memory. @trouble is why it is not ready; NULL: it is.
 */
char *listing_now(const struct config *config, int64_t now,
		  const char *trouble);

/* Puts how many units there are of each kind that has any. */
void listing_put_units(struct json *json, const uint64_t units[HWPROF_KINDS]);

#endif /* HWPROFD_LISTING_H */
