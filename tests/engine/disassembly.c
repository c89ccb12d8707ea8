// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "disassembly.h"
#include "random.h"
#include "seeds.h"

static csh engines[2];		/* 32-bit, 64-bit */

int disassembly_open(void **state)
{
	return cs_open(CS_ARCH_X86, CS_MODE_32, &engines[0]) ||
	       cs_open(CS_ARCH_X86, CS_MODE_64, &engines[1]) ||
	       cs_option(engines[0], CS_OPT_DETAIL, CS_OPT_ON) ||
	       cs_option(engines[1], CS_OPT_DETAIL, CS_OPT_ON);
}

int disassembly_close(void **state)
{
	return cs_close(&engines[0]) || cs_close(&engines[1]);
}

static void section(const uint8_t *code, size_t size, bool is64,
		    disassembly_fn fn)
{
	cs_insn *insn = cs_malloc(engines[is64]);
	uint64_t address = 0;

	while (size) {
		const uint8_t *bytes = code;
		size_t count = size;

		if (cs_disasm_iter(engines[is64], &code, &size, &address,
				   insn)) {
			fn(insn, bytes, count, is64);
		} else {
			code++;
			size--;
			address++;
		}
	}
	cs_free(insn, 1);
}

/* A short run takes the beginning of each section. */
static void all_sections(const uint8_t *file, size_t size, disassembly_fn fn)
{
	const Elf64_Ehdr *e64 = (const void *)file;
	const Elf32_Ehdr *e32 = (const void *)file;
	bool is64 = e64->e_ident[EI_CLASS] == ELFCLASS64;
	int i, count = is64 ? e64->e_shnum : e32->e_shnum;

	for (i = 0; i < count; i++) {
		const Elf64_Shdr *s64 = (const void *)(file + e64->e_shoff);
		const Elf32_Shdr *s32 = (const void *)(file + e32->e_shoff);
		uint64_t flags = is64 ? s64[i].sh_flags : s32[i].sh_flags;
		uint64_t at = is64 ? s64[i].sh_offset : s32[i].sh_offset;
		uint64_t length = is64 ? s64[i].sh_size : s32[i].sh_size;

		if (flags & SHF_EXECINSTR && at + length <= size)
			section(file + at, part(length), is64, fn);
	}
}

bool disassembly_program(const char *path, disassembly_fn fn)
{
	int fd = open(path, O_RDONLY);
	struct stat stat;
	void *file;

	if (fd < 0)
		return false;
	assert_int_equal(0, fstat(fd, &stat));
	file = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_true(file != MAP_FAILED);
	all_sections(file, stat.st_size, fn);
	munmap(file, stat.st_size);
	close(fd);
	return true;
}

void disassembly_random(uint64_t seed, unsigned int rounds,
			const uint8_t *telling, size_t telling_count,
			disassembly_fn fn, disassembly_none_fn none)
{
	unsigned int i, j;

	for (i = 0; i < rounds; i++) {
		uint8_t bytes[LENGTH_MAX];
		bool is64 = i & 1;
		cs_insn *insn;

		for (j = 0; j < LENGTH_MAX; j++) {
			uint64_t number = random_next(&seed);

			bytes[j] = number & 0x100 ?
				   telling[(number >> 9) % telling_count] :
				   number;
		}
		if (cs_disasm(engines[is64], bytes, sizeof(bytes), 0, 1,
			      &insn)) {
			fn(insn, bytes, sizeof(bytes), is64);
			cs_free(insn, 1);
		} else if (none) {
			none(bytes, sizeof(bytes), is64);
		}
	}
}

const char *disassembly_name(const cs_insn *insn)
{
	return cs_insn_name(engines[1], insn->id);
}

void disassembly_complain(const cs_insn *insn, bool is64)
{
	int i;

	print_error("%s %s, %d bits, ", insn->mnemonic, insn->op_str,
		    is64 ? 64 : 32);
	for (i = 0; i < insn->size; i++)
		print_error("%02x ", insn->bytes[i]);
}
