// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events as text: what is understood, what is refused, and with which messages.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "check.h"
#include "hwprof.h"

static const struct {
	const char *text;
	uint64_t config[3];
	bool user, kernel, whole;
} good[] = {
	{"loops", {0x2, 0, 0}, true, false, false},
	{"loops,step,rows", {0x1102, 0, 0}, true, false, false},
	{"loops,rows=1,step=0", {0x1002, 0, 0}, true, false, false},
	{"loops/u", {0x2, 0, 0}, true, false, false},
	{"loops/k", {0x2, 0, 0}, false, true, false},
	{"loops/uk", {0x2, 0, 0}, true, true, false},
	{"hwprof/loops,rows/", {0x1002, 0, 0}, true, false, true},
	{"hwprof/branches/u", {0x1, 0, 0}, true, false, true},
	{"loops,memory_mib=4095", {0x0fff0002, 0, 0}, true, false, false},
	{"loops,memory_mib=0x10", {0x00100002, 0, 0}, true, false, false},
	{"loops,span=4294967295",
	 {0xffffffff00000002, 0, 0},
	 true,
	 false,
	 false},
	{"loops,burst=200,budget_permille=10",
	 {0x2, 0xa00c8, 0},
	 true,
	 false,
	 false},
	{"ranges,range_of=6,epsilon_ppm=1",
	 {0x20, 0, 0x600001},
	 true,
	 false,
	 false},
	{"ranges,of=load-address", {0x20, 0, 0x200000}, true, false, false},
	{"ranges,of=ip-load-address", {0x20, 0, 0x700000}, true, false, false},
	{"ranges,of=8", {0x20, 0, 0x800000}, true, false, false},
	{"ranges,range_of=callee", {0x20, 0, 0x400000}, true, false, false},
	{"ranges,of=ip", {0x20, 0, 0}, true, false, false},
	{"loops,trigger=0x20c4,trigger_edge,trigger_inv,trigger_any",
	 {0xe002, 0x20c4ULL << 48, 0},
	 true,
	 false,
	 false},
	{"loops,trigger=1,trigger_high=15,trigger_cmask=255",
	 {0xf0000002, 1ULL << 48, 0xff000000},
	 true,
	 false,
	 false},
	{"ranges,epsilon_ppm=1000000", {0x20, 0, 1000000}, true, false, false},
	{"loops,calls", {0x6, 0, 0}, true, false, false},
	{"cct,loops,calls,paths,step/u", {0x14e, 0, 0}, true, false, false},
	{"hwprof/loops,paths,burst=100/", {0xa, 100, 0}, true, false, true},
	{"calls,paths,lbr", {0x20c, 0, 0}, true, false, false},
	{"loops,values=0", {0x2, 0, 0}, true, false, false},
	{"cct,sample,metrics=4", {0x440, 4 << 26, 0}, true, false, false},
	{"loops,session=4294967295",
	 {0x2, 0, 0xffffffff00000000},
	 true,
	 false,
	 false},
};

static void test_good(void **state)
{
	size_t i, word;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct hwprof_event event;
		char message[512] = "";
		int error = hwprof_event_parse(&event, good[i].text, message,
					       sizeof(message));

		if (error)
			print_message("# %s: %s\n", good[i].text, message);
		assert_int_equal(error, 0);
		for (word = 0; word < 3; word++)
			assert_int_equal(event.config[word],
					 good[i].config[word]);
		assert_int_equal(event.user, good[i].user);
		assert_int_equal(event.kernel, good[i].kernel);
		assert_int_equal(event.whole, good[i].whole);
	}
}

/* Each message must name what is wrong and what is allowed. */
static const struct {
	const char *text, *named, *allowed;
} bad[] = {
	{"", "missing", ""},
	{"loops,", "missing", ""},
	{",loops", "missing", ""},
	{"loops,,rows", "missing", ""},
	{"loop", "unknown field 'loop'", "branches, loops, calls"},
	{"loops,x=1", "unknown field 'x'", "memory_mib"},
	{"loops,rowss", "unknown field 'rowss'", "rows"},
	{"loops,memory_mib=4096", "'memory_mib=4096'", "0 to 4095"},
	{"loops,memory_mib=99999", "'memory_mib=99999'", "0 to 4095"},
	{"loops,memory_mib=", "'memory_mib='", "0 to 4095"},
	{"loops,memory_mib=-1", "'memory_mib=-1'", "0 to 4095"},
	{"loops,memory_mib=+1", "'memory_mib=+1'", "0 to 4095"},
	{"loops,memory_mib= 1", "'memory_mib= 1'", "0 to 4095"},
	{"loops,memory_mib=1x", "'memory_mib=1x'", "0 to 4095"},
	{"loops,memory_mib=0x", "'memory_mib=0x'", "0 to 4095"},
	{"loops,memory_mib", "'memory_mib' needs a value", "0 to 4095"},
	{"loops,rows=2", "'rows=2'", "0 to 1"},
	{"ranges,of=9", "'of=9'", "ip, load-value, load-address"},
	{"ranges,of=load", "'of=load'", "load-address, store-address, callee"},
	{"ranges,of", "'range_of' needs a value",
	 "zero-address, narrow-ip, ip-load-address"},
	{"ranges,of=1,range_of=2", "given twice", "range_of"},
	{"loops,of=callee", "what ranges are of", "has none"},
	{"loops,span=4294967296", "'span=4294967296'", "0 to 4294967295"},
	{"loops,span=99999999999999999999999", "span", "0 to 4294967295"},
	{"ranges,epsilon_ppm=1000001", "'epsilon_ppm=1000001'", "0 to 1000000"},
	{"cct,sample,metrics=5", "'metrics=5'", "0 to 4"},
	{"loops,step=yes", "'step=yes'", "0 to 1"},
	{"loops,loops", "'loops' is given twice", ""},
	{"loops,values", "several things",
	 "only these can be in one event: loops, calls, paths, cct"},
	{"branches,loops", "several things", "loops, calls, paths, cct"},
	{"ranges,cct", "several things", "an event (-e) each"},
	{"loops,calls,ranges,of=callee", "several things", "loops, calls"},
	{"loops,cct,burst=100", "cct beside other things", "leave out 'burst'"},
	{"cct,paths,lbr", "cct beside other things", "leave out 'lbr'"},
	{"cct,calls,sample", "needs every branch", "leave out 'sample'"},
	{"step,rows", "must say what is profiled", "branches, loops"},
	{"loops=0", "must say what is profiled", "branches, loops"},
	{"loops,step,lbr", "more than one source", "step, lbr, sample, mem"},
	{"loops/x", "unknown modifier 'x'", "u (user mode), k (kernel)"},
	{"loops/u/", "unknown modifier '/'", "u (user mode)"},
	{"hwprof/loops", "no second slash", ""},
	{"hwprof//", "missing", ""},
	{"cycles", "unknown field 'cycles'", "loops"},
};

static void test_bad(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hwprof_event event;
		char message[512] = "";
		int error = hwprof_event_parse(&event, bad[i].text, message,
					       sizeof(message));

		if (error != -EINVAL || !strstr(message, bad[i].named) ||
		    !strstr(message, bad[i].allowed))
			print_message("# '%s': %d, %s\n", bad[i].text, error,
				      message);
		assert_int_equal(error, -EINVAL);
		assert_non_null(strstr(message, bad[i].named));
		assert_non_null(strstr(message, bad[i].allowed));
	}
}

/* A message is cut to its buffer, and terminated. */
static void test_short_message(void **state)
{
	struct hwprof_event event;
	char message[16];

	memset(message, 'x', sizeof(message));
	assert_int_equal(hwprof_event_parse(&event, "loops,foo", message, 8),
			 -EINVAL);
	assert_int_equal(message[7], 0);
	assert_int_equal(message[8], 'x');
}

/* A printed event is read back unchanged. */
static void test_print(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct hwprof_event event, again;
		char text[512], message[512];

		assert_int_equal(hwprof_event_parse(&event, good[i].text,
						    message, sizeof(message)),
				 0);
		hwprof_event_print(&event, text, sizeof(text));
		assert_int_equal(hwprof_event_parse(&again, text, message,
						    sizeof(message)), 0);
		assert_memory_equal(event.config, again.config,
				    sizeof(event.config));
		assert_int_equal(event.user, again.user);
		assert_int_equal(event.kernel, again.kernel);
		assert_true(again.whole);
	}
}

static void test_fields(void **state)
{
	struct hwprof_event event = { .config = { 0 } };

	assert_int_equal(hwprof_event_set(&event, "interval_ms", 65535), 0);
	assert_int_equal(hwprof_event_field(&event, "interval_ms"), 65535);
	assert_int_equal(event.config[1], 65535ULL << 32);
	assert_int_equal(hwprof_event_set(&event, "interval_ms", 65536),
			 -EINVAL);
	assert_int_equal(hwprof_event_set(&event, "nothing", 1), -EINVAL);
	assert_int_equal(hwprof_event_set(&event, "interval_ms", 1), 0);
	assert_int_equal(event.config[1], 1ULL << 32);
	assert_int_equal(hwprof_event_field(&event, "nothing"), 0);
}

/* Fields are at the bits of a CPU's event select. */
static void test_trigger(void **state)
{
	struct hwprof_event event = { .config = { 0x2, 200, 0 } };

	static const uint64_t none[] = {
		1 << 16, 1 << 17, 1 << 19, 1 << 20, 1 << 22, 1ULL << 36,
	};
	size_t i;

	assert_int_equal(hwprof_event_set_trigger(&event, 0xf3fa4abcdULL), 0);
	assert_int_equal(event.config[0], 0xf000e002);
	assert_int_equal(event.config[1], 0xabcdULL << 48 | 200);
	assert_int_equal(event.config[2], 0x3f000000);
	assert_int_equal(hwprof_event_set_trigger(&event, 0xc4), 0);
	assert_int_equal(event.config[0], 0x2);
	assert_int_equal(event.config[2], 0);
	for (i = 0; i < sizeof(none) / sizeof(none[0]); i++)
		assert_int_equal(hwprof_event_set_trigger(&event,
							  none[i] | 0xc4),
				 -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_short_message),
		cmocka_unit_test(test_print),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_trigger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
