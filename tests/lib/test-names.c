// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of code that is in no ELF file: code made at run time, named by
 * /tmp/perf-PID.map, and the kernel, named by kallsyms.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "converted.h"
#include "found.h"
#include "hwprof.h"
#include "code/names.h"
#include "perfdata/perfdata.h"
#include "stacks.h"

enum { PID = 4242, SAMPLES = 20 };

#define MADE	0x7f0000001000ULL	/* memory with code made at run time */
#define TEXT	0xffffffff81000000ULL	/* of the kernel, as recorded */
#define MODULE	0xffffffffc0000000ULL

static char folder[] = "/tmp/hwprof-test-XXXXXX";
static char path[64];

static void write_text(const char *name, const char *text, size_t size)
{
	char file[128];
	FILE *out;

	snprintf(file, sizeof(file), "%s/%s", folder, name);
	out = fopen(file, "w");
	assert_non_null(out);
	fwrite(text, size, 1, out);
	fclose(out);
}

static int make_folder(void **state)
{
	char name[128];

	assert_non_null(mkdtemp(folder));
	snprintf(name, sizeof(name), "%s/tmp", folder);
	return mkdir(name, 0755);
}

static int remove_folder(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -r %s", folder);
	return system(command);
}

/* --- tables of names ------------------------------------------------------ */

static struct names *read_names(const char *text, size_t size)
{
	struct names *names = NULL;
	FILE *file = tmpfile();

	fwrite(text, size, 1, file);
	rewind(file);
	assert_int_equal(names_read_map(fileno(file), &names), 0);
	fclose(file);
	return names;
}

static void expect_name(const struct names *names, uint64_t address,
			const char *name, uint64_t offset)
{
	struct named_code code;
	bool found = names_find(names, address, &code);

	assert_int_equal(found, name != NULL);
	if (!name)
		return;
	assert_string_equal(code.name, name);
	assert_int_equal(address - code.begin, offset);
	assert_true(address < code.end);
}

static void test_map(void **state)
{
	static const char text[] =
		"1000 100 first\n"
		"0x2000 0x10 with 0x, and spaces\n"
		"3000 1000 around\n3100 10 inside\n3ff0 20 across the end\n"
		"5000 100 older\n4f80 100 newer\n"
		"6000 10 no newline";
	struct names *names = read_names(text, sizeof(text) - 1);

	expect_name(names, 0xfff, NULL, 0);
	expect_name(names, 0x1000, "first", 0);
	expect_name(names, 0x10ff, "first", 0xff);
	expect_name(names, 0x1100, NULL, 0);
	expect_name(names, 0x2008, "with 0x, and spaces", 8);
	expect_name(names, 0x30ff, "around", 0xff);
	expect_name(names, 0x310f, "inside", 0xf);
	expect_name(names, 0x3110, "around", 0x110);
	expect_name(names, 0x3ff0, "across the end", 0);
	expect_name(names, 0x400f, "across the end", 0x1f);
	/* Newer code replaces older code at its addresses. */
	expect_name(names, 0x507f, "newer", 0xff);
	expect_name(names, 0x5080, "older", 0x80);
	expect_name(names, 0x600f, "no newline", 0xf);
	expect_name(names, UINT64_MAX, NULL, 0);
	names_free(names);
}

/* Such a file may contain anything. */
static void test_hostile(void **state)
{
	static const char text[] =
		"\n \nx\n10\n10 \n10 20\n10 20 \n-10 20 minus\n10 -1 minus\n"
		"ffffffffffffff00 200 beyond the end\n"
		"fffffffffffffffff 10 too long\n"
		"0 0 empty\n50 0 empty\n"
		"1000 10 nul\0 behind\n"
		"g000 10 no number\n"
		"ffffffffffffff00 ff last\n"
		"2000 8\tfoo\n";
	struct names *names = read_names(text, sizeof(text) - 1);
	uint64_t address;

	for (address = 0; address < 0x100; address++)
		expect_name(names, address, NULL, 0);
	expect_name(names, 0x1000, "nul", 0);
	expect_name(names, 0x2000, NULL, 0);
	expect_name(names, 0xffffffffffffff01, "last", 1);
	expect_name(names, UINT64_MAX, NULL, 0);
	names_free(names);
	names = read_names("", 0);
	expect_name(names, 0, NULL, 0);
	names_free(names);
}

/* Random maps, compared with the simplest lookup. */
static void test_random_maps(void **state)
{
	enum { LINES = 300, SPACE = 4096 };
	static uint16_t owners[SPACE];
	static char text[LINES * 32];
	struct names *names;
	size_t used = 0;
	unsigned int round, i, at;

	for (round = 0; round < 20; round++) {
		memset(owners, 0, sizeof(owners));
		for (used = 0, i = 1; i <= LINES; i++) {
			unsigned int begin = rand() % SPACE;
			unsigned int size = rand() % (rand() % 200 + 1);

			used += sprintf(text + used, "%x %x n%u\n", begin, size,
					i);
			for (at = begin; at < begin + size && at < SPACE; at++)
				owners[at] = i;
		}
		names = read_names(text, used);
		for (at = 0; at < SPACE; at++) {
			char name[16];
			struct named_code code;

			assert_int_equal(names_find(names, at, &code),
					 !!owners[at]);
			sprintf(name, "n%u", owners[at]);
			if (owners[at])
				assert_string_equal(code.name, name);
		}
		names_free(names);
	}
}

/* --- code that was made at run time ------------------------------------- */

#define COND(f, t)	{ .from = f, .to = t, .type = PERF_BR_COND }

/* Adds samples of a loop at @base + 0x10 that is entered once. */
static void add_loop(struct stacks *stacks, uint64_t base, unsigned int samples)
{
	const struct perf_branch_entry turns[] = {
		COND(base + 0x20, base + 0x10), COND(base + 0x20, base + 0x10),
		COND(base + 0x20, base + 0x10), COND(base + 2, base + 8),
		COND(base - 0x10, base),
	};
	static uint64_t time = 10;

	while (samples--)
		stacks_sample(stacks, time++, PID, turns, 5);
}

static void begin(struct stacks *stacks, const struct stacks_style *style)
{
	strcpy(path, "/tmp/hwprof-test-XXXXXX");
	close(mkstemp(path));
	stacks_begin(stacks, path, style);
	stacks_comm(stacks, 1, PID, "prog", true);
}

static struct hwprof_profile *replay(enum hwprof_kind kind, const char *symfs)
{
	const struct hwprof_options options = { .symfs = symfs };
	struct hwprof_profile *profile;
	char message[512];

	if (converted_replay(kind, path, &options, NULL, &profile, message))
		fail_msg("%s", message);
	return profile;
}

static const struct stacks_style plain = {
	.sample_type = PERF_SAMPLE_TIME, .kernel = true,
};

static const char made[] =
	"7f0000001000 40 made::one(int)\n7f0000003000 100 made::two\n";

static void expect_made(const char *symfs, const char *one, const char *two)
{
	struct hwprof_profile *loops = replay(HWPROF_KIND_LOOPS, symfs);
	const struct hwprof_loop *loop = found_loop(loops, MADE + 0x10);

	assert_non_null(loop);
	if (!one) {
		assert_null(loop->function);
	} else {
		assert_string_equal(loop->function, one);
		assert_int_equal(loop->function_offset, 0x10);
		assert_string_equal(loop->object, "[perf-4242.map]");
	}
	assert_int_equal(loop->pid, PID);
	/* Nothing is known to be mapped here. */
	loop = found_loop(loops, MADE + 0x2010);
	assert_non_null(loop);
	if (two)
		assert_string_equal(loop->function, two);
	else
		assert_null(loop->function);
	hwprof_profile_free(loops);
}

static void record_made(void)
{
	struct stacks stacks;

	begin(&stacks, &plain);
	stacks_map(&stacks, 2, PID, MADE, 0x1000, 0, "//anon");
	add_loop(&stacks, MADE, SAMPLES);
	add_loop(&stacks, MADE + 0x2000, SAMPLES);
	stacks_end(&stacks);
}

static void test_made(void **state)
{
	struct hwprof_profile *loops;
	char name[64];

	record_made();
	expect_made(folder, NULL, NULL);
	write_text("tmp/perf-4242.map", made, sizeof(made) - 1);
	expect_made(folder, "made::one(int)", "made::two");
	/* Other users' files are ignored. */
	snprintf(name, sizeof(name), "%s/tmp/perf-4242.map", folder);
	if (!geteuid()) {
		assert_int_equal(chown(name, 65534, 65534), 0);
		expect_made(folder, NULL, NULL);
		loops = replay(HWPROF_KIND_LOOPS, folder);
		assert_non_null(
			found_warning(loops, "[perf-4242.map]: its file is no "
					     "regular one of yours or root's"));
		hwprof_profile_free(loops);
	}
	unlink(name);
	write_text("tmp/other", made, sizeof(made) - 1);
	assert_int_equal(symlink("other", name), 0);
	expect_made(folder, NULL, NULL);
	unlink(name);
	unlink(path);
}

/* The file in its usual place, without --symfs. */
static void test_made_here(void **state)
{
	FILE *file = fopen("/tmp/perf-4242.map", "wx");

	if (!file)
		skip();
	fwrite(made, sizeof(made) - 1, 1, file);
	fclose(file);
	record_made();
	expect_made(NULL, "made::one(int)", "made::two");
	unlink("/tmp/perf-4242.map");
	unlink(path);
}

static const struct hwprof_context *
find_function(const struct hwprof_profile *contexts, const char *function)
{
	size_t i;

	for (i = 0; i < hwprof_contexts_count(contexts); i++) {
		const struct hwprof_context *context =
			hwprof_contexts_get(contexts, i);

		if (context->function && !strcmp(context->function, function))
			return context;
	}
	return NULL;
}

#define CONTEXT(side)	((uint64_t)PERF_CONTEXT_##side)

/* Functions made at run time are procedures. */
static void test_made_contexts(void **state)
{
	const struct stacks_style style = {
		.chains = true, .sample_type = PERF_SAMPLE_TIME,
	};
	const uint64_t chain[] = {
		CONTEXT(USER), MADE + 0x2008, MADE + 0x15,
	};
	const uint64_t other[] = {
		CONTEXT(USER), MADE + 0x2018, MADE + 0x15,
	};
	const struct hwprof_context *context;
	struct hwprof_profile *contexts;
	struct stacks stacks;

	write_text("tmp/perf-4242.map", made, sizeof(made) - 1);
	begin(&stacks, &style);
	stacks_map(&stacks, 2, PID, MADE, 0x1000, 0, "//anon");
	stacks_chain(&stacks, 10, PID, chain[1], 7, chain, 3, NULL, 0);
	stacks_chain(&stacks, 11, PID, other[1], 5, other, 3, NULL, 0);
	stacks_end(&stacks);
	contexts = replay(HWPROF_KIND_CCT, folder);
	context = find_function(contexts, "made::two");
	assert_non_null(context);
	assert_int_equal(context->weight, 12);
	assert_int_equal(context->function_offset, 0);
	assert_string_equal(context->parent->function, "made::one(int)");
	assert_string_equal(context->site_function, "made::one(int)");
	assert_int_equal(context->site_offset, 0x14);
	assert_int_equal(hwprof_contexts_count(contexts), 3);
	hwprof_profile_free(contexts);
	unlink(path);
}

/* --- the kernel --------------------------------------------------------- */

/* Writes kallsyms of a kernel whose code is at TEXT + @moved. */
static void write_kallsyms(uint64_t moved)
{
	char text[1024], name[128];
	int size;

	size = snprintf(text, sizeof(text),
			"%016llx T _text\n%016llx T _stext\n"
			"%016llx t __local_alias\n"
			"%016llx T do_turns\n"
			"%016llx d some_data\n"
			"%016llx T behind\n"
			"%016llx t in_module\t[mod]\n"
			"not a line\n%016llx\n",
			TEXT + moved, TEXT + moved, TEXT + 0x1000 + moved,
			TEXT + 0x1000 + moved, TEXT + 0x1008 + moved,
			TEXT + 0x1100 + moved, MODULE + moved, TEXT);
	snprintf(name, sizeof(name),
		 "mkdir -p %s/.debug/.build-id/aa/%038d", folder, 0);
	memcpy(strstr(name, "aa/") + 3,
	       "0102030405060708090a0b0c0d0e0f10111213", 38);
	assert_int_equal(system(name), 0);
	write_text(".debug/.build-id/aa/0102030405060708090a0b0c0d0e0f10111213/"
		   "kallsyms",
		   text, size);
}

static void add_build_id(struct stacks *stacks)
{
	static const char name[] = "[kernel.kallsyms]";
	struct perfdata_build_id entry = {
		.header.size = sizeof(entry) + 24, .pid = -1,
		.header.misc = PERFDATA_MISC_BUILD_ID_SIZE, .size = 20,
	};
	uint8_t section[sizeof(entry) + 24] = { 0 };
	int i;

	entry.id[0] = 0xaa;
	for (i = 1; i < 20; i++)
		entry.id[i] = i;
	memcpy(section, &entry, sizeof(entry));
	memcpy(section + sizeof(entry), name, sizeof(name));
	stacks_section(stacks, PERFDATA_BUILD_ID, section, sizeof(section));
}

/*
 * Replays loops of a kernel, with or without its build id and text in the
 * recording.
 */
static struct hwprof_profile *replay_kernel(bool id, bool text)
{
	struct hwprof_profile *loops;
	struct stacks stacks;

	begin(&stacks, &plain);
	if (text)
		stacks_map(&stacks, 0, -1, TEXT, 0x100000, TEXT,
			   "[kernel.kallsyms]_text");
	if (id)
		add_build_id(&stacks);
	stacks.misc = PERF_RECORD_MISC_KERNEL;
	add_loop(&stacks, TEXT + 0x1000, SAMPLES);
	add_loop(&stacks, MODULE, SAMPLES);
	stacks_end(&stacks);
	loops = replay(HWPROF_KIND_LOOPS, NULL);
	unlink(path);
	return loops;
}

static void expect_kernel(uint64_t head, const char *function)
{
	struct hwprof_profile *loops = replay_kernel(true, true);
	const struct hwprof_loop *loop = found_loop(loops, head);

	assert_non_null(loop);
	assert_string_equal(loop->object, "[kernel]");
	if (function)
		assert_string_equal(loop->function, function);
	else
		assert_null(loop->function);
	if (function)
		assert_int_equal(loop->function_offset, 0x10);
	hwprof_profile_free(loops);
}

static void test_kernel(void **state)
{
	struct hwprof_profile *loops;

	setenv("HOME", folder, 1);
	loops = replay_kernel(true, true);
	assert_non_null(
		found_warning(loops, "no symbols of [kernel]: perf's build-id "
				     "cache (~/.debug) has no kallsyms"));
	hwprof_profile_free(loops);
	write_kallsyms(0);
	loops = replay_kernel(true, true);
	assert_null(found_warning(loops, "[kernel]"));
	hwprof_profile_free(loops);
	expect_kernel(TEXT + 0x1010, "do_turns");
	expect_kernel(MODULE + 0x10, "in_module");
	/* The same kernel, but KASLR moved it and its modules. */
	write_kallsyms(0x4200000);
	expect_kernel(TEXT + 0x4201010, "do_turns");
	expect_kernel(MODULE + 0x10, NULL);
	loops = replay_kernel(true, true);
	assert_non_null(
		found_warning(loops, "[kernel]: they are of another boot"));
	hwprof_profile_free(loops);
	loops = replay_kernel(false, true);
	assert_non_null(found_warning(
		loops,
		"no symbols of [kernel]: the recording has no build id of it"));
	hwprof_profile_free(loops);
	loops = replay_kernel(true, false);
	assert_non_null(found_warning(
		loops,
		"no symbols of [kernel]: the recording does not say where"));
	hwprof_profile_free(loops);
}

/* With kernel.kptr_restrict, all addresses are 0. */
static void test_hidden(void **state)
{
	write_text(".debug/.build-id/aa/0102030405060708090a0b0c0d0e0f10111213/"
		   "kallsyms",
		   "0000000000000000 T _text\n0000000000000000 T do_turns\n",
		   52);
	expect_kernel(TEXT + 0x1010, NULL);
}

/* Procedures of the kernel are distinguished if they have names. */
static void test_kernel_contexts(void **state)
{
	const struct stacks_style style = {
		.chains = true, .sample_type = PERF_SAMPLE_TIME, .kernel = true,
	};
	const uint64_t chain[] = {
		CONTEXT(KERNEL), TEXT + 0x1018, TEXT + 0x1108,
	};
	const struct hwprof_context *context;
	struct hwprof_profile *contexts;
	struct stacks stacks;

	write_kallsyms(0x200000);
	begin(&stacks, &style);
	stacks_map(&stacks, 0, -1, TEXT, 0x100000, TEXT,
		   "[kernel.kallsyms]_text");
	add_build_id(&stacks);
	stacks_chain(&stacks, 10, PID, chain[1], 7, chain, 3, NULL, 0);
	stacks_end(&stacks);
	contexts = replay(HWPROF_KIND_CCT, NULL);
	context = find_function(contexts, "do_turns");
	assert_non_null(context);
	assert_int_equal(context->weight, 7);
	assert_int_equal(context->address, TEXT + 0x201000);
	assert_string_equal(context->parent->function, "behind");
	hwprof_profile_free(contexts);
	unlink(path);
}

static void test_notes(void **state)
{
	static const uint32_t notes[] = {
		4, 4, 1, 0x584858, 5, 4, 4, 3, 0x554e47, 0x33221100,
	};
	struct build_id id = { .size = 0 };
	char name[64];

	snprintf(name, sizeof(name), "%s/notes", folder);
	write_text("notes", (const char *)notes, sizeof(notes));
	assert_true(names_read_notes(name, &id));
	assert_int_equal(id.size, 4);
	assert_int_equal(id.bytes[3], 0x33);
	write_text("notes", (const char *)notes, sizeof(notes) - 1);
	assert_false(names_read_notes(name, &id));
	assert_false(names_read_notes("/no/notes", &id));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_map),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_random_maps),
		cmocka_unit_test(test_made),
		cmocka_unit_test(test_made_here),
		cmocka_unit_test(test_made_contexts),
		cmocka_unit_test(test_kernel),
		cmocka_unit_test(test_hidden),
		cmocka_unit_test(test_kernel_contexts),
		cmocka_unit_test(test_notes),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
