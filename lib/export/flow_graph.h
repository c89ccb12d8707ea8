/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Control-flow graphs of procedures, with the counts of a profile of edges. */
#ifndef HWPROF_FLOW_GRAPH_H
#define HWPROF_FLOW_GRAPH_H

#include "listing.h"

/*
 * Writes the member "graphs": the graphs of the @limit procedures that have the
 * branches that ran most, as far as their code can be read. Each has its blocks
 * that ran, and the edges between them. The code of the blocks is added to
 * @listing. Returns 0 or -ENOMEM.
 */
int flow_graphs_put(struct json *json, const struct hwprof_profile *profile,
		    size_t limit, struct listing *listing);

#endif /* HWPROF_FLOW_GRAPH_H */
