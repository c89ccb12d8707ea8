// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recordings: reading them back, and damage, which gives a message but never a
 * crash.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "perfdata/file.h"
#include "fixture.h"

static void fill(struct fixture *fixture)
{
	struct hwprof_row_loop row = fixture_loop(1, 100, 0x401000, 0x401040,
						  99, 1);

	fixture_begin(fixture, "loops,step,rows");
	fixture_comm(fixture, 10, 100, "prog", true);
	fixture_map(fixture, 11, 100, 0x401000, 0x1000, 0x1000, "/no/such/prog",
		    NULL);
	fixture_fork(fixture, 12, 101, 100);
	fixture_add_loop(fixture, 20, &row);
	fixture_add_branches(fixture, 21, 100, 5, 3, 0x401000);
	fixture_exit(fixture, 22, 101);
	fixture_lost(fixture, 23, 4);
	fixture_add_totals(fixture, 30, 1, 99);
	fixture_end(fixture);
}

struct seen {
	unsigned int loops, branches, totals;
	uint64_t branch_sum, sequence;
};

static int see(void *context, const struct hwprof_sample *sample)
{
	const struct hwprof_row_branches *branches;
	struct seen *seen = context;
	uint32_t i;

	assert_true(sample->rows);
	assert_non_null(sample->row);
	assert_int_equal((uintptr_t)sample->row % 8, 0);
	switch (sample->row->type) {
	case HWPROF_ROW_LOOP:
		seen->loops++;
		assert_int_equal(sample->time, 20);
		assert_int_equal(sample->ip, 0x401000);
		assert_int_equal(sample->addr, 0x401040);
		assert_int_equal(sample->period, 99);
		assert_int_equal(sample->pid, 100);
		break;
	case HWPROF_ROW_BRANCHES:
		branches = (const void *)sample->row;
		seen->branches += branches->count;
		seen->sequence = branches->sequence;
		for (i = 0; i < branches->count; i++)
			seen->branch_sum += branches->branches[i].to;
		break;
	case HWPROF_ROW_TOTALS:
		seen->totals++;
		break;
	}
	return 0;
}

static void test_round_trip(void **state)
{
	struct seen seen = { .loops = 0 };
	struct fixture fixture;
	struct hwprof_file *file;

	fill(&fixture);
	assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
	assert_int_equal(hwprof_file_samples(file, see, &seen), 0);
	assert_int_equal(seen.loops, 1);
	assert_int_equal(seen.branches, 3);
	assert_int_equal(seen.sequence, 5);
	assert_int_equal(seen.branch_sum, 3 * 0x401000 + 16 + 32 + 48);
	assert_int_equal(seen.totals, 1);
	/* A second reading fails. */
	assert_int_equal(hwprof_file_samples(file, see, &seen), -EALREADY);
	hwprof_file_close(file);
	fixture_remove(&fixture);
}

static int stop(void *context, const struct hwprof_sample *sample)
{
	++*(int *)context;
	return 77;
}

static void test_stop(void **state)
{
	struct fixture fixture;
	struct hwprof_file *file;
	int calls = 0;

	fill(&fixture);
	assert_int_equal(hwprof_file_open(&file, fixture.path), 0);
	assert_int_equal(hwprof_file_samples(file, stop, &calls), 77);
	assert_int_equal(calls, 1);
	hwprof_file_close(file);
	fixture_remove(&fixture);
}

struct bytes {
	uint8_t *at;
	size_t size;
};

static struct bytes slurp(const char *path)
{
	struct bytes bytes;
	struct stat status;
	FILE *file = fopen(path, "re");

	assert_non_null(file);
	assert_int_equal(fstat(fileno(file), &status), 0);
	bytes.size = status.st_size;
	bytes.at = malloc(bytes.size + 1);
	assert_int_equal(fread(bytes.at, 1, bytes.size, file), bytes.size);
	fclose(file);
	return bytes;
}

/*
 * Reads the loops of @bytes. Every error must have a message that begins with
 * the file's name. Returns the iterations found, or a negative errno.
 */
static int64_t read_bytes(struct bytes bytes)
{
	int fd = memfd_create("recording", MFD_CLOEXEC);
	struct hwprof_profile *loops = NULL;
	struct hwprof_file *file;
	int64_t iterations = 0;
	FILE *sink;
	int error;
	size_t i;

	assert_int_equal(write(fd, bytes.at, bytes.size), bytes.size);
	lseek(fd, 0, SEEK_SET);
	error = hwprof_file_open_fd(&file, fd, "the file");
	if (!error)
		error = hwprof_profile_read(&loops, HWPROF_KIND_LOOPS, &file, 1,
					    NULL);
	if (error) {
		assert_int_equal(strncmp(hwprof_file_error(file), "the file: ",
					 10), 0);
		assert_null(loops);
	} else {
		sink = fopen("/dev/null", "w");
		assert_int_equal(hwprof_profile_json(loops, NULL, sink), 0);
		fclose(sink);
		for (i = 0; i < hwprof_loops_count(loops); i++)
			iterations += hwprof_loops_get(loops, i)->iterations;
	}
	hwprof_profile_free(loops);
	hwprof_file_close(file);
	return error ? error : iterations;
}

/*
 * Returns where the sections begin. Without them, no event is known to be
 * hwprof's.
 */
static uint64_t data_end(struct bytes bytes)
{
	struct perfdata_header header;

	memcpy(&header, bytes.at, sizeof(header));
	return header.data.offset + header.data.size;
}

static void test_truncated(void **state)
{
	struct fixture fixture;
	struct bytes whole, part;

	fill(&fixture);
	whole = slurp(fixture.path);
	assert_int_equal(read_bytes(whole), 100);
	for (part = whole; part.size-- > 0;) {
		struct bytes copy = { malloc(part.size + 1), part.size };
		int64_t got;

		/* A separate buffer, so that ASan watches its end. */
		memcpy(copy.at, part.at, part.size);
		got = read_bytes(copy);
		/* If the sections suffice, everything is read. */
		assert_true(got < 0 || got == 100);
		assert_true(got < 0 || part.size > data_end(whole));
		free(copy.at);
	}
	free(whole.at);
	fixture_remove(&fixture);
}

static void test_every_byte(void **state)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct fixture fixture;
	struct bytes bytes;
	size_t i, value, damaged = 0;

	fill(&fixture);
	bytes = slurp(fixture.path);
	for (i = 0; i < bytes.size; i++) {
		uint8_t kept = bytes.at[i];

		for (value = 0; value < sizeof(values); value++) {
			bytes.at[i] = values[value];
			damaged += read_bytes(bytes) < 0;
		}
		bytes.at[i] = kept;
	}
	/* Many bytes of the header cannot be wrong without a failure. */
	assert_true(damaged > 500);
	assert_int_equal(read_bytes(bytes), 100);
	free(bytes.at);
	fixture_remove(&fixture);
}

/* ASan's, of which gcc has no header. */
int __sanitizer_install_malloc_and_free_hooks(
	void (*allocated)(const volatile void *memory, size_t size),
	void (*freed)(const volatile void *memory));

static size_t largest;	/* block that was allocated */

static void note_size(const volatile void *memory, size_t size)
{
	if (size > largest)
		largest = size;
}

static void note_free(const volatile void *memory)
{
}

/* Claims that the section described at @at has a size that the file has not. */
static int64_t read_claim(struct bytes bytes, uint64_t at)
{
	struct perfdata_section kept, claim;
	int64_t got;

	memcpy(&kept, bytes.at + at, sizeof(kept));
	claim = (struct perfdata_section){ kept.offset, 32 << 20 };
	memcpy(bytes.at + at, &claim, sizeof(claim));
	got = read_bytes(bytes);
	memcpy(bytes.at + at, &kept, sizeof(kept));
	return got;
}

/* Nothing is allocated for bytes that the file does not have. */
static void test_claims(void **state)
{
	struct perfdata_header header;
	struct fixture fixture;
	struct bytes bytes;
	uint64_t at;

	fill(&fixture);
	bytes = slurp(fixture.path);
	memcpy(&header, bytes.at, sizeof(header));
	assert_int_not_equal(__sanitizer_install_malloc_and_free_hooks(
				     note_size, note_free), 0);
	assert_int_equal(read_bytes(bytes), 100);
	assert_in_range(largest, 1, 8 << 20);
	at = header.attrs.offset + header.attr_size - sizeof(header.attrs);
	assert_int_equal(read_claim(bytes, at), -EBADMSG);
	for (at = data_end(bytes); at < data_end(bytes) + 64; at += 16)
		read_claim(bytes, at);
	assert_in_range(largest, 1, 8 << 20);
	free(bytes.at);
	fixture_remove(&fixture);
}

static void overwrite(const char *path, struct bytes bytes)
{
	FILE *file = fopen(path, "r+e");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes.at, 1, bytes.size, file), bytes.size);
	fclose(file);
}

/* Masks of a version that is not known may mean anything. */
static void test_masks_version(void **state)
{
	static const char mask[] = "kind=call";
	struct hwprof_profile *loops;
	struct fixture fixture;
	struct bytes bytes;
	uint8_t *text;

	fixture_begin(&fixture, "loops");
	fixture_mask(&fixture, mask);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_string_equal(hwprof_profile_mask(loops, 0), mask);
	hwprof_profile_free(loops);
	bytes = slurp(fixture.path);
	text = memmem(bytes.at, bytes.size, mask, sizeof(mask));
	assert_non_null(text);
	text[-8]++;		/* before it are the version and its size */
	overwrite(fixture.path, bytes);
	loops = fixture_loops(&fixture, 0);
	assert_null(hwprof_profile_mask(loops, 0));
	assert_non_null(strstr(hwprof_profile_warning(loops, 0),
			       "the masks of sessions are damaged"));
	hwprof_profile_free(loops);
	free(bytes.at);
	fixture_remove(&fixture);
}

static void expect(const char *what, int error, const char *words)
{
	struct hwprof_file *file;
	int got = hwprof_file_open(&file, what);

	if (!strstr(hwprof_file_error(file), words))
		print_message("# %s\n", hwprof_file_error(file));
	assert_int_equal(got, error);
	assert_non_null(strstr(hwprof_file_error(file), words));
	hwprof_file_close(file);
}

static void test_no_recordings(void **state)
{
	char empty[] = "/tmp/hwprof-test-XXXXXX";
	int fd = mkstemp(empty);

	assert_true(fd >= 0);
	close(fd);
	expect(empty, -EBADMSG, "is empty");
	unlink(empty);
	expect("/no/such/file", -ENOENT, "No such file");
	expect("/tmp", -EISDIR, "is a directory");
	expect("/proc/self/maps", -EBADMSG, "is no perf.data file");
}

static void test_foreign(void **state)
{
	struct fixture fixture;
	struct bytes bytes;
	uint64_t magic;

	fill(&fixture);
	bytes = slurp(fixture.path);
	memcpy(&magic, bytes.at, sizeof(magic));
	magic = __builtin_bswap64(magic);
	memcpy(bytes.at, &magic, sizeof(magic));
	assert_int_equal(read_bytes(bytes), -ENOTSUP);
	memcpy(bytes.at, "PERFFILE", 8);
	assert_int_equal(read_bytes(bytes), -ENOTSUP);
	free(bytes.at);
	fixture_remove(&fixture);
}

/* A killed recorder leaves no size and no sections. */
static void test_unfinished(void **state)
{
	struct fixture fixture;
	struct bytes bytes;
	struct perfdata_header header;

	fill(&fixture);
	bytes = slurp(fixture.path);
	memcpy(&header, bytes.at, sizeof(header));
	bytes.size = header.data.offset + header.data.size;
	header.data.size = 0;
	memset(header.features, 0, sizeof(header.features));
	memcpy(bytes.at, &header, sizeof(header));
	assert_int_equal(read_bytes(bytes), -EBADMSG);
	free(bytes.at);
	fixture_remove(&fixture);
}

/* Rows of later types are skipped, and longer rows are read as far as known. */
static void test_newer_rows(void **state)
{
	struct {
		struct hwprof_row row;
		uint64_t more[3];
	} unknown = {
		.row = { .type = 999, .size = sizeof(unknown), .session = 1 },
	};
	struct {
		struct hwprof_row_loop row;
		uint64_t more[2];
	} longer = {
		.row = fixture_loop(1, 100, 0x1000, 0x1010, 9, 1),
	};
	struct fixture fixture;
	struct hwprof_profile *loops;

	longer.row.row.size = sizeof(longer);
	fixture_begin(&fixture, "loops,rows");
	fixture_row(&fixture, 1, 0, 0, 0, &unknown.row);
	fixture_row(&fixture, 2, 0x1000, 0x1010, 9, &longer.row.row);
	fixture_add_totals(&fixture, 3, 1, 9);
	fixture_end(&fixture);
	loops = fixture_loops(&fixture, 0);
	assert_int_equal(hwprof_loops_count(loops), 1);
	assert_int_equal(hwprof_loops_get(loops, 0)->iterations, 10);
	hwprof_profile_free(loops);
	fixture_remove(&fixture);
}

/* Recordings of stock perf: plain, compressed, and to a pipe. */
struct records {
	uint64_t samples, maps, comms, bytes_of_raw;
};

static int count_record(void *context, const struct record *record)
{
	struct records *records = context;

	records->samples += record->type == PERF_RECORD_SAMPLE;
	records->maps += record->type == PERF_RECORD_MMAP2;
	records->comms += record->type == PERF_RECORD_COMM;
	return 0;
}

static bool perf_works(void)
{
	char output[256];

	/* With -o /dev/null perf would rename that file. */
	return !fixture_shell(
		output, sizeof(output),
		"perf record -q -e cpu-clock:u -o - true 2>&1 >/dev/null");
}

static void check_perf(const char *options)
{
	struct records records = { 0 };
	struct hwprof_file *file;
	char path[] = "/tmp/hwprof-test-XXXXXX", output[4096];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(
		fixture_shell(output, sizeof(output),
			      "perf record -q -e cpu-clock:u -c 100000 %s %s -- sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done' 2>/dev/null",
			      options, path),
		0);
	assert_int_equal(hwprof_file_open(&file, path), 0);
	assert_int_equal(records_read(file, count_record, &records), 0);
	hwprof_file_close(file);
	/* The number of samples in perf's own dump. */
	assert_int_equal(fixture_shell(output, sizeof(output),
				       "perf script -D -i %s 2>/dev/null | grep -c 'PERF_RECORD_SAMPLE('",
				       path),
			 0);
	assert_int_equal(records.samples, strtoull(output, NULL, 10));
	assert_true(records.samples > 5);
	assert_true(records.maps > 1);
	assert_true(records.comms > 0);
	unlink(path);
}

static void test_perf(void **state)
{
	if (!perf_works()) {
		print_message("# perf cannot record here\n");
		skip();
	}
	check_perf("-o");
	check_perf("-z -o");
	check_perf("-o - >");
}

/* Stock perf reads what the writer wrote. */
static void test_read_by_perf(void **state)
{
	struct fixture fixture;
	char output[8192];

	if (!perf_works()) {
		print_message("# perf cannot record here\n");
		skip();
	}
	fill(&fixture);
	assert_int_equal(fixture_shell(output, sizeof(output),
		"perf script -i %s --ns -F pid,time,period,ip,addr,event 2>&1",
		fixture.path), 0);
	assert_non_null(strstr(output, "401000"));
	assert_non_null(strstr(output, "hwprof/loops,rows/u"));
	assert_int_equal(fixture_shell(output, sizeof(output),
		"perf report --header-only -i %s 2>&1", fixture.path), 0);
	assert_non_null(strstr(output, "cmdline : hwprof record made up"));
	assert_non_null(strstr(output, "hwprof = 42"));
	assert_non_null(strstr(output, "time of last sample : 0.000000"));
	assert_int_equal(fixture_shell(output, sizeof(output),
		"perf report --stdio -i %s 2>/dev/null", fixture.path), 0);
	assert_non_null(strstr(output, "Event count (approx.): 102"));
	fixture_remove(&fixture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_claims),
		cmocka_unit_test(test_masks_version),
		cmocka_unit_test(test_no_recordings),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_unfinished),
		cmocka_unit_test(test_newer_rows),
		cmocka_unit_test(test_perf),
		cmocka_unit_test(test_read_by_perf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
