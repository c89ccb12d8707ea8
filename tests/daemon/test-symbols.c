// SPDX-License-Identifier: GPL-2.0-only
/* Files that are kept by build id: which, how many, and for how long. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "code/objects.h"
#include "fixture.h"
#include "symbols.h"

static char folder[64];
static struct config config;

static time_t skew;		/* how much time has passed besides */

/* The clock of what is tested. */
time_t time(time_t *result)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	now.tv_sec += skew;
	if (result)
		*result = now.tv_sec;
	return now.tv_sec;
}

static int make(void **state)
{
	skew = 0;
	config_default(&config);
	config.symbols_mib = 1;
	strcpy(folder, "/tmp/hwprof-test-XXXXXX");
	return !mkdtemp(folder);
}

static int clean(void **state)
{
	char output[64];

	return fixture_shell(output, sizeof(output), "rm -rf %s", folder);
}

/* Notes a program with this id, and waits until it was looked at. */
static void note(struct symbols *symbols, const char *path, const char *id)
{
	struct part_head head = { .kind = HWPROF_KIND_LOOPS, .size = 1 };
	struct parts parts = { .count = 0 };

	strcpy(head.object, path);
	strcpy(head.build_id, id);
	assert_int_equal(parts_add(&parts, &head, malloc(1)), 0);
	symbols_note(symbols, &parts);
	parts_free(&parts);
	while (symbols_run(symbols))
		usleep(1000);
}

static uint64_t size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) ? 0 : status.st_size;
}

/* Notes a program under its own id. Returns false if there is none here. */
static bool note_program(struct symbols *symbols, const char *path,
			 char text[BUILD_ID_TEXT])
{
	struct build_id id;

	if (!object_read_build_id(path, &id))
		return false;
	build_id_print(&id, text);
	note(symbols, path, text);
	return true;
}

/* Returns true if a whole file is there for this id. */
static bool is_kept(const char *path, const char *id)
{
	char command[512], output[64];

	snprintf(command, sizeof(command),
		 "cmp %s %s/symbols/.build-id/%.2s/%s.debug", path, folder, id,
		 id + 2);
	return !fixture_shell(output, sizeof(output), "%s 2>&1", command);
}

static void test_kept(void **state)
{
	struct symbols *symbols = symbols_new(folder, &config);
	struct symbols_counts counts;
	char id[BUILD_ID_TEXT];

	assert_true(note_program(symbols, "/bin/cat", id));
	symbols_count(symbols, &counts);
	assert_int_equal(counts.builds, 1);
	assert_int_equal(counts.bytes, size_of("/bin/cat"));
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
	/* The next one finds it, and does not copy it again. */
	symbols = symbols_new(folder, &config);
	symbols_count(symbols, &counts);
	assert_int_equal(counts.builds, 1);
	assert_int_equal(counts.bytes, size_of("/bin/cat"));
	note(symbols, "/bin/ls", id);
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
}

static void test_others(void **state)
{
	static const char wrong[] = "0123456789012345678901234567890123456789";
	struct symbols *symbols = symbols_new(folder, &config);
	struct symbols_counts counts;

	note(symbols, "/bin/cat", wrong);
	note(symbols, "/etc/passwd", "aa00000000000000");
	note(symbols, "/dev/zero", "bb00000000000000");
	note(symbols, "/no/such/file", "cc00000000000000");
	note(symbols, "[vdso]", "dd00000000000000");
	note(symbols, "/bin/cat", "");
	symbols_count(symbols, &counts);
	assert_int_equal(counts.builds, 0);
	assert_int_equal(counts.failures, 0);
	symbols_free(symbols);
}

static void test_bound(void **state)
{
	static const char *const programs[] = {
		"/bin/ls", "/bin/cp", "/bin/mv", "/bin/tar", "/bin/grep",
		"/usr/bin/find", "/bin/sort", "/bin/cat",
	};
	struct symbols *symbols = symbols_new(folder, &config);
	struct symbols_counts counts;
	char id[BUILD_ID_TEXT] = "";
	uint64_t all = 0;
	size_t i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		if (!note_program(symbols, programs[i], id))
			continue;
		all += size_of(programs[i]);
		symbols_count(symbols, &counts);
		assert_true(counts.bytes <= 1 << 20);
		assert_true(is_kept(programs[i], id));
	}
	assert_true(all > 1 << 20);
	assert_true(counts.evicted > 0);
	symbols_free(symbols);
	symbols = symbols_new(folder, &config);
	all = counts.bytes;
	symbols_count(symbols, &counts);
	assert_int_equal(counts.bytes, all);
	symbols_free(symbols);
}

/* A file that can never have room is no reason to give others up. */
static void test_large(void **state)
{
	struct symbols *symbols = symbols_new(folder, &config);
	char id[BUILD_ID_TEXT], other[BUILD_ID_TEXT], large[96], output[64];
	struct symbols_counts counts;

	assert_true(note_program(symbols, "/bin/cat", id));
	snprintf(large, sizeof(large), "%s/large", folder);
	assert_int_equal(fixture_shell(output, sizeof(output),
				       "cp /bin/ls %s", large), 0);
	assert_int_equal(truncate(large, 2 << 20), 0);
	assert_true(note_program(symbols, large, other));
	symbols_count(symbols, &counts);
	assert_int_equal(counts.builds, 1);
	assert_int_equal(counts.evicted, 0);
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
}

/* A file that could not be written is written later. */
static void test_again(void **state)
{
	struct symbols *symbols = symbols_new(folder, &config);
	char id[BUILD_ID_TEXT], output[64];
	struct symbols_counts counts;

	/* A file is where the folder is to be. */
	assert_int_equal(fixture_shell(output, sizeof(output),
				       "touch %s/symbols", folder), 0);
	assert_true(note_program(symbols, "/bin/cat", id));
	symbols_count(symbols, &counts);
	assert_int_equal(counts.failures, 1);
	assert_int_equal(fixture_shell(output, sizeof(output),
				       "rm %s/symbols", folder), 0);
	/* Not at once. */
	note(symbols, "/bin/cat", id);
	symbols_count(symbols, &counts);
	assert_int_equal(counts.builds, 0);
	skew = 3600;
	note(symbols, "/bin/cat", id);
	symbols_count(symbols, &counts);
	assert_int_equal(counts.builds, 1);
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
}

/* Files that a crash has left empty, or under another name, go. */
static void test_cut(void **state)
{
	struct symbols_counts counts;
	struct symbols *symbols;
	char id[BUILD_ID_TEXT], output[64];
	struct build_id found;

	assert_true(object_read_build_id("/bin/cat", &found));
	build_id_print(&found, id);
	assert_int_equal(fixture_shell(output, sizeof(output),
				       "mkdir -p %s/symbols/.build-id/%.2s && cd %s/symbols/.build-id/%.2s && touch %s.debug && echo x > %s.debug.partial",
				       folder, id, folder, id, id + 2, id + 2),
			 0);
	symbols = symbols_new(folder, &config);
	assert_int_equal(fixture_shell(output, sizeof(output),
				       "find %s -type f | wc -l", folder), 0);
	assert_string_equal(output, "0\n");
	note(symbols, "/bin/cat", id);
	symbols_count(symbols, &counts);
	assert_int_equal(counts.builds, 1);
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
}

/* Makes a file with cat's build id, whose last byte is @last. */
static void forge(char path[96], const char *name, char last, uid_t owner)
{
	char output[64];
	FILE *file;

	snprintf(path, 96, "%s/%s", folder, name);
	assert_int_equal(fixture_shell(output, sizeof(output), "cp /bin/cat %s",
				       path), 0);
	file = fopen(path, "a");
	assert_non_null(file);
	fputc(last, file);
	fclose(file);
	assert_int_equal(chmod(path, 0755), 0);
	assert_int_equal(chown(path, owner, owner), 0);
}

/* Another user's file claims the build id of root's. */
static void test_forged(void **state)
{
	struct symbols *symbols = symbols_new(folder, &config);
	char id[BUILD_ID_TEXT], forged[96], open[96];

	if (geteuid())
		skip();
	forge(forged, "forged", 1, 1000);
	assert_true(note_program(symbols, forged, id));
	assert_true(is_kept(forged, id));
	/* Anybody could have written it, so it is not root's. */
	forge(open, "open", 2, 0);
	assert_int_equal(chmod(open, 0777), 0);
	note(symbols, "/bin/cat", id);
	assert_true(is_kept("/bin/cat", id));
	note(symbols, forged, id);
	note(symbols, open, id);
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
	/* The next one knows that it is root's. */
	symbols = symbols_new(folder, &config);
	note(symbols, forged, id);
	note(symbols, open, id);
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
}

/* Nobody knows which of two users is right. Root is. */
static void test_disputed(void **state)
{
	struct symbols *symbols = symbols_new(folder, &config);
	char id[BUILD_ID_TEXT], first[96], same[96], other[96];
	struct symbols_counts counts;

	if (geteuid())
		skip();
	forge(first, "first", 1, 1000);
	forge(same, "same", 1, 1001);
	forge(other, "other", 2, 1001);
	assert_true(note_program(symbols, first, id));
	note(symbols, same, id);
	assert_true(is_kept(first, id));
	note(symbols, other, id);
	assert_false(is_kept(first, id));
	assert_false(is_kept(other, id));
	note(symbols, first, id);
	assert_false(is_kept(first, id));
	symbols_count(symbols, &counts);
	assert_int_equal(counts.disputed, 1);
	assert_int_equal(counts.builds, 0);
	assert_int_equal(counts.bytes, 0);
	note(symbols, "/bin/cat", id);
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
}

/* A file that cannot be looked at may be the true one. */
static void test_unread(void **state)
{
	struct symbols *symbols = symbols_new(folder, &config);
	char id[BUILD_ID_TEXT], first[96], gone[128];
	struct symbols_counts counts;

	if (geteuid())
		skip();
	forge(first, "first", 1, 1000);
	snprintf(gone, sizeof(gone), "%s (deleted)", first);
	assert_true(note_program(symbols, first, id));
	note(symbols, gone, id);
	assert_true(is_kept(first, id));
	note(symbols, "/no/such/file", id);
	assert_false(is_kept(first, id));
	symbols_count(symbols, &counts);
	assert_int_equal(counts.disputed, 1);
	symbols_free(symbols);
	symbols = symbols_new(folder, &config);
	note(symbols, "/no/such/file", id);
	note(symbols, first, id);
	assert_false(is_kept(first, id));
	note(symbols, "/bin/cat", id);
	assert_true(is_kept("/bin/cat", id));
	symbols_free(symbols);
}

/* Whoever has many names for one file is not asked without end. */
static void test_many_names(void **state)
{
	struct symbols *symbols = symbols_new(folder, &config);
	char id[BUILD_ID_TEXT], path[96], name[16];
	struct symbols_counts counts;
	int i;

	if (geteuid())
		skip();
	for (i = 0; i < 17; i++) {
		snprintf(name, sizeof(name), "name%d", i);
		forge(path, name, 1, 1000);
		assert_true(note_program(symbols, path, id));
		symbols_count(symbols, &counts);
		assert_int_equal(counts.builds, i < 16);
	}
	assert_int_equal(counts.disputed, 1);
	symbols_free(symbols);
}

static void test_none(void **state)
{
	struct symbols *symbols;
	struct symbols_counts counts;
	char id[BUILD_ID_TEXT];

	config.symbols_mib = 0;
	symbols = symbols_new(folder, &config);
	assert_true(note_program(symbols, "/bin/cat", id));
	symbols_count(symbols, &counts);
	assert_int_equal(counts.builds, 0);
	symbols_free(symbols);
}

int main(void)
{
#define IN_FOLDER(test)	cmocka_unit_test_setup_teardown(test, make, clean)
	const struct CMUnitTest tests[] = {
		IN_FOLDER(test_kept),
		IN_FOLDER(test_others),
		IN_FOLDER(test_bound),
		IN_FOLDER(test_large),
		IN_FOLDER(test_again),
		IN_FOLDER(test_cut),
		IN_FOLDER(test_forged),
		IN_FOLDER(test_disputed),
		IN_FOLDER(test_unread),
		IN_FOLDER(test_many_names),
		IN_FOLDER(test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
