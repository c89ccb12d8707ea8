/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Streams of values: some are hard for a tree of ranges, some are like those of
 * programs.
 */
#ifndef TESTS_ENGINE_RANGE_STREAMS_H
#define TESTS_ENGINE_RANGE_STREAMS_H

#include "engine/types.h"
#include "random.h"

enum stream {
	CODE,		/* hot spots in a few regions, as programs have them */
	UNIFORM,	/* no two equal */
	STEPS,		/* a walk through memory */
	PHASES,		/* hot spots change */
	REVERSED,	/* neighbours in time are far apart */
	ENDS,		/* the first and last values */
	LATE,		/* a value that begins late: each level keeps as much as
			 * it may */
	STREAMS,
};

static inline u64 hot_spot(u64 *random)
{
	u64 region = random_below(random, 4) * 0x7f0000000000ULL + 0x400000;
	unsigned int rank = random_below(
		random,
		1 + random_below(random, 1 + random_below(random, 3000)));

	return region + rank * 28;
}

/* Returns value number @i of the stream. */
static inline u64 next_value(enum stream stream, u64 i, u64 *random)
{
	switch (stream) {
	case CODE:
		return hot_spot(random);
	case UNIFORM:
		return random_next(random);
	case STEPS:
		return 0x7ffff0000000 + 8 * i;
	case PHASES:
		return hot_spot(random) + (i / 4000 * 0x123456789ULL);
	case REVERSED:
		return reversed(i);
	case ENDS:
		return random_below(random, 2) ? random_below(random, 8) :
		       ~0ULL - random_below(random, 8);
	case LATE:
		return i % 20000 < 12000 ? 0x5555555555555555 :
					   0xaaaaaaaaaaaaaaaa;
	case STREAMS:
		break;
	}
	return 0;
}

#endif /* TESTS_ENGINE_RANGE_STREAMS_H */
