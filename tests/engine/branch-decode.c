// SPDX-License-Identifier: GPL-2.0-only
/*
 * The step source's decoder against capstone: every instruction of some
 * programs and libraries, 64-bit and 32-bit, and of random bytes.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <capstone/capstone.h>
#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "random.h"
#include "source/x86/branch_decode.h"

enum {
	LENGTH_MAX	= 15,
	USUAL		= 8,	/* bytes that the step source reads first */
	RANDOM_ROUNDS	= 1000000,
	ERRORS_SHOWN	= 20,
};

static const char * const programs[] = {
	"/bin/bash", "/usr/bin/perl", "/usr/bin/gcc", "/usr/bin/make",
	"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/lib32/libc.so.6",
};

static csh engines[2];		/* 32-bit, 64-bit */
static unsigned long compared[2], wrong;

static int open_capstone(void **state)
{
	return cs_open(CS_ARCH_X86, CS_MODE_32, &engines[0]) ||
	       cs_open(CS_ARCH_X86, CS_MODE_64, &engines[1]) ||
	       cs_option(engines[0], CS_OPT_DETAIL, CS_OPT_ON) ||
	       cs_option(engines[1], CS_OPT_DETAIL, CS_OPT_ON);
}

static int close_capstone(void **state)
{
	return cs_close(&engines[0]) || cs_close(&engines[1]);
}

static bool loads_ss(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	return x86->op_count && x86->operands[0].type == X86_OP_REG &&
	       x86->operands[0].reg == X86_REG_SS &&
	       (insn->id == X86_INS_POP ||
		(insn->id == X86_INS_MOV && x86->operands[1].type == X86_OP_REG));
}

static bool is_conditional(unsigned int id)
{
	static const unsigned int ids[] = {
		X86_INS_JAE, X86_INS_JA, X86_INS_JBE, X86_INS_JB,
		X86_INS_JCXZ, X86_INS_JECXZ, X86_INS_JRCXZ, X86_INS_JE,
		X86_INS_JGE, X86_INS_JG, X86_INS_JLE, X86_INS_JL, X86_INS_JNE,
		X86_INS_JNO, X86_INS_JNP, X86_INS_JNS, X86_INS_JO, X86_INS_JP,
		X86_INS_JS, X86_INS_LOOP, X86_INS_LOOPE, X86_INS_LOOPNE,
	};
	unsigned int i;

	for (i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (ids[i] == id)
			return true;
	return false;
}

static u8 expected_kind(const cs_insn *insn)
{
	if (is_conditional(insn->id))
		return INSN_COND;
	if (loads_ss(insn))
		return INSN_SS;
	switch (insn->id) {
	case X86_INS_JMP:
		return insn->detail->x86.operands[0].type == X86_OP_IMM ?
		       INSN_JUMP : INSN_INDIRECT;
	case X86_INS_LJMP:
		return INSN_INDIRECT;
	case X86_INS_CALL: case X86_INS_LCALL:
		return INSN_CALL;
	case X86_INS_RET: case X86_INS_RETF: case X86_INS_RETFQ:
		return INSN_RET;
	case X86_INS_IRET: case X86_INS_IRETD: case X86_INS_IRETQ:
		return INSN_IRET;
	case X86_INS_PUSHF: case X86_INS_PUSHFD: case X86_INS_PUSHFQ:
		return INSN_PUSHF;
	case X86_INS_POPF: case X86_INS_POPFD: case X86_INS_POPFQ:
		return INSN_POPF;
	default:
		return INSN_OTHER;
	}
}

/* With 66, processors disagree how long a displacement is in 64-bit code. */
static bool has_vague_length(const cs_insn *insn, bool is64)
{
	return is64 && memchr(insn->bytes, 0x66, insn->size > 2 ?
			      insn->size - 2 : 0) &&
	       expected_kind(insn) == INSN_COND;
}

static void complain(const cs_insn *insn, bool is64, struct insn got)
{
	int i;

	if (wrong++ >= ERRORS_SHOWN)
		return;
	print_error("%s %s, %d bits, ", insn->mnemonic, insn->op_str,
		    is64 ? 64 : 32);
	for (i = 0; i < insn->size; i++)
		print_error("%02x ", insn->bytes[i]);
	print_error(": kind %u length %u, expected %u and %u\n", got.kind,
		    got.length, expected_kind(insn), insn->size);
}

static bool agrees(const cs_insn *insn, struct insn got, bool is64)
{
	return got.kind == expected_kind(insn) &&
	       ((got.kind != INSN_COND && got.kind != INSN_SS) ||
		got.length == insn->size || has_vague_length(insn, is64));
}

/* With fewer bytes, it is unknown or right; with all of them, right. */
static void compare(const cs_insn *insn, const u8 *bytes, size_t count,
		    bool is64)
{
	size_t known = count < LENGTH_MAX ? count : LENGTH_MAX;
	struct insn got = branch_decode(bytes, known, is64);
	struct insn early = branch_decode(bytes, known < USUAL ? known : USUAL,
					  is64);

	compared[is64]++;
	if (!agrees(insn, got, is64))
		complain(insn, is64, got);
	else if (early.kind != INSN_UNKNOWN && !agrees(insn, early, is64))
		complain(insn, is64, early);
}

static void compare_code(const u8 *code, size_t size, uint64_t address,
			 bool is64)
{
	cs_insn *insn = cs_malloc(engines[is64]);

	while (size) {
		const u8 *bytes = code;
		size_t count = size;

		if (cs_disasm_iter(engines[is64], &code, &size, &address,
				   insn)) {
			compare(insn, bytes, count, is64);
		} else {
			code++;
			size--;
			address++;
		}
	}
	cs_free(insn, 1);
}

static void compare_program(const u8 *file, size_t size)
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
			compare_code(file + at, length, 0, is64);
	}
}

static void test_programs(void **state)
{
	unsigned int i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		int fd = open(programs[i], O_RDONLY);
		struct stat stat;
		void *file;

		if (fd < 0 || fstat(fd, &stat)) {
			print_message("# no %s here\n", programs[i]);
			continue;
		}
		file = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		assert_true(file != MAP_FAILED);
		compare_program(file, stat.st_size);
		munmap(file, stat.st_size);
		close(fd);
	}
	print_message("# %lu and %lu instructions of 32 and 64 bits, %lu wrong\n",
		      compared[0], compared[1], wrong);
	assert_int_equal(wrong, 0);
	assert_true(compared[1] > 1000000);
}

/* Bytes that matter come often: prefixes, and opcodes of branches. */
static u8 random_byte(uint64_t *random)
{
	static const u8 telling[] = {
		0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x48, 0x4f, 0x0f, 0xff, 0x8e, 0x17,
		0x9c, 0x9d, 0xcf, 0xe3, 0x75, 0xe8, 0xe9, 0xeb, 0xd0, 0x85,
	};
	u64 number = random_next(random);

	return number & 0x100 ? telling[(number >> 9) % sizeof(telling)] : number;
}

static void test_random(void **state)
{
	uint64_t random = 1;
	int i, j, is64;

	for (i = 0; i < RANDOM_ROUNDS; i++) {
		u8 bytes[LENGTH_MAX];
		cs_insn *insn;

		for (j = 0; j < LENGTH_MAX; j++)
			bytes[j] = random_byte(&random);
		is64 = i & 1;
		if (cs_disasm(engines[is64], bytes, sizeof(bytes), 0, 1, &insn)) {
			compare(insn, bytes, sizeof(bytes), is64);
			cs_free(insn, 1);
		}
	}
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, open_capstone, close_capstone);
}
