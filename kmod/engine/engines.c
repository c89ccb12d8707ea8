// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "engine.h"

const struct engine_ops *const engines[ENGINE_COUNT] = {
#define X(name, engine, caps)	&engine##_engine,
	HWPROF_ENGINES(X)
#undef X
};
