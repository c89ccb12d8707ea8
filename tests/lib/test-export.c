// SPDX-License-Identifier: GPL-2.0-only
/* From edges to compilers' formats: addresses, sums, lines, refusals. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assembled.h"
#include "check.h"
#include "edge_rows.h"
#include "fixture.h"

enum { OUTSIDE = 0x10, R = 1000 };

/* A loop of R rounds, which leave by `never`, and a local function. */
static const char source[] =
".text\n"
".globl _start, cond, back, last\n"
".type _start, @function\n"
"_start:\n"
"cond:	jz _start\n"
"	dec %ecx\n"
"back:	jnz _start\n"
"last:	call local\n"
"	ret\n"
".size _start, . - _start\n"
".type local, @function\n"
"local: ret\n"
".size local, . - local\n"
".section .note.GNU-stack,\"\",@progbits\n";

static int make_program(void **state)
{
	return assembled_make(source, "-Wl,--build-id=sha1");
}

/* --- rows ---------------------------------------------------------------- */

static void begin(struct fixture *fixture, const char *object)
{
	fixture_begin(fixture, "edges,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	fixture_map(fixture, 2, 100, EDGE_BASE, 0x10000, 0, object, NULL);
	fixture_map(fixture, 2, 100, 0, 0x1000, 0, "/other", NULL);
}

/* Lines of two lengths, and a branch from another object. */
static void add_edges(struct fixture *fixture)
{
	struct hwprof_row_edge row = edge_row(OUTSIDE, edge_at("_start"),
					      edge_at("back"), 7,
					      HWPROF_BRANCH_CALL);

	edge_put(fixture, &row);
	edge_add(fixture, "back", "_start", "back", R, HWPROF_BRANCH_COND);
	edge_add(fixture, "back", "_start", "cond", 5, HWPROF_BRANCH_COND);
	edge_add(fixture, "cond", "_start", "back", 4, HWPROF_BRANCH_COND);
	edge_add(fixture, NULL, "_start", "back", 3, 0);
	edge_add(fixture, "last", "local", "local", 2, HWPROF_BRANCH_CALL);
	fixture_add_totals(fixture, 30, 1, R + 21);
}

static struct hwprof_profile *read_program(void)
{
	struct fixture fixture;

	begin(&fixture, assembled);
	add_edges(&fixture);
	return fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
}

/* The text of the program's output, which the caller frees. */
static char *export(const char *format,
		    const struct hwprof_export_options *options)
{
	struct hwprof_profile *edges = read_program();
	struct hwprof_export *export;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(hwprof_export_open(&export, edges, format, options),
			 0);
	assert_string_equal(hwprof_export_part(export, 0)->object, assembled);
	assert_null(hwprof_export_part(export, 1));
	assert_int_equal(hwprof_export_write(export, 0, out), 0);
	fclose(out);
	hwprof_export_close(export);
	hwprof_profile_free(edges);
	return text;
}

static unsigned int in_file(const char *symbol)
{
	return edge_at(symbol) - EDGE_BASE;
}

/* Lines entered from elsewhere are apart; what ended is known, too. */
static void test_bolt(void **state)
{
	unsigned int start = in_file("_start"), back = in_file("back");
	unsigned int cond = in_file("cond"), last = in_file("last");
	unsigned int local = in_file("local");
	char *text = export("bolt", NULL), *expected;

	assert_true(asprintf(&expected,
			     "B %x %x 4 0\nB %x %x 1005 0\nB %x %x 2 0\n"
			     "B X:0 %x 7 0\n"
			     "F %x %x 5\nF %x %x 1004\nf %x %x 10\nF %x %x 2\n",
			     cond, start, back, start, last, local, start,
			     start, cond, start, back, start, back, local,
			     local) > 0);
	assert_string_equal(text, expected);
	free(expected);
	free(text);
}

/*
 * BOLT takes a program at fixed addresses as it is linked: its addresses are
 * absolute.
 */
static void test_bolt_fixed(void **state)
{
	char path[80], output[64], *text, *expected;
	struct hwprof_row_edge row;
	struct hwprof_profile *edges;
	struct hwprof_export *export;
	struct fixture fixture;
	uint64_t start, back;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	snprintf(path, sizeof(path), "%s-fixed", assembled);
	assert_int_equal(fixture_shell(output, sizeof(output),
		"gcc -nostdlib -static -no-pie -Wl,--build-id=sha1 -o %s %s.S &&"
		" nm %s | sed -n 's/ T _start//p; s/ t back//p; s/ T back//p'",
		path, assembled, path), 0);
	assert_int_equal(sscanf(output, "%" SCNx64 " %" SCNx64, &start, &back),
			 2);
	assert_true(start > 0x1000 && back > start);

	fixture_begin(&fixture, "edges,step,rows");
	fixture_comm(&fixture, 1, 100, "prog", true);
	fixture_map(&fixture, 2, 100, start & ~0xfffULL, 0x1000, 0x1000, path,
		    NULL);
	row = edge_row(back, start, back, R, HWPROF_BRANCH_COND);
	edge_put(&fixture, &row);
	fixture_add_totals(&fixture, 30, 1, R);
	edges = fixture_read(&fixture, 1, HWPROF_KIND_EDGES, NULL);
	assert_int_equal(hwprof_export_open(&export, edges, "bolt", NULL), 0);
	assert_int_equal(hwprof_export_write(export, 0, out), 0);
	fclose(out);
	assert_true(asprintf(&expected, "B %" PRIx64 " %" PRIx64 " %d 0\n"
			     "F %" PRIx64 " %" PRIx64 " %d\n", back, start, R,
			     start, back, R) > 0);
	assert_string_equal(text, expected);
	free(expected);
	free(text);
	hwprof_export_close(export);
	hwprof_profile_free(edges);
}

/* The jump that lines passed leads on; the local function has a number. */
static void test_fdata(void **state)
{
	unsigned int start = in_file("_start");
	char *text = export("fdata", NULL), *expected;

	assert_true(asprintf(&expected,
			     "1 _start 0 1 _start 0 0 4\n"
			     "1 _start %x 1 _start 0 0 1005\n"
			     "1 _start %x 1 local/1 0 0 2\n"
			     "0 [unknown] 0 1 _start 0 0 7\n"
			     "1 _start 0 1 _start 2 0 1014\n",
			     in_file("back") - start,
			     in_file("last") - start) > 0);
	assert_string_equal(text, expected);
	free(expected);
	free(text);
}

static void test_texts(void **state)
{
	const struct hwprof_export_options newer = { .version = "0.20" };
	unsigned int start = in_file("_start"), back = in_file("back");
	char *text = export("autofdo-text", NULL), *expected;
	char *of_newer = export("autofdo-text", &newer);
	char *of_profgen = export("llvm-profgen", NULL);

	assert_true(asprintf(&expected, "3\n%x-%x:5\n%x-%x:1014\n", start,
			     start, start, back) > 0);
	assert_memory_equal(text, expected, strlen(expected));
	free(expected);
	/* gcc's layout: offsets are addresses; llvm-profgen's begin at code. */
	assert_string_equal(text, of_newer);
	start &= 0xfff;
	back &= 0xfff;
	assert_true(asprintf(&expected, "3\n%x-%x:5\n%x-%x:1014\n", start,
			     start, start, back) > 0);
	assert_memory_equal(of_profgen, expected, strlen(expected));
	free(expected);
	free(of_newer);
	free(of_profgen);
	free(text);
}

static void refuse(int error, const char *format, const char *version,
		   const char *binary, const char *build_id)
{
	const struct hwprof_export_options options = {
		.version = version, .binary = binary, .build_id = build_id,
	};
	struct hwprof_profile *edges = read_program();
	struct hwprof_export *export;

	assert_int_equal(hwprof_export_open(&export, edges, format, &options),
			 error);
	assert_true(*hwprof_export_error(export));
	hwprof_export_close(export);
	hwprof_profile_free(edges);
}

static void test_refusals(void **state)
{
	refuse(-EINVAL, "none", NULL, NULL, NULL);
	refuse(-EINVAL, "bolt", "1", NULL, NULL);
	refuse(-EINVAL, "autofdo-text", "1", NULL, NULL);
	refuse(-EINVAL, "pprof", NULL, assembled, NULL);
	refuse(-ENOENT, "bolt", NULL, NULL, "abcdefg");
	refuse(-ENOENT, "bolt", NULL, NULL, "");
	refuse(-ENOENT, "bolt", NULL, "/bin/sh", NULL);
	refuse(-ENOEXEC, "bolt", NULL, "/dev/null", NULL);
	refuse(-ENOEXEC, "bolt", NULL, "/nowhere", NULL);
}

/* Each format for people can be written. */
static void test_people(void **state)
{
	static const char *const formats[] = { "pprof", "folded", "speedscope",
					       "json" };
	size_t i;

	for (i = 0; i < 4; i++) {
		struct hwprof_profile *edges = read_program();
		struct hwprof_export *export;
		char *text;
		size_t size;
		FILE *out = open_memstream(&text, &size);

		assert_int_equal(hwprof_export_open(&export, edges, formats[i],
						    NULL), 0);
		assert_int_equal(hwprof_export_write(export, 0, out), 0);
		fclose(out);
		assert_true(size > 20);
		free(text);
		hwprof_export_close(export);
		hwprof_profile_free(edges);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bolt),
		cmocka_unit_test(test_bolt_fixed),
		cmocka_unit_test(test_fdata),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_people),
	};

	return cmocka_run_group_tests(tests, make_program, assembled_remove);
}
