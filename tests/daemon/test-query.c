// SPDX-License-Identifier: GPL-2.0-only
/* Paths and parameters: what they ask for, and what is refused. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "query.h"

enum { NOW = 1000000 };

/* Parses "path?name=value&name=value". */
static int parse(struct query *query, const char *text, char *message)
{
	struct query_argument arguments[8];
	char copy[512], *rest = copy, *path, *item;
	size_t count = 0;

	strcpy(copy, text);
	path = strsep(&rest, "?");
	while ((item = strsep(&rest, "&"))) {
		const char *name = strsep(&item, "=");

		arguments[count++] = (struct query_argument){
			name, item ? item : "",
		};
	}
	return query_parse(query, path, arguments, count, NOW, message);
}

static void accept_query(struct query *query, const char *text)
{
	char message[QUERY_MESSAGE] = "";

	if (parse(query, text, message))
		fail_msg("%s: %s", text, message);
}

static void test_pprof(void **state)
{
	struct query query;

	accept_query(&query, "/debug/pprof/profile?seconds=30");
	assert_int_equal(query.what, QUERY_EXPORT);
	assert_int_equal(query.kind, HWPROF_KIND_CCT);
	assert_string_equal(query.format, "pprof");
	assert_int_equal(query.to, NOW);
	assert_int_equal(query.from, NOW - 30);
	accept_query(&query, "/debug/pprof/edges?from=10&to=20&build_id=AB12");
	assert_int_equal(query.kind, HWPROF_KIND_EDGES);
	assert_int_equal(query.from, 10);
	assert_int_equal(query.to, 20);
	assert_string_equal(query.build_id, "ab12");
}

static void test_times(void **state)
{
	struct query query;

	accept_query(&query, "/api/v1/recording");
	assert_int_equal(query.to - query.from, 60);
	assert_int_equal(query.kind, -1);
	accept_query(&query, "/api/v1/recording?from=100&seconds=5");
	assert_int_equal(query.from, 100);
	assert_int_equal(query.to, 105);
	accept_query(&query, "/api/v1/recording?to=100&seconds=5");
	assert_int_equal(query.from, 95);
	accept_query(&query, "/api/v1/recording?seconds=1.5");
	assert_int_equal(query.from, NOW - 1);
	/* More time than there was is all of it. */
	accept_query(&query, "/api/v1/recording?seconds=1099511627776");
	assert_int_equal(query.from, 0);
}

static void test_api(void **state)
{
	struct query query;

	accept_query(&query, "/api/v1/builds");
	assert_int_equal(query.what, QUERY_BUILDS);
	accept_query(&query, "/api/v1/profile/loops?limit=3");
	assert_int_equal(query.what, QUERY_JSON);
	assert_int_equal(query.limit, 3);
	assert_string_equal(query.content_type, "application/json");
	accept_query(&query, "/api/v1/export?format=bolt");
	assert_int_equal(query.kind, HWPROF_KIND_EDGES);
	accept_query(&query, "/api/v1/export?format=folded&kind=cct");
	assert_int_equal(query.kind, HWPROF_KIND_CCT);
	assert_false(query.values);
	accept_query(&query, "/api/v1/profile/values");
	assert_int_equal(query.kind, HWPROF_KIND_VALUES);
	assert_true(query.values);
	accept_query(&query, "/api/v1/profile/ranges?limit=2");
	assert_true(query.values);
	accept_query(&query, "/api/v1/ranges?from=1&to=2");
	assert_int_equal(query.what, QUERY_RANGES);
	assert_int_equal(query.kind, HWPROF_KIND_RANGES);
	assert_true(query.values);
}

static void test_page(void **state)
{
	struct query query;

	accept_query(&query, "/page?from=10&to=20&build_id=AB&limit=7");
	assert_int_equal(query.what, QUERY_PAGE);
	assert_int_equal(query.kind, -1);
	assert_int_equal(query.limit, 7);
	assert_string_equal(query.content_type, "text/html; charset=utf-8");
	assert_false(query.diff);
	accept_query(&query, "/page?from=10&to=20&build_id=ab&diff_from=1"
		     "&diff_to=5");
	assert_true(query.diff);
	assert_int_equal(query.before_from, 1);
	assert_int_equal(query.before_to, 5);
	assert_string_equal(query.before_build_id, "ab");
	accept_query(&query, "/page?from=10&to=20&build_id=ab&diff_build_id=C");
	assert_true(query.diff);
	assert_int_equal(query.before_from, 10);
	assert_int_equal(query.before_to, 20);
	assert_string_equal(query.before_build_id, "c");
	assert_string_equal(query.build_id, "ab");
	accept_query(&query, "/api/v1/now");
	assert_int_equal(query.what, QUERY_NOW);
}

static void test_labels(void **state)
{
	struct query query;

	accept_query(&query, "/api/v1/labels?seconds=60");
	assert_int_equal(query.what, QUERY_LABELS);
	assert_false(label_filter_is_set(&query.filter));
	assert_int_equal(query.now, NOW);
	accept_query(&query, "/api/v1/recording?uid=0");
	assert_true(query.filter.by_uid);
	assert_int_equal(query.filter.uid, 0);
	accept_query(&query, "/debug/pprof/loops?cgroup=/system.slice"
		     "&unit=a.service&container=0123ab&program=prog");
	assert_false(query.filter.by_uid);
	assert_false(query.filter.only_seen);
	assert_string_equal(query.filter.cgroup, "/system.slice");
	assert_string_equal(query.filter.unit, "a.service");
	assert_string_equal(query.filter.container, "0123ab");
	assert_string_equal(query.filter.program, "prog");
}

static const struct {
	const char *text;
	int error;
	const char *message;
} refusals[] = {
	{ "/", -ENOENT, "nothing at '/'" },
	{ "/api/v1/", -ENOENT, "there are builds" },
	{ "/api/v1/nothing", -ENOENT, "there are builds" },
	{ "/debug/pprof/heap", -EINVAL, "no kind 'heap'" },
	{ "/debug/pprof/values?build_id=ab", -EINVAL, "cannot be chosen" },
	{ "/debug/pprof/values?uid=0", -EINVAL, "cannot be chosen" },
	{ "/api/v1/recording?kind=values", -EINVAL, "alone" },
	{ "/api/v1/windows?kind=ranges", -EINVAL, "alone" },
	{ "/page?kind=values", -EINVAL, "alone" },
	{ "/api/v1/ranges?kind=loops", -EINVAL, "no parameter 'kind'" },
	{ "/api/v1/ranges?limit=1", -EINVAL, "no parameter" },
	{ "/api/v1/ranges?build_id=ab", -EINVAL, "cannot be chosen" },
	{ "/api/v1/ranges?uid=0", -EINVAL, "cannot be chosen" },
	{ "/debug/pprof/loops?seconds=0", -EINVAL, "seconds is '0'" },
	{ "/debug/pprof/loops?seconds=-1", -EINVAL, "seconds" },
	{ "/debug/pprof/loops?seconds=1e9", -EINVAL, "seconds" },
	{ "/debug/pprof/loops?seconds=", -EINVAL, "seconds" },
	{ "/debug/pprof/loops?seconds=9999999999999999", -EINVAL,
	  "seconds" },
	{ "/debug/pprof/loops?from=20&to=10", -EINVAL, "not before" },
	{ "/debug/pprof/loops?from=1&to=2&seconds=1", -EINVAL,
	  "too much" },
	{ "/debug/pprof/loops?build_id=xyz", -EINVAL, "hexadecimal" },
	{ "/debug/pprof/loops?build_id=", -EINVAL, "hexadecimal" },
	{ "/debug/pprof/loops?build_id=00112233445566778899"
	  "00112233445566778899a", -EINVAL, "1 to 40" },
	{ "/debug/pprof/loops?pid=1", -EINVAL, "use program, uid" },
	{ "/debug/pprof/loops?cgroup=a", -EINVAL, "begins with '/'" },
	{ "/debug/pprof/loops?uid=root", -EINVAL, "uid is 'root'" },
	{ "/debug/pprof/loops?uid=4294967295", -EINVAL, "to 4294967294" },
	{ "/debug/pprof/loops?uid=-1", -EINVAL, "uid is '-1'" },
	{ "/debug/pprof/loops?unit=", -EINVAL, "unit is ''" },
	{ "/debug/pprof/loops?program=", -EINVAL, "1 to 63" },
	{ "/debug/pprof/loops?container=xyz", -EINVAL, "hexadecimal" },
	{ "/debug/pprof/loops?container=", -EINVAL, "hexadecimal" },
	{ "/debug/pprof/loops?colour=red", -EINVAL, "no parameter" },
	{ "/debug/pprof/loops?limit=1", -EINVAL, "no parameter" },
	{ "/page/", -ENOENT, "nothing at '/page/'" },
	{ "/page?format=bolt", -EINVAL, "no parameter" },
	{ "/page?diff_from=1", -EINVAL, "belong together" },
	{ "/page?diff_to=1", -EINVAL, "belong together" },
	{ "/page?diff_from=2&diff_to=2", -EINVAL, "diff_from is 2" },
	{ "/page?diff_from=x&diff_to=2", -EINVAL, "diff_from is 'x'" },
	{ "/page?diff_build_id=x", -EINVAL, "diff_build_id is 'x'" },
	{ "/page?diff_seconds=1", -EINVAL, "no parameter" },
	{ "/api/v1/recording?diff_from=1", -EINVAL, "no parameter" },
	{ "/api/v1/export", -EINVAL, "format is ''" },
	{ "/api/v1/export?format=none", -EINVAL, "format is 'none'" },
	{ "/api/v1/export?format=abcdefghijklmnopq", -EINVAL,
	  "too long" },
	{ "/api/v1/export?format=bolt&kind=loops", -EINVAL,
	  "cannot have loops" },
};

static void test_refusals(void **state)
{
	char message[QUERY_MESSAGE];
	struct query query;
	size_t i;

	for (i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const char *text = refusals[i].text;

		*message = 0;
		if (parse(&query, text, message) != refusals[i].error)
			fail_msg("%s: %s", text, message);
		if (!strstr(message, refusals[i].message))
			fail_msg("%s: %s", text, message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pprof),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_api),
		cmocka_unit_test(test_page),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_refusals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
