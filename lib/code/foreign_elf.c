// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "foreign_elf.h"

enum { NOTES_MAX = 1 << 20 };		/* bytes */

union header {
	unsigned char ident[EI_NIDENT];
	Elf32_Ehdr small;
	Elf64_Ehdr large;
};

/*
 * Returns true if a number of sections or segments is elsewhere. The values
 * that say so are the same in both orders of bytes.
 */
static bool is_extended(const union header *header)
{
	if (header->ident[EI_CLASS] == ELFCLASS64)
		return (header->large.e_shoff && !header->large.e_shnum) ||
		       header->large.e_phnum == PN_XNUM;
	return (header->small.e_shoff && !header->small.e_shnum) ||
	       header->small.e_phnum == PN_XNUM;
}

Elf *foreign_elf_begin(int fd)
{
	union header header = { .ident = { 0 } };
	Elf *elf;

	if (pread(fd, &header, sizeof(header), 0) <
		    (ssize_t)sizeof(header.small) ||
	    memcmp(header.ident, ELFMAG, SELFMAG) || is_extended(&header))
		return NULL;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		return elf;
	elf_end(elf);
	return NULL;
}

bool foreign_elf_has_short_notes(Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Phdr segment;
	GElf_Shdr header;
	size_t count, i;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_NOTE && header.sh_size > NOTES_MAX)
			return false;
	if (elf_getphdrnum(elf, &count))
		return false;
	for (i = 0; i < count; i++)
		if (gelf_getphdr(elf, i, &segment) &&
		    segment.p_type == PT_NOTE && segment.p_filesz > NOTES_MAX)
			return false;
	return true;
}
