// SPDX-License-Identifier: GPL-2.0-only
/* The configuration: defaults, values, and what is refused with which words. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "config.h"

static int read_text(struct config *config, const char *text, char *message)
{
	FILE *in = fmemopen((void *)text, strlen(text), "r");
	int error;

	assert_non_null(in);
	config_default(config);
	error = config_read(config, in, "conf", message, 512);
	fclose(in);
	return error;
}

static void test_values(void **state)
{
	struct config config;
	char message[512] = "";

	assert_int_equal(read_text(&config,
				   "# comment\n"
				   "\n"
				   "  store_mib =  512 \n"
				   "listen=[::1]:80\n"
				   "tcp_profiles = yes\n"
				   "hosts = a.example b.example\n"
				   "events = loops,lbr",
				   message), 0);
	assert_int_equal(config.store_mib, 512);
	assert_string_equal(config.listen, "[::1]:80");
	assert_true(config.tcp_profiles);
	assert_string_equal(config.hosts, "a.example b.example");
	assert_string_equal(config.events, "loops,lbr");
	/* The other keys keep their defaults. */
	assert_string_equal(config.store, "/var/lib/hwprofd");
	assert_int_equal(config.window, 10);
	assert_int_equal(config.budget_permille, 10);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{ "store_mib = 0\n",
		  "conf:1: store_mib is '0': allowed are numbers from 1 to" },
		{ "\n\nwindow = ten\n", "conf:3: window is 'ten'" },
		{ "window = 10s\n", "conf:1: window is '10s'" },
		{ "window = -1\n", "conf:1: window is '-1'" },
		{ "window = 99999999999999999999\n", "conf:1: window" },
		{ "tcp_profiles = on\n", "allowed are yes and no" },
		{ "colour = red\n", "conf:1: there is no key 'colour'" },
		{ "window\n", "conf:1: 'window' is not of the form" },
		{ "listen = 4771\n", "conf: listen is '4771'" },
		{ "listen = ::1:80\n", "conf: listen" },
		{ "listen = a:0\n", "conf: listen" },
		{ "listen = a:65536\n", "conf: listen" },
		{ "listen = []:80\n", "conf: listen" },
		{ "socket = http\n", "paths that begin with '/'" },
		{ "socket =\n", "paths that begin with '/'" },
		{ "keep_ten_minutes = 600\n", "keep_ten_minutes is less" },
		{ "events = lops\n", "conf: events: " },
		{ "events = values\n", "values have a key of their own" },
		{ "stacks = ranges,range_of=load-address\n", "key of their own" },
		{ "values = loops\n", "events of values, and none" },
		{ "values = values,loops\n", "values: event" },
		{ "ranges = values\n", "events of ranges, and none" },
		{ "values = values,step\n", "'step' would" },
		{ "values = values/k\n", "kernel is not collected" },
		{ "values = nothing\n", "values:" },
		{ "turn = 1\n", "turn is '1'" },
		{ "events = loops,step\n", "far slower" },
		{ "events = loops/k\n", "the kernel is not collected yet" },
		{ "stacks = none\nevents = none\n", "nothing would be" },
	};
	struct config config;
	char message[512];
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		*message = 0;
		if (read_text(&config, cases[i].text, message) != -EINVAL)
			fail_msg("'%s' was taken", cases[i].text);
		if (!strstr(message, cases[i].message))
			fail_msg("'%s': %s", cases[i].text, message);
	}
}

static void test_long_text(void **state)
{
	char text[CONFIG_TEXT + 64] = "hosts = ", message[512];
	struct config config;
	size_t start = strlen(text);

	memset(text + start, 'x', CONFIG_TEXT - 1);
	assert_int_equal(read_text(&config, text, message), 0);
	assert_int_equal(strlen(config.hosts), CONFIG_TEXT - 1);
	text[start + CONFIG_TEXT - 1] = 'x';
	assert_int_equal(read_text(&config, text, message), -EINVAL);
	assert_non_null(strstr(message, "more than 255 characters"));
}

static void test_no_file(void **state)
{
	struct config config;
	char message[512];

	assert_int_equal(config_load(&config, "/no/such/conf", message,
				     sizeof(message)), -ENOENT);
	assert_non_null(strstr(message, "/no/such/conf: cannot be read"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_no_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
