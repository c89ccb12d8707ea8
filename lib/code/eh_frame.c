// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dwarf.h>
#include <errno.h>
#include <gelf.h>

#include "eh_frame.h"

/* The only encoding that linkers write, and readers search. */
#define TABLE_ENCODING	(DW_EH_PE_datarel | DW_EH_PE_sdata4)
#define FRAMES_AT	(DW_EH_PE_pcrel | DW_EH_PE_sdata4)

/* Bytes, far above those of the largest programs. */
enum { TABLE_MAX = 32 << 20, FRAMES_MAX = 64 << 20 };

/*
 * Two offsets from the section's address: the beginning of a procedure, and its
 * frame description.
 */
struct entry {
	int32_t begin, frame;
};

static bool find_segment(Elf *elf, uint32_t type, uint64_t address,
			 GElf_Phdr *segment)
{
	size_t count, i;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, segment) && segment->p_type == type &&
		    (type == PT_GNU_EH_FRAME ||
		     address - segment->p_vaddr < segment->p_filesz))
			return true;
	return false;
}

/* Finds the section's bytes in the file, and its @address. */
static bool find_section(Elf *elf, struct byte_reader *bytes, uint64_t *address)
{
	size_t size;
	const char *file = elf_rawfile(elf, &size);
	GElf_Phdr segment;
	struct byte_reader rest;

	if (!file || !find_segment(elf, PT_GNU_EH_FRAME, 0, &segment))
		return false;
	rest = reader_of(file, size);
	*address = segment.p_vaddr;
	return reader_skip(&rest, segment.p_offset) &&
	       reader_part(&rest, segment.p_filesz, bytes);
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

/* --- all of them ---------------------------------------------------------- */

/* Reads a part of the file. Returns bytes without an end if it is not there. */
static struct byte_reader read_part(Elf *elf, uint64_t offset, uint64_t size)
{
	const Elf_Data *data = offset > INT64_MAX ? NULL :
			       elf_getdata_rawchunk(elf, offset, size,
						    ELF_T_BYTE);

	return reader_of(data ? data->d_buf : NULL, data ? data->d_size : 0);
}

uint64_t eh_frame_entry(const struct eh_frame *table, uint32_t index,
			uint64_t *frame)
{
	struct byte_reader bytes = table->entries;
	struct entry entry = { 0 };

	reader_skip(&bytes, (uint64_t)index * sizeof(entry));
	reader_copy(&bytes, &entry, sizeof(entry));
	*frame = table->base + (int64_t)entry.frame - table->address;
	return table->base + (int64_t)entry.begin;
}

/* Returns the offset of the last description. */
static uint64_t last_frame(const struct eh_frame *table)
{
	uint64_t last = 0, frame;
	uint32_t i;

	for (i = 0; i < table->count; i++) {
		eh_frame_entry(table, i, &frame);
		if (frame > last)
			last = frame;
	}
	return last;
}

/* Reads the descriptions, which end with the last. */
static int read_frames(struct eh_frame *table, Elf *elf)
{
	uint64_t last = last_frame(table), offset;
	struct byte_reader bytes;
	GElf_Phdr segment;
	uint32_t length;

	if (last >= FRAMES_MAX)
		return -E2BIG;
	if (!find_segment(elf, PT_LOAD, table->address, &segment))
		return -ENOENT;
	offset = segment.p_offset + table->address - segment.p_vaddr;
	bytes = read_part(elf, offset + last, sizeof(length));
	if (!reader_u32(&bytes, &length))
		return -ENOENT;
	if (length >= FRAMES_MAX)
		return -E2BIG;
	bytes = read_part(elf, offset, last + sizeof(length) + length);
	table->frames = (Elf_Data){
		.d_buf = (void *)bytes.at, .d_size = reader_left(&bytes),
		.d_type = ELF_T_BYTE, .d_version = EV_CURRENT,
	};
	return bytes.at ? 0 : -ENOENT;
}

int eh_frame_open(struct eh_frame *table, Elf *elf)
{
	struct byte_reader head;
	GElf_Phdr segment;
	int32_t distance;

	if (!find_segment(elf, PT_GNU_EH_FRAME, 0, &segment))
		return -ENOENT;
	if (segment.p_filesz > TABLE_MAX)
		return -E2BIG;
	table->entries = read_part(elf, segment.p_offset, segment.p_filesz);
	head = table->entries;
	table->count = find_entries(&table->entries);
	if (!table->count || !reader_skip(&head, 1) || *head.at != FRAMES_AT ||
	    !reader_skip(&head, 3) ||
	    !reader_copy(&head, &distance, sizeof(distance)))
		return -ENOENT;
	table->base = segment.p_vaddr;
	table->address = table->base + 4 + (int64_t)distance;
	return read_frames(table, elf);
}
