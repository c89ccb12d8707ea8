// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rules for what an event may ask for, compared with a second statement of
 * them that knows neither tables nor capabilities; and the registry, compared
 * with the engines.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "config/config_rules.h"
#include "engine/engine.h"
#include "engine/multi.h"

#define COUNT(array)	(sizeof(array) / sizeof((array)[0]))

/* Bits of the first word, as the ABI has them. */
enum {
	BRANCHES = 0x01, LOOPS = 0x02, CALLS = 0x04, PATHS = 0x08,
	VALUES = 0x10, RANGES = 0x20, CCT = 0x40, EDGES = 0x80,
	STEP = 0x100, LBR = 0x200, SAMPLE = 0x400, MEM = 0x800,
	ROWS = 0x1000,
	JOINED = LOOPS | CALLS | PATHS | CCT | EDGES,
};

/* Parameters of one case. */
struct parameters {
	uint64_t burst, budget, metrics, trigger;	/* of config1 */
	uint64_t epsilon, of, cmask;			/* of config2 */
	uint64_t span;					/* of config */
};

struct request {
	uint64_t config;
	struct parameters parameters;
	bool kernel_only, samples;
	bool steps, records;		/* what the machine has */
};

/* --- the second statement ----------------------------------------------- */

static bool wants_data(const struct request *request)
{
	uint64_t of = request->parameters.of;

	return of ? of != HWPROF_RANGE_CALLEE :
		    (request->config & 0xff) == VALUES;
}

static bool is_sampled_kind(const struct request *request)
{
	uint64_t things = request->config & 0xff;

	return (things == RANGES && !request->parameters.of) || things == CCT;
}

static bool has_windows(uint64_t things)
{
	return things == RANGES || (things && !(things & ~JOINED) &&
				    !(things & CCT));
}

static unsigned int source_of(const struct request *request)
{
	uint64_t named = request->config & (STEP | LBR | SAMPLE);

	if (named)
		return named;
	if (request->parameters.burst || wants_data(request) ||
	    (request->steps && !request->kernel_only))
		return STEP;
	if (is_sampled_kind(request))
		return SAMPLE;
	return has_windows(request->config & 0xff) && request->records ? LBR :
									  STEP;
}

static bool contradicts(const struct request *request, bool looks)
{
	const struct parameters *p = &request->parameters;
	uint64_t things = request->config & 0xff;
	unsigned int source = source_of(request);

	if (p->burst && (p->burst == 1 || p->burst > 16383 || source != STEP))
		return true;
	if (p->budget && (p->budget > 1000 || !looks))
		return true;
	if ((p->epsilon || p->of) && things != RANGES)
		return true;
	if (p->epsilon > 1000000 || p->of > 8)
		return true;
	if (p->metrics && (p->metrics > 4 || source == STEP || things != CCT))
		return true;
	if (p->span && things == VALUES)
		return true;
	return (p->trigger || p->cmask) && (!looks || !p->trigger);
}

static bool can_learn(const struct request *request)
{
	uint64_t things = request->config & 0xff;
	unsigned int source = source_of(request);

	if (source != STEP && wants_data(request))
		return false;
	if (source == SAMPLE)
		return is_sampled_kind(request);
	if (things == CCT)
		return source == LBR;
	return has_windows(things) || things == VALUES;
}

static int expected(const struct request *request)
{
	uint64_t things = request->config & 0xff;
	uint64_t named = request->config & 0xf00;
	unsigned int source = source_of(request);
	bool looks = source != STEP || request->parameters.burst;

	if (!things || (things & (things - 1) && things & ~JOINED))
		return -EINVAL;
	if (named & (named - 1))
		return -EINVAL;
	if (named == MEM)
		return -EOPNOTSUPP;
	if (contradicts(request, looks))
		return -EINVAL;
	if ((source == STEP && (!request->steps || request->kernel_only)) ||
	    (source == LBR && !request->records))
		return -EOPNOTSUPP;
	if (looks && (!can_learn(request) ||
		      (request->samples && !(request->config & ROWS))))
		return -EOPNOTSUPP;
	return 0;
}

/* --- comparison --------------------------------------------------------- */

static struct config_refusal checked(const struct request *request,
				     struct session_config *config)
{
	const struct parameters *p = &request->parameters;
	const struct config_request words = {
		.words = {
			request->config | p->span << 32,
			p->burst | p->budget << 16 | p->metrics << 26 |
			p->trigger << 48,
			p->epsilon | p->of << 20 | p->cmask << 24,
		},
		.exclude = request->kernel_only ? EXCLUDE_USER : 0,
		.period = request->samples,
	};
	const struct config_machine machine = {
		.sources = request->steps << SOURCE_step |
			   request->records << SOURCE_lbr | 1 << SOURCE_sample,
		.raw_events = ~0ULL,
	};

	config_decode(config, &words, &machine);
	return config_check(config, &machine);
}

static void compare(const struct request *request)
{
	struct session_config config;
	struct config_refusal refusal = checked(request, &config);
	int error = expected(request);

	if (refusal.error != error)
		fail_msg("config %#llx burst %u of %u: %d (%s), not %d",
			 (unsigned long long)request->config,
			 (unsigned int)request->parameters.burst,
			 (unsigned int)request->parameters.of, refusal.error,
			 refusal.sentence ? refusal.sentence : "", error);
	assert_true(!refusal.sentence == !error);
	assert_true(refusal.field >= -1 && refusal.field < FIELD_COUNT);
}

/* Every set of profiles and sources, on every machine. */
static void compare_all(const struct parameters *parameters)
{
	unsigned int config, rest;

	for (config = 0; config < 2 * ROWS; config++)
		for (rest = 0; rest < 16; rest++) {
			const struct request request = {
				.config = config, .parameters = *parameters,
				.kernel_only = rest & 1, .samples = rest & 2,
				.steps = rest & 4, .records = rest & 8,
			};

			compare(&request);
		}
}

static void test_rules(void **state)
{
	static const struct parameters cases[] = {
		{ .burst = 0 },
		{ .burst = 1 }, { .burst = 2 }, { .burst = 16383 },
		{ .burst = 16384 }, { .burst = 65535 },
		{ .budget = 1 }, { .budget = 1000 }, { .budget = 1001 },
		{ .budget = 10, .burst = 200 },
		{ .metrics = 1 }, { .metrics = 4 }, { .metrics = 5 },
		{ .metrics = 1, .burst = 200 },
		{ .epsilon = 1 }, { .epsilon = 1000000 },
		{ .epsilon = 1000001 },
		{ .of = 1 }, { .of = 4 }, { .of = 8 }, { .of = 9 },
		{ .of = 15 }, { .of = 4, .burst = 200 },
		{ .of = 1, .burst = 200 },
		{ .span = 1 }, { .span = 1, .burst = 200 },
		{ .trigger = 0xc0 }, { .cmask = 1 },
		{ .trigger = 0xc0, .burst = 200 },
		{ .cmask = 1, .burst = 200 },
		{ .trigger = 0xc0, .cmask = 1, .budget = 5 },
	};
	size_t i;

	for (i = 0; i < COUNT(cases); i++)
		compare_all(&cases[i]);
}

/* A bit that belongs to no field is refused, whatever else is asked for. */
static void test_strays(void **state)
{
	static const uint64_t known[] = {
		~0ULL, 0xffffffff1fffffff, ~0ULL,
	};
	int word, bit;

	for (word = 0; word < CONFIG_WORDS; word++)
		for (bit = 0; bit < 64; bit++) {
			struct config_request request = { .words = { LOOPS } };
			const struct config_machine machine = { .sources = 7 };
			struct session_config config;

			request.words[word] |= 1ULL << bit;
			config_decode(&config, &request, &machine);
			assert_int_equal(!config.strays,
					 known[word] >> bit & 1);
			if (config.strays)
				assert_int_equal(config_check(&config, &machine)
							 .error, -EINVAL);
		}
}

/* A raw event that cores or the CPU do not have. */
static void test_raw_events(void **state)
{
	const struct config_request request = {
		.words = { LOOPS | LBR, 0x20c4ULL << 48 },
	};
	struct config_machine machine = { .sources = 7, .raw_events = 0xffff };
	struct session_config config;

	config_decode(&config, &request, &machine);
	assert_int_equal(config.raw_event, 0x20c4);
	assert_int_equal(config_check(&config, &machine).error, 0);
	machine.raw_events = 0xff;
	assert_int_equal(config_check(&config, &machine).error, -EOPNOTSUPP);
	machine.raw_events = 0xffff;
	machine.raw_events_differ = true;
	assert_int_equal(config_check(&config, &machine).error, -EOPNOTSUPP);
}

/* Windows are fair to branches where these are counted at a fixed period. */
static void test_by_branches(void **state)
{
	static const struct {
		struct config_request request;
		bool fair;
	} cases[] = {
		{ { .words = { LOOPS | LBR } }, true },
		{ { .words = { LOOPS | LBR }, .period = 9 }, true },
		{ { .words = { LOOPS | LBR }, .period = 9, .freq = true },
		  false },
		{ { .words = { LOOPS | LBR, 10 << 16 } }, false },
		{ { .words = { LOOPS | LBR, 0x20c4ULL << 48 } }, true },
		{ { .words = { LOOPS | LBR, 0xc0ULL << 48 } }, false },
		{ { .words = { LOOPS, 200 } }, false },
		{ { .words = { LOOPS, 200 | 0x20c4ULL << 48 } }, true },
	};
	const struct config_machine machine = {
		.sources = 7, .raw_events = ~0ULL, .taken_branches = 0x20c4,
	};
	struct session_config config;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		config_decode(&config, &cases[i].request, &machine);
		assert_int_equal(config.by_branches, cases[i].fair);
	}
}

static struct session_config decoded(struct config_request request)
{
	const struct config_machine machine = { .sources = 7 };
	struct session_config config;

	config_decode(&config, &request, &machine);
	return config;
}

/* An event that feeds a session repeats what is seen, and how often. */
static void test_feeders(void **state)
{
	const struct config_request session = {
		.words = { LOOPS | LBR | ROWS, 10 << 16 },
		.exclude = EXCLUDE_KERNEL, .period = 100,
	};
	const struct session_config of = decoded(session);
	struct config_request request = session;
	struct session_config config;

	request.words[0] = request.words[1] = 0;
	request.words[2] = 77ULL << 32;		/* the session's number */
	config = decoded(request);
	assert_int_equal(config_check_feeder(&config, &of), 0);
	request.words[0] = LOOPS;
	config = decoded(request);
	assert_int_equal(config_check_feeder(&config, &of), 0);
	request.words[0] = CALLS;
	config = decoded(request);
	assert_int_equal(config_check_feeder(&config, &of), -EINVAL);
	request.words[0] = 0;
	request.exclude = 0;
	config = decoded(request);
	assert_int_equal(config_check_feeder(&config, &of), -EINVAL);
	request.exclude = EXCLUDE_KERNEL;
	request.period = 99;
	config = decoded(request);
	assert_int_equal(config_check_feeder(&config, &of), -EINVAL);
	request.period = 100;
	request.freq = true;
	config = decoded(request);
	assert_int_equal(config_check_feeder(&config, &of), -EINVAL);
}

/* --- the registry ------------------------------------------------------- */

static void test_registry(void **state)
{
	uint32_t joined = 0;
	int i;

	for (i = 0; i < ENGINE_COUNT; i++) {
		const struct engine_ops *engine = engines[i];
		uint32_t caps = engine_infos[i].caps;

		assert_string_equal(engine->name, engine_infos[i].name);
		assert_int_equal(engine->immediate,
				 !!(caps & ENGINE_IMMEDIATE));
		assert_int_equal(!!engine->feed_window,
				 !!(caps & ENGINE_WINDOWS));
		assert_int_equal(!!engine->feed_stack,
				 !!(caps & ENGINE_STACKS));
		if (caps & ENGINE_JOINS)
			joined |= 1U << i;
	}
	assert_int_equal(multi_parts_of(joined), (1 << MULTI_PARTS) - 1);
	for (i = 0; i < MULTI_PARTS; i++)
		assert_non_null(multi_parts[i]);
}

/* Engines and sources are those that the ABI has as profiles and sources. */
static void test_roles(void **state)
{
	int i, engine = 0, source = 0;

	for (i = 0; i < FIELD_COUNT; i++) {
		const struct field_place *place = &field_places[i];

		if (place->role == HWPROF_ROLE_PROFILE)
			assert_string_equal(place->name,
					    engine_infos[engine++].name);
		if (place->role == HWPROF_ROLE_SOURCE)
			assert_string_equal(place->name,
					    source_infos[source++].name);
	}
	assert_int_equal(engine, ENGINE_COUNT);
	assert_int_equal(source, SOURCE_COUNT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_strays),
		cmocka_unit_test(test_raw_events),
		cmocka_unit_test(test_by_branches),
		cmocka_unit_test(test_feeders),
		cmocka_unit_test(test_registry),
		cmocka_unit_test(test_roles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
