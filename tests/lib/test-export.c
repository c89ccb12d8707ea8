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
#include "fixture.h"

enum { BASE = 0x400000, OUTSIDE = 0x10, R = 1000 };

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

/* Returns the address in the process; NULL: 0. */
static uint64_t at(const char *symbol)
{
	return symbol ? BASE + assembled_at(symbol) : 0;
}

/* --- rows ---------------------------------------------------------------- */

static void begin(struct fixture *fixture, const char *object)
{
	fixture_begin(fixture, "edges,step,rows");
	fixture_comm(fixture, 1, 100, "prog", true);
	fixture_map(fixture, 2, 100, BASE, 0x10000, 0, object, NULL);
	fixture_map(fixture, 2, 100, 0, 0x1000, 0, "/other", NULL);
}

static struct hwprof_row_edge row_of(uint64_t from, uint64_t to, uint64_t end,
				     uint64_t count, unsigned int kind)
{
	return (struct hwprof_row_edge){
		.row.type = HWPROF_ROW_EDGE,
		.row.size = sizeof(struct hwprof_row_edge),
		.row.session = 1, .row.space = 100, .row.pid = 100,
		.from = from, .to = to, .end = end, .count = count,
		.kind = kind, .basis = HWPROF_BASIS_EXACT,
	};
}

static void put(struct fixture *fixture, const struct hwprof_row_edge *row)
{
	fixture_row(fixture, 10, row->from ? row->from : row->end, row->to,
		    row->end ? row->count : 0, &row->row);
}

static void add(struct fixture *fixture, const char *from, const char *to,
		const char *end, uint64_t count, unsigned int kind)
{
	const struct hwprof_row_edge row = row_of(at(from), at(to), at(end),
						  count, kind);

	put(fixture, &row);
}

/* Lines of two lengths, and a branch from another object. */
static void add_edges(struct fixture *fixture)
{
	struct hwprof_row_edge row = row_of(OUTSIDE, at("_start"), at("back"),
					    7, HWPROF_BRANCH_CALL);

	put(fixture, &row);
	add(fixture, "back", "_start", "back", R, HWPROF_BRANCH_COND);
	add(fixture, "back", "_start", "cond", 5, HWPROF_BRANCH_COND);
	add(fixture, "cond", "_start", "back", 4, HWPROF_BRANCH_COND);
	add(fixture, NULL, "_start", "back", 3, 0);
	add(fixture, "last", "local", "local", 2, HWPROF_BRANCH_CALL);
	fixture_add_totals(fixture, 30, 1, R + 21);
}

static struct hwprof_profile *read_all(struct fixture *fixtures, size_t count,
				       const struct hwprof_options *options)
{
	struct hwprof_profile *edges;
	struct hwprof_file *files[2];
	size_t i;

	for (i = 0; i < count; i++) {
		fixture_end(&fixtures[i]);
		assert_int_equal(hwprof_file_open(&files[i], fixtures[i].path),
				 0);
	}
	assert_int_equal(hwprof_profile_read(&edges, HWPROF_KIND_EDGES, files,
					     count, options), 0);
	for (i = 0; i < count; i++) {
		hwprof_file_close(files[i]);
		fixture_remove(&fixtures[i]);
	}
	return edges;
}

static struct hwprof_profile *read_program(void)
{
	struct fixture fixture;

	begin(&fixture, assembled);
	add_edges(&fixture);
	return read_all(&fixture, 1, NULL);
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
	return at(symbol) - BASE;
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
		cmocka_unit_test(test_fdata),
		cmocka_unit_test(test_texts),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_people),
	};

	return cmocka_run_group_tests(tests, make_program, assembled_remove);
}
