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

/* Return true if paths are told apart by context. */
static inline bool joint_has_context(const struct engine_params *params)
{
	return params->parts >> JOINT_PATHS & params->parts >> JOINT_CCT & 1;
}

extern const struct engine_ops *const joint_parts[JOINT_PARTS];

#endif /* HWPROF_ENGINE_JOINT_H */
