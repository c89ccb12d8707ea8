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
 * @field: the value of each field, indexed by enum field. The same values have
 *	the names of the fields: config.burst is config.field[FIELD_burst].
 * @strays: bits of the words that belong to no field.
 * @request: what it was decoded from.
 * @engines: the engines that it names, 1 << enum engine_id each.
 * @engine_caps: what all of these engines can do (enum engine_caps).
 * @sources: the sources that it names, 1 << enum source_id each.
 * @source: enum source_id of the source that it names, or of the one that
 *	config_decode() has chosen.
 * @source_caps: what this source can do (enum source_caps).
 * @raw_event: the event that the trigger counts; 0: none is named.
 * @user: programs are seen.
 * @kernel: the kernel is seen.
 * @accesses: loads and stores are wanted.
 * @windows: the source looks now and then, which a trigger decides; else it
 *	sees everything.
 * @clocked: the trigger counts CPU time.
 * @branches_wanted: the trigger counts taken branches, or names no event.
 * @by_branches: the trigger counts taken branches at a fixed period, so that
 *	each of them is equally likely to be in a window.
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
 * @error: a negative errno; 0: it may
 * @field: the field that is wrong (enum field); -1: no single one
 * @sentence: what is wrong, behind "the event"
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

/* Return true if the source can do what the event wants of it by windows. */
bool config_is_fed(const struct session_config *config);

#endif /* HWPROF_CONFIG_RULES_H */
