// SPDX-License-Identifier: GPL-2.0-only
/* A worker may write data into a page, and nothing else. */
#include "check.h"
#include "page.h"

#define DATA(name, text)						\
	"<script type=\"application/octet-stream\" id=\"data-" name "\">"	\
	text "</script>\n"

static void test_data(void **state)
{
	static const char *const clean[] = {
		"", DATA("loops", "H4sIAAAA+/8="),
		DATA("about", "") DATA("cct", "AA=="),
	};
	static const char *const others[] = {
		" ", "H4sIAAAA", "<meta http-equiv=refresh content=0>",
		DATA("loops", "A") "<meta http-equiv=refresh content=0>",
		DATA("loops", "<meta http-equiv=refresh content=0>"),
		DATA("loops\" src=\"//evil.example", "A"),
		DATA("LOOPS", "A"), DATA("loops", "A B"),
		DATA("loops", "&lt;"),
		"<script type=\"application/octet-stream\" id=\"data-a\">AA==",
		"<script>alert(1)</script>\n",
	};
	size_t i;

	for (i = 0; i < sizeof(clean) / sizeof(clean[0]); i++)
		if (!page_data_is_clean(clean[i]))
			fail_msg("refused: %s", clean[i]);
	for (i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (page_data_is_clean(others[i]))
			fail_msg("taken: %s", others[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
