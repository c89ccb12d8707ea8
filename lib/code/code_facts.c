// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gelf.h>
#include <stdlib.h>

#include "code_facts.h"
#include "foreign_elf.h"

static void find_parts(Elf *elf, struct code_facts *facts)
{
	GElf_Phdr segment;
	size_t count, i;

	if (elf_getphdrnum(elf, &count))
		return;
	for (i = 0; i < count && facts->part_count < CODE_PARTS_MAX; i++)
		if (gelf_getphdr(elf, i, &segment) &&
		    segment.p_type == PT_LOAD && segment.p_flags & PF_X)
			facts->parts[facts->part_count++] = (struct code_part){
				segment.p_offset, segment.p_filesz,
				segment.p_vaddr,
			};
}

void code_facts_of(Elf *elf, struct code_facts *facts)
{
	find_parts(elf, facts);
	if (!facts->part_count || cfi_table_make(&facts->table, elf))
		facts->table = (struct cfi_table){ .count = 0 };
}

void code_facts_free(struct code_facts *facts)
{
	free(facts->table.rows);
	*facts = (struct code_facts){ .part_count = 0 };
}

static void read_table(int fd, struct code_facts *facts)
{
	Elf *elf = foreign_elf_begin(fd);

	if (elf)
		code_facts_of(elf, facts);
	elf_end(elf);
}

int code_read(const struct code_reader *reader, int fd, const char *name,
	      enum code_wanted wanted, struct code_facts *facts)
{
	*facts = (struct code_facts){ .part_count = 0 };
	if (reader)
		return reader->read(reader->context, fd, name, wanted, facts);
	if (wanted == CODE_TABLE)
		read_table(fd, facts);
	else if (!object_build_id_of(fd, &facts->id))
		facts->id.size = 0;
	return 0;
}
