// SPDX-License-Identifier: GPL-2.0-only
/*
 * Compares loads and stores of instructions with capstone: all of eleven of
 * Debian's programs and libraries, and random bytes. Length, class, operands,
 * their widths and their use must agree. Exceptions are few: instructions that
 * are not decoded, those that capstone gets wrong, and bytes that are no
 * instruction for capstone but are decoded.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <linux/hwprof.h>
#include <stdio.h>
#include <string.h>

#include "disassembly.h"
#include "seeds.h"
#include "source/x86/access_decode.h"

enum {
	RANDOM_ROUNDS	= 3000000,
	PROGRAM_LEAST	= 10000,	/* instructions */
	INSTRUCTIONS_LEAST = 7000000,	/* the same of all programs */
	UNKNOWN_MOST	= 200,	/* one in that many instructions */

	/* Percent; measured are 9.7, 3.2 and 24.8. */
	RANDOM_UNKNOWN	= 11,
	RANDOM_CONFUSING = 4,
	RANDOM_MADE_UP	= 27,
};

static const char *const programs[] = {
	"/bin/bash", "/usr/bin/perl", "/usr/bin/gcc", "/usr/bin/make",
	"/usr/bin/python3.11", "/usr/lib/gcc/x86_64-linux-gnu/12/cc1",
	"/lib/x86_64-linux-gnu/libc.so.6", "/lib/x86_64-linux-gnu/libm.so.6",
	"/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
	"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/lib32/libc.so.6",
};

/* The result to be expected. */
struct expected {
	unsigned int class;
	unsigned int count;
	struct access_operand operands[3];
};

static struct {
	unsigned long instructions, unknown, confusing, wrong;
	unsigned long none, made_up;	/* no instruction; decoded all the
					 * same */
} seen;

static u8 register_number(x86_reg reg)
{
	static const x86_reg names[][3] = {
		{ X86_REG_RAX, X86_REG_EAX, X86_REG_AX },
		{ X86_REG_RCX, X86_REG_ECX, X86_REG_CX },
		{ X86_REG_RDX, X86_REG_EDX, X86_REG_DX },
		{ X86_REG_RBX, X86_REG_EBX, X86_REG_BX },
		{ X86_REG_RSP, X86_REG_ESP, X86_REG_SP },
		{ X86_REG_RBP, X86_REG_EBP, X86_REG_BP },
		{ X86_REG_RSI, X86_REG_ESI, X86_REG_SI },
		{ X86_REG_RDI, X86_REG_EDI, X86_REG_DI },
		{ X86_REG_R8, X86_REG_R8D, X86_REG_R8W },
		{ X86_REG_R9, X86_REG_R9D, X86_REG_R9W },
		{ X86_REG_R10, X86_REG_R10D, X86_REG_R10W },
		{ X86_REG_R11, X86_REG_R11D, X86_REG_R11W },
		{ X86_REG_R12, X86_REG_R12D, X86_REG_R12W },
		{ X86_REG_R13, X86_REG_R13D, X86_REG_R13W },
		{ X86_REG_R14, X86_REG_R14D, X86_REG_R14W },
		{ X86_REG_R15, X86_REG_R15D, X86_REG_R15W },
		{ X86_REG_RIP, X86_REG_EIP, X86_REG_IP },
	};
	u8 i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (reg == names[i][0] || reg == names[i][1] ||
		    reg == names[i][2])
			return i;
	return ACCESS_NO_REGISTER;
}

static bool is_narrow(const cs_insn *insn, bool is64)
{
	return !is64 || insn->detail->x86.addr_size < 8;
}

/* --- use of the first operand, by name of the instruction --- */

static bool is_one_of(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (!strcmp(name, *names))
			return true;
	return false;
}

static bool starts_as_one_of(const char *name, const char *const *starts)
{
	for (; *starts; starts++)
		if (!strncmp(name, *starts, strlen(*starts)))
			return true;
	return false;
}

static u8 does(const char *name, unsigned int operand)
{
	static const char *const both[] = {
		"add", "or", "adc", "sbb", "and", "sub", "xor", "inc", "dec",
		"not", "neg", "rol", "ror", "rcl", "rcr", "shl", "shr", "sar",
		"sal", "xchg", "xadd", "cmpxchg", "cmpxchg8b", "cmpxchg16b",
		"bts", "btr", "btc", "shld", "shrd", NULL
	};
	static const char *const stores[] = {
		"mov", "vmov", "set", "stos", "fst", "fist", "fisttp", "fbstp",
		"fnst", "stmxcsr", "vstmxcsr", "pop", "pextr", "vpextr",
		"extractps", "vextract", "vcvtps2ph", NULL
	};

	if (operand)
		return ACCESS_LOADS;
	if (is_one_of(name, both))
		return ACCESS_LOADS | ACCESS_STORES;
	if (!strcmp(name, "popcnt") || !starts_as_one_of(name, stores))
		return ACCESS_LOADS;
	return ACCESS_STORES;
}

/* --- what capstone 4.0 gets wrong ----------------------------------------- */

/* The manual's widths, where capstone's are wrong. */
static u8 width(const cs_insn *insn, const cs_x86_op *op)
{
	switch (insn->id) {
	case X86_INS_COMISS: case X86_INS_VCOMISS:
	case X86_INS_UCOMISS: case X86_INS_VUCOMISS:
		return 4;
	case X86_INS_COMISD: case X86_INS_VCOMISD:
	case X86_INS_UCOMISD: case X86_INS_VUCOMISD:
		return 8;
	case X86_INS_PUNPCKLBW: case X86_INS_PUNPCKLWD: case X86_INS_PUNPCKLDQ:
		return op->size == 8 ? 4 : op->size; /* MMX: half a register */
	case X86_INS_FNSTSW:
		return 2;
	case X86_INS_MOVSXD:	/* ignores the prefix 66 */
		return insn->detail->x86.prefix[2] == 0x66 &&
		       !(insn->detail->x86.rex & 8) ? 2 : 4;
	}
	return op->size;
}

static bool is_legacy_prefix(u8 byte)
{
	return (byte & 0xe7) == 0x26 || (byte >= 0x64 && byte <= 0x67) ||
	       byte == 0xf0 || byte == 0xf2 || byte == 0xf3;
}

/*
 * Prefixes that capstone is confused by; processors are not, but nobody makes
 * such instructions:
 * - several of 66, f2, f3, or one of these with another prefix: only the last
 *   one counts for it, and operands come out as of different widths;
 * - several segments: in 64-bit code, all but fs and gs are ignored (AMD64
 *   manual, volume 3, 1.2.4), where it takes the last one;
 * - prefixes behind REX, which turn that into nothing;
 * - REX.W with 67, which makes 16 bits of it, or with 66 before an opcode that
 *   66 is not a part of: REX.W decides.
 */
static bool is_confusing(const cs_insn *insn, bool is64)
{
	u8 prefix = 0, rex = 0;
	unsigned int i;

	for (i = 0; i < insn->size; i++) {
		u8 byte = insn->bytes[i];

		if (is64 && byte >> 4 == 4) {
			if (rex)
				return true;
			rex = byte;
		} else if (is_legacy_prefix(byte)) {
			if (rex || prefix)
				return true;
			prefix = byte;
		} else {
			break;
		}
	}
	return rex & 8 && (prefix == 0x67 || (prefix == 0x66 &&
					      insn->bytes[i] != 0x0f));
}

/* --- what is to be expected ----------------------------------------------- */

static struct access_operand operand_of(const cs_insn *insn, unsigned int i,
					bool is64)
{
	const cs_x86_op *op = &insn->detail->x86.operands[i];
	const x86_op_mem *mem = &op->mem;
	struct access_operand operand = {
		.does = does(disassembly_name(insn), i),
		.width = width(insn, op),
		.segment = mem->segment == X86_REG_FS ? ACCESS_FS :
			   mem->segment == X86_REG_GS ? ACCESS_GS : ACCESS_FLAT,
		.base = register_number(mem->base),
		.index = register_number(mem->index),
		.scale = mem->index == X86_REG_INVALID ? 1 : mem->scale,
		.narrow = is_narrow(insn, is64),
		.displacement = mem->disp,
	};

	/* SDM, pop: uses the stack pointer after the pop */
	if (insn->id == X86_INS_POP && operand.base == ACCESS_RSP)
		operand.displacement += op->size;
	return operand;
}

/*
 * Returns true for instructions that do not access the operand that capstone
 * shows.
 */
static bool accesses_nothing(unsigned int id)
{
	switch (id) {
	case X86_INS_LEA:
	case X86_INS_NOP:
	case X86_INS_PREFETCH:
	case X86_INS_PREFETCHNTA:
	case X86_INS_PREFETCHT0:
	case X86_INS_PREFETCHT1:
	case X86_INS_PREFETCHT2:
	case X86_INS_PREFETCHW:
	case X86_INS_CLFLUSH:
	case X86_INS_CLFLUSHOPT:
	case X86_INS_CLWB:
		return true;
	}
	return false;
}

/* Implicit uses of the stack. */
enum { POPS = 1, PUSHES = 2, LEAVES = 3 };

static int stack_use(unsigned int id)
{
	switch (id) {
	case X86_INS_PUSH:
	case X86_INS_PUSHF: case X86_INS_PUSHFD: case X86_INS_PUSHFQ:
	case X86_INS_CALL:
		return PUSHES;
	case X86_INS_POP:
	case X86_INS_POPF: case X86_INS_POPFD: case X86_INS_POPFQ:
	case X86_INS_RET:
		return POPS;
	case X86_INS_LEAVE:
		return LEAVES;
	}
	return 0;
}

static struct access_operand stack_operand(const cs_insn *insn, int use,
					   bool is64)
{
	const cs_x86 *x86 = &insn->detail->x86;
	bool narrow = x86->prefix[2] == 0x66 && !(x86->rex & 8);
	u8 width = narrow ? 2 : is64 ? 8 : 4;

	return (struct access_operand) {
		.does = use == PUSHES ? ACCESS_STORES : ACCESS_LOADS,
		.width = width,
		.base = use == LEAVES ? ACCESS_RBP : ACCESS_RSP,
		.index = ACCESS_NO_REGISTER,
		.scale = 1,
		.narrow = !is64,
		.displacement = use == PUSHES ? -width : 0,
	};
}

/* Returns true for registers of vectors and of x87. */
static bool is_vector(x86_reg reg)
{
	return (reg >= X86_REG_XMM0 && reg <= X86_REG_ZMM31) ||
	       (reg >= X86_REG_MM0 && reg <= X86_REG_MM7) ||
	       (reg >= X86_REG_ST0 && reg <= X86_REG_ST7);
}

static bool has_vector(const cs_insn *insn)
{
	static const char *const starts[] = {
		"f", "cvt", "vcvt", "ldmxcsr", "stmxcsr", "vldmxcsr",
		"vstmxcsr", NULL
	};
	const cs_x86 *x86 = &insn->detail->x86;
	int i;

	for (i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_REG &&
		    is_vector(x86->operands[i].reg))
			return true;
	return starts_as_one_of(disassembly_name(insn), starts);
}

/* Returns true for an instruction that accesses what rsi or rdi point to. */
static bool is_string(const cs_insn *insn)
{
	static const char *const starts[] = {
		"movs", "cmps", "stos", "lods", "scas", NULL
	};
	const char *name = disassembly_name(insn);

	return starts_as_one_of(name, starts) && strlen(name) == 5 &&
	       strchr("bwdq", name[4]) && insn->detail->x86.opcode[0] >= 0xa4 &&
	       insn->detail->x86.opcode[0] <= 0xaf;
}

/* The class that an instruction has by its name and registers. */
static unsigned int class_of(const cs_insn *insn)
{
	static const char *const moves[] = { "mov", "cmov", "set", NULL };
	static const char *const branches[] = { "call", "ret", "jmp", NULL };
	static const char *const stack[] = { "push", "pop", "leave", NULL };
	const char *name = disassembly_name(insn);

	if (insn->detail->x86.prefix[0] == 0xf0 || insn->id == X86_INS_XCHG)
		return HWPROF_CLASS_ATOMIC;
	if (starts_as_one_of(name, branches))
		return HWPROF_CLASS_BRANCH;
	if (insn->id != X86_INS_POPCNT && starts_as_one_of(name, stack))
		return HWPROF_CLASS_STACK;
	if (is_string(insn))
		return HWPROF_CLASS_STRING;
	if (has_vector(insn))
		return HWPROF_CLASS_VECTOR;
	return starts_as_one_of(name, moves) ? HWPROF_CLASS_MOVE :
					       HWPROF_CLASS_ARITHMETIC;
}

static void expect(struct expected *expected, const cs_insn *insn, bool is64)
{
	const cs_x86 *x86 = &insn->detail->x86;
	int use = stack_use(insn->id), i;

	expected->count = 0;
	expected->class = class_of(insn);
	if (accesses_nothing(insn->id))
		return;
	if (use)
		expected->operands[expected->count++] =
			stack_operand(insn, use, is64);
	for (i = 0; i < x86->op_count; i++)
		if (x86->operands[i].type == X86_OP_MEM)
			expected->operands[expected->count++] =
				operand_of(insn, i, is64);
}

static bool same_address(const struct access_operand *a,
			 const struct access_operand *b)
{
	return a->segment == b->segment && a->base == b->base &&
	       a->index == b->index && a->scale == b->scale &&
	       a->narrow == b->narrow &&
	       (a->narrow ? (u32)a->displacement == (u32)b->displacement :
			    a->displacement == b->displacement);
}

static bool same_operands(const struct access_insn *got,
			  const struct expected *expected)
{
	unsigned int i, j;

	if (got->count != expected->count)
		return false;
	for (i = 0; i < got->count; i++) {
		const struct access_operand *operand = &got->operands[i];

		for (j = 0; j < expected->count; j++)
			if (same_address(operand, &expected->operands[j]) &&
			    operand->width == expected->operands[j].width &&
			    operand->does == expected->operands[j].does)
				break;
		if (j == expected->count)
			return false;
	}
	return true;
}

static void print_operands(const struct access_operand *operands,
			   unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		print_error(" [%u: %u + %u * %u + %lld%s, %u bytes, does %u]",
			    operands[i].segment, operands[i].base,
			    operands[i].index, operands[i].scale,
			    (long long)operands[i].displacement,
			    operands[i].narrow ? " narrow" : "",
			    operands[i].width, operands[i].does);
}

static void complain(const cs_insn *insn, bool is64,
		     const struct access_insn *got,
		     const struct expected *expected)
{
	static bool shown[X86_INS_ENDING];	/* one of each is enough */

	seen.wrong++;
	if (shown[insn->id])
		return;
	shown[insn->id] = true;
	disassembly_complain(insn, is64);
	print_error(": length %u, class %u", got->length, got->class);
	print_operands(got->operands, got->count);
	print_error(", expected class %u", expected->class);
	print_operands(expected->operands, expected->count);
	print_error("\n");
}

static void compare(const cs_insn *insn, const u8 *bytes, size_t count,
		    bool is64)
{
	struct expected expected;
	struct access_insn got, early;

	seen.instructions++;
	access_decode(&got, bytes, count < LENGTH_MAX ? count : LENGTH_MAX,
		      is64);
	if (got.state != ACCESS_DECODED) {
		seen.unknown++;
		return;
	}
	if (insn->id != X86_INS_NOP && is_confusing(insn, is64)) {
		seen.confusing++;
		return;
	}
	expect(&expected, insn, is64);
	/* An incomplete instruction must never be decoded. */
	access_decode(&early, bytes, insn->size - 1, is64);
	if (early.state == ACCESS_DECODED)
		complain(insn, is64, &early, &expected);
	if (got.length != insn->size || !same_operands(&got, &expected) ||
	    (got.count && got.class != expected.class))
		complain(insn, is64, &got, &expected);
}

/*
 * Bytes that are no instruction never run, so they may be decoded as anything.
 * The decoder must neither ask for more bytes than there are nor take more.
 */
static void compare_none(const u8 *bytes, size_t count, bool is64)
{
	struct access_insn got;
	unsigned int i;

	seen.none++;
	access_decode(&got, bytes, count, is64);
	assert_int_not_equal(got.state, ACCESS_SHORT);
	if (got.state != ACCESS_DECODED)
		return;
	seen.made_up++;
	assert_in_range(got.length, 1, count);
	assert_in_range(got.count, 0, 2);
	for (i = 0; i < got.count; i++)
		assert_int_not_equal(got.operands[i].width, 0);
}

static void compare_program(const char *path)
{
	memset(&seen, 0, sizeof(seen));
	if (!disassembly_program(path, compare))
		fail_msg("there is no %s", path);
	print_message("# %s: %lu instructions, %lu not decoded (%.3f %%), %lu not compared\n",
		      path, seen.instructions, seen.unknown,
		      100.0 * seen.unknown / seen.instructions, seen.confusing);
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.instructions >= PROGRAM_LEAST);
	assert_true(seen.confusing <= seen.instructions / 100);
}

/*
 * All of these belong to Debian 12 with the packages for building and checking.
 */
static void test_programs(void **state)
{
	unsigned long instructions = 0, unknown = 0;
	unsigned int i;

	for (i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
		compare_program(programs[i]);
		instructions += seen.instructions;
		unknown += seen.unknown;
	}
	assert_true(instructions > part(INSTRUCTIONS_LEAST));
	assert_true(unknown <= instructions / UNKNOWN_MOST);
}

static void assert_at_most(unsigned long part, unsigned int percent,
			   unsigned long whole)
{
	assert_true(100 * part <= percent * whole);
}

static void test_random(void **state)
{
	static const u8 telling[] = {
		0x66, 0x67, 0xf2, 0xf3, 0x64, 0x48, 0x4f, 0x41,
		0x0f, 0x38, 0x3a, 0xc4, 0xc5, 0x05, 0x04, 0x44,
		0x84, 0xff, 0xf7, 0x80, 0xa4, 0xa6,
	};

	const unsigned int rounds = part(RANDOM_ROUNDS);

	memset(&seen, 0, sizeof(seen));
	disassembly_random(2, rounds, telling, sizeof(telling), compare,
			   compare_none);
	print_message("# %lu instructions, %lu not decoded, %lu not compared; of %lu that are none, %lu decoded\n",
		      seen.instructions, seen.unknown, seen.confusing,
		      seen.none, seen.made_up);
	assert_int_equal(seen.wrong, 0);
	assert_true(seen.instructions > rounds / 2);
	assert_at_most(seen.unknown, RANDOM_UNKNOWN, seen.instructions);
	assert_at_most(seen.confusing, RANDOM_CONFUSING, seen.instructions);
	assert_at_most(seen.made_up, RANDOM_MADE_UP, seen.none);
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
