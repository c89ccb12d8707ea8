// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#ifdef __KERNEL__
#include <linux/errno.h>
#else
#include <errno.h>
#endif

#include "config_rules.h"

const struct field_place field_places[FIELD_COUNT] = {
#define X(name, word, low, high, role)	{ #name, word, low, high, role },
	HWPROF_FIELDS_WITH_ROLES(X)
#undef X
};

/* The field of each engine and of each source. */
static const u8 engine_fields[ENGINE_COUNT] = {
#define X(name, engine, caps)	FIELD_##name,
	HWPROF_ENGINES(X)
#undef X
};

static const u8 source_fields[SOURCE_COUNT] = {
#define X(name, constant, caps)	FIELD_##name,
	HWPROF_SOURCES(X)
#undef X
};

/*
 * A parameter with a smallest or greatest value, or with a condition on the
 * engines and the source.
 */
struct parameter {
	u8 field;		/* enum field */
	u64 least, most;	/* of values other than 0; most 0: what fits */
	u32 engine_caps;	/* that all engines must have */
	u32 source_caps;	/* that the source must have, */
	u32 source_lacks;	/* and must not have */
	bool windows;		/* the source must look now and then */
	const char *range;	/* what is wrong if it is out of range */
	const char *misplaced;	/* what is wrong with engine or source */
};

static const struct parameter parameters[] = {
	{
		.field = FIELD_burst,
		.least = HWPROF_BURST_MIN, .most = HWPROF_BURST_MAX,
		.source_caps = SOURCE_WHOLE,
		.range = "has a burst of other than 2 to 16383 branches",
		.misplaced = "has bursts, which only stepping has",
	}, {
		.field = FIELD_budget_permille,
		.most = HWPROF_BUDGET_PERMILLE_MAX, .windows = true,
		.range = "has a budget of more than 1000 thousandths",
		.misplaced = "has a budget, and sees everything: name lbr, "
			     "sample or burst",
	}, {
		.field = FIELD_epsilon_ppm,
		.most = HWPROF_EPSILON_PPM_MAX, .engine_caps = ENGINE_STREAMS,
		.range = "has an error of more than 1000000 millionths",
		.misplaced = "has epsilon_ppm, which only ranges have",
	}, {
		.field = FIELD_range_of,
		.most = HWPROF_RANGES_OF_COUNT - 1,
		.engine_caps = ENGINE_STREAMS,
		.range = "has ranges of an unknown stream",
		.misplaced = "says what ranges are of, and has none",
	}, {
		.field = FIELD_span, .engine_caps = ENGINE_SPANS,
		.misplaced = "has a span, and values have no branches back",
	}, {
		.field = FIELD_metrics,
		.most = HWPROF_METRICS_MAX, .engine_caps = ENGINE_STACKS,
		.source_lacks = SOURCE_WHOLE,
		.range = "has more than 4 metrics",
		.misplaced = "has metrics, which only sampled contexts have",
	},
};

enum { PARAMETERS = sizeof(parameters) / sizeof(parameters[0]) };

/* --- decoding ----------------------------------------------------------- */

static u64 config_place_mask(const struct field_place *place)
{
	return ~0ULL >> (63 - (place->high - place->low));
}

u64 config_field(const u64 *words, enum field field)
{
	const struct field_place *place = &field_places[field];

	return words[place->word] >> place->low & config_place_mask(place);
}

u64 config_field_most(enum field field)
{
	int i;

	for (i = 0; i < PARAMETERS; i++)
		if (parameters[i].field == field && parameters[i].most)
			return parameters[i].most;
	return config_place_mask(&field_places[field]);
}

static void config_decode_fields(struct session_config *config,
				 const u64 *words)
{
	u64 rest[CONFIG_WORDS];
	int i;

	for (i = 0; i < CONFIG_WORDS; i++)
		rest[i] = words[i];
	for (i = 0; i < FIELD_COUNT; i++) {
		const struct field_place *place = &field_places[i];

		config->field[i] = config_field(words, i);
		rest[place->word] &= ~(config_place_mask(place) << place->low);
	}
	for (i = 0; i < CONFIG_WORDS; i++)
		config->strays |= rest[i];
}

u32 config_engines(const u64 *words)
{
	u32 engines = 0;
	int i;

	for (i = 0; i < ENGINE_COUNT; i++)
		if (config_field(words, engine_fields[i]))
			engines |= 1U << i;
	return engines;
}

static void config_decode_engines(struct session_config *config,
				  const u64 *words)
{
	int i;

	config->engines = config_engines(words);
	config->engine_caps = config->engines ? ~0U : 0;
	for (i = 0; i < ENGINE_COUNT; i++)
		if (config->engines >> i & 1)
			config->engine_caps &= engine_infos[i].caps;
}

/* Return true if what the event asks for is learnt from loads and stores. */
static bool config_wants_accesses(const struct session_config *config)
{
	switch (config->range_of) {
	case HWPROF_RANGE_IP:
		return config->engine_caps & ENGINE_ACCESSES;
	case HWPROF_RANGE_CALLEE:
		return false;
	}
	return true;
}

/*
 * Choose among the sources that work here. Stepping sees the most, but only
 * programs; loads and stores are seen by no other source.
 */
static enum source_id config_best_source(const struct session_config *config,
					 const struct config_machine *machine)
{
	bool steps = machine->sources >> SOURCE_step & 1;
	bool records = machine->sources >> SOURCE_lbr & 1;

	if (config->burst || config->accesses || (steps && config->user))
		return SOURCE_step;
	if (config->engine_caps & ENGINE_SAMPLES && !config->range_of)
		return SOURCE_sample;
	if (config->engine_caps & ENGINE_WINDOWS && records)
		return SOURCE_lbr;
	return SOURCE_step;	/* and its caps say why not */
}

static void config_decode_source(struct session_config *config,
				 const struct config_machine *machine)
{
	int i, named = -1;

	for (i = 0; i < SOURCE_COUNT; i++) {
		if (!config->field[source_fields[i]])
			continue;
		config->sources |= 1U << i;
		if (named < 0)
			named = i;
	}
	config->source =
		named < 0 ? config_best_source(config, machine) : (u32)named;
	config->source_caps = source_infos[config->source].caps;
	config->windows = !(config->source_caps & SOURCE_WHOLE) ||
			  config->burst;
}

static void config_decode_trigger(struct session_config *config,
				  const struct config_machine *machine)
{
	bool frequency = config->request.freq && config->request.period;

	config->raw_event = 0;
#define X(name, low)	config->raw_event |= config->name << (low);
	HWPROF_TRIGGER(X)
#undef X
	config->clocked = !config->raw_event &&
			  !(config->source_caps & SOURCE_RECORDS);
	config->branches_wanted = !config->raw_event ||
				  config->raw_event == machine->taken_branches;
	config->by_branches = !config->clocked && config->branches_wanted &&
			      !frequency && !config->budget_permille;
}

void config_decode(struct session_config *config,
		   const struct config_request *request,
		   const struct config_machine *machine)
{
	*config = (struct session_config) {
		.request = *request,
		.user = !(request->exclude & EXCLUDE_USER),
		.kernel = !(request->exclude & EXCLUDE_KERNEL),
	};
	config_decode_fields(config, request->words);
	config_decode_engines(config, request->words);
	config->accesses = config_wants_accesses(config);
	config_decode_source(config, machine);
	config_decode_trigger(config, machine);
}

/* --- rules -------------------------------------------------------------- */

static struct config_refusal config_refuse(int error, int field,
					    const char *sentence)
{
	return (struct config_refusal) { error, field, sentence };
}

static struct config_refusal config_allow(void)
{
	return config_refuse(0, -1, NULL);
}

/* Check that it has one profile, or several that go together. */
static struct config_refusal
config_check_engines(const struct session_config *config)
{
	if (config->strays)
		return config_refuse(-EINVAL, -1,
				     "has bits that belong to no field");
	if (!config->engines)
		return config_refuse(-EINVAL, -1,
				     "does not say what is profiled");
	if (config_joins(config) && !(config->engine_caps & ENGINE_JOINS))
		return config_refuse(-EINVAL, -1,
				     "profiles several things that cannot be "
				     "in one event");
	return config_allow();
}

static struct config_refusal
config_check_source(const struct session_config *config)
{
	if (config->sources & (config->sources - 1))
		return config_refuse(-EINVAL, -1, "names more than one source");
	if (config->source_caps & SOURCE_ABSENT)
		return config_refuse(-EOPNOTSUPP, source_fields[config->source],
				     "names a source that is not in this "
				     "version");
	return config_allow();
}

static bool config_is_misplaced(const struct session_config *config,
				const struct parameter *parameter)
{
	u32 engine = parameter->engine_caps, source = parameter->source_caps;

	return (config->engine_caps & engine) != engine ||
	       (config->source_caps & source) != source ||
	       config->source_caps & parameter->source_lacks ||
	       (parameter->windows && !config->windows);
}

static struct config_refusal
config_check_parameter(const struct session_config *config,
		       const struct parameter *parameter)
{
	u64 value = config->field[parameter->field];

	if (!value)
		return config_allow();
	if (value < parameter->least ||
	    (parameter->most && value > parameter->most))
		return config_refuse(-EINVAL, parameter->field,
				     parameter->range);
	if (config_is_misplaced(config, parameter))
		return config_refuse(-EINVAL, parameter->field,
				     parameter->misplaced);
	return config_allow();
}

static struct config_refusal
config_check_parameters(const struct session_config *config)
{
	struct config_refusal refusal = config_allow();
	int i;

	for (i = 0; i < PARAMETERS && !refusal.error; i++)
		refusal = config_check_parameter(config, &parameters[i]);
	return refusal;
}

/* A raw event's number is another event on other cores. */
static struct config_refusal
config_check_trigger(const struct session_config *config,
		     const struct config_machine *machine)
{
	if (!config->raw_event)
		return config_allow();
	if (!config->windows)
		return config_refuse(-EINVAL, FIELD_trigger,
				     "has a trigger, and sees everything: name "
				     "lbr, sample or burst");
	if (!config->trigger)
		return config_refuse(-EINVAL, FIELD_trigger,
				     "says how a trigger counts, and not what");
	if (machine->raw_events_differ)
		return config_refuse(-EOPNOTSUPP, FIELD_trigger,
				     "has a trigger, whose number is another "
				     "event on other cores");
	if (config->raw_event & ~machine->raw_events)
		return config_refuse(-EOPNOTSUPP, FIELD_trigger,
				     "has a trigger that this CPU cannot "
				     "count");
	return config_allow();
}

bool config_is_fed(const struct session_config *config)
{
	u32 engine = config->engine_caps, source = config->source_caps;

	if (config->accesses && !(source & SOURCE_ACCESSES))
		return false;
	if (source & SOURCE_SAMPLES)
		return engine & ENGINE_SAMPLES && !config->range_of;
	return (source & SOURCE_WINDOWS && engine & ENGINE_WINDOWS) ||
	       (source & SOURCE_ACCESSES && engine & ENGINE_ACCESSES) ||
	       (source & SOURCE_STACKS && engine & ENGINE_STACKS);
}

/* Windows and samples are summarised or counted. They are no perf samples. */
static struct config_refusal
config_check_windows(const struct session_config *config)
{
	if (!config->windows)
		return config_allow();
	if (!config_is_fed(config))
		return config_refuse(-EOPNOTSUPP, -1,
				     "cannot be learnt from what its source "
				     "sees");
	if (config->engine_caps & ENGINE_IMMEDIATE ||
	    (config->request.period && !config->rows))
		return config_refuse(-EOPNOTSUPP, -1,
				     "takes samples, and its source has rows "
				     "alone");
	return config_allow();
}

static struct config_refusal
config_check_machine(const struct session_config *config,
		     const struct config_machine *machine)
{
	if (!(machine->sources >> config->source & 1))
		return config_refuse(-EOPNOTSUPP, source_fields[config->source],
				     "needs a source that this machine does "
				     "not have");
	if (!config->user && config->source_caps & SOURCE_USER_ONLY)
		return config_refuse(-EOPNOTSUPP, source_fields[config->source],
				     "is of the kernel, which stepping does "
				     "not see");
	return config_check_windows(config);
}

struct config_refusal config_check(const struct session_config *config,
				   const struct config_machine *machine)
{
	struct config_refusal refusal = config_check_engines(config);

	if (!refusal.error)
		refusal = config_check_source(config);
	if (!refusal.error)
		refusal = config_check_parameters(config);
	if (!refusal.error)
		refusal = config_check_trigger(config, machine);
	return refusal.error ? refusal : config_check_machine(config, machine);
}

int config_check_feeder(const struct session_config *config,
			const struct session_config *session)
{
	int i;

	if (config->strays ||
	    config->request.exclude != session->request.exclude ||
	    config->request.period != session->request.period ||
	    config->request.freq != session->request.freq)
		return -EINVAL;
	for (i = 0; i < FIELD_COUNT; i++)
		if (i != FIELD_session && config->field[i] &&
		    config->field[i] != session->field[i])
			return -EINVAL;
	return 0;
}
