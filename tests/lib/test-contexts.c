// SPDX-License-Identifier: GPL-2.0-only
/*
 * From rows to calling context trees: sums, places, shapes, and what is
 * missing.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "fixture.h"
#include "found.h"

#define CALL		HWPROF_CONTEXT_CALL
#define ROOT		HWPROF_CONTEXT_ROOT
#define SIGNAL		HWPROF_CONTEXT_SIGNAL
#define RECURSION	HWPROF_CONTEXT_RECURSION

static void begin(struct fixture *fixture)
{
	uint32_t pid;

	fixture_begin(fixture, "cct,step,rows");
	/* The file does not exist, so addresses are offsets in it. */
	for (pid = 100; pid < 102; pid++) {
		fixture_comm(fixture, 1, pid, "prog", true);
		fixture_map(fixture, 2, pid, pid * 0x100000, 0x10000, 0,
			    "/no/prog", NULL);
	}
}

/* Adds a row of @pid, whose program begins at pid * 0x100000. */
static void add(struct fixture *fixture, uint32_t pid, unsigned int kind,
		uint64_t id, uint64_t parent, uint64_t site, uint64_t callee,
		uint64_t calls, uint64_t branches)
{
	uint64_t base = pid * 0x100000;
	struct hwprof_row_context row = {
		.row.type = HWPROF_ROW_CONTEXT,
		.row.size = sizeof(row),
		.row.session = 1,
		.row.space = pid,
		.row.pid = pid,
		.id = pid << 16 | id,
		.parent = parent ? pid << 16 | parent : 0,
		.site = site ? base + site : 0,
		.callee = callee ? base + callee : 0,
		.calls = calls,
		.kind = kind,
		.basis = HWPROF_BASIS_EXACT,
	};

	if (kind == RECURSION)
		row.target = pid << 16 | branches;
	else
		row.branches = branches;
	fixture_row(fixture, 10, row.callee, row.site, calls, &row.row);
}

/*
 * The root calls A (twice) and C. A calls B, which calls A again, from two
 * sites. Children come before their parents, and in several rows.
 */
static void add_tree(struct fixture *fixture, uint32_t pid)
{
	add(fixture, pid, RECURSION, 9, 3, 0x320, 0x200, 4, 2);
	add(fixture, pid, CALL, 3, 2, 0x210, 0x300, 5, 50);
	add(fixture, pid, CALL, 2, 1, 0x110, 0x200, 1, 10);
	add(fixture, pid, CALL, 2, 1, 0x110, 0x200, 1, 10);
	add(fixture, pid, CALL, 4, 2, 0x220, 0x300, 1, 20);
	add(fixture, pid, CALL, 5, 1, 0x120, 0x400, 1, 5);
	add(fixture, pid, SIGNAL, 6, 0, 0, 0x500, 2, 4);
	add(fixture, pid, ROOT, 1, 0, 0, 0, 0, 1);
}

static struct hwprof_profile *read_contexts(struct fixture *fixture,
					     unsigned int flags)
{
	struct hwprof_profile *contexts;

	assert_int_equal(fixture_try(fixture, HWPROF_KIND_CCT,
				     &(struct hwprof_options){ .flags = flags },
				     &contexts), 0);
	return contexts;
}

static void is(const struct hwprof_profile *contexts, size_t index,
	       unsigned int kind, uint64_t address, unsigned int depth,
	       uint64_t calls, uint64_t branches, uint64_t all_branches)
{
	const struct hwprof_context *context = hwprof_contexts_get(contexts,
								   index);

	assert_int_equal(context->kind, kind);
	assert_int_equal(context->address, address);
	assert_int_equal(context->depth, depth);
	assert_int_equal(context->calls, calls);
	assert_int_equal(context->branches, branches);
	assert_int_equal(context->all_branches, all_branches);
}

/* Adds a row of a sampled stack, for which the kernel knows only addresses. */
static void add_sampled(struct fixture *fixture, unsigned int kind,
			uint64_t id, uint64_t parent, uint64_t callee,
			uint64_t weight)
{
	struct hwprof_row_context row = {
		.row.type = HWPROF_ROW_CONTEXT,
		.row.size = sizeof(row),
		.row.session = 1, .row.space = 100, .row.pid = 100,
		.id = id, .parent = parent, .callee = callee,
		.site = parent ? parent << 4 : 0,
		.weight = weight, .samples = weight / 10,
		.kind = kind, .basis = HWPROF_BASIS_TIME,
	};

	fixture_row(fixture, 10, row.callee, row.site, weight, &row.row);
}

/* --- trees -------------------------------------------------------------- */

static void test_tree(void **state)
{
	const struct hwprof_context_statistics *statistics;
	const struct hwprof_context *context;
	struct hwprof_profile *contexts;
	struct fixture fixture;

	begin(&fixture);
	add_tree(&fixture, 100);
	fixture_add_totals(&fixture, 30, 1, 15);
	contexts = read_contexts(&fixture, 0);
	assert_int_equal(hwprof_contexts_count(contexts), 7);
	is(contexts, 0, ROOT, 0, 0, 0, 1, 96);
	is(contexts, 1, CALL, 0x200, 1, 2, 20, 90);
	is(contexts, 2, CALL, 0x300, 2, 5, 50, 50);
	is(contexts, 3, RECURSION, 0x200, 3, 4, 0, 0);
	is(contexts, 4, CALL, 0x300, 2, 1, 20, 20);
	is(contexts, 5, CALL, 0x400, 1, 1, 5, 5);
	is(contexts, 6, SIGNAL, 0x500, 0, 2, 4, 4);
	context = hwprof_contexts_get(contexts, 3);
	assert_ptr_equal(context->target, hwprof_contexts_get(contexts, 1));
	assert_ptr_equal(context->parent, hwprof_contexts_get(contexts, 2));
	context = hwprof_contexts_get(contexts, 1);
	assert_true(fabs(context->share - 0.9) < 1e-9);
	assert_int_equal(context->all_calls, 12);
	assert_int_equal(context->site, 0x110);
	assert_string_equal(context->site_object, "/no/prog");
	assert_string_equal(hwprof_contexts_get(contexts, 0)->comm, "prog");
	assert_false(hwprof_context_is_shown(context, 0.91));
	assert_true(hwprof_context_is_shown(context, 0.89));

	statistics = hwprof_contexts_statistics(contexts);
	assert_int_equal(statistics->nodes, 6);
	assert_int_equal(statistics->back_edges, 1);
	assert_int_equal(statistics->procedures, 4);
	assert_int_equal(statistics->leaves, 4);
	assert_int_equal(statistics->height_max, 3);
	assert_true(fabs(statistics->height - 9. / 4) < 1e-9);
	assert_true(fabs(statistics->out_degree - 2) < 1e-9);
	assert_int_equal(statistics->replication, 2);
	assert_int_equal(statistics->call_sites, 5);
	assert_int_equal(statistics->indirect_sites, 0);
	/* The only warning is that the object does not exist. */
	assert_null(hwprof_profile_warning(contexts, 1));
	hwprof_profile_free(contexts);
}

static void test_merged_sites(void **state)
{
	struct hwprof_profile *contexts;
	struct fixture fixture;

	begin(&fixture);
	add_tree(&fixture, 100);
	contexts = read_contexts(&fixture, HWPROF_MERGE_SITES);
	assert_int_equal(hwprof_contexts_count(contexts), 6);
	is(contexts, 2, CALL, 0x300, 2, 6, 70, 70);
	assert_null(hwprof_contexts_get(contexts, 2)->site_object);
	hwprof_profile_free(contexts);
}

/* The tree is the same at other addresses; or each process has its own. */
static void test_processes(void **state)
{
	struct hwprof_profile *contexts;
	struct fixture fixture;
	int apart;

	for (apart = 0; apart < 2; apart++) {
		begin(&fixture);
		add_tree(&fixture, 100);
		add_tree(&fixture, 101);
		contexts = read_contexts(&fixture,
					 apart ? HWPROF_PER_PROCESS : 0);
		assert_int_equal(hwprof_contexts_count(contexts),
				 apart ? 14 : 7);
		is(contexts, 1, CALL, 0x200, 1, apart ? 2 : 4,
		   apart ? 20 : 40, apart ? 90 : 180);
		if (apart)
			assert_string_equal(hwprof_contexts_get(contexts,
								1)->comm,
					    "prog");
		hwprof_profile_free(contexts);
	}
}

/* --- damage ------------------------------------------------------------ */

static void test_orphans(void **state)
{
	struct hwprof_profile *contexts;
	struct fixture fixture;

	begin(&fixture);
	add(&fixture, 100, CALL, 3, 2, 0x210, 0x300, 5, 50);
	contexts = read_contexts(&fixture, 0);
	assert_int_equal(hwprof_contexts_count(contexts), 2);
	is(contexts, 0, ROOT, 0, 0, 0, 0, 50);
	is(contexts, 1, CALL, 0x300, 1, 5, 50, 50);
	assert_true(warns(contexts, "5 calls are of contexts whose callers"));
	hwprof_profile_free(contexts);
}

static void test_damage(void **state)
{
	struct hwprof_profile *contexts;
	struct fixture fixture;

	begin(&fixture);
	add(&fixture, 100, CALL, 3, 4, 0x210, 0x300, 5, 50);
	add(&fixture, 100, CALL, 4, 3, 0x210, 0x300, 5, 50);
	assert_int_equal(fixture_try(&fixture, HWPROF_KIND_CCT, NULL,
				     &contexts), -EBADMSG);
	assert_null(contexts);
	begin(&fixture);
	add(&fixture, 100, 5, 3, 0, 0x210, 0x300, 5, 50);
	assert_int_equal(fixture_try(&fixture, HWPROF_KIND_CCT, NULL,
				     &contexts), -EBADMSG);
}

/* The longest possible chain: no code recurses over it. */
static void test_long_chain(void **state)
{
	enum { LENGTH = 50000 };
	struct hwprof_profile *contexts;
	struct fixture fixture;
	unsigned int i;

	begin(&fixture);
	for (i = LENGTH; i > 1; i--)
		add(&fixture, 100, CALL, i, i - 1, 0x110, 0x200, 1, 1);
	add(&fixture, 100, ROOT, 1, 0, 0, 0, 0, 1);
	contexts = read_contexts(&fixture, 0);
	assert_int_equal(hwprof_contexts_count(contexts), LENGTH);
	assert_int_equal(hwprof_contexts_get(contexts, LENGTH - 1)->depth,
			 LENGTH - 1);
	hwprof_profile_free(contexts);
}

static void test_samples(void **state)
{
	struct hwprof_profile *contexts;
	struct fixture fixture;

	fixture_begin(&fixture, "cct,step");
	fixture_comm(&fixture, 1, 100, "prog", true);
	fixture_map(&fixture, 2, 100, 100 * 0x100000, 0x10000, 0, "/no/prog",
		    NULL);
	fixture_bare(&fixture, 10, 100, 0x6400200, 0x6400110, 7);
	fixture_bare(&fixture, 10, 100, 0x6400200, 0x6400110, 3);
	contexts = read_contexts(&fixture, 0);
	assert_int_equal(hwprof_contexts_count(contexts), 2);
	is(contexts, 1, CALL, 0x200, 1, 10, 0, 0);
	assert_true(fabs(hwprof_contexts_get(contexts, 1)->share - 1) < 1e-9);
	hwprof_profile_free(contexts);
}

/* --- output ------------------------------------------------------------- */

static void test_folded(void **state)
{
	static const char *const lines[] = {
		"prog 1\n", "prog;prog+0x200 20\n",
		"prog;prog+0x200;prog+0x300 50\n", "[signal];prog+0x500 4\n",
	};
	struct hwprof_profile *contexts;
	struct fixture fixture;
	char *text = NULL;
	size_t size, i;
	FILE *out;

	begin(&fixture);
	add_tree(&fixture, 100);
	contexts = read_contexts(&fixture, 0);
	out = open_memstream(&text, &size);
	assert_int_equal(hwprof_contexts_folded(contexts, out), 0);
	fclose(out);
	for (i = 0; i < 4; i++)
		assert_non_null(strstr(text, lines[i]));
	free(text);
	hwprof_profile_free(contexts);
}

static void test_json(void **state)
{
	struct hwprof_profile *contexts;
	struct fixture fixture;
	char *text = NULL;
	size_t size;
	FILE *out;

	begin(&fixture);
	add_tree(&fixture, 100);
	contexts = read_contexts(&fixture, 0);
	out = open_memstream(&text, &size);
	/* C and the handler have a smaller share. */
	assert_int_equal(
		hwprof_profile_json(
			contexts,
			&(struct hwprof_json_options){.min_share = 0.1}, out),
		0);
	fclose(out);
	assert_non_null(strstr(text, "\"address\": \"0x300\""));
	assert_null(strstr(text, "\"address\": \"0x400\""));
	assert_null(strstr(text, "\"address\": \"0x500\""));
	assert_non_null(strstr(
		text, "\"kind\": \"recursion\",\"parent\": 2,\"target\": 1"));
	free(text);
	hwprof_profile_free(contexts);
}

/*
 * Procedures with several addresses. Each object is one procedure here, because
 * nothing is known about it. prog calls lib from two places, and lib calls prog
 * again.
 */
static void test_sampled(void **state)
{
	const uint64_t prog = 100 * 0x100000, lib = prog + 0x100000;
	const struct hwprof_context *context;
	struct hwprof_profile *contexts;
	struct fixture fixture;

	begin(&fixture);
	fixture_map(&fixture, 3, 100, lib, 0x10000, 0, "/no/lib", NULL);
	add_sampled(&fixture, ROOT, 1, 0, 0, 0);
	add_sampled(&fixture, CALL, 2, 1, prog + 0x10, 10);
	add_sampled(&fixture, CALL, 3, 1, prog + 0x20, 20);
	add_sampled(&fixture, CALL, 4, 2, lib + 0x10, 40);
	add_sampled(&fixture, CALL, 5, 4, prog + 0x30, 80);
	add_sampled(&fixture, CALL, 6, 5, lib + 0x20, 160);
	fixture_add_totals(&fixture, 30, 1, 310);
	contexts = read_contexts(&fixture, HWPROF_MERGE_SITES);
	/* The root, prog, lib, and a back edge. */
	assert_int_equal(hwprof_contexts_count(contexts), 4);
	context = hwprof_contexts_get(contexts, 1);
	assert_string_equal(context->object, "/no/prog");
	assert_int_equal(context->weight, 10 + 20 + 80);
	assert_int_equal(context->samples, 1 + 2 + 8);
	assert_int_equal(context->all_weight, 310);
	context = hwprof_contexts_get(contexts, 2);
	assert_string_equal(context->object, "/no/lib");
	assert_int_equal(context->kind, CALL);
	assert_int_equal(context->weight, 40 + 160);
	context = hwprof_contexts_get(contexts, 3);
	assert_int_equal(context->kind, RECURSION);
	assert_ptr_equal(context->target, hwprof_contexts_get(contexts, 1));
	hwprof_profile_free(contexts);
}

/* A wrong frame pointer: its supposed callers are left out. */
static void test_nowhere(void **state)
{
	const uint64_t prog = 100 * 0x100000;
	const struct hwprof_context *context;
	struct hwprof_profile *contexts;
	struct fixture fixture;

	begin(&fixture);
	add_sampled(&fixture, ROOT, 1, 0, 0, 0);
	add_sampled(&fixture, CALL, 2, 1, 0x1234567, 0);
	add_sampled(&fixture, CALL, 3, 2, prog + 0x10, 30);
	/* A procedure that ran itself is kept even there. */
	add_sampled(&fixture, CALL, 4, 1, 0x7654321, 70);
	add_sampled(&fixture, RECURSION, 5, 3, 0x1234567, 0);
	fixture_add_totals(&fixture, 30, 1, 100);
	contexts = read_contexts(&fixture, 0);
	assert_int_equal(hwprof_contexts_count(contexts), 3);
	context = hwprof_contexts_get(contexts, 1);
	assert_string_equal(context->object, "[unknown]");
	assert_int_equal(context->weight, 70);
	context = hwprof_contexts_get(contexts, 2);
	assert_string_equal(context->object, "/no/prog");
	assert_int_equal(context->weight, 30);
	assert_int_equal(context->depth, 1);
	assert_null(context->site_object);
	assert_false(warns(contexts, "callers are not in the file"));
	hwprof_profile_free(contexts);
}

/* --- metrics ------------------------------------------------------------ */

/* Writes the root and two procedures, one called by the other, with metrics. */
static void write_metrics(struct fixture *fixture, const char *const *names,
			  uint64_t first, uint64_t unmeasured)
{
	const uint64_t prog = 100 * 0x100000;
	struct hwprof_row_context row = {
		.row.type = HWPROF_ROW_CONTEXT, .row.size = sizeof(row),
		.row.session = 1, .row.space = 100, .row.pid = 100,
		.weight = 10, .samples = 1, .kind = CALL,
		.basis = HWPROF_BASIS_TIME,
	};
	struct hwprof_row_totals totals = {
		.row.type = HWPROF_ROW_TOTALS, .row.size = sizeof(totals),
		.row.session = 1, .produced = 60, .delivered = 60,
		.events = 6, .unmeasured = unmeasured,
	};
	uint32_t i, id;

	fixture_begin_group(fixture, "cct,sample,rows,metrics=2", names);
	fixture_comm(fixture, 1, 100, "prog", true);
	/* Each object is one procedure, because nothing is known about it. */
	fixture_map(fixture, 2, 100, prog, 0x10000, 0, "/no/prog", NULL);
	fixture_map(fixture, 2, 100, prog + 0x10000, 0x10000, 0, "/no/lib",
		    NULL);
	add_sampled(fixture, ROOT, 1, 0, 0, 0);
	while (names[row.metric_count] &&
	       row.metric_count < HWPROF_METRICS_MAX)
		row.metric_count++;
	/* Two rows each. */
	for (i = 0; i < 4; i++) {
		id = 2 + i % 2;
		row.id = id;
		row.parent = id - 1;
		row.callee = prog + (id - 2) * 0x10000 + 0x10;
		row.site = id == 2 ? 0 : prog + 0x20;
		for (uint32_t m = 0; m < row.metric_count; m++)
			row.metrics[m] = first << (4 * m + id);
		fixture_row(fixture, 10, row.callee, row.site, row.weight,
			    &row.row);
	}
	/* A row of an older module has no metrics. */
	row.row.size = HWPROF_ROW_CONTEXT_SIZE_VER0;
	row.weight = 20;
	fixture_row(fixture, 10, row.callee, row.site, row.weight, &row.row);
	fixture_row(fixture, 30, 0, 0, 0, &totals.row);
	fixture_end(fixture);
}

static const char *const first_names[] = {
	"instructions:u", "branches:u", NULL,
};
static const char *const second_names[] = { "branches:u", "page-faults", NULL };

/*
 * Reads two recordings. Both have branches; the profile has the metrics of
 * either.
 */
static struct hwprof_profile *read_two(const char *const *first,
				       const char *const *second)
{
	struct hwprof_profile *contexts;
	struct hwprof_file *files[2];
	struct fixture fixtures[2];
	int i;

	write_metrics(&fixtures[0], first, 1, 0);
	write_metrics(&fixtures[1], second, 1000, 3);
	for (i = 0; i < 2; i++)
		assert_int_equal(hwprof_file_open(&files[i], fixtures[i].path),
				 0);
	assert_int_equal(hwprof_profile_read(&contexts, HWPROF_KIND_CCT, files,
					     2, NULL), 0);
	for (i = 0; i < 2; i++) {
		hwprof_file_close(files[i]);
		fixture_remove(&fixtures[i]);
	}
	return contexts;
}

static void test_metrics(void **state)
{
	struct hwprof_profile *contexts = read_two(first_names, second_names);
	const struct hwprof_context *prog, *lib;

	assert_string_equal(hwprof_contexts_metric(contexts, 0),
			    "instructions:u");
	assert_string_equal(hwprof_contexts_metric(contexts, 1), "branches:u");
	assert_string_equal(hwprof_contexts_metric(contexts, 2), "page-faults");
	assert_null(hwprof_contexts_metric(contexts, 3));
	assert_int_equal(hwprof_contexts_count(contexts), 3);
	prog = hwprof_contexts_get(contexts, 1);
	lib = hwprof_contexts_get(contexts, 2);
	assert_string_equal(lib->object, "/no/lib");
	/* 2 rows of 1 << id; the second metric of each file is << 4. */
	assert_int_equal(prog->metrics[0], 2 * 4);
	assert_int_equal(prog->metrics[1], 2 * (4 << 4) + 2 * 4000);
	assert_int_equal(prog->metrics[2], 2 * (4000 << 4));
	assert_int_equal(lib->metrics[0], 2 * 8);
	assert_int_equal(lib->metrics[1], 2 * (8 << 4) + 2 * 8000);
	assert_int_equal(lib->metrics[3], 0);
	assert_int_equal(prog->all_metrics[2], 2 * (12000 << 4));
	assert_int_equal(hwprof_contexts_get(contexts, 0)->all_metrics[0],
			 2 * 12);
	assert_int_equal(prog->weight, 2 * 20);
	assert_int_equal(lib->weight, 2 * 40);
	assert_true(warns(contexts, "3 samples have no metrics"));
	assert_int_equal(hwprof_profile_totals(contexts)->unmeasured, 3);
	hwprof_profile_free(contexts);
}

static void test_many_metrics(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", NULL };
	struct hwprof_profile *contexts = read_two(names, second_names);

	assert_string_equal(hwprof_contexts_metric(contexts, 3), "d");
	assert_null(hwprof_contexts_metric(contexts, 4));
	assert_int_equal(hwprof_contexts_get(contexts, 1)->metrics[0], 2 * 4);
	assert_true(warns(contexts, "more than 4 metrics"));
	hwprof_profile_free(contexts);
}

/* Metrics in JSON, and in a comparison. */
static void test_metrics_json(void **state)
{
	struct hwprof_profile *contexts = read_two(first_names, first_names);
	struct hwprof_diff *diff;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(hwprof_profile_json(contexts, NULL, out), 0);
	assert_int_equal(hwprof_profile_diff(&diff, contexts, contexts), 0);
	fclose(out);
	assert_non_null(
		strstr(text, "\"metrics\": {\"instructions:u\": {\"own\": 8008,\"all\": 24024},\"branches:u\""));
	free(text);
	out = open_memstream(&text, &size);
	assert_int_equal(hwprof_diff_json(diff, 0, out), 0);
	fclose(out);
	assert_non_null(strstr(
		text, "\"instructions:u\": {\"own\": 16016,\"all\": 16016}"));
	free(text);
	hwprof_diff_free(diff);
	hwprof_profile_free(contexts);
}

/* Metrics get numbers if the recorder did not describe the group. */
static void test_nameless_metrics(void **state)
{
	static const char *const none[] = { NULL };
	struct hwprof_row_context row = {
		.row.type = HWPROF_ROW_CONTEXT, .row.size = sizeof(row),
		.row.session = 1, .row.space = 100, .row.pid = 100,
		.id = 1, .weight = 10, .kind = ROOT,
		.basis = HWPROF_BASIS_TIME,
		.metric_count = HWPROF_METRICS_MAX, .metrics = { 5, 6, 7, 8 },
	};
	struct hwprof_profile *contexts;
	struct fixture fixture;

	fixture_begin_group(&fixture, "cct,sample,rows,metrics=4", none);
	fixture_row(&fixture, 10, 0, 0, 10, &row.row);
	contexts = read_contexts(&fixture, 0);
	assert_string_equal(hwprof_contexts_metric(contexts, 3), "metric 4");
	assert_int_equal(hwprof_contexts_get(contexts, 0)->metrics[3], 8);
	hwprof_profile_free(contexts);

}

/* Replaces @size bytes of a file, which occur once. */
static void replace(const char *path, const void *old, const void *new,
		    size_t size)
{
	FILE *file = fopen(path, "r+");
	char bytes[16384], *at;
	size_t got;

	assert_non_null(file);
	got = fread(bytes, 1, sizeof(bytes), file);
	at = memmem(bytes, got, old, size);
	assert_non_null(at);
	assert_int_equal(fseek(file, at - bytes, SEEK_SET), 0);
	assert_int_equal(fwrite(new, 1, size, file), size);
	fclose(file);
}

/* Rows and groups with impossible numbers. */
static void test_damaged_metrics(void **state)
{
	const uint64_t first = 0x1234567;
	const struct { uint32_t count, reserved; uint64_t first; }
		two = { 2, 0, first << 2 }, five = { 5, 0, first << 2 };
	const struct { char name[64]; uint32_t leader, members; }
		group = { "{anon_group}", 0, 3 },
		beyond = { "{anon_group}", 0, 4 };
	struct hwprof_profile *contexts;
	struct hwprof_file *file;
	struct fixture fixture;

	write_metrics(&fixture, first_names, first, 0);
	replace(fixture.path, &two, &five, sizeof(two));
	assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
	assert_int_equal(hwprof_profile_read(&contexts, HWPROF_KIND_CCT, &file,
					     1, NULL), -EBADMSG);
	assert_non_null(strstr(hwprof_file_error(file), "5 metrics"));
	hwprof_file_close(file);
	fixture_remove(&fixture);

	write_metrics(&fixture, first_names, 1, 0);
	replace(fixture.path, &group, &beyond, sizeof(group));
	assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
	assert_non_null(strstr(
		hwprof_file_warning(file, 0),
		"a group of 4 events is said to begin with event 0 of 3"));
	hwprof_file_close(file);
	fixture_remove(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_many_metrics),
		cmocka_unit_test(test_metrics_json),
		cmocka_unit_test(test_nameless_metrics),
		cmocka_unit_test(test_damaged_metrics),
		cmocka_unit_test(test_sampled),
		cmocka_unit_test(test_nowhere),
		cmocka_unit_test(test_tree),
		cmocka_unit_test(test_merged_sites),
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_orphans),
		cmocka_unit_test(test_damage),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_folded),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
