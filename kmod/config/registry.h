/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The registries: which engines and sources there are, and what each can do.
 * The module, the library and the tools ask the bits that stand here; none of
 * them asks for an engine or a source by its name or its address.
 */
#ifndef HWPROF_CONFIG_REGISTRY_H
#define HWPROF_CONFIG_REGISTRY_H

#include "../engine/types.h"
#include "../../uapi/linux/hwprof.h"

/* The capabilities of an engine. */
enum engine_caps {
	ENGINE_JOINS	 = 1 << 0,	/* it can share events with others */
	ENGINE_IMMEDIATE = 1 << 1,	/* it has no profile: see engine_ops */
	ENGINE_WINDOWS	 = 1 << 2,	/* it learns from windows of branches */
	ENGINE_SAMPLES	 = 1 << 3,	/* it learns from samples */
	ENGINE_STACKS	 = 1 << 4,	/* it learns from stacks of calls */
	ENGINE_ACCESSES	 = 1 << 5,	/* it needs loads and stores */
	ENGINE_STREAMS	 = 1 << 6,	/* range_of chooses what it is about */
	ENGINE_SPANS	 = 1 << 7,	/* it looks for branches back */
	ENGINE_EXITS	 = 1 << 8,	/* it follows executions of loops */
	ENGINE_PATHS	 = 1 << 9,	/* it follows paths */
	ENGINE_FOLLOWS	 = 1 << 10,	/* it must see every branch */
	ENGINE_LINES	 = 1 << 11,	/* it needs a gap for unseen branches */
};

/*
 * HWPROF_ENGINES(X): X(name, engine, capabilities). The name is that of a field
 * with the role PROFILE; the engine_ops is ENGINE_engine.
 */
#define HWPROF_ENGINES(X)						\
	X(branches, branch, ENGINE_IMMEDIATE | ENGINE_SPANS |		\
			    ENGINE_FOLLOWS)				\
	X(loops, loop, ENGINE_JOINS | ENGINE_WINDOWS | ENGINE_SPANS |	\
		       ENGINE_EXITS | ENGINE_FOLLOWS)			\
	X(calls, call, ENGINE_JOINS | ENGINE_WINDOWS | ENGINE_SPANS)	\
	X(paths, path, ENGINE_JOINS | ENGINE_WINDOWS | ENGINE_SPANS |	\
		       ENGINE_PATHS | ENGINE_FOLLOWS)			\
	X(values, value, ENGINE_ACCESSES)				\
	X(ranges, range, ENGINE_WINDOWS | ENGINE_SAMPLES | ENGINE_STREAMS | \
			 ENGINE_SPANS)					\
	X(cct, cct, ENGINE_JOINS | ENGINE_SAMPLES | ENGINE_STACKS |	\
		    ENGINE_SPANS | ENGINE_FOLLOWS)			\
	X(edges, edge, ENGINE_JOINS | ENGINE_WINDOWS | ENGINE_SPANS |	\
		       ENGINE_LINES)

enum engine_id {
#define X(name, engine, caps)	ENGINE_##name,
	HWPROF_ENGINES(X)
#undef X
	ENGINE_COUNT,
};

/* The capabilities of a source. */
enum source_caps {
	SOURCE_WHOLE	 = 1 << 0,	/* it sees all, unless it has bursts */
	SOURCE_USER_ONLY = 1 << 1,	/* it sees nothing of the kernel */
	SOURCE_WINDOWS	 = 1 << 2,	/* it gives windows of branches */
	SOURCE_SAMPLES	 = 1 << 3,	/* it gives samples */
	SOURCE_STACKS	 = 1 << 4,	/* it can give stacks of calls alone */
	SOURCE_ACCESSES	 = 1 << 5,	/* it sees loads and stores */
	SOURCE_RECORDS	 = 1 << 6,	/* its trigger is a counter that has
					 * branch records, never the clock */
	SOURCE_ATTACHES	 = 1 << 7,	/* it changes what programs do */
	SOURCE_ABSENT	 = 1 << 8,	/* no version has it yet */
};

/*
 * HWPROF_SOURCES(X): X(name, constant, capabilities). The name is that of a
 * field with the role SOURCE; HWPROF_SOURCE_constant is its number in rows.
 * Where an event names none, config_decode() chooses.
 */
#define HWPROF_SOURCES(X)						\
	X(step, STEP, SOURCE_WHOLE | SOURCE_USER_ONLY | SOURCE_WINDOWS | \
		      SOURCE_ACCESSES | SOURCE_ATTACHES)		\
	X(lbr, LBR, SOURCE_WINDOWS | SOURCE_STACKS | SOURCE_RECORDS)	\
	X(sample, SAMPLE, SOURCE_SAMPLES)				\
	X(mem, MEM, SOURCE_ABSENT)

enum source_id {
#define X(name, constant, caps)	SOURCE_##name,
	HWPROF_SOURCES(X)
#undef X
	SOURCE_COUNT,
};

struct engine_info {
	const char *name;
	u32 caps;			/* enum engine_caps */
};

struct source_info {
	const char *name;
	u32 number;			/* enum hwprof_source */
	u32 caps;			/* enum source_caps */
};

extern const struct engine_info engine_infos[ENGINE_COUNT];
extern const struct source_info source_infos[SOURCE_COUNT];

#endif /* HWPROF_CONFIG_REGISTRY_H */
