// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "registry.h"

const struct engine_info engine_infos[ENGINE_COUNT] = {
#define X(name, engine, caps)	{ #name, caps },
	HWPROF_ENGINES(X)
#undef X
};

const struct source_info source_infos[SOURCE_COUNT] = {
#define X(name, constant, caps)	{ #name, HWPROF_SOURCE_##constant, caps },
	HWPROF_SOURCES(X)
#undef X
};
