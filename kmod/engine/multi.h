/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The parts of multi_engine, as bit numbers of engine_params.parts. */
#ifndef HWPROF_ENGINE_MULTI_H
#define HWPROF_ENGINE_MULTI_H

#include "engine.h"

enum multi_part {
	MULTI_LOOPS,
	MULTI_CALLS,
	MULTI_PATHS,
	MULTI_CCT,
	MULTI_EDGES,
	MULTI_PARTS,
};

/* Return the parts for engines, which are bits 1 << enum engine_id. */
static inline u32 multi_parts_of(u32 engines)
{
	return (engines >> ENGINE_loops & 1) << MULTI_LOOPS |
	       (engines >> ENGINE_calls & 1) << MULTI_CALLS |
	       (engines >> ENGINE_paths & 1) << MULTI_PATHS |
	       (engines >> ENGINE_cct & 1) << MULTI_CCT |
	       (engines >> ENGINE_edges & 1) << MULTI_EDGES;
}

/* Return true if paths are told apart by context. */
static inline bool multi_has_context(const struct engine_params *params)
{
	return params->parts >> MULTI_PATHS & params->parts >> MULTI_CCT & 1;
}

extern const struct engine_ops *const multi_parts[MULTI_PARTS];

#endif /* HWPROF_ENGINE_MULTI_H */
