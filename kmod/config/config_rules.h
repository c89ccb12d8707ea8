/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The words of an event, decoded once, and the rules for what may be asked for.
 * The module and the library compile the same file, so that both refuse the
 * same events, with the same sentence.
 */
#ifndef HWPROF_CONFIG_RULES_H
#define HWPROF_CONFIG_RULES_H

#include "registry.h"

enum field {
#define X(name, word, low, high, text)	FIELD_##name,
	HWPROF_FIELDS(X)
#undef X
	FIELD_COUNT,
};

enum { CONFIG_WORDS = 3 };

struct field_place {
	const char *name;
	u8 word, low, high;
	u8 role;			/* enum hwprof_role */
};

extern const struct field_place field_places[FIELD_COUNT];

/* The request that perf, or the device, was given. */
struct config_request {
	u64 words[CONFIG_WORDS];
	u64 exclude;			/* enum config_exclude */
	u64 period;			/* or frequency; 0: it counts */
	bool freq;
};

enum config_exclude {
	EXCLUDE_USER	= 1 << 0,
	EXCLUDE_KERNEL	= 1 << 1,
	EXCLUDE_HV	= 1 << 2,
	EXCLUDE_IDLE	= 1 << 3,
	EXCLUDE_HOST	= 1 << 4,
	EXCLUDE_GUEST	= 1 << 5,
};

/* The part of the rules that depends on the machine. */
struct config_machine {
	u32 sources;			/* that work: 1 << enum source_id */
	u64 raw_events;			/* bits that raw events can have */
	u64 taken_branches;		/* raw event; 0: it has none */
	bool raw_events_differ;		/* from core to core */
};

/**
 * struct session_config - what an event or a session asks for, decoded
 *
 * @field: The value of each field, indexed by enum field. The same values have
 *	the names of the fields: config.burst is config.field[FIELD_burst].
 * @strays: Bits of the words that belong to no field.
 * @request: The request that it was decoded from.
 * @engines: The engines that it names, 1 << enum engine_id each.
 * @engine_caps: Capabilities that all of these engines have.
 * @sources: The sources that it names, 1 << enum source_id each.
 * @source: The source that it names, or that config_decode() has chosen (enum
 *	source_id).
 * @source_caps: Capabilities of this source.
 * @raw_event: The event that the trigger counts; 0: none is named.
 * @user: Programs are seen.
 * @kernel: The kernel is seen.
 * @accesses: Loads and stores are wanted.
 * @windows: The source looks now and then, when a trigger says so. Otherwise it
 *	sees everything.
 * @clocked: The trigger counts CPU time.
 * @branches_wanted: The trigger counts taken branches, or names no event.
 * @by_branches: The trigger counts taken branches at a fixed period. Windows
 *	are then fair to branches.
 */
struct session_config {
	union {
		u64 field[FIELD_COUNT];
		struct {
#define X(name, word, low, high, text)	u64 name;
	HWPROF_FIELDS(X)
#undef X
		};
	};
	u64 strays;
	struct config_request request;
	u32 engines;
	u32 engine_caps;
	u32 sources;
	u32 source;
	u32 source_caps;
	u64 raw_event;
	bool user, kernel;
	bool accesses;
	bool windows;
	bool clocked;
	bool branches_wanted;
	bool by_branches;
};

/**
 * struct config_refusal - why an event may not be
 *
 * @error: A negative errno; 0: it may.
 * @field: The field that is wrong (enum field); -1: no single one.
 * @sentence: The rest of a sentence that begins with "the event".
 */
struct config_refusal {
	int error;
	int field;
	const char *sentence;
};

/* Return the value of a field in the words. */
u64 config_field(const u64 *words, enum field field);

/* Return the greatest value that a field may have. */
u64 config_field_most(enum field field);

/* Return the engines that the words name, as bits 1 << enum engine_id. */
u32 config_engines(const u64 *words);

/* Decode the words, and choose a source if they name none. */
void config_decode(struct session_config *config,
		   const struct config_request *request,
		   const struct config_machine *machine);

/* Check what config_decode() has decoded. */
struct config_refusal config_check(const struct session_config *config,
				   const struct config_machine *machine);

/*
 * Check an event that feeds a session made before. It must say again what the
 * session sees, and how often, because perf checks what the event says; it may
 * leave out the rest. Return 0 or -EINVAL.
 */
int config_check_feeder(const struct session_config *config,
			const struct session_config *session);

/* Return true if the source steps every instruction without being named. */
static inline bool config_steps_unasked(const struct session_config *config)
{
	return config->source_caps & SOURCE_WHOLE && !config->windows &&
	       !config->sources;
}

/* Return true if several engines learn from the same events. */
static inline bool config_joins(const struct session_config *config)
{
	return config->engines & (config->engines - 1);
}

/* Return true if one of the engines has one of the capabilities. */
static inline bool config_has_engine(const struct session_config *config,
				     u32 caps)
{
	u32 i;

	for (i = 0; i < ENGINE_COUNT; i++)
		if (config->engines >> i & 1 && engine_infos[i].caps & caps)
			return true;
	return false;
}

/* Return true if the source can do what the event wants of it by windows. */
bool config_is_fed(const struct session_config *config);

#endif /* HWPROF_CONFIG_RULES_H */
