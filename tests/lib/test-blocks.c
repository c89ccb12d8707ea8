// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks of paths: compares instructions with objdump; lines of source; output.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "assembled.h"
#include "check.h"
#include "fixture.h"
#include "found.h"
#include "code/lines.h"

enum { BASE = 0x400000 };

/*
 * known: two conditional jumps, a call, a jump over a block, a return. back: a
 * loop. away: a tail call.
 */
static const char source[] =
".text\n"
".globl known, passed, called, over, joined, done, back, again, away, end\n"
".type known, @function\n"
"known:	push %rbx\n"
"	test %edi, %edi\n"
"passed:	jne joined\n"
"	xor %eax, %eax\n"
"called:	call back\n"
"	test %eax, %eax\n"
"	js over\n"
"	nop\n"
"over:	jmp done\n"
"joined:	nop\n"
"done:	pop %rbx\n"
"	ret\n"
".size known, . - known\n"
".type back, @function\n"
"back:	xor %eax, %eax\n"
"again:	inc %eax\n"
"	cmp $9, %eax\n"
"	jb again\n"
"	ret\n"
".size back, . - back\n"
".type away, @function\n"
"away:	nop\n"
"	jmp known\n"
".size away, . - away\n"
"end:	nop\n"
".globl _start\n"
"_start:	hlt\n"
".section .note.GNU-stack,\"\",@progbits\n";

static int make_program(void **state)
{
	return assembled_make(source, "");
}

/* --- instructions --------------------------------------------------------- */

/* Classifies objdump's "ADDRESS:\tPREFIX... NAME OPERANDS". */
static enum ending ending_of(const char *name, const char *operand,
			     uint64_t *target)
{
	char *rest;

	*target = 0;
	if (!strncmp(name, "ret", 3) || !strncmp(name, "iret", 4))
		return ENDING_RETURN;
	if (!strcmp(name, "ud2") || !strcmp(name, "hlt"))
		return ENDING_STOP;
	if (strncmp(name, "call", 4) && name[0] != 'j' &&
	    strncmp(name, "loop", 4) && strcmp(name, "xbegin"))
		return ENDING_NONE;
	*target = strtoull(operand, &rest, 16);
	if (rest == operand)
		*target = 0;
	if (name[0] == 'c')
		return ENDING_CALL;
	if (!strncmp(name, "jmp", 3))
		return *target ? ENDING_JUMP : ENDING_INDIRECT;
	return ENDING_COND;
}

static bool is_prefix(const char *word)
{
	static const char *const prefixes[] = {
		"bnd", "notrack", "lock", "rep", "repz", "repnz", "data16",
		"addr32", "cs", "ds", "es", "fs", "gs", "ss",
	};
	size_t i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strcmp(word, prefixes[i]))
			return true;
	return !strncmp(word, "rex", 3);
}

/* Returns true for a line with an instruction. */
static bool parse(char *line, uint64_t *address, char **name, char **operand)
{
	char *at, *save;

	*address = strtoull(line, &at, 16);
	if (at == line || strncmp(at, ":\t", 2))
		return false;
	*name = strtok_r(at + 2, " \n", &save);
	while (*name && is_prefix(*name))
		*name = strtok_r(NULL, " \n", &save);
	if (!*name)
		return false;
	(*name)[strcspn(*name, ",")] = 0;
	*operand = strtok_r(NULL, " \n", &save);
	if (!*operand)
		*operand = "";
	return true;
}

/* Every instruction that capstone knows has objdump's ending and length. */
static void test_instructions(void **state)
{
	struct objects *objects = objects_new(false);
	struct decoder *decoder = decoder_new();
	struct build_id id = { .size = 0 };
	struct object *object = objects_get(objects, "/bin/bash", &id);
	unsigned int seen[ENDING_STOP + 1] = { 0 }, i;
	struct instruction now = { .length = 0 };
	uint64_t address, target;
	char line[512], *name, *operand;
	FILE *objdump;

	objdump = popen("objdump -d --no-show-raw-insn /bin/bash", "r");
	assert_non_null(objdump);
	while (fgets(line, sizeof(line), objdump)) {
		enum ending ending;
		struct code code;

		if (!parse(line, &address, &name, &operand))
			continue;
		ending = ending_of(name, operand, &target);
		assert_null(code_begin(&code, decoder, object, address));
		if (now.length && now.address + now.length < address)
			now.length = 0;	/* a gap between sections */
		if (now.length)
			assert_int_equal(now.address + now.length, address);
		if (!code_next(&code, &now)) {
			assert_int_equal(ending, ENDING_NONE);
			now.length = 0;
			continue;
		}
		if (now.ending != ending || now.target != target)
			print_error("%" PRIx64 " %s %s: %d\n", address, name,
				    operand, now.ending);
		assert_int_equal(now.ending, ending);
		assert_int_equal(now.target, target);
		seen[ending]++;
	}
	pclose(objdump);
	for (i = 0; i <= ENDING_STOP; i++)
		assert_int_not_equal(seen[i], 0);
	decoder_free(decoder);
	objects_free(objects);
}

/* Instructions of arm64, from the architecture's manual. */
static void test_arm64(void **state)
{
	static const struct {
		uint32_t word;
		enum ending ending;
		uint64_t target;
	} cases[] = {
		{ 0xd503201f, ENDING_NONE, 0 },		/* nop */
		{ 0x14000004, ENDING_JUMP, 0x1014 },	/* b +16 */
		{ 0x54000041, ENDING_COND, 0x1010 },	/* b.ne +8 */
		{ 0xb4ffffe0, ENDING_COND, 0x1008 },	/* cbz x0, -4 */
		{ 0x35000040, ENDING_COND, 0x1018 },	/* cbnz w0, +8 */
		{ 0x36080040, ENDING_COND, 0x101c },	/* tbz w0, #1, +8 */
		{ 0x37080040, ENDING_COND, 0x1020 },	/* tbnz w0, #1, +8 */
		{ 0x94000001, ENDING_CALL, 0x1020 },	/* bl +4 */
		{ 0xd63f0000, ENDING_CALL, 0 },		/* blr x0 */
		{ 0xd61f0000, ENDING_INDIRECT, 0 },	/* br x0 */
		{ 0xd65f03c0, ENDING_RETURN, 0 },	/* ret */
		{ 0xd4200000, ENDING_STOP, 0 },		/* brk #0 */
		{ 0xd4000001, ENDING_NONE, 0 },		/* svc #0 */
	};
	enum { COUNT = sizeof(cases) / sizeof(cases[0]) };
	struct decoder *decoder = decoder_new();
	struct instruction now;
	uint32_t words[COUNT];
	struct code code;
	unsigned int i;

	for (i = 0; i < COUNT; i++)
		words[i] = cases[i].word;
	assert_null(code_of_bytes(&code, decoder, EM_AARCH64,
				  (const uint8_t *)words, sizeof(words),
				  0x1000));
	for (i = 0; i < COUNT; i++) {
		assert_true(code_next(&code, &now));
		assert_int_equal(now.address, 0x1000 + 4 * i);
		assert_int_equal(now.length, 4);
		assert_int_equal(now.ending, cases[i].ending);
		assert_int_equal(now.target, cases[i].target);
	}
	assert_false(code_next(&code, &now));
	assert_non_null(code_of_bytes(&code, decoder, EM_S390,
				      (const uint8_t *)words, sizeof(words),
				      0));
	decoder_free(decoder);
}

/* --- paths ---------------------------------------------------------------- */

/* A path of the program, with up to two jumps. */
struct way {
	struct hwprof_row_path row;
	struct hwprof_path_jump jumps[2];
};

static struct way way_of(uint64_t start, uint64_t end, uint64_t target)
{
	return (struct way){ .row = {
		.row = { HWPROF_ROW_PATH, sizeof(struct hwprof_row_path), 100,
			 1, 100 },
		.start = BASE + start, .end = BASE + end,
		.target = target ? BASE + target : 0, .count = 1,
		.flags = HWPROF_PATH_CALLED, .basis = HWPROF_BASIS_EXACT,
	} };
}

static void add_jump(struct way *way, uint64_t from, uint64_t to)
{
	way->jumps[way->row.spelled++] =
		(struct hwprof_path_jump){ BASE + from, BASE + to };
	way->row.length++;
	way->row.row.size += sizeof(way->jumps[0]);
}

/* Reads a recording of one path in the object @name. */
static struct hwprof_profile *read_way(const struct way *way, const char *name,
				       unsigned int flags)
{
	struct hwprof_options options = { .flags = flags };
	struct hwprof_profile *profile;
	struct hwprof_file *file;
	struct fixture fixture;

	fixture_begin(&fixture, "paths,step,rows");
	fixture_comm(&fixture, 1, 100, "known", true);
	fixture_map(&fixture, 2, 100, BASE, 0x10000, 0, name, NULL);
	fixture_row(&fixture, 10, way->row.start, way->row.end, 1,
		    &way->row.row);
	fixture_add_totals(&fixture, 30, 1, 1);
	fixture_end(&fixture);
	assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
	assert_int_equal(hwprof_profile_read(&profile, HWPROF_KIND_PATHS, &file,
					     1, &options), 0);
	hwprof_file_close(file);
	fixture_remove(&fixture);
	assert_int_equal(hwprof_paths_count(profile), 1);
	return profile;
}

/* Returns the address of a jump of @size bytes directly before the symbol. */
static uint64_t before(const char *symbol, unsigned int size)
{
	return assembled_at(symbol) - size;
}

static struct hwprof_block block_of(const struct hwprof_profile *profile,
				    uint32_t number)
{
	struct hwprof_block block;

	assert_true(number < hwprof_paths_get(profile, 0)->blocks);
	hwprof_paths_block(profile, 0, number, &block);
	return block;
}

static void check_block(const struct hwprof_profile *profile, uint32_t number,
			uint64_t first, uint32_t instructions,
			const char *branch, bool taken, const char *callee)
{
	struct hwprof_block block = block_of(profile, number);

	assert_null(block.undecoded);
	assert_int_equal(block.first, first);
	assert_int_equal(block.instructions, instructions);
	assert_string_equal(block.branch, branch);
	assert_int_equal(block.taken, taken);
	assert_int_equal(block.conditional, branch[0] == 'j' &&
					    strcmp(branch, "jmp"));
	if (callee)
		assert_string_equal(block.callee, callee);
	else
		assert_null(block.callee);
}

static struct way straight(void)
{
	struct way way = way_of(assembled_at("known"), before("back", 1), 0);

	add_jump(&way, assembled_at("over"), assembled_at("done"));
	return way;
}

/* Blocks end at the jump not taken, at the call, and at the jump taken. */
static void test_blocks(void **state)
{
	struct way way = straight();
	struct hwprof_profile *profile = read_way(&way, assembled, 0);
	const struct hwprof_path *path = hwprof_paths_get(profile, 0);
	struct hwprof_block block;

	assert_int_equal(path->length, 1);
	assert_int_equal(path->spelled, 1);
	assert_int_equal(path->blocks, 5);
	check_block(profile, 0, assembled_at("known"), 3, "jne", false, NULL);
	check_block(profile, 1, assembled_at("passed") + 2, 2, "call", true,
		    "back");
	check_block(profile, 2, assembled_at("called") + 5, 2, "js", false,
		    NULL);
	check_block(profile, 3, assembled_at("over") - 1, 2, "jmp", true, NULL);
	check_block(profile, 4, assembled_at("done"), 2, "ret", true, NULL);
	block = block_of(profile, 1);
	assert_string_equal(block.function, "known");
	assert_int_equal(block.offset, assembled_at("passed") + 2 -
				       assembled_at("known"));
	assert_int_equal(block.last, assembled_at("called"));
	assert_non_null(strstr(block.file, "known.S"));
	assert_int_equal(block.line, 7);
	assert_int_equal(block.last_line, 8);
	hwprof_profile_free(profile);
}

/* Each way through a procedure has its number. */
static void test_numbers(void **state)
{
	struct way way = straight(), other;
	struct hwprof_profile *profile = read_way(&way, assembled, 0);
	const struct hwprof_path *path = hwprof_paths_get(profile, 0);
	uint64_t number = path->number;

	/* Behind jne, js is taken or not; there is one way at joined. */
	assert_null(path->unnumbered);
	assert_int_equal(path->procedure->possible, 3);
	assert_true(number < 3);
	hwprof_profile_free(profile);
	other = way_of(assembled_at("known"), before("back", 1), 0);
	add_jump(&other, assembled_at("passed"), assembled_at("joined"));
	profile = read_way(&other, assembled, 0);
	path = hwprof_paths_get(profile, 0);
	assert_null(path->unnumbered);
	assert_true(path->number < 3 && path->number != number);
	hwprof_profile_free(profile);
	/*
	 * Impossible paths have no number, nor have paths in unreadable code.
	 */
	other = way_of(assembled_at("known"), before("back", 1), 0);
	profile = read_way(&other, assembled, 0);
	path = hwprof_paths_get(profile, 0);
	assert_string_equal(path->unnumbered, "not in the procedure's graph");
	assert_int_equal(path->procedure->possible, 3);
	hwprof_profile_free(profile);
	other = way_of(assembled_at("known"), before("away", 1), 0);
	add_jump(&other, assembled_at("over"), assembled_at("back"));
	profile = read_way(&other, assembled, 0);
	assert_string_equal(hwprof_paths_get(profile, 0)->unnumbered,
			    "tail call");
	hwprof_profile_free(profile);
	profile = read_way(&way, "/no/such", 0);
	path = hwprof_paths_get(profile, 0);
	assert_string_equal(path->unnumbered, "no symbol");
	assert_string_equal(path->procedure->unnumbered, "no symbol");
	assert_int_equal(path->procedure->possible, 0);
	hwprof_profile_free(profile);
}

/* A back edge is a taken jump. The target of a tail call is its callee. */
static void test_ends(void **state)
{
	uint64_t again = assembled_at("again"), known = assembled_at("known");
	struct hwprof_profile *profile;
	struct way way;

	way = way_of(again, again + 5, again);
	profile = read_way(&way, assembled, 0);
	assert_int_equal(hwprof_paths_get(profile, 0)->blocks, 1);
	check_block(profile, 0, again, 3, "jb", true, NULL);
	hwprof_profile_free(profile);
	way = way_of(assembled_at("away"), assembled_at("away") + 1, known);
	profile = read_way(&way, assembled, 0);
	check_block(profile, 0, assembled_at("away"), 2, "jmp", true, "known");
	hwprof_profile_free(profile);
}

static void check_undecoded(const struct way *way, const char *object,
			    unsigned int flags, const char *why)
{
	struct hwprof_profile *profile = read_way(way, object, flags);
	struct hwprof_block block = block_of(profile, 0);

	assert_int_equal(hwprof_paths_get(profile, 0)->blocks,
			 way->row.spelled + 1);
	assert_string_equal(block.undecoded, why);
	assert_int_equal(block.instructions, 0);
	assert_null(block.branch);
	assert_null(block.callee);
	hwprof_profile_free(profile);
}

/*
 * Without code, or where control cannot run in a line, lines remain as
 * recorded.
 */
static void test_undecoded(void **state)
{
	struct way way = straight(), wrong;

	check_undecoded(&way, "//anon", 0, "code in no file");
	check_undecoded(&way, "/no/such", 0, "code that cannot be read");
	check_undecoded(&way, assembled, HWPROF_NO_OBJECTS,
			"code that cannot be read");
	/*
	 * A line over a jump that is always taken, into an instruction,
	 * backwards.
	 */
	wrong = way_of(assembled_at("known"), before("back", 1), 0);
	check_undecoded(&wrong, assembled, 0, "code that is not run in a line");
	wrong = way_of(assembled_at("known"), assembled_at("called") + 1, 0);
	check_undecoded(&wrong, assembled, 0, "code that is not run in a line");
	wrong = way_of(assembled_at("done"), assembled_at("known"), 0);
	check_undecoded(&wrong, assembled, 0, "code that is not run in a line");
	wrong = way_of(assembled_at("known"), 1ULL << 40, 0);
	check_undecoded(&wrong, assembled, 0, "code that is not run in a line");
}

/* Lines behind the code of a file, and in its headers. */
static void test_no_code(void **state)
{
	struct hwprof_profile *profile;
	struct hwprof_block block;
	struct way way;

	way = way_of(0x10, 0x20, 0);	/* headers: mapped, but no code */
	profile = read_way(&way, assembled, 0);
	block = block_of(profile, 0);
	assert_non_null(block.undecoded);
	hwprof_profile_free(profile);
	way = way_of(assembled_at("end"), assembled_at("end") + 0x800, 0);
	profile = read_way(&way, assembled, 0);
	block = block_of(profile, 0);
	assert_non_null(block.undecoded);
	hwprof_profile_free(profile);
}

/* A path has the instructions of its blocks, and by these its share. */
static void test_metric(void **state)
{
	struct way way = straight(), loop = way_of(assembled_at("known"),
						   assembled_at("end"), 0);
	struct hwprof_profile *profile =
		read_way(&way, assembled, HWPROF_BY_INSTRUCTIONS);
	const struct hwprof_path *path = hwprof_paths_get(profile, 0);

	assert_int_equal(path->instructions, 3 + 2 + 2 + 2 + 2);
	assert_int_equal(path->procedure->instructions, path->instructions);
	assert_string_equal(hwprof_paths_summary(profile)->metric,
			    "instructions");
	assert_true(path->share == 1);
	assert_int_equal(path->heat, HWPROF_SPARSE);
	hwprof_profile_free(profile);
	profile = read_way(&loop, "/no/such", HWPROF_BY_INSTRUCTIONS);
	path = hwprof_paths_get(profile, 0);
	assert_int_equal(path->instructions, 0);
	assert_string_equal(hwprof_paths_summary(profile)->metric, "branches");
	assert_true(found_warning(profile, "no code could be decoded"));
	hwprof_profile_free(profile);
}

static void add_loop(struct fixture *fixture, const char *head, uint64_t tail)
{
	const struct hwprof_row_loop row = {
		.row = { HWPROF_ROW_LOOP, sizeof(row), 100, 1, 100 },
		.head = BASE + assembled_at(head), .tail = BASE + tail,
		.back_edges = 8, .entries = 1, .basis = HWPROF_BASIS_EXACT,
	};

	fixture_add_loop(fixture, 10, &row);
}

static void add_way(struct fixture *fixture, const struct way *way)
{
	fixture_row(fixture, 11, way->row.start, way->row.end, way->row.count,
		    &way->row.row);
}

/*
 * A loop has the instructions of the paths through it. `back` runs into its
 * loop, so a part of its first block is in the loop. Another one is around it.
 */
static void test_loops(void **state)
{
	const char *names[] = { assembled, "/no/such" };
	const uint64_t jb = before("away", 3), ret = before("away", 1);
	struct way round, last;
	struct hwprof_profile *profile;
	struct fixture fixture;
	unsigned int i;

	round = way_of(assembled_at("again"), jb, assembled_at("again"));
	round.row.count = 7;
	last = way_of(assembled_at("back"), ret, 0);
	for (i = 0; i < 2; i++) {
		fixture_begin(&fixture, "loops,paths,step,rows");
		fixture_comm(&fixture, 1, 100, "known", true);
		fixture_map(&fixture, 2, 100, BASE, 0x10000, 0, names[i], NULL);
		add_loop(&fixture, "again", jb);
		add_loop(&fixture, "back", ret);
		add_way(&fixture, &round);
		add_way(&fixture, &last);
		fixture_add_totals(&fixture, 30, 1, 18);
		fixture_end(&fixture);
		profile = fixture_loops(&fixture, HWPROF_BY_INSTRUCTIONS);
		assert_int_equal(hwprof_loops_count(profile), 2);
		fixture_remove(&fixture);
		if (i)
			break;
		/* inc, cmp and jb eight times; xor, ret. */
		assert_int_equal(hwprof_loops_get(profile, 0)->instructions,
				 8 * 3);
		assert_int_equal(hwprof_loops_get(profile, 1)->instructions, 2);
		assert_string_equal(hwprof_loops_get(profile, 1)->share_of,
				    "instructions");
		assert_true(hwprof_loops_get(profile, 1)->share == 2 / 26.);
		hwprof_profile_free(profile);
	}
	assert_true(found_warning(profile, "no code could be decoded"));
	assert_int_equal(hwprof_loops_get(profile, 0)->instructions, 0);
	assert_string_equal(hwprof_loops_get(profile, 0)->share_of,
			    "iterations");
	hwprof_profile_free(profile);
}

static void test_json(void **state)
{
	struct way way = straight();
	struct hwprof_profile *profile = read_way(&way, assembled, 0);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_int_equal(hwprof_profile_json(profile, NULL, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "\"branch\": \"jne\""));
	assert_non_null(strstr(text, "\"taken\": false"));
	assert_non_null(strstr(text, "\"callee\": \"back\""));
	assert_non_null(strstr(text, "\"instructions\": 3"));
	assert_non_null(strstr(text, "\"undecoded\": null"));
	free(text);
	hwprof_profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instructions),
		cmocka_unit_test(test_arm64),
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_undecoded),
		cmocka_unit_test(test_no_code),
		cmocka_unit_test(test_metric),
		cmocka_unit_test(test_loops),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, make_program, assembled_remove);
}
