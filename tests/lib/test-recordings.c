// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings from other CPUs, other tools and older versions of perf, truncated
 * or damaged. Each is made here, with the numbers that it must give.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "converted.h"
#include "found.h"
#include "hwprof.h"
#include "perfdata/perfdata.h"
#include "stacks.h"

enum {
	PID	= 4242,
	SAMPLES	= 100,		/* of a plain recording */
};

#define TIME	PERF_SAMPLE_TIME
#define LOOP	0x401010	/* in the plain recording */
#define ITERATIONS 5		/* its back edges in each stack */

static char path[96];

static void begin(struct stacks *stacks, const struct stacks_style *style)
{
	strcpy(path, "/tmp/hwprof-test-XXXXXX");
	close(mkstemp(path));
	stacks_begin(stacks, path, style);
	stacks_comm(stacks, 1, PID, "prog", true);
	stacks_map(stacks, 2, PID, 0x401000, 0x1000, 0x1000, "/no/prog");
}

#define COND(f, t)	{ .from = f, .to = t, .type = PERF_BR_COND }

/* ITERATIONS back edges of the loop at LOOP after one entry, newest first. */
static const struct perf_branch_entry turns[] = {
	COND(0x401020, LOOP), COND(0x401020, LOOP), COND(0x401020, LOOP),
	COND(0x401020, LOOP), COND(0x401020, LOOP), COND(0x401002, 0x401008),
	COND(0x400ff0, 0x401000),
};

enum { TURNS = sizeof(turns) / sizeof(turns[0]) };

static void add_turns(struct stacks *stacks, unsigned int count)
{
	static uint64_t time = 10;

	while (count--)
		stacks_sample(stacks, time++, PID, turns, TURNS);
}

static int try_replay(enum hwprof_kind kind, struct hwprof_profile **profile,
		      char message[512])
{
	const struct hwprof_options options = { .flags = HWPROF_NO_OBJECTS };

	return converted_replay(kind, path, &options, NULL, profile, message);
}

static struct hwprof_profile *replay(enum hwprof_kind kind)
{
	struct hwprof_profile *profile;
	char message[512];

	if (try_replay(kind, &profile, message))
		print_message("# %s\n", message);
	unlink(path);
	assert_non_null(profile);
	return profile;
}

static struct hwprof_profile *end(struct stacks *stacks, enum hwprof_kind kind)
{
	stacks_end(stacks);
	return replay(kind);
}

/*
 * Asserts the loop of @samples plain samples, and the warning with @words
 * unless NULL.
 */
static void expect_turns(struct hwprof_profile *loops, unsigned int samples,
			 const char *words)
{
	const struct hwprof_loop *loop = found_loop(loops, 0x1010);

	assert_int_equal(hwprof_loops_count(loops), 1);
	assert_non_null(loop);
	assert_int_equal(loop->back_edges_seen, ITERATIONS * samples);
	assert_int_equal(loop->entries_seen, samples);
	if (words)
		assert_non_null(found_warning(loops, words));
	else
		assert_null(hwprof_profile_warning(loops, 0));
	hwprof_profile_free(loops);
}

/* --- damage at the end -------------------------------------------------- */

static void write_at(uint64_t offset, const void *bytes, size_t size)
{
	int fd = open(path, O_WRONLY);

	assert_int_equal(pwrite(fd, bytes, size, offset), size);
	close(fd);
}

static uint64_t file_size(void)
{
	struct stat status;

	assert_int_equal(stat(path, &status), 0);
	return status.st_size;
}

static void make_plain(const struct stacks_style *style)
{
	struct stacks stacks;

	begin(&stacks, style);
	add_turns(&stacks, SAMPLES);
	stacks_end(&stacks);
}

/* The last record is cut at each of its bytes. */
static void try_cut(const struct stacks_style *style, bool killed)
{
	const struct perfdata_section none = { 0 };
	unsigned int cut;

	for (cut = 1; cut < 8 + 4 * 8 + 24 * TURNS; cut += 7) {
		make_plain(style);
		if (killed)
			write_at(offsetof(struct perfdata_header, data.size),
				 &none.size, sizeof(none.size));
		assert_int_equal(truncate(path, file_size() - cut), 0);
		expect_turns(replay(HWPROF_KIND_LOOPS), SAMPLES - 1,
			     "offset 0x");
	}
}

static void test_cut(void **state)
{
	try_cut(&(struct stacks_style){ .sample_type = TIME }, false);
	try_cut(&(struct stacks_style){ .sample_type = TIME }, true);
	try_cut(&(struct stacks_style){ .sample_type = TIME, .pipe = true },
		false);
}

/* Cut between two records: a pipe may end there, but a file may not. */
static void test_cut_between(void **state)
{
	const size_t record = 8 + 8 * 5 + 24 * TURNS;

	make_plain(&(struct stacks_style){ .sample_type = TIME });
	assert_int_equal(truncate(path, file_size() - record), 0);
	expect_turns(replay(HWPROF_KIND_LOOPS), SAMPLES - 1,
		     "its data is said to go on");
	make_plain(&(struct stacks_style){ .sample_type = TIME, .pipe = true });
	assert_int_equal(truncate(path, file_size() - record), 0);
	expect_turns(replay(HWPROF_KIND_LOOPS), SAMPLES - 1, NULL);
}

static void test_cut_packed(void **state)
{
	make_plain(&(struct stacks_style){ .sample_type = TIME, .zstd = true });
	assert_int_equal(truncate(path, file_size() - 5), 0);
	hwprof_profile_free(replay(HWPROF_KIND_LOOPS));
}

/* perf's messages are in the pipe, too, if both of its outputs go there. */
static void test_text(void **state)
{
	const char *said =
		"[ perf record: Woken up 1 times to write data ]\n"
		"[ perf record: Captured and wrote 0.100 MB - ]\n";
	uint64_t end;

	make_plain(&(struct stacks_style){ .sample_type = TIME, .pipe = true });
	write_at(file_size(), said, strlen(said));
	expect_turns(replay(HWPROF_KIND_LOOPS), SAMPLES, "here is no record");

	/* In the middle: records behind the text cannot be found. */
	make_plain(&(struct stacks_style){ .sample_type = TIME, .pipe = true });
	end = file_size();
	write_at(end, said, strlen(said));
	assert_int_equal(truncate(path, 1 << 20), 0);
	expect_turns(replay(HWPROF_KIND_LOOPS), SAMPLES, "here is no record");
}

/* --- sections ----------------------------------------------------------- */

/* Each section that is read, truncated at each of its bytes. */
static void test_sections(void **state)
{
	static const unsigned int features[] = {
		PERFDATA_BUILD_ID, PERFDATA_EVENT_DESC, PERFDATA_PMU_MAPPINGS,
		PERFDATA_GROUP_DESC, PERFDATA_CPUID,
	};
	static const uint8_t bytes[] = {
		1, 0, 0, 0, 0xff, 0xff, 0xff, 0x7f, 9, 0, 0, 0, 1, 1, 1, 1,
	};
	size_t i, size;

	for (i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		for (size = 8; size <= sizeof(bytes); size++) {
			const struct stacks_style style = {.sample_type = TIME};
			struct stacks stacks;

			begin(&stacks, &style);
			add_turns(&stacks, SAMPLES);
			stacks_section(&stacks, features[i], bytes, size);
			expect_turns(end(&stacks, HWPROF_KIND_LOOPS), SAMPLES,
				     "offset 0x");
		}
	}
}

/* Writes an entry of the table of build ids, and @padding zeros behind it. */
static size_t put_build_id(uint8_t *to, const char *name, uint16_t misc,
			   uint8_t first, size_t padding)
{
	struct perfdata_build_id entry = {
		.header.misc = misc, .header.size = sizeof(entry) + 64,
		.pid = -1, .id = { first, 2, 3, 4, 5, 6, 7, 8 }, .size = 8,
	};

	memset(to, 0, sizeof(entry) + 64 + padding);
	memcpy(to, &entry, sizeof(entry));
	strcpy((char *)to + sizeof(entry), name);
	return sizeof(entry) + 64 + padding;
}

static void expect_build_id(uint16_t misc, size_t padding)
{
	const struct stacks_style style = { .sample_type = TIME };
	struct hwprof_profile *loops;
	struct stacks stacks;
	uint8_t table[1024];
	size_t size;

	size = put_build_id(table, "/no/other", misc, 9, padding);
	size += put_build_id(table + size, "/no/prog", misc, 1, padding);
	begin(&stacks, &style);
	add_turns(&stacks, SAMPLES);
	stacks_section(&stacks, PERFDATA_BUILD_ID, table, size);
	loops = end(&stacks, HWPROF_KIND_LOOPS);
	assert_string_equal(found_loop(loops, 0x1010)->build_id,
			    "0102030405060708");
	expect_turns(loops, SAMPLES, NULL);
}

/* Old perf writes no size; perf 6.12 writes zeros behind each entry. */
static void test_build_ids(void **state)
{
	size_t padding;

	for (padding = 0; padding <= 36; padding += 4) {
		expect_build_id(0, padding);
		expect_build_id(PERFDATA_MISC_BUILD_ID_SIZE, padding);
	}
}

/* --- directories -------------------------------------------------------- */

static char folder[64];

static void file_in(char to[96], const char *name)
{
	snprintf(to, 96, "%s/%s", folder, name);
}

/*
 * Files of three threads. The map for the first one is in the last, and a later
 * program is in the first.
 */
static void make_folder(bool zstd)
{
	const struct stacks_style style = { .sample_type = TIME, .zstd = zstd };
	struct stacks stacks;
	char name[96];

	strcpy(folder, "/tmp/hwprof-test-XXXXXX");
	assert_non_null(mkdtemp(folder));
	file_in(name, "data");
	stacks_begin(&stacks, name, &style);
	stacks_comm(&stacks, 1, PID, "prog", true);
	file_in(name, "data.0");
	stacks_part(&stacks, name);
	add_turns(&stacks, SAMPLES);
	stacks_round(&stacks);
	stacks_map(&stacks, 1000000, PID, 0x401000, 0x1000, 0, "/no/later");
	file_in(name, "data.1");
	stacks_part(&stacks, name);
	file_in(name, "data.2");
	stacks_part(&stacks, name);
	add_turns(&stacks, SAMPLES);
	stacks_map(&stacks, 2, PID, 0x401000, 0x1000, 0x1000, "/no/prog");
	stacks_section(&stacks, PERFDATA_DIR_FORMAT, &(uint64_t){ 1 }, 8);
	stacks_end(&stacks);
}

static void remove_folder(void)
{
	static const char *const names[] = {
		"data", "data.0", "data.1", "data.2",
	};
	char name[96];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		file_in(name, names[i]);
		unlink(name);
	}
	rmdir(folder);
}

static void expect_folder(const char *given)
{
	struct hwprof_profile *loops;
	char message[512];

	strcpy(path, given);
	assert_int_equal(try_replay(HWPROF_KIND_LOOPS, &loops, message), 0);
	assert_string_equal(found_loop(loops, 0x1010)->object, "/no/prog");
	expect_turns(loops, 2 * SAMPLES, NULL);
}

static void test_folder(void **state)
{
	char name[96];
	int zstd;

	for (zstd = 0; zstd <= 1; zstd++) {
		make_folder(zstd);
		expect_folder(folder);
		/* Opening the file with the header reads all parts. */
		file_in(name, "data");
		expect_folder(name);
		remove_folder();
	}
}

/* A part may be truncated like any file; the others are still read. */
static void test_folder_cut(void **state)
{
	struct hwprof_profile *loops;
	char message[512];

	make_folder(false);
	file_in(path, "data.0");
	assert_int_equal(truncate(path, 4000), 0);
	strcpy(path, folder);
	assert_int_equal(try_replay(HWPROF_KIND_LOOPS, &loops, message), 0);
	assert_true(found_loop(loops, 0x1010)->entries_seen > SAMPLES);
	assert_non_null(found_warning(loops, "the file ends in a record"));
	assert_null(hwprof_profile_warning(loops, 1));
	hwprof_profile_free(loops);
	remove_folder();
}

static void test_folder_of_others(void **state)
{
	struct hwprof_profile *loops;
	char message[512];

	strcpy(path, "/tmp/hwprof-test-XXXXXX");
	assert_non_null(mkdtemp(path));
	assert_int_equal(try_replay(HWPROF_KIND_LOOPS, &loops, message),
			 -EISDIR);
	assert_non_null(strstr(message, "has no file 'data'"));
	rmdir(path);
}

/* --- stacks as CPUs and decoders make them ------------------------------ */

/* perf inject makes these from a trace: no kinds of branches are selected. */
static void test_synthesized(void **state)
{
	static const uint64_t filters[] = {
		0, PERF_SAMPLE_BRANCH_HW_INDEX, PERF_SAMPLE_BRANCH_USER,
		PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_NO_CYCLES,
	};
	size_t i;

	for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		make_plain(&(struct stacks_style){
				.sample_type = TIME, .synthesized = true,
				.filter = filters[i],
			   });
		expect_turns(replay(HWPROF_KIND_LOOPS), SAMPLES, NULL);
	}
}

static void refuses(const struct stacks_style *style, const char *words)
{
	struct hwprof_profile *loops;
	char message[512];

	make_plain(style);
	assert_int_equal(try_replay(HWPROF_KIND_LOOPS, &loops, message),
			 -ENOENT);
	assert_non_null(strstr(message, words));
	unlink(path);
}

/* With only transactions, or only calls, lines are incomplete. */
static void test_selected(void **state)
{
	static const uint64_t filters[] = {
		PERF_SAMPLE_BRANCH_ANY_CALL, PERF_SAMPLE_BRANCH_ANY_RETURN,
		PERF_SAMPLE_BRANCH_IND_CALL, PERF_SAMPLE_BRANCH_COND,
		PERF_SAMPLE_BRANCH_CALL_STACK, PERF_SAMPLE_BRANCH_IND_JUMP,
		PERF_SAMPLE_BRANCH_CALL,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_IN_TX,
		PERF_SAMPLE_BRANCH_ANY | PERF_SAMPLE_BRANCH_NO_TX,
	};
	size_t i;

	for (i = 0; i < sizeof(filters) / sizeof(filters[0]); i++)
		refuses(&(struct stacks_style){ .filter = filters[i] },
			"some kinds of branches only");
}

/* A trace that is not decoded is recognised by its section or its record. */
static void test_traced(void **state)
{
	const struct stacks_style chains = { .chains = true };
	const uint64_t info = 1;
	struct hwprof_profile *loops;
	struct stacks stacks;
	char message[512];
	int pipe;

	for (pipe = 0; pipe <= 1; pipe++) {
		struct stacks_style style = chains;

		style.pipe = pipe;
		begin(&stacks, &style);
		if (pipe)
			stacks_record(&stacks, PERFDATA_AUXTRACE_INFO, 0, &info,
				      sizeof(info));
		else
			stacks_section(&stacks, PERFDATA_AUXTRACE_SECTION,
				       &info, sizeof(info));
		stacks_end(&stacks);
		assert_int_equal(try_replay(HWPROF_KIND_LOOPS, &loops, message),
				 -ENOENT);
		assert_non_null(strstr(message, "perf inject --itrace"));
		unlink(path);
	}
}

#define NOT_TAKEN(f, t)	{ .from = f, .to = t, .reserved = 1 }

_Static_assert(sizeof(struct perf_branch_entry) == 24, "");

/* Arm SPE records branches that were not taken. Lines run over them. */
static void test_not_taken(void **state)
{
	static const struct perf_branch_entry stack[] = {
		NOT_TAKEN(0x401014, 0x401800), COND(0x401020, LOOP),
		COND(0x401020, LOOP), NOT_TAKEN(0x401018, 0x401000),
		NOT_TAKEN(0x401014, 0x401800), COND(0x401020, LOOP),
		COND(0x401020, LOOP), COND(0x401020, LOOP),
		COND(0x401002, 0x401008), COND(0x400ff0, 0x401000),
	};
	const struct stacks_style style = { .sample_type = TIME };
	struct stacks stacks;
	unsigned int i;

	begin(&stacks, &style);
	for (i = 0; i < SAMPLES; i++) {
		stacks_sample(&stacks, 10 + i, PID, stack, 10);
		stacks_sample(&stacks, 10 + i, PID, turns, TURNS);
	}
	expect_turns(end(&stacks, HWPROF_KIND_LOOPS), 2 * SAMPLES,
		     "300 records of branches that were not taken");
}

/*
 * BRBE: an interrupt as the newest record, one in between, and a system call.
 */
static void test_brbe(void **state)
{
	static const struct perf_branch_entry stack[] = {
		{ .from = 0x401014, .to = 0 },
		COND(0x401020, LOOP),
		{ .from = 0, .to = 0x40101c }, { .from = 0x401018, .to = 0 },
		COND(0x401020, LOOP),
		{ .from = 0, .to = 0x401014 }, { .from = 0x401014, .to = 0 },
		COND(0x401020, LOOP), COND(0x401020, LOOP),
		COND(0x401020, LOOP), COND(0x401002, 0x401008),
		COND(0x400ff0, 0x401000),
	};
	const struct stacks_style style = { .sample_type = TIME };
	struct hwprof_profile *loops;
	struct stacks stacks;
	unsigned int i;

	begin(&stacks, &style);
	for (i = 0; i < SAMPLES; i++)
		stacks_sample(&stacks, 10 + i, PID, stack, 12);
	loops = end(&stacks, HWPROF_KIND_LOOPS);
	assert_int_equal(hwprof_profile_totals(loops)->gaps, SAMPLES);
	expect_turns(loops, SAMPLES, NULL);
}

/* An empty record counts once, even if both sides are recorded. */
static void test_dead(void **state)
{
	struct perf_branch_entry stack[TURNS + 3];
	int kernel;

	memcpy(stack + 1, turns, sizeof(turns));
	memset(stack, 0, sizeof(stack[0]));
	memset(stack + TURNS + 1, 0, 2 * sizeof(stack[0]));
	stack[TURNS + 2] = turns[0];
	stack[TURNS + 2].abort = 1;
	for (kernel = 0; kernel <= 1; kernel++) {
		const struct stacks_style style = { .sample_type = TIME,
						    .kernel = kernel };
		struct stacks stacks;
		unsigned int i;

		begin(&stacks, &style);
		for (i = 0; i < SAMPLES; i++)
			stacks_sample(&stacks, 10 + i, PID, stack, TURNS + 3);
		expect_turns(end(&stacks, HWPROF_KIND_LOOPS), SAMPLES,
			     "300 of 1000 branches were aborted");
	}
}

/* --- kinds of branches ---------------------------------------------------- */

enum { STRIDE = 0x9000, PLACES = 20 };

/* Makes far jumps, whose kinds neither code nor stacks tell. */
static void make_far(struct stacks *stacks, bool kernel)
{
	const struct stacks_style style = { .sample_type = TIME,
					    .kernel = kernel };
	uint64_t base = kernel ? 0xffffffff81000000 : LOOP;
	struct perf_branch_entry stack[PLACES] = { 0 };
	unsigned int i;

	for (i = 0; i < PLACES; i++) {
		stack[i].from = base + (PLACES - i) * STRIDE + 8;
		stack[i].to = base + (PLACES - i + 1) % PLACES * STRIDE;
	}
	begin(stacks, &style);
	stacks->ip = stack[0].to;
	for (i = 0; i < SAMPLES; i++)
		stacks_sample(stacks, 10 + i, PID, stack, PLACES);
}

/* Ranges of targets need no kinds, and count all branches. */
static void test_kindless(void **state)
{
	struct hwprof_profile *profile;
	struct stacks stacks;
	int kernel;

	for (kernel = 0; kernel <= 1; kernel++) {
		make_far(&stacks, kernel);
		profile = end(&stacks, HWPROF_KIND_RANGES);
		assert_int_equal(hwprof_profile_totals(profile)->delivered,
				 SAMPLES * (PLACES - 1));
		assert_null(hwprof_profile_warning(profile, 0));
		hwprof_profile_free(profile);
		/* Calls need kinds, and a warning counts the rest. */
		make_far(&stacks, kernel);
		profile = end(&stacks, HWPROF_KIND_CALLS);
		assert_int_equal(hwprof_profile_totals(profile)->delivered, 0);
		assert_non_null(found_warning(
			profile, "2000 of 2000 branches are of unknown kinds"));
		hwprof_profile_free(profile);
	}
}

/*
 * Returns a stack of a loop of two iterations in a function, which a loop
 * calls, with kinds if @types. It begins at @phase.
 */
static struct perf_branch_entry called_twice(unsigned int phase, bool types)
{
	static const struct perf_branch_entry round[] = {
		{ .from = 0x401105, .to = 0x401000, .type = PERF_BR_CALL },
		{ .from = 0x401010, .to = 0x401004, .type = PERF_BR_COND },
		{ .from = 0x401010, .to = 0x401004, .type = PERF_BR_COND },
		{ .from = 0x401014, .to = 0x40110a, .type = PERF_BR_RET },
		{ .from = 0x401110, .to = 0x401100, .type = PERF_BR_UNCOND },
	};
	struct perf_branch_entry entry = round[phase % 5];

	entry.type = types ? entry.type : 0;
	return entry;
}

enum { DEPTH = 32 };

/*
 * Replays stacks from all phases. One in @rate, from the @first on, lacks a
 * record.
 */
static struct hwprof_profile *replay_rounds(enum hwprof_kind kind, bool types,
					    unsigned int first,
					    unsigned int rate)
{
	const struct stacks_style style = { .sample_type = TIME };
	struct perf_branch_entry stack[DEPTH];
	struct stacks stacks;
	unsigned int i, k;

	begin(&stacks, &style);
	for (i = 0; i < 2000; i++) {
		unsigned int phase = i * 7, lost = DEPTH;

		if (rate && i % rate == first)
			lost = 1 + i / rate * 5 % (DEPTH - 2);
		for (k = DEPTH; k--; phase++) {
			phase += k == lost;
			stack[k] = called_twice(phase, types);
		}
		stacks_sample(&stacks, 10 + i, PID, stack, DEPTH);
	}
	return end(&stacks, kind);
}

static void expect_calls(unsigned int first, unsigned int rate)
{
	struct hwprof_profile *exact = replay_rounds(HWPROF_KIND_CALLS, true, 0,
						     0);
	struct hwprof_profile *calls = replay_rounds(HWPROF_KIND_CALLS, false,
						     first, rate);
	uint64_t truth = hwprof_profile_totals(exact)->delivered;
	uint64_t found = hwprof_profile_totals(calls)->delivered;
	const struct hwprof_called *called =
		&hwprof_calls_pair(calls, 0)->called;

	assert_int_equal(hwprof_calls_pair_count(calls), 1);
	assert_in_range(found, truth - truth / 50, truth + truth / 50);
	/* It is less certain than recorded kinds. */
	assert_true(called->share_low <
		    0.95 * hwprof_calls_pair(exact, 0)->called.share_low);
	hwprof_profile_free(exact);
	hwprof_profile_free(calls);
}

/* A single contradicting stack decides nothing, whenever it comes. */
static void test_votes(void **state)
{
	struct hwprof_profile *loops;
	unsigned int first;

	for (first = 0; first < 64; first += 9)
		expect_calls(first, 2000);
	expect_calls(0, 100);
	expect_calls(3, 50);
	loops = replay_rounds(HWPROF_KIND_LOOPS, false, 0, 100);
	assert_int_equal(hwprof_loops_count(loops), 2);
	assert_in_range(1000 * found_loop(loops, 0x1004)->trip, 2970, 3030);
	assert_true(found_loop(loops, 0x1004)->trip_low < 2.9);
	assert_true(found_loop(loops, 0x1004)->trip_high > 3.1);
	assert_int_equal(found_loop(loops, 0x1100)->entries_seen, 0);
	hwprof_profile_free(loops);
}

/* --- the newest branch twice ---------------------------------------------- */

#define SKYLAKE_SP	"GenuineIntel,6,85,4"
#define ICE_LAKE	"GenuineIntel,6,106,6"
#define ZEN_3		"AuthenticAMD,25,1,1"

/* Adds a string of perf: its size with padding, and zeros behind it. */
static void add_cpu(struct stacks *stacks, const char *cpu)
{
	struct {
		uint32_t size;
		char text[60];
	} section = { .size = sizeof(section.text) };

	if (!cpu)
		return;
	strcpy(section.text, cpu);
	stacks_section(stacks, PERFDATA_CPUID, &section, sizeof(section));
}

/*
 * Returns a stack of a loop that calls a function, which takes a branch back
 * once.
 */
static struct perf_branch_entry called_once(unsigned int phase)
{
	static const struct perf_branch_entry round[] = {
		{ .from = 0x401105, .to = 0x401000, .type = PERF_BR_CALL },
		{ .from = 0x401010, .to = 0x401004, .type = PERF_BR_COND },
		{ .from = 0x401014, .to = 0x40110a, .type = PERF_BR_RET },
		{ .from = 0x401110, .to = 0x401100, .type = PERF_BR_UNCOND },
	};

	return round[phase % 4];
}

struct copied {
	const char *cpu;	/* NULL: the file does not tell */
	unsigned int rate;	/* one stack in that many has a copy; 0: none */
	bool types;
};

/* Adds the same branches with or without copies. */
static void add_rounds(struct stacks *stacks, const struct copied *copied)
{
	struct perf_branch_entry stack[DEPTH];
	unsigned int i, k;

	for (i = 0; i < 2000; i++) {
		bool twice = copied->rate && i / 4 % copied->rate == 0;

		for (k = 1; k < DEPTH; k++) {
			stack[k] = called_once(7 * i + DEPTH - k);
			if (!copied->types)
				stack[k].type = 0;
		}
		stack[0] = stack[1];
		stack[0].cycles = 7;
		stacks_sample(stacks, 10 + i, PID, stack + !twice,
			      DEPTH - !twice);
	}
}

static struct hwprof_profile *replay_copied(enum hwprof_kind kind,
					    const struct copied *copied)
{
	const struct stacks_style style = { .sample_type = TIME };
	struct stacks stacks;

	begin(&stacks, &style);
	add_rounds(&stacks, copied);
	add_cpu(&stacks, copied->cpu);
	return end(&stacks, kind);
}

static void expect_same_loops(const struct hwprof_profile *a,
			      const struct hwprof_profile *b)
{
	size_t i;

	assert_int_equal(hwprof_loops_count(a), hwprof_loops_count(b));
	for (i = 0; i < hwprof_loops_count(a); i++) {
		const struct hwprof_loop *loop = hwprof_loops_get(a, i);
		const struct hwprof_loop *other = found_loop(b, loop->head);

		assert_non_null(other);
		assert_int_equal(loop->back_edges_seen, other->back_edges_seen);
		assert_int_equal(loop->entries_seen, other->entries_seen);
	}
}

static void expect_dropped(const struct copied *copied, const char *words)
{
	static const enum hwprof_kind kinds[] = {
		HWPROF_KIND_LOOPS, HWPROF_KIND_CALLS, HWPROF_KIND_PATHS,
		HWPROF_KIND_RANGES,
	};
	const struct copied none = { .types = copied->types };
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct hwprof_profile *a = replay_copied(kinds[i], copied);
		struct hwprof_profile *b = replay_copied(kinds[i], &none);
		const struct hwprof_totals *found = hwprof_profile_totals(a);
		const struct hwprof_totals *truth = hwprof_profile_totals(b);

		assert_int_equal(found->delivered, truth->delivered);
		assert_int_equal(found->gaps, truth->gaps);
		if (kinds[i] == HWPROF_KIND_LOOPS)
			expect_same_loops(a, b);
		assert_non_null(found_warning(a, words));
		assert_null(found_warning(a, "count as gaps"));
		assert_null(found_warning(b, "recorded twice"));
		hwprof_profile_free(a);
		hwprof_profile_free(b);
	}
}

/* Copies are ignored, even if only the recording shows that there are any. */
static void test_copied(void **state)
{
	const char *half = "1000 of 63000 branches are left out";
	const char *few = "80 of 62080 branches are left out";

	expect_dropped(&(struct copied){ NULL, 2, true }, half);
	expect_dropped(&(struct copied){ NULL, 2, false }, half);
	expect_dropped(&(struct copied){ SKYLAKE_SP, 2, true }, half);
	expect_dropped(&(struct copied){ SKYLAKE_SP, 25, true }, few);
}

/* Other CPUs make no copies: such records are reported as broken. */
static void test_not_copied(void **state)
{
	static const char *const cpus[] = { ICE_LAKE, ZEN_3 };
	size_t i;

	for (i = 0; i < 2; i++) {
		const struct copied copied = { cpus[i], 2, true };
		struct hwprof_profile *loops =
			replay_copied(HWPROF_KIND_LOOPS, &copied);

		assert_null(found_warning(loops, "recorded twice"));
		assert_non_null(found_warning(loops, "cannot have been"));
		hwprof_profile_free(loops);
	}
}

/* A loop of one branch has equal records on any CPU. */
static void test_loop_of_one(void **state)
{
	static const char *const cpus[] = { NULL, SKYLAKE_SP, ICE_LAKE };
	const struct stacks_style style = { .sample_type = TIME };
	struct stacks stacks;
	size_t i;

	for (i = 0; i < 3; i++) {
		begin(&stacks, &style);
		add_turns(&stacks, SAMPLES);
		add_cpu(&stacks, cpus[i]);
		expect_turns(end(&stacks, HWPROF_KIND_LOOPS), SAMPLES, NULL);
	}
}

/*
 * Such a loop is not taken for a copy beside real copies: other stacks show
 * that the branch follows itself.
 */
static void test_loop_beside_copies(void **state)
{
	static const struct perf_branch_entry stack[] = {
		COND(0x401820, 0x401810), COND(0x401820, 0x401810),
		COND(0x401802, 0x401808), COND(0x400ff0, 0x401800),
	}, later[] = {
		COND(0x401824, 0x401a00),
		COND(0x401820, 0x401810), COND(0x401820, 0x401810),
		COND(0x401802, 0x401808), COND(0x400ff0, 0x401800),
	};
	const struct copied copied = { SKYLAKE_SP, 2, true };
	const struct stacks_style style = { .sample_type = TIME };
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct stacks stacks;
	unsigned int i;

	begin(&stacks, &style);
	add_rounds(&stacks, &copied);
	for (i = 0; i < SAMPLES; i++) {
		stacks_sample(&stacks, 3000 + i, PID, later, 5);
		stacks_sample(&stacks, 3000 + i, PID, stack, 4);
	}
	add_cpu(&stacks, copied.cpu);
	loops = end(&stacks, HWPROF_KIND_LOOPS);
	loop = found_loop(loops, 0x1810);
	assert_non_null(loop);
	assert_int_equal(loop->back_edges_seen, 4 * SAMPLES);
	assert_int_equal(loop->entries_seen, 2 * SAMPLES);
	assert_non_null(found_warning(loops, "1000 of "));
	hwprof_profile_free(loops);
}

/* --- impossible lines --------------------------------------------------- */

enum { BODY = 0x40, AT = 0x44, BACK = 0x50 };	/* of the loop, in the code */

static char object[64];

/* Begins a recording of a program with this code. */
static void begin_program(struct stacks *stacks, const uint8_t *code,
			  size_t size)
{
	const struct stacks_style style = { .sample_type = TIME };

	strcpy(object, "/tmp/hwprof-test-XXXXXX");
	close(mkstemp(object));
	stacks_object(object, code, size);
	strcpy(path, "/tmp/hwprof-test-XXXXXX");
	close(mkstemp(path));
	stacks_begin(stacks, path, &style);
	stacks_comm(stacks, 1, PID, "prog", true);
	stacks_map(stacks, 2, PID, 0x401000, size, STACKS_CODE, object);
}

/* Begins a recording with the code of a loop that contains @insn. */
static void begin_code(struct stacks *stacks, const uint8_t *insn,
		       unsigned int size, unsigned int at)
{
	uint8_t code[0x100];

	memset(code, 0x90, sizeof(code));
	memcpy(code + at, insn, size);
	code[BACK] = 0x75;		/* jne BODY */
	code[BACK + 1] = BODY - BACK - 2;
	begin_program(stacks, code, sizeof(code));
}

static struct hwprof_profile *end_code(struct stacks *stacks)
{
	struct hwprof_profile *loops;
	struct hwprof_file *file;

	stacks_end(stacks);
	assert_int_equal(hwprof_file_open(&file, path), 0);
	assert_int_equal(hwprof_profile_replay(&loops, HWPROF_KIND_LOOPS, file,
					       NULL, NULL), 0);
	hwprof_file_close(file);
	unlink(path);
	unlink(object);
	return loops;
}

#define ROUND	COND(0x401000 + BACK, 0x401000 + BODY)

static struct hwprof_profile *go_round(const uint8_t *insn, unsigned int size,
				       unsigned int at)
{
	static const struct perf_branch_entry stack[] = {
		ROUND, ROUND, ROUND, ROUND,
		COND(0x401002, 0x401000 + BODY), COND(0x400ff0, 0x401000),
	};
	struct stacks stacks;
	unsigned int i;

	begin_code(&stacks, insn, size, at);
	for (i = 0; i < SAMPLES; i++)
		stacks_sample(&stacks, 10 + i, PID, stack, 6);
	return end_code(&stacks);
}

static void expect_line(bool there, unsigned int at, const char *insn,
			unsigned int size)
{
	struct hwprof_profile *loops = go_round((const uint8_t *)insn, size,
						at);
	const struct hwprof_loop *loop = found_loop(loops, 0x1000 + BODY);

	if (there) {
		assert_non_null(loop);
		assert_int_equal(loop->back_edges_seen, 4 * SAMPLES);
		assert_null(hwprof_profile_warning(loops, 0));
	} else {
		assert_null(loop);
		/* The newest of the four looks like a copy. */
		assert_non_null(found_warning(
			loops, "300 of 600 branches do not follow"));
		assert_null(found_warning(loops, "cannot have been"));
	}
	hwprof_profile_free(loops);
}

#define LINE(there, at, insn)	expect_line(there, at, insn, sizeof(insn) - 1)

static void test_lines(void **state)
{
	LINE(true, AT, "\x90");
	LINE(true, AT, "\x75\x02");			/* jne */
	LINE(true, AT, "\x0f\x05");			/* syscall */
	LINE(true, AT, "\xe8\x00\x00\x00\x00");	/* call behind it */
	LINE(true, BACK + 2, "\xc3");
	LINE(true, BODY - 1, "\xc3");
	LINE(false, AT, "\xc3");			/* ret */
	LINE(false, AT, "\xeb\x02");			/* jmp */
	LINE(false, AT, "\xff\xe0");			/* jmp *%rax */
	LINE(false, AT, "\xff\xd0");			/* call *%rax */
	LINE(false, AT, "\xe8\x10\x00\x00\x00");
	LINE(false, AT, "\x0f\x0b");			/* ud2 */
	LINE(false, BACK - 6, "\x48\xb8");		/* movabs, 10 bytes */
	/* An unknown instruction is not held against the line. */
	LINE(true, AT, "\x06");
}

/*
 * Control would run over @far bytes of code and a loop in them, with a return
 * at @at.
 */
static struct hwprof_profile *run_far(unsigned int far, unsigned int at)
{
	const struct perf_branch_entry stack[] = {
		COND(0x401000 + far, 0x401000), COND(0x400ff0, 0x401000),
	}, round[] = {
		ROUND, ROUND, COND(0x401002, 0x401000 + BODY),
		COND(0x400ff0, 0x401000),
	};
	static uint8_t code[0x20000];
	struct stacks stacks;
	unsigned int i;

	memset(code, 0x90, sizeof(code));
	code[at] = 0xc3;
	begin_program(&stacks, code, sizeof(code));
	for (i = 0; i < SAMPLES; i++)
		stacks_sample(&stacks, 10 + i, PID, stack, 2);
	for (i = 0; i < SAMPLES; i++)
		stacks_sample(&stacks, 10 + SAMPLES + i, PID, round, 4);
	return end_code(&stacks);
}

/* The first 8 KiB of a long line are looked at. */
static void test_long_lines(void **state)
{
	static const unsigned int far[] = { 0x1000, 0x2001, 0x8000, 0x18000 };
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	unsigned int i;

	for (i = 0; i < sizeof(far) / sizeof(*far); i++) {
		loops = run_far(far[i], 0x800);
		loop = found_loop(loops, 0x1000 + BODY);
		assert_non_null(found_warning(loops, "do not follow"));
		assert_non_null(loop);
		assert_int_equal(loop->entries_seen, SAMPLES);
		hwprof_profile_free(loops);
		loops = run_far(far[i], 0x1fff0);
		loop = found_loop(loops, 0x1000 + BODY);
		assert_null(found_warning(loops, "do not follow"));
		assert_non_null(loop);
		assert_int_equal(loop->entries_seen, 2 * SAMPLES);
		hwprof_profile_free(loops);
	}
}

/* A branch back that cannot follow itself in the code is a copy. */
static void test_copied_by_code(void **state)
{
	static const struct perf_branch_entry stack[] = {
		ROUND, ROUND, COND(0x401002, 0x401000 + AT + 1),
		COND(0x400ff0, 0x401000),
	};
	const struct hwprof_loop *loop;
	struct hwprof_profile *loops;
	struct stacks stacks;
	unsigned int i;

	begin_code(&stacks, (const uint8_t *)"\xc3", 1, AT);
	for (i = 0; i < SAMPLES; i++)
		stacks_sample(&stacks, 10 + i, PID, stack, 4);
	loops = end_code(&stacks);
	loop = found_loop(loops, 0x1000 + BODY);
	assert_non_null(loop);
	assert_int_equal(loop->back_edges_seen, SAMPLES);
	assert_non_null(found_warning(loops,
				      "100 of 400 branches are left out"));
	assert_null(hwprof_profile_warning(loops, 1));
	hwprof_profile_free(loops);
}

/* --- guests --------------------------------------------------------------- */

static void expect_in(const struct hwprof_profile *loops, const char *object,
		      uint64_t samples)
{
	const struct hwprof_loop *loop = NULL;
	size_t i;

	for (i = 0; i < hwprof_loops_count(loops); i++)
		if (!strcmp(hwprof_loops_get(loops, i)->object, object))
			loop = hwprof_loops_get(loops, i);
	assert_non_null(loop);
	assert_int_equal(loop->entries_seen, samples);
	assert_int_equal(loop->back_edges_seen, ITERATIONS * samples);
}

/* In a guest, the same addresses are other code, and so is the kernel. */
static void test_guests(void **state)
{
	const struct stacks_style style = { .sample_type = TIME,
					    .kernel = true };
	struct perf_branch_entry kernel[TURNS];
	struct hwprof_profile *loops;
	struct stacks stacks;
	unsigned int i;

	for (i = 0; i < TURNS; i++) {
		kernel[i] = turns[i];
		kernel[i].from |= 0xffffffff80000000;
		kernel[i].to |= 0xffffffff80000000;
	}
	begin(&stacks, &style);
	add_turns(&stacks, 10);
	stacks.misc = PERF_RECORD_MISC_GUEST_USER;
	add_turns(&stacks, 20);
	stacks.misc = PERF_RECORD_MISC_GUEST_KERNEL;
	for (i = 0; i < 30; i++)
		stacks_sample(&stacks, 10, PID, kernel, TURNS);
	stacks.misc = PERF_RECORD_MISC_KERNEL;
	for (i = 0; i < 40; i++)
		stacks_sample(&stacks, 10, PID, kernel, TURNS);
	loops = end(&stacks, HWPROF_KIND_LOOPS);
	assert_int_equal(hwprof_loops_count(loops), 4);
	expect_in(loops, "[kernel]", 40);
	expect_in(loops, "[guest kernel]", 30);
	expect_in(loops, "[guest]", 20);
	expect_in(loops, "/no/prog", 10);
	assert_non_null(
		found_warning(loops, "50 samples are of virtual machines"));
	hwprof_profile_free(loops);
}

/* Anonymous memory over a file's code is a copy of that code. */
static void test_remapped(void **state)
{
	static const char *const names[] = {
		"//anon", "/anon_hugepage (deleted)",
	};
	const struct stacks_style style = { .sample_type = TIME };
	struct hwprof_profile *loops;
	struct stacks stacks;
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		begin(&stacks, &style);
		stacks_map(&stacks, 3, PID, 0x400000, 0x200000, 0, names[i]);
		add_turns(&stacks, SAMPLES);
		loops = end(&stacks, HWPROF_KIND_LOOPS);
		assert_string_equal(found_loop(loops, 0x1010)->object,
				    "/no/prog");
		expect_turns(loops, SAMPLES, NULL);
	}
	/* Elsewhere it is not. */
	begin(&stacks, &style);
	stacks_map(&stacks, 3, PID, 0x400000, 0x1000, 0, names[0]);
	stacks_map(&stacks, 3, PID, 0x401000, 0x1000, 0x5000, "/no/other");
	add_turns(&stacks, SAMPLES);
	loops = end(&stacks, HWPROF_KIND_LOOPS);
	assert_string_equal(hwprof_loops_get(loops, 0)->object, "/no/other");
	hwprof_profile_free(loops);
}

/* Events that count branches choose them fairly, not by time. */
static void test_branch_events(void **state)
{
	static const struct { uint32_t type; uint64_t config;
	} events[] = {
		{PERF_TYPE_RAW, 0x20c4},
		{10, 0x20c4},
		{PERF_TYPE_RAW, 0xc4},
		{8, 0x21},
		{PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS},
	};
	struct hwprof_profile *loops;
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		make_plain(&(struct stacks_style){
				.sample_type = TIME, .type = events[i].type,
				.config = events[i].config,
			   });
		loops = replay(HWPROF_KIND_LOOPS);
		assert_int_equal(hwprof_loops_get(loops, 0)->basis,
				 HWPROF_BASIS_BRANCHES);
		hwprof_profile_free(loops);
	}
}

/*
 * Makes samples that perf copied twice, because it reads the head of a ring
 * twice: the last ones of a round come again in the next, with others behind
 * them.
 */
static void make_reread(struct stacks *stacks, unsigned int again,
			unsigned int rounds, const struct stacks_style *style)
{
	uint64_t time = 10, from;
	unsigned int round;

	begin(stacks, style);
	for (round = 0; round < rounds; round++) {
		from = round ? time - again : time;
		for (time = from; time < 10 + (round + 1) * SAMPLES; time++)
			stacks_sample(stacks, time, PID, turns, TURNS);
		stacks_round(stacks);
	}
}

static void test_reread(void **state)
{
	const struct stacks_style styles[] = {
		{ .sample_type = TIME }, { .sample_type = TIME, .zstd = true },
		{ .sample_type = TIME, .pipe = true },
	};
	struct stacks stacks;
	size_t i;

	for (i = 0; i < sizeof(styles) / sizeof(styles[0]); i++) {
		make_reread(&stacks, 3, 2, &styles[i]);
		expect_turns(end(&stacks, HWPROF_KIND_LOOPS), 2 * SAMPLES,
			     "perf copied 3 records twice");
		make_reread(&stacks, SAMPLES, 4, &styles[i]);
		expect_turns(end(&stacks, HWPROF_KIND_LOOPS), 4 * SAMPLES,
			     "perf copied 300 records twice");
		make_reread(&stacks, 0, 3, &styles[i]);
		expect_turns(end(&stacks, HWPROF_KIND_LOOPS), 3 * SAMPLES,
			     NULL);
	}
}

/* Equal samples of one time, or without a time, are all counted. */
static void test_alike(void **state)
{
	struct stacks_style style = { .sample_type = TIME };
	struct stacks stacks;
	int i;

	begin(&stacks, &style);
	for (i = 0; i < 3 * SAMPLES; i++) {
		stacks_sample(&stacks, 10, PID, turns, TURNS);
		if (i % SAMPLES == SAMPLES - 1)
			stacks_round(&stacks);
	}
	expect_turns(end(&stacks, HWPROF_KIND_LOOPS), 3 * SAMPLES, NULL);
	style.sample_type = 0;
	begin(&stacks, &style);
	for (i = 0; i < SAMPLES; i++) {
		stacks_sample(&stacks, 10, PID, turns, TURNS);
		stacks_round(&stacks);
	}
	expect_turns(end(&stacks, HWPROF_KIND_LOOPS), SAMPLES, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_cut_between),
		cmocka_unit_test(test_cut_packed),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_sections),
		cmocka_unit_test(test_build_ids),
		cmocka_unit_test(test_folder),
		cmocka_unit_test(test_folder_cut),
		cmocka_unit_test(test_folder_of_others),
		cmocka_unit_test(test_synthesized),
		cmocka_unit_test(test_selected),
		cmocka_unit_test(test_traced),
		cmocka_unit_test(test_not_taken),
		cmocka_unit_test(test_brbe),
		cmocka_unit_test(test_dead),
		cmocka_unit_test(test_kindless),
		cmocka_unit_test(test_votes),
		cmocka_unit_test(test_copied),
		cmocka_unit_test(test_not_copied),
		cmocka_unit_test(test_loop_of_one),
		cmocka_unit_test(test_loop_beside_copies),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_long_lines),
		cmocka_unit_test(test_copied_by_code),
		cmocka_unit_test(test_guests),
		cmocka_unit_test(test_remapped),
		cmocka_unit_test(test_branch_events),
		cmocka_unit_test(test_reread),
		cmocka_unit_test(test_alike),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
