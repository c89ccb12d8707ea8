// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gelf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "plt.h"

/* Returns true for a section of a linkage table: .plt, .plt.sec or .plt.got. */
static bool is_table(Elf *elf, const GElf_Shdr *header)
{
	const char *name;
	size_t names;

	if (header->sh_type != SHT_PROGBITS || elf_getshdrstrndx(elf, &names))
		return false;
	name = elf_strptr(elf, names, header->sh_name);
	return name && !strncmp(name, ".plt", 4);
}

/*
 * Finds the slot through which the entry jumps: [endbr64] [bnd] jmp
 * *slot(%rip).
 */
static bool decode(const uint8_t *bytes, size_t size, uint64_t address,
		   uint64_t *slot)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	const uint8_t *at = bytes, *end = bytes + size;
	int32_t distance;

	if (end - at >= 4 && !memcmp(at, endbr64, 4))
		at += 4;
	if (end - at >= 1 && *at == 0xf2)
		at++;
	if (end - at < 6 || at[0] != 0xff || at[1] != 0x25)
		return false;
	memcpy(&distance, at + 2, 4);
	*slot = address + (at - bytes) + 6 + (int64_t)distance;
	return true;
}

static bool find_slot(Elf *elf, uint64_t address, uint64_t *slot)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		uint64_t offset;
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) ||
		    !is_table(elf, &header))
			continue;
		offset = address - header.sh_addr;
		data = elf_rawdata(section, NULL);
		if (data && data->d_buf && offset < data->d_size)
			return decode((uint8_t *)data->d_buf + offset,
				      data->d_size - offset, address, slot);
	}
	return false;
}

/*
 * Returns the name of symbol @index in the table that the relocations of
 * @header use.
 */
static const char *symbol_name(Elf *elf, const GElf_Shdr *header, size_t index)
{
	Elf_Scn *section = elf_getscn(elf, header->sh_link);
	Elf_Data *data = section ? elf_getdata(section, NULL) : NULL;
	GElf_Shdr symbols;
	GElf_Sym symbol;

	if (!index || !data || !gelf_getshdr(section, &symbols) ||
	    !gelf_getsym(data, index, &symbol))
		return NULL;
	return elf_strptr(elf, symbols.sh_link, symbol.st_name);
}

static const char *relocated(Elf *elf, uint64_t slot)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Rela rela;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;
		int i;

		if (!gelf_getshdr(section, &header) ||
		    header.sh_type != SHT_RELA)
			continue;
		data = elf_getdata(section, NULL);
		for (i = 0; data && gelf_getrela(data, i, &rela); i++)
			if (rela.r_offset == slot)
				return symbol_name(elf, &header,
						   GELF_R_SYM(rela.r_info));
	}
	return NULL;
}

char *plt_name(Elf *elf, uint64_t address)
{
	const char *name = NULL;
	GElf_Ehdr header;
	uint64_t slot;
	char *result;

	if (gelf_getehdr(elf, &header) && header.e_machine == EM_X86_64 &&
	    find_slot(elf, address, &slot))
		name = relocated(elf, slot);
	if (!name || !*name || asprintf(&result, "%s@plt", name) < 0)
		return NULL;
	return result;
}
