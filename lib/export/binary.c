// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "binary.h"

enum { PAGE = 4096 };

static uint64_t page_of(uint64_t address)
{
	return address & ~(uint64_t)(PAGE - 1);
}

/* Returns the segment with the number @index; false if it is not loaded. */
static bool get_segment(const struct binary *binary, size_t index,
			GElf_Phdr *segment)
{
	return gelf_getphdr(binary->elf, index, segment) &&
	       segment->p_type == PT_LOAD;
}

static size_t count_segments(const struct binary *binary)
{
	size_t count;

	return elf_getphdrnum(binary->elf, &count) ? 0 : count;
}

static const char *read_segments(struct binary *binary)
{
	size_t count = count_segments(binary), i;
	bool loaded = false, executable = false;
	GElf_Phdr segment;

	for (i = 0; i < count && !executable; i++) {
		if (!get_segment(binary, i, &segment))
			continue;
		if (!loaded)
			binary->first = page_of(segment.p_vaddr);
		loaded = true;
		executable = segment.p_flags & PF_X;
	}
	if (!executable)
		return "it has no code to load";
	binary->code = page_of(segment.p_vaddr);
	binary->code_size = segment.p_vaddr + segment.p_memsz - binary->code;
	binary->code_offset = page_of(segment.p_offset);
	return NULL;
}

static const char *read_headers(struct binary *binary)
{
	GElf_Ehdr header;

	if (!binary->elf || elf_kind(binary->elf) != ELF_K_ELF ||
	    !gelf_getehdr(binary->elf, &header))
		return "it is no ELF file";
	if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
		return "it is no program or shared library, but an object "
		       "file, a kernel module or a dump";
	binary->position_independent = header.e_type == ET_DYN;
	binary->machine = header.e_machine;
	return read_segments(binary);
}

const char *binary_open(struct binary *binary, const char *path, Elf *elf)
{
	const char *why;

	*binary = (struct binary){ .fd = -1, .elf = elf };
	if (path) {
		binary->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (binary->fd < 0)
			return strerror(errno);
		elf_version(EV_CURRENT);
		binary->elf = elf_begin(binary->fd, ELF_C_READ_MMAP, NULL);
	}
	why = read_headers(binary);
	if (why)
		binary_close(binary);
	return why;
}

void binary_close(struct binary *binary)
{
	free(binary->symbols);
	if (binary->fd >= 0) {
		elf_end(binary->elf);
		close(binary->fd);
	}
	*binary = (struct binary){ .fd = -1 };
}

uint64_t binary_address(const struct binary *binary, uint64_t offset)
{
	size_t count = count_segments(binary), i;
	GElf_Phdr segment;

	for (i = 0; i < count; i++)
		if (get_segment(binary, i, &segment) &&
		    segment.p_flags & PF_X && offset >= segment.p_offset &&
		    offset - segment.p_offset < segment.p_filesz)
			return offset - segment.p_offset + segment.p_vaddr;
	return UINT64_MAX;
}

uint64_t binary_offset(const struct binary *binary, uint64_t address)
{
	size_t count = count_segments(binary), i;
	GElf_Phdr segment;

	for (i = 0; i < count; i++)
		if (get_segment(binary, i, &segment) &&
		    segment.p_flags & PF_X && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			return address - segment.p_vaddr + segment.p_offset;
	return UINT64_MAX;
}

static const char *section_name(const struct binary *binary,
				const GElf_Shdr *header)
{
	size_t names;
	const char *name = NULL;

	if (!elf_getshdrstrndx(binary->elf, &names))
		name = elf_strptr(binary->elf, names, header->sh_name);
	return name ? name : "";
}

bool binary_has_section(const struct binary *binary, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(binary->elf, section)))
		if (gelf_getshdr(section, &header) &&
		    !strncmp(section_name(binary, &header), name, strlen(name)))
			return true;
	return false;
}

const uint8_t *binary_code(const struct binary *binary, uint64_t address,
			   size_t *size)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	Elf_Data *data;

	while ((section = elf_nextscn(binary->elf, section))) {
		if (!gelf_getshdr(section, &header) ||
		    !(header.sh_flags & SHF_EXECINSTR) ||
		    header.sh_type == SHT_NOBITS ||
		    address < header.sh_addr ||
		    address - header.sh_addr >= header.sh_size)
			continue;
		data = elf_getdata(section, NULL);
		if (!data || !data->d_buf ||
		    address - header.sh_addr >= data->d_size)
			return NULL;
		*size = data->d_size - (address - header.sh_addr);
		return (const uint8_t *)data->d_buf +
		       (address - header.sh_addr);
	}
	return NULL;
}

/* --- symbols ------------------------------------------------------------ */

static int compare_addresses(const void *a, const void *b)
{
	const struct binary_symbol *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* A global name, which needs no number, comes first. */
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int compare_names(const void *a, const void *b)
{
	const struct binary_symbol *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : compare_addresses(a, b);
}

static bool is_kept(const GElf_Sym *symbol)
{
	unsigned int type = GELF_ST_TYPE(symbol->st_info);

	return symbol->st_shndx != SHN_UNDEF && symbol->st_shndx < SHN_ABS &&
	       (type == STT_FUNC || type == STT_GNU_IFUNC);
}

static int read_table(struct binary *binary, Elf_Scn *section,
		      const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = header->sh_entsize ?
		       header->sh_size / header->sh_entsize : 0, i;
	GElf_Sym symbol;

	binary->symbols = calloc(count + 1, sizeof(*binary->symbols));
	if (!binary->symbols)
		return -ENOMEM;
	for (i = 0; i < count; i++) {
		const char *name;

		if (!gelf_getsym(data, i, &symbol) || !is_kept(&symbol))
			continue;
		name = elf_strptr(binary->elf, header->sh_link, symbol.st_name);
		if (!name || !*name)
			continue;
		binary->symbols[binary->symbol_count++] =
			(struct binary_symbol){
				.address = symbol.st_value,
				.size = symbol.st_size, .name = name,
				.number = GELF_ST_BIND(symbol.st_info) ==
					  STB_LOCAL,
			};
	}
	return 0;
}

/* Numbers local symbols of one name by their addresses, as BOLT does. */
static void number_symbols(struct binary *binary)
{
	struct binary_symbol *symbols = binary->symbols;
	size_t count = binary->symbol_count, i;
	unsigned int last = 0;

	qsort(symbols, count, sizeof(*symbols), compare_names);
	for (i = 0; i < count; i++) {
		if (i && strcmp(symbols[i].name, symbols[i - 1].name))
			last = 0;
		if (symbols[i].number)
			symbols[i].number = ++last;
	}
	qsort(symbols, count, sizeof(*symbols), compare_addresses);
}

int binary_read_symbols(struct binary *binary)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int error = 0;

	if (binary->symbols)
		return 0;
	while ((section = elf_nextscn(binary->elf, section)))
		if (gelf_getshdr(section, &header) &&
		    header.sh_type == SHT_SYMTAB)
			break;
	if (section)
		error = read_table(binary, section, &header);
	if (!error && binary->symbols)
		number_symbols(binary);
	return error;
}

const struct binary_symbol *binary_symbol(const struct binary *binary,
					  uint64_t address)
{
	const struct binary_symbol *symbols = binary->symbols;
	size_t low = 0, high = binary->symbol_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (symbols[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	/* The first of those at one address. */
	for (high = low - 1;
	     high && symbols[high - 1].address == symbols[high].address;)
		high--;
	for (; high < low; high++)
		if (address - symbols[high].address < symbols[high].size)
			return &symbols[high];
	return NULL;
}
