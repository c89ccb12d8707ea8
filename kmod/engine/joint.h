/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The parts of joint_engine, as bit numbers of engine_params.parts. */
#ifndef HWPROF_ENGINE_JOINT_H
#define HWPROF_ENGINE_JOINT_H

#include "engine.h"

enum joint_part {
	JOINT_LOOPS,
	JOINT_CALLS,
	JOINT_PATHS,
	JOINT_CCT,
	JOINT_EDGES,
	JOINT_PARTS,
};

/* Return the parts for engines, which are bits 1 << enum engine_id. */
static inline u32 joint_parts_of(u32 engines)
{
	return (engines >> ENGINE_loops & 1) << JOINT_LOOPS |
	       (engines >> ENGINE_calls & 1) << JOINT_CALLS |
	       (engines >> ENGINE_paths & 1) << JOINT_PATHS |
	       (engines >> ENGINE_cct & 1) << JOINT_CCT |
	       (engines >> ENGINE_edges & 1) << JOINT_EDGES;
}

/* Return true if paths are told apart by context. */
static inline bool joint_has_context(const struct engine_params *params)
{
	return params->parts >> JOINT_PATHS & params->parts >> JOINT_CCT & 1;
}

extern const struct engine_ops *const joint_parts[JOINT_PARTS];

#endif /* HWPROF_ENGINE_JOINT_H */
