/* SPDX-License-Identifier: GPL-2.0-only */
/* The engines that joint_engine can be made of, as engine_params.parts has them. */
#ifndef HWPROF_ENGINE_JOINT_H
#define HWPROF_ENGINE_JOINT_H

#include "engine.h"

enum joint_part {
	JOINT_LOOPS,
	JOINT_CALLS,
	JOINT_PATHS,
	JOINT_CCT,
	JOINT_PARTS,
};

extern const struct engine_ops *const joint_parts[JOINT_PARTS];

#endif /* HWPROF_ENGINE_JOINT_H */
