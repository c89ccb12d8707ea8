// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dwarf.h>
#include <gelf.h>
#include <stdlib.h>

#include "eh_frame.h"
#include "base/byte_reader.h"

/* The only encoding that linkers write, and readers search. */
#define TABLE_ENCODING	(DW_EH_PE_datarel | DW_EH_PE_sdata4)

/*
 * Two offsets from the section's address: the beginning of a procedure, and its
 * frame description.
 */
struct entry {
	int32_t begin, frame;
};

/* Finds the section's bytes in the file, and its @address. */
static bool find_section(Elf *elf, struct byte_reader *bytes, uint64_t *address)
{
	size_t count, size, i;
	const char *file = elf_rawfile(elf, &size);
	GElf_Phdr segment;
	struct byte_reader rest;

	if (!file || elf_getphdrnum(elf, &count))
		return false;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &segment) ||
		    segment.p_type != PT_GNU_EH_FRAME)
			continue;
		rest = reader_of(file, size);
		*address = segment.p_vaddr;
		return reader_skip(&rest, segment.p_offset) &&
		       reader_part(&rest, segment.p_filesz, bytes);
	}
	return false;
}

/*
 * Moves @bytes to the sorted entries. Returns their number; 0 if there are
 * none, or the format is unknown.
 */
static uint32_t find_entries(struct byte_reader *bytes)
{
	uint8_t head[4];	/* version and three encodings */
	uint32_t count;

	if (!reader_copy(bytes, head, sizeof(head)) || head[0] != 1 ||
	    (head[1] & 0xf) != DW_EH_PE_sdata4 || head[2] != DW_EH_PE_udata4 ||
	    head[3] != TABLE_ENCODING || !reader_skip(bytes, 4) ||
	    !reader_u32(bytes, &count) ||
	    reader_left(bytes) / sizeof(struct entry) < count)
		return 0;
	return count;
}

static uint64_t begin_of(struct byte_reader bytes, uint32_t index,
			 uint64_t address)
{
	struct entry entry = { 0 };

	reader_skip(&bytes, (uint64_t)index * sizeof(entry));
	reader_copy(&bytes, &entry, sizeof(entry));
	return address + (int64_t)entry.begin;
}

bool eh_frame_begin(Elf *elf, uint64_t address, uint64_t *begin)
{
	uint32_t low = 0, high;
	uint64_t base = 0;
	struct byte_reader bytes;

	if (!find_section(elf, &bytes, &base))
		return false;
	high = find_entries(&bytes);
	if (!high || begin_of(bytes, 0, base) > address)
		return false;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (begin_of(bytes, middle, base) <= address)
			low = middle;
		else
			high = middle;
	}
	*begin = begin_of(bytes, low, base);
	return true;
}

uint64_t *eh_frame_begins(Elf *elf, uint32_t *count)
{
	uint64_t *begins, base = 0;
	struct byte_reader bytes;
	uint32_t i;

	if (!find_section(elf, &bytes, &base))
		return NULL;
	*count = find_entries(&bytes);
	begins = *count ? calloc(*count, sizeof(*begins)) : NULL;
	for (i = 0; begins && i < *count; i++)
		begins[i] = begin_of(bytes, i, base);
	return begins;
}
