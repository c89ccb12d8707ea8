// SPDX-License-Identifier: GPL-2.0-only
/* Lines of /proc/PID/maps, with names that a hostile user has chosen. */
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check.h"
#include "live/map_line.h"

enum { PAGE = 4096, DEPTH = 20 };

static bool parse(struct map_line *line, const char *text)
{
	static char copy[512];

	snprintf(copy, sizeof(copy), "%s", text);
	return map_line_parse(line, copy);
}

static void test_fields(void **state)
{
	struct map_line line;

	assert_true(parse(&line, "7f00-8f00 r-xs 001000 fd:1a 42   /a b (deleted)\n"));
	assert_int_equal(line.start, 0x7f00);
	assert_int_equal(line.end, 0x8f00);
	assert_int_equal(line.offset, 0x1000);
	assert_int_equal(line.major, 0xfd);
	assert_int_equal(line.minor, 0x1a);
	assert_int_equal(line.inode, 42);
	assert_string_equal(line.bits, "r-xs");
	assert_string_equal(line.name, "/a b (deleted)");
	assert_true(parse(&line, "0-1000 rw-p 0 0:0 0\n"));
	assert_string_equal(line.name, "");
}

static void test_other_forms(void **state)
{
	static const char *const texts[] = {
		"", "\n", "x", "0-1000", "0-1000 r-xp", "0-1000 r-xp 0 0:0",
		"1000-0 r-xp 0 0:0 0 /a", "0-1000 r 0 0:0 0 /a",
		"0-1000 r-xpp 0 0:0 0 /a", "/a 0-1000 r-xp 0 0:0 0",
	};
	struct map_line line;
	size_t i;

	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (parse(&line, texts[i]))
			fail_msg("'%s' was accepted", texts[i]);
}

/* --- names that this kernel writes ---------------------------------------- */

/* Maps a page of what is open, and closes it. */
static void *map_open(int fd)
{
	void *page;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	close(fd);
	return page;
}

static void *map_file(const char *name)
{
	return map_open(open(name, O_RDWR | O_CREAT | O_EXCL, 0600));
}

/*
 * Finds the name of a page in our own maps. All lines must be of the known
 * form, and each address in one at most.
 */
static char *name_of(const void *page)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char *text = NULL, *name = NULL;
	struct map_line line;
	uint64_t last = 0;
	size_t room = 0;

	assert_non_null(maps);
	while (getline(&text, &room, maps) > 0) {
		assert_true(map_line_parse(&line, text));
		assert_true(line.start >= last);
		last = line.end;
		if (line.start == (uintptr_t)page)
			name = strdup(line.name);
	}
	free(text);
	fclose(maps);
	assert_non_null(name);
	return name;
}

/* The page's name ends with @end, and begins with '/'. */
static void expect(void *page, const char *end)
{
	char *name = name_of(page);
	size_t length = strlen(name), size = strlen(end);

	if (*name != '/' || length < size ||
	    strcmp(name + length - size, end))
		fail_msg("'%s' instead of '...%s'", name, end);
	free(name);
	munmap(page, PAGE);
}

static char folder[] = "/tmp/hwprof-test-XXXXXX";

static int enter(void **state)
{
	return !mkdtemp(folder) || chdir(folder);
}

/* A name that looks like another line. */
static void test_newline(void **state)
{
	void *page = map_file("a\n1000-2000 r-xp 0 0:0 7 bin");

	expect(page, "/a\\0121000-2000 r-xp 0 0:0 7 bin");
}

static void test_deleted(void **state)
{
	void *page;

	expect(map_file("b (deleted)"), "/b (deleted)");
	page = map_file("c");
	unlink("c");
	expect(page, "/c (deleted)");
	expect(map_file(" d  "), "/ d  ");
	expect(map_file("[vdso]"), "/[vdso]");
}

static void test_no_files(void **state)
{
	void *page = map_open(syscall(SYS_memfd_create, "/../bin/x\ny", 0));

	expect(page, "/memfd:/../bin/x\\012y (deleted)");
#ifdef PR_SET_VMA
	page = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!prctl(PR_SET_VMA, PR_SET_VMA_ANON_NAME, page, PAGE, "/bin/x")) {
		char *name = name_of(page);

		assert_string_equal(name, "[anon:/bin/x]");
		free(name);
	}
	munmap(page, PAGE);
#endif
}

/* Folders may be deeper than a path can be long. */
static void test_long(void **state)
{
	char name[NAME_MAX + 1], *found;
	void *page;
	int i;

	memset(name, 'x', NAME_MAX);
	name[NAME_MAX] = 0;
	for (i = 0; i < DEPTH; i++) {
		assert_int_equal(mkdir(name, 0700), 0);
		assert_int_equal(chdir(name), 0);
	}
	page = map_file(" 1000-2000 r-xp 0 0:0 7 end");
	found = name_of(page);
	assert_true(strlen(found) > PATH_MAX);
	free(found);
	expect(page, "x/ 1000-2000 r-xp 0 0:0 7 end");
	assert_int_equal(chdir(folder), 0);
}

static int leave(void **state)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return chdir("/") || system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_other_forms),
		cmocka_unit_test(test_newline),
		cmocka_unit_test(test_deleted),
		cmocka_unit_test(test_no_files),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
