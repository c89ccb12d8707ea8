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
#include <string.h>

#include "disassembly.h"
#include "seeds.h"
#include "source/x86/branch_decode.h"

enum {
	USUAL		= 8,	/* bytes that the step source reads first */
	RANDOM_ROUNDS	= 1000000,
	ERRORS_SHOWN	= 20,
};

static const char * const programs[] = {
	"/bin/bash", "/usr/bin/perl", "/usr/bin/gcc", "/usr/bin/make",
	"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6", "/lib32/libc.so.6",
};

static unsigned long compared[2], wrong;
static unsigned long without_r11, suspected;

static bool loads_ss(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;

	return x86->op_count && x86->operands[0].type == X86_OP_REG &&
	       x86->operands[0].reg == X86_REG_SS &&
	       (insn->id == X86_INS_POP ||
		(insn->id == X86_INS_MOV &&
		 x86->operands[1].type == X86_OP_REG));
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
	case X86_INS_SYSCALL: case X86_INS_SYSENTER:
		return INSN_SYSCALL;
	case X86_INS_INT:
		return insn->detail->x86.operands[0].imm == 0x80 ?
		       INSN_SYSCALL : INSN_OTHER;
	default:
		return INSN_OTHER;
	}
}

/*
 * With the prefix 66, processors disagree about the length of a displacement in
 * 64-bit code.
 */
static bool has_vague_length(const cs_insn *insn, bool is64)
{
	return is64 && memchr(insn->bytes, 0x66, insn->size > 2 ?
			      insn->size - 2 : 0) &&
	       expected_kind(insn) == INSN_COND;
}

static void complain(const cs_insn *insn, bool is64, struct insn got)
{
	if (wrong++ >= ERRORS_SHOWN)
		return;
	disassembly_complain(insn, is64);
	print_error(": kind %u length %u, expected %u and %u\n", got.kind,
		    got.length, expected_kind(insn), insn->size);
}

static bool agrees(const cs_insn *insn, struct insn got, bool is64)
{
	return got.kind == expected_kind(insn) &&
	       (!got.length ||
		got.length == insn->size || has_vague_length(insn, is64));
}

static bool is_r11(x86_reg reg)
{
	return reg == X86_REG_R11 || reg == X86_REG_R11D ||
	       reg == X86_REG_R11W || reg == X86_REG_R11B;
}

static bool names_r11(const cs_insn *insn)
{
	const cs_x86 *x86 = &insn->detail->x86;
	int i;

	for (i = 0; i < x86->op_count; i++) {
		const cs_x86_op *operand = &x86->operands[i];

		if (operand->type == X86_OP_REG && is_r11(operand->reg))
			return true;
		if (operand->type == X86_OP_MEM &&
		    (is_r11(operand->mem.base) || is_r11(operand->mem.index)))
			return true;
	}
	return false;
}

/*
 * An instruction that names r11 must never be missed, with few of its bytes or
 * all.
 */
static void compare_r11(const cs_insn *insn, const u8 *bytes, size_t count)
{
	size_t some;

	if (!names_r11(insn)) {
		without_r11++;
		suspected += branch_may_name_r11(bytes, count);
		return;
	}
	for (some = 0; some <= count; some++)
		if (!branch_may_name_r11(bytes, some) &&
		    wrong++ < ERRORS_SHOWN) {
			disassembly_complain(insn, true);
			print_error(": r11, not by %zu bytes\n", some);
		}
}

/*
 * With fewer bytes the result is unknown or right; with all bytes it is right.
 */
static void compare(const cs_insn *insn, const u8 *bytes, size_t count,
		    bool is64)
{
	size_t known = count < LENGTH_MAX ? count : LENGTH_MAX;
	struct insn got = branch_decode(bytes, known, is64);
	struct insn early = branch_decode(bytes, known < USUAL ? known : USUAL,
					  is64);

	compared[is64]++;
	if (is64)
		compare_r11(insn, bytes, known);
	if (!agrees(insn, got, is64))
		complain(insn, is64, got);
	else if (early.kind != INSN_UNKNOWN && !agrees(insn, early, is64))
		complain(insn, is64, early);
}

static void test_programs(void **state)
{
	unsigned int i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		if (!disassembly_program(programs[i], compare))
			fail_msg("there is no %s", programs[i]);
	print_message(
		"# %lu and %lu instructions of 32 and 64 bits, %lu wrong\n",
		compared[0], compared[1], wrong);
	assert_int_equal(wrong, 0);
	assert_true(compared[1] > part(1000000));
	print_message("# %lu of %lu instructions may name r11, and do not\n",
		      suspected, without_r11);
	assert_true(suspected < without_r11 / 10);
}

/* Random bytes, with many prefixes and opcodes of branches. */
static void test_random(void **state)
{
	static const u8 telling[] = {
		0x66, 0x67, 0xf2, 0xf3, 0x2e, 0x48, 0x4f,
		0x0f, 0xff, 0x8e, 0x17, 0x9c, 0x9d, 0xcf,
		0xe3, 0x75, 0xe8, 0xe9, 0xeb, 0xd0, 0x85,
	};

	disassembly_random(1, part(RANDOM_ROUNDS), telling, sizeof(telling),
			   compare, NULL);
	assert_int_equal(wrong, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, disassembly_open,
				      disassembly_close);
}
