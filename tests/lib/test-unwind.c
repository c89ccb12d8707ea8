// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares rows for unwinding of the distribution's programs and libraries with
 * binutils' readelf, which shares no code with us, on the same .eh_frame.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "code/cfi_table.h"
#include "code/foreign_elf.h"
#include "live/unwinding.h"

enum {
	COLUMNS_MAX = 32,
	CIES_MAX = 64,
	ADDRESS_DIGITS = 16,
	ROWS_LEAST = 1000,	/* least number in all objects */
};

/*
 * Those that exist are tested. Each machine with a compiler has most of them.
 */
static const char *const objects[] = {
	"/bin/bash", "/bin/ls", "/bin/tar", "/usr/bin/perl", "/usr/bin/find",
	"/bin/grep", "/usr/bin/make", "/usr/bin/python3",
	"/lib/x86_64-linux-gnu/libc.so.6",
	"/lib64/ld-linux-x86-64.so.2",
	"/lib/x86_64-linux-gnu/libm.so.6",
	"/lib/x86_64-linux-gnu/libgcc_s.so.1",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
};

/* --- readelf's output ----------------------------------------------------- */

/* Common information of FDEs, identified by its offset. */
struct cie {
	uint64_t offset;
	bool signal;
	struct hwprof_unwind_row row;	/* of FDEs without their own */
};

struct range {
	uint64_t begin, end;
};

struct reading {
	const struct cfi_table *table;
	struct cie cies[CIES_MAX];
	size_t cie_count;
	const struct cie *cie;		/* of the FDE being read; NULL: reading
					 * a CIE */
	struct range *fdes;		/* the last one is being read */
	size_t fde_count;
	int bp, ra;			/* columns; -1: none */
	/* The last line, which ends at the next one or with the FDE. */
	bool has_line;
	uint64_t start;
	struct hwprof_unwind_row expected;
	uint64_t compared, known, gaps;
};

static struct hwprof_unwind_row find_row(const struct cfi_table *table,
					 uint64_t address)
{
	struct hwprof_unwind_row row = { .start = 0 };
	uint32_t low = 0, high = table->count;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (table->rows[middle].start <= address - table->base)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? table->rows[low - 1] : row;
}

static void compare(struct reading *reading, uint64_t address)
{
	struct hwprof_unwind_row row = find_row(reading->table, address);
	const struct hwprof_unwind_row *expected = &reading->expected;

	if (row.kind != expected->kind || row.cfa != expected->cfa ||
	    row.bp != expected->bp)
		fail_msg("at %#" PRIx64
			 ": kind %d, cfa %d, bp %d; readelf has %d, %d, %d",
			 address, row.kind, row.cfa, row.bp, expected->kind,
			 expected->cfa, expected->bp);
	reading->compared++;
	reading->known += row.kind != HWPROF_UNWIND_UNKNOWN;
}

/* Compares the first and the last byte of a line. */
static void end_line(struct reading *reading, uint64_t end)
{
	if (!reading->has_line || end <= reading->start)
		return;
	compare(reading, reading->start);
	compare(reading, end - 1);
	reading->has_line = false;
}

/* Returns the distance below the CFA of "c-16"; 0 for anything else. */
static long below_cfa(const char *rule)
{
	return rule[0] == 'c' && rule[1] == '-' ? atol(rule + 2) : 0;
}

static struct hwprof_unwind_row expect(const char *cfa, const char *bp,
				       const char *ra, bool signal)
{
	struct hwprof_unwind_row row = { .start = 0 };
	long offset = strlen(cfa) > 4 && cfa[3] == '+' ? atol(cfa + 4) : 0;
	bool saved = bp && strcmp(bp, "u") && strcmp(bp, "s");

	if (signal || !strcmp(ra, "u")) {
		row.kind = HWPROF_UNWIND_OUTERMOST;
		return row;
	}
	if (below_cfa(ra) != 8 || offset < 8 || offset % 8 ||
	    (saved && !below_cfa(bp)))
		return row;
	if (!strncmp(cfa, "rsp+", 4))
		row.kind = HWPROF_UNWIND_SP;
	else if (!strncmp(cfa, "rbp+", 4))
		row.kind = HWPROF_UNWIND_BP;
	else
		return row;
	row.cfa = offset / 8;
	row.bp = saved ? below_cfa(bp) / 8 : 0;
	return row;
}

/* Splits a line into words; "r10 (r10)" is one. */
static size_t split(char *line, char **words)
{
	size_t count = 0;
	char *word, *rest = line;

	while (count < COLUMNS_MAX && (word = strsep(&rest, " \n")))
		if (*word && *word != '(')
			words[count++] = word;
	return count;
}

static void read_columns(struct reading *reading, char **words, size_t count)
{
	size_t i;

	reading->bp = -1;
	for (i = 0; i < count; i++) {
		if (!strcmp(words[i], "rbp"))
			reading->bp = i;
		if (!strcmp(words[i], "ra"))
			reading->ra = i;
	}
}

/* Begins an FDE. Neighbouring FDEs share a CIE, usually the last one. */
static void read_fde(struct reading *reading, const char *cie, const char *pc)
{
	uint64_t of = strtoull(cie + strlen("cie="), NULL, 16);
	struct range range;
	size_t i;

	range.begin = strtoull(pc + strlen("pc="), NULL, 16);
	range.end = strtoull(strstr(pc, "..") + 2, NULL, 16);
	if (!(reading->fde_count & (reading->fde_count - 1)))
		reading->fdes = reallocarray(reading->fdes,
					     reading->fde_count * 2 + 1,
					     sizeof(range));
	reading->fdes[reading->fde_count++] = range;
	for (i = 0; i < reading->cie_count; i++)
		if (reading->cies[i].offset == of)
			reading->cie = &reading->cies[i];
	assert_non_null(reading->cie);
	reading->start = range.begin;
	reading->has_line = true;
	reading->expected = reading->cie->row;
}

static void read_cie(struct reading *reading, const char *offset,
		     const char *augmentation)
{
	assert_true(reading->cie_count < CIES_MAX);
	reading->cie = NULL;
	reading->cies[reading->cie_count++] = (struct cie){
		.offset = strtoull(offset, NULL, 16),
		.signal = strchr(augmentation, 'S'),
	};
}

/* Takes a line of the FDE, or of the CIE before the first FDE. */
static void read_row(struct reading *reading, char **words)
{
	struct cie *last = &reading->cies[reading->cie_count - 1];
	const struct cie *cie = reading->cie ? reading->cie : last;
	uint64_t start = strtoull(words[0], NULL, 16);
	struct hwprof_unwind_row row =
		expect(words[1], reading->bp < 0 ? NULL : words[reading->bp],
		       words[reading->ra], cie->signal);

	if (!reading->cie) {
		last->row = row;
		return;
	}
	end_line(reading, start);
	reading->start = start;
	reading->has_line = true;
	reading->expected = row;
}

static void end_fde(struct reading *reading)
{
	if (reading->cie && reading->fde_count)
		end_line(reading, reading->fdes[reading->fde_count - 1].end);
}

static void read_line(struct reading *reading, char **words, size_t count)
{
	if (!count)
		end_fde(reading);
	else if (count >= 6 && !strcmp(words[3], "FDE"))
		read_fde(reading, words[4], words[5]);
	else if (count >= 5 && !strcmp(words[3], "CIE"))
		read_cie(reading, words[0], words[4]);
	else if (count >= 2 && !strcmp(words[0], "LOC"))
		read_columns(reading, words, count);
	else if (reading->cie_count && strlen(words[0]) == ADDRESS_DIGITS &&
		 (int)count > reading->ra)
		read_row(reading, words);
}

static int compare_ranges(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return (x->begin > y->begin) - (x->begin < y->begin);
}

/* Between FDEs, nothing is known. */
static void compare_gaps(struct reading *reading)
{
	size_t i;

	qsort(reading->fdes, reading->fde_count, sizeof(*reading->fdes),
	      compare_ranges);
	reading->expected = (struct hwprof_unwind_row){ .start = 0 };
	for (i = 1; i < reading->fde_count; i++) {
		struct range gap = {
			reading->fdes[i - 1].end, reading->fdes[i].begin,
		};

		if (gap.begin < gap.end) {
			compare(reading, gap.begin);
			compare(reading, gap.end - 1);
			reading->gaps += 2;
		}
	}
}

/* Compares all lines of all FDEs. */
static void compare_with_readelf(struct reading *reading, const char *path)
{
	char command[256], *line = NULL, *words[COLUMNS_MAX];
	size_t room = 0, count;
	FILE *pipe;

	snprintf(command, sizeof(command),
		 "readelf --wide --debug-dump=frames-interp %s 2>&1", path);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	while (getline(&line, &room, pipe) > 0) {
		/* Stop at sections of debug information. */
		if (!strncmp(line, "Contents of", 11) &&
		    !strstr(line, ".eh_frame"))
			break;
		count = split(line, words);
		read_line(reading, words, count);
	}
	free(line);
	pclose(pipe);
}

/* --- all of them ---------------------------------------------------------- */

static void check_rows(const struct cfi_table *table)
{
	uint32_t i;

	for (i = 1; i < table->count; i++)
		assert_true(table->rows[i].start > table->rows[i - 1].start);
}

static void object(const char *path, uint64_t *compared, uint64_t *known)
{
	struct reading reading = { .table = NULL };
	struct cfi_table table;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	if (fd < 0)
		return;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	assert_int_equal(cfi_table_make(&table, elf), 0);
	check_rows(&table);
	reading.table = &table;
	compare_with_readelf(&reading, path);
	compare_gaps(&reading);
	reading.compared -= reading.gaps;
	print_message("%s: %u rows, %" PRIu64 " of %" PRIu64 " places known\n",
		      path, table.count, reading.known, reading.compared);
	*compared += reading.compared;
	free(reading.fdes);
	*known += reading.known;
	free(table.rows);
	elf_end(elf);
	close(fd);
}

static void against_readelf(void **state)
{
	uint64_t compared = 0, known = 0;
	size_t i;

	for (i = 0; i < sizeof(objects) / sizeof(objects[0]); i++)
		object(objects[i], &compared, &known);
	assert_true(compared >= ROWS_LEAST);
	/* Nearly everything that compilers make fits into a row. */
	assert_true(known > compared * 0.99);
}

static void without_frames(void **state)
{
	static char text[] = "no object";
	Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_version = EV_CURRENT,
		.e_ehsize = sizeof(header),
	};
	const int machines[] = { EM_X86_64, EM_AARCH64 };
	struct cfi_table table;
	Elf *elf;
	size_t i;

	elf_version(EV_CURRENT);
	elf = elf_memory(text, sizeof(text));
	assert_int_equal(cfi_table_make(&table, elf), -ENOENT);
	elf_end(elf);
	for (i = 0; i < 2; i++) {
		header.e_machine = machines[i];
		elf = elf_memory((char *)&header, sizeof(header));
		assert_non_null(elf);
		assert_int_equal(cfi_table_make(&table, elf), -ENOENT);
		elf_end(elf);
	}
}

/* --- hostile tables ------------------------------------------------------- */

enum {
	TABLE_AT = 0x100,		/* .eh_frame_hdr */
	CIE_SIZE = 24,
	FDE_HEAD = 17,			/* bytes before the instructions */
	CODE_AT = 0x10000000,		/* address of the procedures */
};

/* A program that has nothing but a table and frames. */
struct made {
	uint8_t *bytes;
	size_t size;
	uint32_t frames;		/* where .eh_frame is */
};

static void put_u32(struct made *made, size_t at, uint32_t value)
{
	memcpy(made->bytes + at, &value, sizeof(value));
}

/* Begins a program with room for @count procedures and @bytes of frames. */
static struct made make(uint32_t count, size_t bytes)
{
	const uint32_t frames = TABLE_AT + 12 + count * 8;
	struct made made = {
		.size = frames + CIE_SIZE + bytes, .frames = frames,
	};
	const Elf64_Ehdr header = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
			     ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_version = EV_CURRENT,
		.e_machine = EM_X86_64, .e_ehsize = sizeof(header),
		.e_phoff = sizeof(header), .e_phnum = 2,
		.e_phentsize = sizeof(Elf64_Phdr),
	};
	const Elf64_Phdr segments[] = {
		{ .p_type = PT_LOAD, .p_filesz = made.size,
		  .p_memsz = made.size, .p_flags = PF_R },
		{ .p_type = PT_GNU_EH_FRAME, .p_offset = TABLE_AT,
		  .p_vaddr = TABLE_AT, .p_filesz = 12 + count * 8 },
	};
	/* Version 1, "zR", factors 1 and -8, RIP, pcrel sdata4. */
	static const uint8_t cie[CIE_SIZE] = {
		CIE_SIZE - 4, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78,
		16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,
	};
	static const uint8_t table[] = { 1, 0x1b, 3, 0x3b };

	made.bytes = calloc(1, made.size);
	assert_non_null(made.bytes);
	memcpy(made.bytes, &header, sizeof(header));
	memcpy(made.bytes + sizeof(header), segments, sizeof(segments));
	memcpy(made.bytes + TABLE_AT, table, sizeof(table));
	put_u32(&made, TABLE_AT + 4, frames - TABLE_AT - 4);
	put_u32(&made, TABLE_AT + 8, count);
	memcpy(made.bytes + frames, cie, sizeof(cie));
	return made;
}

/* Sets entry @index: a procedure at @begin, with the frame at @at. */
static void set_entry(struct made *made, uint32_t index, uint32_t begin,
		      uint32_t at)
{
	put_u32(made, TABLE_AT + 12 + index * 8, begin - TABLE_AT);
	put_u32(made, TABLE_AT + 16 + index * 8, at - TABLE_AT);
}

/* Puts a frame with room for so much code. Returns where that is. */
static uint8_t *put_frame(struct made *made, uint32_t at, uint32_t begin,
			  uint32_t size, size_t room)
{
	put_u32(made, at, FDE_HEAD - 4 + room);
	put_u32(made, at + 4, at + 4 - made->frames);
	put_u32(made, at + 8, begin - (at + 8));
	put_u32(made, at + 12, size);
	return made->bytes + at + FDE_HEAD;
}

static int make_rows(const struct made *made, struct cfi_table *table)
{
	Elf *elf = elf_memory((char *)made->bytes, made->size);
	int error;

	assert_non_null(elf);
	error = cfi_table_make(table, elf);
	elf_end(elf);
	return error;
}

/* The time for a procedure grows with its lines, and not with their square. */
static void long_procedure(void **state)
{
	enum { LINES = 1 << 20 };
	struct made made = make(1, FDE_HEAD + LINES * 3);
	uint32_t at = made.frames + CIE_SIZE, i;
	uint8_t *code = put_frame(&made, at, CODE_AT, LINES, LINES * 3);
	struct cfi_table table;

	set_entry(&made, 0, CODE_AT, at);
	for (i = 0; i < LINES; i++) {
		*code++ = 0x41;			/* advance by 1 */
		*code++ = 0x0e;			/* the CFA's offset */
		*code++ = i % 2 ? 8 : 16;
	}
	assert_int_equal(make_rows(&made, &table), 0);
	/* The last line is empty; behind it nothing is known. */
	assert_int_equal(table.count, LINES + 1);
	assert_int_equal(table.rows[1].kind, HWPROF_UNWIND_SP);
	assert_int_equal(table.rows[1].cfa, 2);
	assert_int_equal(table.rows[LINES].start, CODE_AT + LINES);
	assert_int_equal(table.rows[LINES].kind, HWPROF_UNWIND_UNKNOWN);
	free(table.rows);
	free(made.bytes);
}

/* A table that jumps to and fro would have all lines made again and again. */
static void unsorted(void **state)
{
	struct made made = make(3, FDE_HEAD);
	uint32_t at = made.frames + CIE_SIZE;
	struct cfi_table table;

	put_frame(&made, at, CODE_AT, 1 << 20, 0);
	set_entry(&made, 0, CODE_AT, at);
	set_entry(&made, 1, CODE_AT + 64, at);
	set_entry(&made, 2, CODE_AT, at);
	assert_int_equal(make_rows(&made, &table), -ENOENT);
	set_entry(&made, 2, CODE_AT + 128, at);
	assert_int_equal(make_rows(&made, &table), 0);
	free(table.rows);
	free(made.bytes);
}

/* Compilers make empty procedures, where another one begins. */
static void empty_procedure(void **state)
{
	struct made made = make(2, 2 * FDE_HEAD);
	uint32_t at = made.frames + CIE_SIZE, i;
	struct cfi_table table;

	put_frame(&made, at, CODE_AT, 0, 0);
	put_frame(&made, at + FDE_HEAD, CODE_AT, 16, 0);
	for (i = 0; i < 2; i++) {
		set_entry(&made, i, CODE_AT, at);
		set_entry(&made, !i, CODE_AT, at + FDE_HEAD);
		assert_int_equal(make_rows(&made, &table), 0);
		assert_int_equal(table.count, 2);
		assert_int_equal(table.rows[0].kind, HWPROF_UNWIND_SP);
		assert_int_equal(table.rows[1].start, CODE_AT + 16);
		free(table.rows);
	}
	free(made.bytes);
}

/* Many procedures that share a long description are refused in the end. */
static void shared_frame(void **state)
{
	enum { COUNT = 1 << 17, ROOM = 1 << 20 };
	struct made made = make(COUNT, FDE_HEAD + ROOM);
	uint32_t at = made.frames + CIE_SIZE, i;
	struct cfi_table table;

	put_frame(&made, at, CODE_AT, COUNT, ROOM);
	for (i = 0; i < COUNT; i++)
		set_entry(&made, i, CODE_AT + i, at);
	assert_int_equal(make_rows(&made, &table), -E2BIG);
	free(made.bytes);
}

/* Memory does not depend on the numbers of registers, or on saved states. */
static void high_registers(void **state)
{
	/* DW_CFA_offset_extended 268435455, 0; remember; advance by 1 */
	static const uint8_t step[] = {
		0x05, 0xff, 0xff, 0xff, 0x7f, 0, 0x0a, 0x41,
	};
	enum { STEPS = 64 };
	struct made made = make(1, FDE_HEAD + STEPS * sizeof(step));
	uint32_t at = made.frames + CIE_SIZE, i;
	uint8_t *code = put_frame(&made, at, CODE_AT, 1 << 20,
				  STEPS * sizeof(step));
	struct cfi_table table;

	set_entry(&made, 0, CODE_AT, at);
	for (i = 0; i < STEPS; i++)
		memcpy(code + i * sizeof(step), step, sizeof(step));
	assert_int_equal(make_rows(&made, &table), 0);
	assert_int_equal(table.rows[0].kind, HWPROF_UNWIND_SP);
	assert_int_equal(table.rows[1].kind, HWPROF_UNWIND_UNKNOWN);
	free(table.rows);
	free(made.bytes);
}

/* A file that others shorten while it is read is no SIGBUS. */
static void shortened(void **state)
{
	char path[] = "/tmp/hwprof-test-XXXXXX";
	struct made made = make(1, 1 << 16);
	uint32_t at = made.frames + CIE_SIZE;
	int fd = mkstemp(path);
	struct cfi_table table;
	Elf *elf;

	assert_true(fd >= 0);
	unlink(path);
	put_frame(&made, at, CODE_AT, 16, (1 << 16) - FDE_HEAD);
	set_entry(&made, 0, CODE_AT, at);
	assert_int_equal(write(fd, made.bytes, made.size), made.size);
	elf = foreign_elf_begin(fd);
	assert_non_null(elf);
	assert_int_equal(cfi_table_make(&table, elf), 0);
	free(table.rows);
	elf_end(elf);
	elf = foreign_elf_begin(fd);
	assert_non_null(elf);
	assert_int_equal(ftruncate(fd, TABLE_AT), 0);
	assert_int_equal(cfi_table_make(&table, elf), -ENOENT);
	elf_end(elf);
	close(fd);
	free(made.bytes);
}

/* Memory for as many sections as a file says is not taken. */
static void many_sections(void **state)
{
	char path[] = "/tmp/hwprof-test-XXXXXX";
	struct made made = make(1, FDE_HEAD);
	Elf64_Ehdr *header = (void *)made.bytes;
	const Elf64_Shdr first = { .sh_size = 1 << 30 };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	unlink(path);
	header->e_shoff = made.size;
	header->e_shentsize = sizeof(first);
	assert_int_equal(write(fd, made.bytes, made.size), made.size);
	assert_int_equal(write(fd, &first, sizeof(first)), sizeof(first));
	assert_int_equal(ftruncate(fd, 1LL << 37), 0);
	assert_null(foreign_elf_begin(fd));
	close(fd);
	free(made.bytes);
}

/* Any bytes: what is read stays within them, which the sanitizers check. */
static void changed_bytes(void **state)
{
	enum { ROOM = 64, ROUNDS = 20000 };
	struct made made = make(4, 4 * (FDE_HEAD + ROOM));
	struct cfi_table table;
	unsigned int seed = 1;
	uint32_t i, at;
	uint8_t old;

	for (i = 0; i < 4; i++) {
		at = made.frames + CIE_SIZE + i * (FDE_HEAD + ROOM);
		put_frame(&made, at, CODE_AT + i * 256, 256, ROOM);
		set_entry(&made, i, CODE_AT + i * 256, at);
	}
	for (i = 0; i < ROUNDS; i++) {
		/* Mostly the frames' bytes, so that the table stays sorted. */
		at = i % 8 ? made.frames + rand_r(&seed) %
			     (made.size - made.frames) :
			     sizeof(Elf64_Ehdr) + rand_r(&seed) %
			     (made.size - sizeof(Elf64_Ehdr));
		old = made.bytes[at];
		made.bytes[at] = rand_r(&seed);
		if (!make_rows(&made, &table)) {
			check_rows(&table);
			free(table.rows);
		}
		if (i % 4)
			made.bytes[at] = old;
	}
	free(made.bytes);
}

/* With a file that is not the device, nothing is told and nothing fails. */
static void without_module(void **state)
{
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct unwinding *unwinding = unwinding_new(fd, NULL);

	assert_non_null(unwinding);
	unwinding_update(unwinding);
	unwinding_note(unwinding, getpid());
	unwinding_note(unwinding, UINT32_MAX);
	unwinding_note(unwinding, getpid());
	unwinding_update(unwinding);
	unwinding_note(unwinding, getpid());
	unwinding_update(unwinding);
	unwinding_free(unwinding);
	unwinding_note(NULL, 1);
	unwinding_update(NULL);
	unwinding_free(NULL);
	close(fd);
}

/* Returns whether an event with this first word is told of unwinding tables. */
static bool is_wanted(uint64_t config)
{
	const uint64_t words[3] = { config };

	return unwinding_wanted(words);
}

static void wanted(void **state)
{
	const uint64_t cct = 1 << 6, ranges = 1 << 5, step = 1 << 8,
		       sample = 1 << 10;

	assert_true(is_wanted(cct | sample));
	assert_false(is_wanted(cct));
	assert_false(is_wanted(cct | step));
	assert_false(is_wanted(ranges | sample));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(against_readelf),
		cmocka_unit_test(without_frames),
		cmocka_unit_test(long_procedure),
		cmocka_unit_test(unsorted),
		cmocka_unit_test(empty_procedure),
		cmocka_unit_test(shared_frame),
		cmocka_unit_test(high_registers),
		cmocka_unit_test(shortened),
		cmocka_unit_test(many_sections),
		cmocka_unit_test(changed_bytes),
		cmocka_unit_test(without_module),
		cmocka_unit_test(wanted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
