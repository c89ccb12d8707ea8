// SPDX-License-Identifier: GPL-2.0-only
/* Files that the collector has read: what comes back, and from hostile ones. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"
#include "code_reader.h"
#include "hostile.h"

static struct confined_reader confined;

static int start(void **state)
{
	code_reader_init(&confined);
	return 0;
}

static int read_fd(int fd, enum code_wanted wanted, struct code_facts *facts)
{
	return code_read(&confined.reader, fd, "test", wanted, facts);
}

static int open_self(void)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

/* The answer is the one that reading in this process gives. */
static void test_same(void **state)
{
	struct code_facts own, other;
	int fd = open_self();

	assert_int_equal(code_read(NULL, fd, "", CODE_ID, &own), 0);
	assert_int_equal(read_fd(fd, CODE_ID, &other), 0);
	assert_int_equal(other.id.size, own.id.size);
	assert_memory_equal(other.id.bytes, own.id.bytes, own.id.size);
	assert_int_equal(code_read(NULL, fd, "", CODE_TABLE, &own), 0);
	assert_int_equal(read_fd(fd, CODE_TABLE, &other), 0);
	assert_true(other.part_count == own.part_count);
	assert_memory_equal(other.parts, own.parts, sizeof(own.parts));
	assert_int_equal(other.table.base, own.table.base);
	assert_int_equal(other.table.count, own.table.count);
	if (own.table.count)
		assert_memory_equal(other.table.rows, own.table.rows,
				    own.table.count *
				    sizeof(own.table.rows[0]));
	code_facts_free(&own);
	code_facts_free(&other);
	close(fd);
	assert_int_equal(confined.counts.read, 2);
	assert_int_equal(confined.counts.failed, 0);
}

static void test_no_program(void **state)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct code_facts facts;

	assert_int_equal(read_fd(fd, CODE_ID, &facts), 0);
	assert_int_equal(facts.id.size, 0);
	assert_int_equal(read_fd(fd, CODE_TABLE, &facts), 0);
	assert_int_equal(facts.table.count, 0);
	close(fd);
}

static int make_hostile(enum hostile_file file)
{
	int fd = memfd_create("hostile", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(hostile_write(file, fd), 0);
	return fd;
}

/* Reads a hostile file both ways. Each counts once, whatever becomes of it. */
static void read_hostile(enum hostile_file file)
{
	const struct code_reader_counts before = confined.counts;
	int fd = make_hostile(file);
	struct code_facts facts;

	code_reader_begin(&confined);
	read_fd(fd, CODE_ID, &facts);
	code_facts_free(&facts);
	read_fd(fd, CODE_TABLE, &facts);
	code_facts_free(&facts);
	close(fd);
	assert_int_equal(confined.counts.read + confined.counts.failed,
			 before.read + before.failed + 2);
}

static void test_hostile(void **state)
{
	confined.seconds = 20;
	read_hostile(HOSTILE_cut);
	read_hostile(HOSTILE_sections);
	read_hostile(HOSTILE_segments);
	read_hostile(HOSTILE_note);
	read_hostile(HOSTILE_bomb);
	read_hostile(HOSTILE_frames);
	read_hostile(HOSTILE_slow);
	start(state);
	test_same(state);
}

/* The fate of the processes that read. */
static enum { THEY_READ, THEY_HANG, THEY_DIE } fate;

static void meet_fate(void)
{
	while (fate == THEY_HANG)
		pause();
	if (fate == THEY_DIE)
		raise(SIGKILL);
}

/* A file costs itself, and not the others. */
static void fail_once(void)
{
	struct code_facts facts;
	int fd = open_self();

	assert_int_equal(read_fd(fd, CODE_TABLE, &facts), -EIO);
	assert_int_equal(facts.table.count, 0);
	assert_int_equal(confined.counts.failed, 1);
	assert_true(confined.said);
	fate = THEY_READ;
	assert_int_equal(read_fd(fd, CODE_ID, &facts), 0);
	assert_int_equal(confined.counts.read, 1);
	close(fd);
}

static void test_hanging(void **state)
{
	confined.seconds = 1;
	fate = THEY_HANG;
	fail_once();
}

static void test_killed(void **state)
{
	fate = THEY_DIE;
	fail_once();
}

/* Without time, files are left for another window. */
static void test_late(void **state)
{
	struct code_facts facts;
	int fd = open_self();

	confined.spent_ns = UINT64_MAX;
	assert_int_equal(read_fd(fd, CODE_ID, &facts), -EAGAIN);
	assert_int_equal(confined.counts.late, 1);
	code_reader_begin(&confined);
	assert_int_equal(read_fd(fd, CODE_ID, &facts), 0);
	close(fd);
}

/* --- what a reader that was taken over could say -------------------------- */

/* As code_reader.c has it. */
struct said {
	struct {
		struct build_id id;
		uint64_t base;
		uint32_t part_count;
		uint32_t row_count;
	} head;
	struct code_part part;
	struct hwprof_unwind_row rows[2];
};

static struct said said_of(void)
{
	struct said said;

	memset(&said, 0, sizeof(said));
	said.head.id.size = 20;
	said.head.part_count = 1;
	said.head.row_count = 2;
	said.rows[0].kind = said.rows[1].kind = HWPROF_UNWIND_SP;
	said.rows[1].start = 16;
	return said;
}

static int take(const struct said *said, size_t size)
{
	int fd = memfd_create("said", MFD_CLOEXEC), error;
	struct code_facts facts;

	assert_int_equal(write(fd, said, size), size);
	error = code_reader_take(fd, &facts);
	if (error) {
		assert_int_equal(facts.part_count, 0);
		assert_int_equal(facts.id.size, 0);
		assert_null(facts.table.rows);
	}
	code_facts_free(&facts);
	close(fd);
	return error;
}

static void test_nonsense(void **state)
{
	struct said said = said_of();
	size_t size;

	assert_int_equal(take(&said, sizeof(said)), 0);
	for (size = 0; size < sizeof(said); size++)
		assert_int_equal(take(&said, size), -EBADMSG);
	said.head.id.size = BUILD_ID_MAX + 1;
	assert_int_equal(take(&said, sizeof(said)), -EBADMSG);
	said = said_of();
	said.head.part_count = CODE_PARTS_MAX + 1;
	assert_int_equal(take(&said, sizeof(said)), -EBADMSG);
	said = said_of();
	said.head.row_count = UINT32_MAX;
	assert_int_equal(take(&said, sizeof(said)), -EBADMSG);
	said = said_of();
	said.head.row_count = 1;
	assert_int_equal(take(&said, sizeof(said)), -EBADMSG);
	said = said_of();
	said.rows[1].start = 0;
	assert_int_equal(take(&said, sizeof(said)), -EBADMSG);
	said = said_of();
	said.rows[1].kind = HWPROF_UNWIND_OUTERMOST + 1;
	assert_int_equal(take(&said, sizeof(said)), -EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_same, start),
		cmocka_unit_test_setup(test_no_program, start),
		cmocka_unit_test_setup(test_hostile, start),
		cmocka_unit_test_setup(test_hanging, start),
		cmocka_unit_test_setup(test_killed, start),
		cmocka_unit_test_setup(test_late, start),
		cmocka_unit_test(test_nonsense),
	};

	if (pthread_atfork(NULL, NULL, meet_fate))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
