// SPDX-License-Identifier: GPL-2.0-only
/* The header Host: a page elsewhere must not read what is on this machine. */
#include "check.h"
#include "http.h"

static void test_own(void **state)
{
	static const char *const own[] = {
		"localhost", "LocalHost:4771", "127.0.0.1", "127.0.0.1:80",
		"[::1]", "[::1]:80", "a.example", "b.example:443",
	};
	size_t i;

	for (i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		if (!http_host_is_own(own[i], "a.example, b.example"))
			fail_msg("%s", own[i]);
}

static void test_others(void **state)
{
	static const char *const others[] = {
		"", "evil.example", "localhost.evil.example", "localhos",
		"localhost:80:evil", "localhost:80@evil.example", "[::1",
		"[::1]x", "[", ":80", "a.example.org", "example", ",", " ",
		"a.example, b.example",
	};
	size_t i;

	assert_false(http_host_is_own(NULL, ""));
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (http_host_is_own(others[i], "a.example, b.example"))
			fail_msg("'%s'", others[i]);
}

/* Pages elsewhere may not have questions asked. */
static void test_sites(void **state)
{
	assert_true(http_site_is_own(NULL));
	assert_true(http_site_is_own("none"));
	assert_true(http_site_is_own("same-origin"));
	assert_false(http_site_is_own("same-site"));
	assert_false(http_site_is_own("cross-site"));
	assert_false(http_site_is_own(""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_own),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_sites),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
