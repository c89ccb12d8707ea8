// SPDX-License-Identifier: GPL-2.0-only
/*
 * Masks as text: what is understood; what is refused, with which sentence and
 * at which place; and that no text does harm.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "../engine/random.h"
#include "../engine/seeds.h"
#include "base/mask_refused.h"
#include "check.h"
#include "hwprof.h"

enum {
	TEXTS = 200000, /* of random pieces */
	LENGTH = 40,
};

static char message[512];

static struct hwprof_mask parsed(const char *text)
{
	struct hwprof_mask mask;
	int error = hwprof_mask_parse(&mask, text, message, sizeof(message));

	if (error)
		print_error("%s: %s\n", text, message);
	assert_int_equal(0, error);
	assert_string_equal("", message);
	assert_int_equal(sizeof(mask), mask.size);
	return mask;
}

static void check_good(const char *text, struct hwprof_mask expected)
{
	struct hwprof_mask mask = parsed(text);

	expected.size = sizeof(expected);
	expected.flags |= HWPROF_MASK_SET;
	assert_memory_equal(&expected, &mask, sizeof(mask));
}

#define MASK(...) ((struct hwprof_mask){__VA_ARGS__})

static void good(void **state)
{
	const uint32_t load = 1 << HWPROF_KIND_LOAD;

	check_good("all", MASK(.flags = 0));
	check_good("kind=load", MASK(.kinds = load));
	check_good("kind=load+store", MASK(.kinds = 3 * load));
	check_good("kind=load,kind=store", MASK(.kinds = 3 * load));
	check_good("kind=branch", MASK(.kinds = HWPROF_MASK_BRANCHES));
	check_good("kind=cond+jump+indirect+call+ret+syscall+signal+sigreturn",
		   MASK(.kinds = HWPROF_MASK_BRANCHES));
	check_good("class=move+atomic",
		   MASK(.classes = 1 << HWPROF_CLASS_MOVE |
				   1 << HWPROF_CLASS_ATOMIC));
	check_good("class=branch+stack+string+move+vector+arithmetic+atomic",
		   MASK(.classes = (1 << HWPROF_CLASSES) - 1));
	check_good("width=1+2+4+8+16+32+64",
		   MASK(.widths = HWPROF_MASK_WIDTHS));
	check_good("value=7", MASK(.value_match = 7, .value_mask = ~0ULL));
	check_good("value=0x10/0xF0",
		   MASK(.value_match = 16, .value_mask = 0xf0));
	check_good("value=18446744073709551615",
		   MASK(.value_match = ~0ULL, .value_mask = ~0ULL));
	check_good("address=0/4095",
		   MASK(.address_match = 0, .address_mask = 4095));
	check_good("ip=0x401000/0xfff000",
		   MASK(.ip_match = 0x401000, .ip_mask = 0xfff000));
	check_good("part=3/4", MASK(.flags = HWPROF_MASK_HASH, .ip_match = 3,
				    .ip_mask = 3));
	check_good("kind=load,width=8,value=0x0/0xff,"
		   "address=0x7f0000000000/0xff0000000000,class=move",
		   MASK(.kinds = load, .widths = 8, .value_mask = 0xff,
			.address_match = 0x7f0000000000,
			.address_mask = 0xff0000000000,
			.classes = 1 << HWPROF_CLASS_MOVE));
}

/* The place is counted in characters from 1 on. */
static const struct {
	const char *text;
	unsigned int place;
	const char *sentence;
} bad[] = {
	{"", 1,
	 "'' is no test; there are kind=, class=, width=, value=, address=, ip= and part="},
	{"load", 1, "'load' is no test"},
	{"kind", 1, "'kind' is no test"},
	{"kind=load,", 11, "'' is no test"},
	{",kind=load", 1, "'' is no test"},
	{"kinds=load", 1, "'kinds' is no test"},
	{"all,kind=load", 1, "'all' is no test"},
	{"kind=", 6,
	 "'' is no kind; there are branch, cond, jump, indirect, call, ret, syscall, signal, sigreturn, load, store"},
	{"kind=laod,width=8", 6, "'laod' is no kind"},
	{"kind=load+", 11, "'' is no kind"},
	{"kind=load/store", 10,
	 "'/' does not belong there: a comma is before the next test"},
	{"width=8,class=fast", 15,
	 "'fast' is no class; there are atomic, branch, stack, string, move, vector, arithmetic"},
	{"width=3", 7, "'3' is no width; there are 1, 2, 4, 8, 16, 32, 64"},
	{"value=", 7,
	 "'' is no number of up to 64 bits; 0x begins a hexadecimal one"},
	{"value=x", 7, "'x' is no number"},
	{"value=-1", 7, "'-1' is no number"},
	{"value=18446744073709551616", 7, "is no number"},
	{"value=0x10000000000000000", 7, "is no number"},
	{"value=000000000000000000000000000001", 7, "is no number"},
	{"value=1/", 9, "'' is no number"},
	{"value=2/6/3", 10, "'/' does not belong there"},
	{"value=0/0", 7, "the mask 0 looks at nothing: leave it out"},
	{"value=0x11/0xf0", 7,
	 "0x11 has bits that the mask 0xf0 has not: nothing could pass"},
	{"value=1,value=2", 9, "there can be one value"},
	{"ip=1,part=0/2", 6, "there can be one ip or part"},
	{"part=1", 6, "a part is K/N, for example 0/4 for the first of four"},
	{"part=0/3", 6, "a program has 2, 4, 8, ... parts, and not 3"},
	{"part=0/1", 6, "parts, and not 1"},
	{"part=4/4", 6, "the 4 parts are 0 to 3"},
};

static void refused(void **state)
{
	struct hwprof_mask mask;
	unsigned int i;
	char start[256];

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(-EINVAL,
				 hwprof_mask_parse(&mask, bad[i].text, message,
						   sizeof(message)));
		snprintf(start, sizeof(start),
			 "mask '%s', character %u: ", bad[i].text,
			 bad[i].place);
		if (strncmp(message, start, strlen(start)) ||
		    !strstr(message, bad[i].sentence))
			fail_msg("%s", message);
	}
}

/* A long text leaves room for what is wrong with it. */
static void long_texts(void **state)
{
	static const char *const begins[] = {
		"", "kind=", "class=", "width=", "value=", "part=0/",
	};
	struct hwprof_mask mask;
	char text[1000 + 1];
	unsigned int i;

	for (i = 0; i < sizeof(begins) / sizeof(begins[0]); i++) {
		memset(text, 'x', sizeof(text) - 1);
		text[sizeof(text) - 1] = 0;
		memcpy(text, begins[i], strlen(begins[i]));
		assert_int_equal(-EINVAL,
				 hwprof_mask_parse(&mask, text, message,
						   sizeof(message)));
		assert_non_null(strstr(message, "xxx' is no "));
		assert_in_range(strlen(message), 1, sizeof(message) - 2);
	}
}

/* A message that has no room is cut off. */
static void small(void **state)
{
	struct hwprof_mask mask;
	char room[8];
	size_t size;

	for (size = 0; size <= sizeof(room); size++) {
		memset(room, 'x', sizeof(room));
		assert_int_equal(-EINVAL, hwprof_mask_parse(&mask, "kind=x",
							    room, size));
		assert_true(!size || strlen(room) < size);
		assert_true(size == sizeof(room) || room[size] == 'x');
	}
}

/* Pieces of masks in any order give a mask that its own rules allow, or not. */
static void random_texts(void **state)
{
	static const char *const pieces[] = {
		"kind=", "class=", "width=", "value=", "address=", "ip=",
		"part=", "load",   "store",  "call",   "move",	   "8",
		"0x",	 "1",	   "0",	     "/",      "+",	   ",",
		"=",	 "all",	   "f",	     "4",      "\xff",	   "-",
	};
	uint64_t random = 3, count = part(TEXTS), understood = 0, i;
	struct hwprof_mask mask;
	char text[LENGTH * 8 + 1];
	unsigned int k;

	for (i = 0; i < count; i++) {
		*text = 0;
		for (k = random_below(&random, LENGTH / 4); k; k--)
			strcat(text,
			       pieces[random_below(&random,
						   sizeof(pieces) /
							   sizeof(pieces[0]))]);
		if (hwprof_mask_parse(&mask, text, message, sizeof(message))) {
			assert_true(strlen(message) > 0);
			continue;
		}
		understood++;
		assert_false(mask.value_match & ~mask.value_mask);
		assert_false(mask.address_match & ~mask.address_mask);
		assert_false(mask.ip_match & ~mask.ip_mask);
		assert_false(mask.kinds & ~HWPROF_MASK_KINDS);
		assert_false(mask.widths & ~HWPROF_MASK_WIDTHS);
	}
	assert_in_range(understood, count / 2000, count / 2);
}

/* --- as text -------------------------------------------------------------- */

static void check_print(const char *expected, struct hwprof_mask mask)
{
	char text[HWPROF_MASK_TEXT];

	hwprof_mask_print(&mask, text, sizeof(text));
	assert_string_equal(expected, text);
}

static void prints(void **state)
{
	char text[8] = "xxxxxxx";

	check_print("all", MASK(.flags = HWPROF_MASK_SET));
	check_print("kind=branch+load", MASK(.kinds = HWPROF_MASK_BRANCHES |
						      1 << HWPROF_KIND_LOAD));
	check_print(
		"kind=cond+ret,class=atomic,width=8+64",
		MASK(.kinds = 1 << HWPROF_BRANCH_COND | 1 << HWPROF_BRANCH_RET,
		     .classes = 1, .widths = 72));
	check_print("value=0x5,address=0x10/0xf0,ip=0x0/0xf",
		    MASK(.value_match = 5, .value_mask = ~0ULL,
			 .address_match = 16, .address_mask = 0xf0,
			 .ip_mask = 15));
	check_print("part=3/4", MASK(.flags = HWPROF_MASK_HASH, .ip_match = 3,
				     .ip_mask = 3));
	/* These have no text that can be read. */
	check_print("hash=0x2/0x6", MASK(.flags = HWPROF_MASK_HASH,
					 .ip_match = 2, .ip_mask = 6));
	check_print("hash=0x2", MASK(.flags = HWPROF_MASK_HASH, .ip_match = 2,
				     .ip_mask = ~0ULL));
	hwprof_mask_print(&MASK(.widths = 64), text, 4);
	assert_string_equal("wid", text);
	assert_string_equal("xxx", text + 4);
	hwprof_mask_print(&MASK(.widths = 64), text, 0);
	assert_string_equal("wid", text);
}

/* The text of any mask is read as the same mask. */
static void prints_what_it_reads(void **state)
{
	uint64_t random = 5, count = part(TEXTS), i;
	char text[HWPROF_MASK_TEXT];
	struct hwprof_mask mask;

	for (i = 0; i < count; i++) {
		mask = MASK(.kinds = random_next(&random) & HWPROF_MASK_KINDS,
			    .classes =
				    random_below(&random, 1 << HWPROF_CLASSES),
			    .widths = random_below(&random, 128),
			    .value_mask = random_next(&random),
			    .value_match = random_next(&random),
			    .address_mask = random_next(&random),
			    .address_match = random_next(&random));
		mask.value_match &= mask.value_mask;
		mask.address_match &= mask.address_mask;
		if (i & 1) {
			mask.flags = HWPROF_MASK_HASH;
			mask.ip_mask = (2ULL << random_below(&random, 63)) - 1;
		} else {
			mask.ip_mask = random_next(&random);
		}
		mask.ip_match = random_next(&random) & mask.ip_mask;
		hwprof_mask_print(&mask, text, sizeof(text));
		assert_in_range(strlen(text), 1, sizeof(text) - 2);
		check_good(text, mask);
	}
}

/* --- what the module refuses ---------------------------------------------- */

static const char *why(const char *event_text, const char *mask_text, int error)
{
	struct hwprof_mask mask = parsed(mask_text);
	struct hwprof_event event;

	assert_int_equal(0, hwprof_event_parse(&event, event_text, message,
					       sizeof(message)));
	mask_refused(message, sizeof(message), error, &event, &mask);
	return message;
}

static void sentences(void **state)
{
	struct hwprof_mask mask = parsed("kind=call");

	assert_string_equal(
		"the mask leaves out branches, and the event's profile must see each",
		why("loops,step", "kind=call", EINVAL));
	assert_string_equal(
		"the mask tests loads and stores, which the event does not see",
		why("edges,step", "kind=load", EOPNOTSUPP));
	assert_string_equal(
		"the mask names kinds, and the event takes samples, which have none",
		why("ranges,sample", "kind=call", EOPNOTSUPP));
	assert_string_equal(
		"only the process that made the session sets its mask and sees it, or one that may attach to all programs (CAP_PERFMON and CAP_SYS_PTRACE); 'all' takes the right to change the session's parameters",
		why("edges,step", "kind=call", EPERM));
	/* Not the sentence of a rule that gives another error. */
	assert_string_equal(
		"the mask leaves out branches, and the session's profile must see each; or the module does not know it",
		why("edges,step", "kind=load", EINVAL));
	assert_string_equal(
		"the mask tests what the session does not see: loads and stores, or kinds of samples",
		why("loops,step", "kind=call", EOPNOTSUPP));
	assert_string_equal(
		"the module refuses the mask: Interrupted system call",
		why("edges,step", "kind=call", EINTR));
	mask_refused(message, sizeof(message), EINVAL, NULL, &mask);
	assert_string_equal(
		"the mask leaves out branches, and the session's profile must see each; or the module does not know it",
		message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good),
		cmocka_unit_test(refused),
		cmocka_unit_test(small),
		cmocka_unit_test(random_texts),
		cmocka_unit_test(sentences),
		cmocka_unit_test(long_texts),
		cmocka_unit_test(prints),
		cmocka_unit_test(prints_what_it_reads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
