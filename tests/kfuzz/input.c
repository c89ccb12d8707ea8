// SPDX-License-Identifier: GPL-2.0-only
#include <linux/hwprof.h>
#include <linux/perf_event.h>
#include <string.h>

#include "tests/engine/random.h"
#include "tests/kselftest/event.h"
#include "input.h"

#define ARRAY_SIZE(array)	(sizeof(array) / sizeof((array)[0]))
#define ONE_OF(array, random)						       \
	((array)[random_below(random, ARRAY_SIZE(array))])

_Static_assert(sizeof(struct perf_event_attr) <= WORD_PID * sizeof(uint64_t),
	       "an attr, and what follows it, is in the words of a step");

/* --- words ---------------------------------------------------------------- */

/* Numbers at which things change. */
static uint64_t odd_number(uint64_t *random)
{
	static const uint64_t numbers[] = {
		0, 1, 2, 3, 8, 24, 40, 48, 63, 64, 100, 128, 0x7f, 0xff, 0x1000,
		0xfff, 0x1001, 0xffff, 0x10000, 1 << 20, 0x7fffffff, 0x80000000,
		0xffffffff, 1ULL << 32, 1ULL << 40, INT64_MAX, 1ULL << 63,
		UINT64_MAX, UINT64_MAX - 1,
	};

	return ONE_OF(numbers, random);
}

static void mutate_word(uint64_t *word, uint64_t *random)
{
	unsigned int shift = random_below(random, 64);

	switch (random_below(random, 6)) {
	case 0:
	case 1:
		*word ^= 1ULL << shift;
		break;
	case 2:
		*word = odd_number(random);
		break;
	case 3:
		*word += random_below(random, 33) - 16ULL;
		break;
	case 4:			/* a field of the word */
		*word &= ~(0xffffULL << (shift & 48));
		*word |= (odd_number(random) & 0xffff) << (shift & 48);
		break;
	default:
		*word = random_next(random) >> shift;
	}
}

/* --- what is asked for ---------------------------------------------------- */

static const uint64_t engines[] = {
	EVENT_LOOPS, EVENT_CALLS, EVENT_PATHS, EVENT_VALUES, EVENT_RANGES,
	EVENT_CCT, EVENT_BRANCHES, EVENT_EDGES,
};

struct wish {
	uint64_t config, config1, config2, period;
	bool freq;
};

static struct wish make_wish(uint64_t *random)
{
	static const uint64_t sources[] = {
		EVENT_STEP, EVENT_STEP, EVENT_LBR, EVENT_SAMPLE, 0,
	};
	static const uint64_t periods[] = { 1009, 10007, 100003, 1000003 };
	struct wish wish = {
		.config = ONE_OF(engines, random) | ONE_OF(sources, random) |
			  EVENT_MEMORY(random_below(random, 3)),
		.config1 = EVENT_INTERVAL(random_below(random, 20)),
	};

	if (random_once_in(random, 4))
		wish.config1 |= 2 + random_below(random, 300);	/* a burst */
	if (random_once_in(random, 8))
		wish.config1 |= EVENT_BUDGET(1 + random_below(random, 100));
	if (wish.config & EVENT_RANGES && random_once_in(random, 2))
		wish.config2 = EVENT_RANGE_OF(random_below(random, 10)) |
			       random_below(random, 100000);
	if (wish.config & (EVENT_LBR | EVENT_SAMPLE) || wish.config1 & 0xffff)
		wish.period = ONE_OF(periods, random);
	wish.freq = random_once_in(random, 8);
	return wish;
}

static void set_config(struct step *step, const struct wish *wish)
{
	struct hwprof_config config = {
		.size = sizeof(config),
		.flags = HWPROF_CONFIG_EXCLUDE_KERNEL |
			 HWPROF_CONFIG_EXCLUDE_HV |
			 (wish->freq ? HWPROF_CONFIG_FREQ : 0),
		.config = wish->config,
		.config1 = wish->config1,
		.config2 = wish->config2,
		.period = wish->period,
	};

	memcpy(step->word, &config, sizeof(config));
}

/* Ask for any fields of a sample, and often for the counts of a group. */
static void set_record(struct perf_event_attr *attr, uint64_t *random)
{
	attr->sample_type = random_next(random) & random_next(random) &
			    (PERF_SAMPLE_MAX - 1);
	if (random_once_in(random, 2))
		attr->sample_type |= PERF_SAMPLE_READ | PERF_SAMPLE_RAW;
	attr->read_format = random_below(random, 32);
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK)
		attr->branch_sample_type = random_next(random) &
					   (PERF_SAMPLE_BRANCH_MAX - 1);
	attr->inherit = random_once_in(random, 4);
}

/* Rows, samples, or a count. */
static void set_event(struct step *step, const struct wish *wish,
		      uint32_t type, uint64_t *random)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = wish->config | EVENT_ROWS,
		.config1 = wish->config1,
		.config2 = wish->config2,
		.sample_period = wish->period ?: 1,
		.freq = wish->freq,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.inherit = !random_once_in(random, 3),
		.disabled = random_once_in(random, 3),
		.enable_on_exec = random_once_in(random, 8),
		.comm = 1,
		.task = random_once_in(random, 2),
		.mmap = random_once_in(random, 2),
		.sample_id_all = 1,
		.wakeup_events = random_below(random, 3),
	};

	switch (random_below(random, 6)) {
	case 0:
		attr.sample_period = 0;
		/* fall through */
	case 1:
		attr.config &= ~EVENT_ROWS;
		break;
	case 2:
		attr.read_format = random_below(random, 32);
		break;
	case 3:
		set_record(&attr, random);
		break;
	}
	memcpy(step->word, &attr, sizeof(attr));
}

/* A neighbour in a group; what could hang an emulated machine is left out. */
static void set_other_event(struct step *step, uint64_t *random)
{
	struct perf_event_attr attr = {
		.type = random_once_in(random, 3) ? PERF_TYPE_HARDWARE :
						    PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = random_below(random, 10),
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	memcpy(step->word, &attr, sizeof(attr));
}

/* --- steps ---------------------------------------------------------------- */

static uint8_t choose_call(uint64_t *random)
{
	static const unsigned int weights[] = {
#define X(call, weight)	weight,
		CALLS(X)
#undef X
	};
	unsigned int sum = 0, i, at;

	for (i = 0; i < CALL_COUNT; i++)
		sum += weights[i];
	at = random_below(random, sum);
	for (i = 0; at >= weights[i]; i++)
		at -= weights[i];
	return i;
}

static void set_words(struct step *step, uint32_t type, uint64_t *random)
{
	struct wish wish = make_wish(random);
	unsigned int i;

	memset(step->word, 0, sizeof(step->word));
	switch (step->call) {
	case CALL_CONFIG:
		set_config(step, &wish);
		break;
	case CALL_EVENT:
		if (random_once_in(random, 6))
			set_other_event(step, random);
		else
			set_event(step, &wish, type, random);
		step->word[WORD_PID] = random_below(random, 16);
		step->word[WORD_CPU] = random_below(random, 8);
		if (random_once_in(random, 3))
			step->word[WORD_FLAGS] = random_below(random, 16);
		break;
	case CALL_FEEDER:	/* what differs from the session */
		step->word[WORD_PID] = random_below(random, 16);
		step->word[WORD_CPU] = random_below(random, 8);
		break;
	case CALL_SNAPSHOT:
		step->word[0] = HWPROF_SNAPSHOT_SIZE_VER0;
		step->word[2] = HWPROF_SNAPSHOT_MIN << random_below(random, 4);
		break;
	case CALL_RING:
		step->word[0] = HWPROF_RING_SIZE_VER0;
		step->word[1] = 4096ULL << random_below(random, 5);
		step->word[2] = random_below(random, 4096);
		break;
	case CALL_RESET:
		break;
	case CALL_PROGRAM:
	case CALL_FILTER:
	case CALL_TUNE:
	case CALL_MASK:
		for (i = 0; i < WORDS; i++)
			step->word[i] = random_next(random);
		break;
	default:
		for (i = 0; i < 4; i++)
			step->word[i] = random_below(random, 64);
	}
}

static void make_step(struct step *step, uint32_t type, uint64_t *random)
{
	memset(step, 0, sizeof(*step));
	step->call = choose_call(random);
	step->file = random_below(random, FILES);
	step->other = random_below(random, FILES);
	if (random_once_in(random, 12))
		step->place = random_below(random, PLACE_COUNT);
	if (random_once_in(random, 24))
		step->fault = 1 + random_below(random, 40);
	step->beside = random_once_in(random, 16);
	set_words(step, type, random);
	if (random_once_in(random, 4))
		mutate_word(&step->word[random_below(random, WORDS)], random);
}

void input_make(struct input *input, uint32_t type, uint64_t *random)
{
	unsigned int i;

	input->count = 2 + random_below(random, STEPS_MAX - 1);
	for (i = 0; i < input->count; i++)
		make_step(&input->steps[i], type, random);
}

/* --- seeds ---------------------------------------------------------------- */

static const uint8_t by_device[] = {
	CALL_DEVICE, CALL_CONFIG, CALL_FEEDER, CALL_RING, CALL_MAP, CALL_RUN,
	CALL_SNAPSHOT, CALL_POLL, CALL_TOUCH, CALL_RESET, CALL_CLOSE,
};

static const uint8_t by_perf[] = {
	CALL_EVENT, CALL_MAP, CALL_RUN, CALL_EVENT_IOCTL, CALL_READ, CALL_FORK,
	CALL_TOUCH, CALL_KILL, CALL_UNMAP, CALL_SYSFS,
};

/* A target's group changes while rows about it are written. */
static const uint8_t by_group[] = {
	CALL_FORK, CALL_EVENT, CALL_MAP, CALL_CHURN, CALL_READ, CALL_CHURN,
};

/* The same of two targets, one of which is the program itself. */
static const uint8_t by_twins[] = {
	CALL_FORK, CALL_EVENT, CALL_MAP, CALL_TWIN, CALL_RUN, CALL_RUN,
	CALL_EVENT_IOCTL, CALL_POLL, CALL_TOUCH, CALL_TOUCH,
};

/* A file goes to somebody who may less. */
static const uint8_t by_receiver[] = {
	CALL_DEVICE, CALL_CONFIG, CALL_FEEDER, CALL_TABLE, CALL_SPLIT,
	CALL_MAPS, CALL_DROP, CALL_CONFIG, CALL_FEEDER, CALL_RUN, CALL_SNAPSHOT,
	CALL_TABLE, CALL_MAPS, CALL_CLOSE,
};

static const uint8_t by_image[] = {
	CALL_DEVICE, CALL_TABLE, CALL_CHOOSE, CALL_MAPS, CALL_IMAGES,
	CALL_CLOSE,
};

/* Makes the seed's steps hang together. */
typedef void adapt_step(struct step *step, const struct wish *wish,
			uint32_t type);

static void adapt_plain(struct step *step, const struct wish *wish,
			uint32_t type)
{
	uint64_t random = step->call;

	if (step->call == CALL_CONFIG)
		set_config(step, wish);
	if (step->call == CALL_EVENT)
		set_event(step, wish, type, &random);
	/* The event is another file than the device. */
	step->other = step->call == CALL_FEEDER;
}

/* Rows of what the target did, each millisecond. */
static void set_rows(struct step *step, const struct wish *wish, uint32_t type)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = wish->config | EVENT_ROWS,
		.config1 = EVENT_INTERVAL(1),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_RAW,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	memcpy(step->word, &attr, sizeof(attr));
	step->word[WORD_PID] = PID_TARGET;
	step->word[WORD_FLAGS] = 0;
}

static void adapt_group(struct step *step, const struct wish *wish,
			uint32_t type)
{
	struct perf_event_attr *attr = (void *)step->word;

	switch (step->call) {
	case CALL_FORK:
		step->word[0] = TARGET_GROUP;
		step->word[1] = 0;		/* on that CPU, */
		break;
	case CALL_EVENT:
		set_rows(step, wish, type);
		attr->sample_type |= PERF_SAMPLE_READ;
		attr->read_format = PERF_FORMAT_GROUP;
		step->word[WORD_CPU] = 1;	/* and so is the event */
		break;
	case CALL_MAP:
		memset(step->word, 0, sizeof(step->word));
		step->word[0] = 4;		/* 16 pages */
		break;
	case CALL_CHURN:
		step->word[0] = 32;		/* 64 siblings, */
		step->word[1] = 5;		/* 6 times */
		break;
	}
}

static void adapt_twins(struct step *step, const struct wish *wish,
			uint32_t type)
{
	switch (step->call) {
	case CALL_FORK:
		step->word[0] = TARGET_RUNS;
		break;
	case CALL_EVENT:
		set_rows(step, wish, type);
		break;
	case CALL_TWIN:
		step->other = 1;
		break;
	case CALL_EVENT_IOCTL:
		step->word[0] = 1;		/* PERF_EVENT_IOC_DISABLE */
		break;
	case CALL_TOUCH:
		step->word[0] = 1;		/* reads, and no nonsense */
		break;
	default:
		adapt_group(step, wish, type);
	}
}

static const struct seed {
	const uint8_t *calls;
	unsigned int count;
	adapt_step *adapt;
} seeds[] = {
#define SEED(calls, adapt)	{ calls, ARRAY_SIZE(calls), adapt }
	SEED(by_group, adapt_group),
	SEED(by_twins, adapt_twins),
	SEED(by_receiver, adapt_plain),
	SEED(by_image, adapt_plain),
	SEED(by_perf, adapt_plain),
	SEED(by_device, adapt_plain),
#undef SEED
};

/* The scenarios with one engine; the last two with each. */
enum { SCENARIOS = 4, EACH_ENGINE = 2 };

_Static_assert(SCENARIOS + EACH_ENGINE == ARRAY_SIZE(seeds),
	       "all seeds are run");

static void fill(struct input *input, const struct seed *seed, uint64_t engine,
		 uint32_t type, uint64_t *random)
{
	struct wish wish = { .config = engine | EVENT_STEP };
	unsigned int i;

	input->count = seed->count;
	memset(input->steps, 0, sizeof(input->steps));
	for (i = 0; i < input->count; i++) {
		struct step *step = &input->steps[i];

		step->call = seed->calls[i];
		set_words(step, type, random);
		step->word[WORD_PID] = step->word[WORD_CPU] = 0;
		seed->adapt(step, &wish, type);
	}
}

unsigned int input_seeds(void)
{
	return SCENARIOS + EACH_ENGINE * ARRAY_SIZE(engines);
}

void input_seed(struct input *input, unsigned int number, uint32_t type)
{
	unsigned int kind = number, engine = 1;		/* calls */
	uint64_t random = number;

	if (number >= SCENARIOS) {
		kind = SCENARIOS + number % EACH_ENGINE;
		engine = (number - SCENARIOS) / EACH_ENGINE;
	}
	fill(input, &seeds[kind], engines[engine], type, &random);
}

/* --- mutation ------------------------------------------------------------- */

static void insert(struct input *input, unsigned int at,
		   const struct step *step)
{
	struct step copy = *step;

	if (input->count < STEPS_MAX)
		memmove(&input->steps[at + 1], &input->steps[at],
			(input->count++ - at) * sizeof(copy));
	input->steps[at] = copy;
}

static void take_away(struct input *input, unsigned int at)
{
	if (input->count == 1)
		return;
	memmove(&input->steps[at], &input->steps[at + 1],
		(--input->count - at) * sizeof(input->steps[0]));
}

/* Changes everything but the words. */
static void mutate_frame(struct step *step, uint64_t *random)
{
	switch (random_below(random, 5)) {
	case 0:
		step->file = random_below(random, FILES);
		break;
	case 1:
		step->other = random_below(random, FILES);
		break;
	case 2:
		step->place = random_below(random, PLACE_COUNT);
		break;
	case 3:
		step->fault = random_below(random, 64);
		break;
	default:
		step->beside = !step->beside;
	}
}

static void mutate_once(struct input *input, const struct input *other,
			uint32_t type, uint64_t *random)
{
	unsigned int at = random_below(random, input->count);
	struct step *step = &input->steps[at];
	struct step fresh;

	switch (random_below(random, 8)) {
	case 0:
		make_step(&fresh, type, random);
		insert(input, at, &fresh);
		break;
	case 1:
		insert(input, at,
		       &other->steps[random_below(random, other->count)]);
		break;
	case 2:
		take_away(input, at);
		break;
	case 3:
		set_words(step, type, random);
		break;
	case 4:
		mutate_frame(step, random);
		break;
	default:
		mutate_word(&step->word[random_below(random, WORDS)], random);
	}
}

void input_mutate(struct input *input, const struct input *other,
		  uint32_t type, uint64_t *random)
{
	unsigned int times = 1 + random_below(random, 4);

	while (times--)
		mutate_once(input, other, type, random);
}

void input_scenario(struct input *input, uint32_t type, uint64_t *random)
{
	const struct seed *seed = &ONE_OF(seeds, random);
	unsigned int times = random_below(random, 4);

	fill(input, seed, ONE_OF(engines, random), type, random);
	while (times--)
		mutate_once(input, input, type, random);
}
