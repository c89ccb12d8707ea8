// SPDX-License-Identifier: GPL-2.0-only
/*
 * For each source, sysfs must say whether an event with it opens. This holds on
 * every machine, even if no source works there.
 */

#include "include/kselftest_harness.h"

#include "event.h"

static int try_config(uint64_t config)
{
	return event_try(event_attr(config));
}

static const uint64_t sources[] = { 1 << 8, 1 << 9, 1 << 10, 1 << 11 };

FIXTURE(source)
{
	uint64_t config;
};

FIXTURE_VARIANT(source)
{
	const char *name;
	int number;
	uint64_t what;		/* a profile that it serves */
};

FIXTURE_VARIANT_ADD(source, step)	{ "step", 0, EVENT_LOOPS };
FIXTURE_VARIANT_ADD(source, lbr)	{ "lbr", 1, EVENT_LOOPS };
FIXTURE_VARIANT_ADD(source, sample)	{ "sample", 2, EVENT_RANGES };
FIXTURE_VARIANT_ADD(source, mem)	{ "mem", 3, EVENT_RANGES };

FIXTURE_SETUP(source)
{
	ASSERT_TRUE(event_sessions_are(0));
	self->config = variant->what | sources[variant->number];
}

FIXTURE_TEARDOWN(source)
{
	EXPECT_TRUE(event_sessions_are(0));
}

TEST_F(source, opens_or_says_why_not)
{
	const char *missing = event_missing(variant->name);

	if (!missing) {
		EXPECT_EQ(0, try_config(self->config));
		return;
	}
	TH_LOG("%s: %s", variant->name, missing);
	EXPECT_NE(NULL, strchr(missing, ' '));	/* more than a word */
	EXPECT_EQ(NULL, strstr(missing, "cannot be read"));
	EXPECT_EQ(-EOPNOTSUPP, try_config(self->config));
}

/* Two sources are wrong on every machine. */
TEST_F(source, alone)
{
	int other;

	for (other = 0; other < 4; other++)
		if (other != variant->number) {
			EXPECT_EQ(-EINVAL,
				  try_config(self->config | sources[other]));
		}
}

/* Loops, calls and paths use branch records where stepping is missing. */
TEST(the_default)
{
	bool step = !event_missing("step"), lbr = !event_missing("lbr");

	EXPECT_EQ(step || lbr ? 0 : -EOPNOTSUPP, try_config(EVENT_LOOPS));
	EXPECT_EQ(step || lbr ? 0 : -EOPNOTSUPP, try_config(EVENT_CALLS));
	EXPECT_EQ(step || lbr ? 0 : -EOPNOTSUPP, try_config(EVENT_PATHS));
	EXPECT_EQ(step ? 0 : -EOPNOTSUPP, try_config(EVENT_BRANCHES));
	EXPECT_EQ(0, try_config(EVENT_RANGES));
}

TEST(malformed)
{
	ASSERT_TRUE(event_sessions_are(0));
	EXPECT_EQ(-EINVAL, try_config(0));
	EXPECT_EQ(-EINVAL, try_config(EVENT_LOOPS | EVENT_BRANCHES));
	EXPECT_EQ(-EINVAL, try_config(EVENT_EDGES | EVENT_VALUES));
	EXPECT_EQ(0, event_sessions());
}

TEST_HARNESS_MAIN
