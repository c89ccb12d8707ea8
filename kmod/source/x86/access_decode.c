// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loads and stores of x86 instructions (Intel SDM volume 2), by tables of what
 * each opcode does with its memory operand. Only instructions that can be
 * executed are decoded correctly; for others the result does not matter.
 */
#include "access_class.h"
#include "access_decode.h"
#include "access_opcodes.h"
#include "branch_decode.h"

enum { REX_B = 1, REX_X = 2, REX_R = 4, REX_W = 8, REX = 0x40 };

/* The state of decoding one instruction. */
struct decoder {
	const u8 *bytes;
	unsigned int count, at;
	bool is64;
	/* The instruction has more bytes than there are. */
	bool missing;
	bool unknown;
	bool operand16;		/* prefix 66 */
	bool address_cut;	/* prefix 67 */
	bool locked;		/* prefix f0 */
	u8 repeat;		/* the last of prefixes f2 and f3 */
	u8 segment;		/* the last segment prefix */
	u8 rex;			/* REX, or what VEX says of it */
	u8 vector;		/* bytes of a vector */
	u8 map;			/* enum map */
	u8 opcode;
	u8 modrm;
	struct access_operand memory;	/* the operand that ModRM describes */
	struct access_insn *insn;
};

static u8 decode_take_byte(struct decoder *decoder)
{
	if (decoder->at < decoder->count)
		return decoder->bytes[decoder->at++];
	decoder->missing = true;
	return 0;
}

static u64 decode_take_bytes(struct decoder *decoder, unsigned int count)
{
	u64 value = 0;
	unsigned int i;

	for (i = 0; i < count; i++)
		value |= (u64)decode_take_byte(decoder) << 8 * i;
	return value;
}

/* --- sizes ---------------------------------------------------------------- */

static unsigned int decode_operand_size(const struct decoder *decoder)
{
	if (decoder->rex & REX_W)
		return 8;
	return decoder->operand16 ? 2 : 4;
}

static unsigned int decode_stack_size(const struct decoder *decoder)
{
	if (decoder->operand16 && !(decoder->rex & REX_W))
		return 2;
	return decoder->is64 ? 8 : 4;
}

static unsigned int decode_width_bytes(const struct decoder *decoder,
				       unsigned int width)
{
	unsigned int prefix = decoder->repeat == 0xf3 ? 2 :
			      decoder->repeat ? 3 : decoder->operand16;

	if (width >= PX)
		width = by_prefix[width - PX][prefix];
	switch (width) {
	case B:
	case W:
	case D:
	case Q:
	case DQ:
		return 1 << (width - B);
	case V:
		return decode_operand_size(decoder);
	case Y:
		return decoder->is64 && decoder->rex & REX_W ? 8 : 4;
	case FM:
		return decoder->rex & REX_W ? 8 : 4;
	case X:
	case XH:
	case XQ:
	case XE:
		return decoder->vector >> (width - X);
	case XD:
		return decoder->vector == 32 ? 32 : 8;
	}
	return 0;
}

/* --- operands ------------------------------------------------------------- */

static void decode_add_operand(struct decoder *decoder,
			       struct access_operand operand, u8 does,
			       unsigned int width)
{
	struct access_insn *insn = decoder->insn;

	operand.does = does;
	operand.width = width;
	if (width)
		insn->operands[insn->count++] = operand;
	else
		decoder->unknown = true;
}

static void decode_add_mem_op(struct decoder *decoder, u8 does,
			      unsigned int width)
{
	decode_add_operand(decoder, decoder->memory, does, width);
}

static void decode_add_stack(struct decoder *decoder, u8 does, u8 base,
			     s64 distance)
{
	struct access_operand operand = {
		.base = base, .index = ACCESS_NO_REGISTER, .scale = 1,
		.narrow = !decoder->is64, .displacement = distance,
	};

	decode_add_operand(decoder, operand, does, decode_stack_size(decoder));
}

static void decode_add_push(struct decoder *decoder)
{
	decode_add_stack(decoder, ACCESS_STORES, ACCESS_RSP,
			 -(s64)decode_stack_size(decoder));
}

static void decode_add_pop(struct decoder *decoder)
{
	decode_add_stack(decoder, ACCESS_LOADS, ACCESS_RSP, 0);
}

static void decode_add_string(struct decoder *decoder, u8 does, u8 base,
			      u8 segment)
{
	struct access_operand operand = {
		.base = base, .index = ACCESS_NO_REGISTER, .scale = 1,
		.segment = segment,
		.narrow = !decoder->is64 || decoder->address_cut,
	};

	decode_add_operand(decoder, operand, does,
			   decoder->opcode & 1 ?
			   decode_operand_size(decoder) : 1);
}

static bool decode_has_memory(const struct decoder *decoder)
{
	return decoder->modrm < 0xc0;
}

static u8 decode_modrm_field(const struct decoder *decoder)
{
	return decoder->modrm >> 3 & 7;
}

static void decode_take_sib(struct decoder *decoder)
{
	struct access_operand *memory = &decoder->memory;
	u8 sib = decode_take_byte(decoder);

	memory->scale = 1 << (sib >> 6);
	memory->index = (sib >> 3 & 7) | (decoder->rex & REX_X) << 2;
	if (memory->index == ACCESS_RSP) {
		memory->index = ACCESS_NO_REGISTER;
		memory->scale = 1;
	}
	memory->base = (sib & 7) | (decoder->rex & REX_B) << 3;
}

/* Take ModRM, and the memory operand that it describes. */
static void decode_take_modrm(struct decoder *decoder)
{
	struct access_operand *memory = &decoder->memory;
	u8 modrm = decoder->modrm = decode_take_byte(decoder);
	bool sib = (modrm & 7) == 4;

	if (!decode_has_memory(decoder))
		return;
	*memory = (struct access_operand) {
		.segment = decoder->segment,
		.base = (modrm & 7) | (decoder->rex & REX_B) << 3,
		.index = ACCESS_NO_REGISTER,
		.scale = 1,
		.narrow = !decoder->is64 || decoder->address_cut,
	};
	if (!decoder->is64 && decoder->address_cut)
		decoder->unknown = true;	/* 16-bit addresses */
	if (sib)
		decode_take_sib(decoder);
	if (modrm >> 6 == 0 && (memory->base & 7) == ACCESS_RBP) {
		memory->base = sib || !decoder->is64 ? ACCESS_NO_REGISTER :
						       ACCESS_RIP;
		memory->displacement = (s32)decode_take_bytes(decoder, 4);
	} else if (modrm >> 6 == 1) {
		memory->displacement = (s8)decode_take_byte(decoder);
	} else if (modrm >> 6 == 2) {
		memory->displacement = (s32)decode_take_bytes(decoder, 4);
	}
}

static void decode_take_immediate(struct decoder *decoder, u16 entry)
{
	unsigned int size = decode_operand_size(decoder);

	switch (entry & IMMEDIATE) {
	case I8:
		decode_take_bytes(decoder, 1);
		break;
	case I16:
		decode_take_bytes(decoder, 2);
		break;
	case IZ:
		decode_take_bytes(decoder, min(size, 4U));
		break;
	case IV:
		decode_take_bytes(decoder, size);
		break;
	}
}

/* --- groups: the register field is a part of the opcode ------------------- */

static u16 decode_entry_of_group(struct decoder *decoder, u16 entry)
{
	u8 field = decode_modrm_field(decoder);
	u16 immediate = 0;
	const u8 *group;

	switch (decoder->opcode) {
	case 0xba:
		group = group8;
		break;
	case 0xc6:
	case 0xc7:
		group = group11;
		break;
	case 0xf6:
	case 0xf7:
		group = group3;
		if (field < 2)	/* test */
			immediate = decoder->opcode & 1 ? IZ : I8;
		break;
	case 0xfe:
		group = group4;
		break;
	default:
		group = group1;
	}
	return entry | immediate | group[field];
}

/* --- what fits into no table ---------------------------------------------- */

static void decode_string(struct decoder *decoder)
{
	decoder->insn->repeats = decoder->repeat;
	switch (decoder->opcode & ~1) {
	case 0xa4:	/* movs */
		decode_add_string(decoder, ACCESS_LOADS, ACCESS_RSI,
				  decoder->segment);
		decode_add_string(decoder, ACCESS_STORES, ACCESS_RDI,
				  ACCESS_FLAT);
		break;
	case 0xa6:	/* cmps */
		decode_add_string(decoder, ACCESS_LOADS, ACCESS_RSI,
				  decoder->segment);
		decode_add_string(decoder, ACCESS_LOADS, ACCESS_RDI,
				  ACCESS_FLAT);
		break;
	case 0xaa:	/* stos */
		decode_add_string(decoder, ACCESS_STORES, ACCESS_RDI,
				  ACCESS_FLAT);
		break;
	case 0xac:	/* lods */
		decode_add_string(decoder, ACCESS_LOADS, ACCESS_RSI,
				  decoder->segment);
		break;
	case 0xae:	/* scas */
		decode_add_string(decoder, ACCESS_LOADS, ACCESS_RDI,
				  ACCESS_FLAT);
		break;
	}
}

/* mov between the accumulator and an address in the instruction */
static void decode_moffs(struct decoder *decoder)
{
	bool cut = !decoder->is64 || decoder->address_cut;
	bool stores = decoder->opcode & 2;

	if (!decoder->is64 && decoder->address_cut)
		decoder->unknown = true;
	decoder->memory = (struct access_operand) {
		.segment = decoder->segment,
		.base = ACCESS_NO_REGISTER,
		.index = ACCESS_NO_REGISTER,
		.scale = 1,
		.narrow = cut,
		.displacement = decode_take_bytes(decoder, cut ? 4 : 8),
	};
	decode_add_mem_op(decoder, stores ? ACCESS_STORES : ACCESS_LOADS,
			  decoder->opcode & 1 ?
			  decode_operand_size(decoder) : 1);
	if (!stores)
		decoder->insn->target = ACCESS_RAX;
}

/* Processors differ in what 66 does to near branches in 64-bit code. */
static void decode_check_branch(struct decoder *decoder)
{
	if (decode_stack_size(decoder) == 2)
		decoder->unknown = true;
}

/* ff: inc, dec, call, jmp and push */
static void decode_group5(struct decoder *decoder)
{
	u8 field = decode_modrm_field(decoder);
	u8 does = group5[field];

	if (!does) {
		decoder->unknown = true;
		return;
	}
	if (field == 2 || field == 4)
		decode_check_branch(decoder);
	if (decode_has_memory(decoder))
		decode_add_mem_op(decoder, does >> 5,
				  field < 2 ? decode_operand_size(decoder) :
					      decode_stack_size(decoder));
	if (field == 2 || field == 6)
		decode_add_push(decoder);
}

static void decode_x87(struct decoder *decoder)
{
	u8 entry = x87[decoder->opcode & 7][decode_modrm_field(decoder)];
	unsigned int width = entry & WIDTH_MASK;

	if (!decode_has_memory(decoder))
		return;
	if (entry)
		decode_add_mem_op(decoder, entry >> 5,
				  width ?
				  decode_width_bytes(decoder, width) : 10);
	else
		decoder->unknown = true;
}

/* 8f: the address is computed after rsp was changed */
static void decode_pop(struct decoder *decoder)
{
	if (decode_modrm_field(decoder)) {
		decoder->unknown = true;	/* XOP */
		return;
	}
	decode_add_pop(decoder);
	if (!decode_has_memory(decoder))
		decoder->insn->target = (decoder->modrm & 7) |
					(decoder->rex & REX_B) << 3;
	else if (decoder->memory.base == ACCESS_RSP)
		decoder->memory.displacement += decode_stack_size(decoder);
	if (decode_has_memory(decoder))
		decode_add_mem_op(decoder, ACCESS_STORES,
				  decode_stack_size(decoder));
}

static void decode_movsxd(struct decoder *decoder)
{
	if (!decoder->is64) {
		decoder->unknown |= decode_has_memory(decoder); /* arpl */
	} else if (decode_has_memory(decoder)) {
		decode_add_mem_op(decoder, ACCESS_LOADS,
				  min(decode_operand_size(decoder), 4U));
		decoder->insn->target = decode_modrm_field(decoder) |
					(decoder->rex & REX_R) << 1;
	}
}

static void decode_odd_one_byte(struct decoder *decoder)
{
	switch (decoder->opcode) {
	case 0x58 ... 0x5f:
		decoder->insn->target = (decoder->opcode & 7) |
					(decoder->rex & REX_B) << 3;
		decode_add_pop(decoder);
		break;
	case 0x9d:
		decode_add_pop(decoder);
		break;
	case 0x50 ... 0x57:
	case 0x68:
	case 0x6a:
	case 0x9c:
		decode_add_push(decoder);
		break;
	case 0x63:
		decode_movsxd(decoder);
		break;
	case 0x8f:
		decode_pop(decoder);
		break;
	case 0xa0 ... 0xa3:
		decode_moffs(decoder);
		break;
	case 0xc2:
	case 0xc3:
		decode_check_branch(decoder);
		decode_add_pop(decoder);
		break;
	case 0xc9:
		decode_add_stack(decoder, ACCESS_LOADS, ACCESS_RBP, 0);
		break;
	case 0xd8 ... 0xdf:
		decode_x87(decoder);
		break;
	case 0xe8:
		decode_check_branch(decoder);
		decode_add_push(decoder);
		break;
	case 0xe9:
		decode_check_branch(decoder);
		break;
	case 0xff:
		decode_group5(decoder);
		break;
	default:
		decode_string(decoder);
	}
}

/* Saved states are not known, except mxcsr. Flushes access nothing. */
static void decode_group15(struct decoder *decoder)
{
	u8 field = decode_modrm_field(decoder);

	if (!decode_has_memory(decoder) || (field == 7 && !decoder->repeat))
		return;
	if (field == 6 && decoder->operand16 && !decoder->repeat)
		return;
	if ((field != 2 && field != 3) || decoder->repeat || decoder->operand16)
		decoder->unknown = true;
	else
		decode_add_mem_op(decoder,
				  field == 2 ? ACCESS_LOADS : ACCESS_STORES, 4);
}

static void decode_odd_two_bytes(struct decoder *decoder)
{
	switch (decoder->opcode) {
	case 0x7e:	/* movd, movq */
		if (decode_has_memory(decoder))
			decode_add_mem_op(decoder,
					  decoder->repeat ?
					  ACCESS_LOADS : ACCESS_STORES,
					  decode_width_bytes(decoder, P7E));
		break;
	case 0x80 ... 0x8f:
		decode_check_branch(decoder);
		break;
	case 0xa0:
	case 0xa8:
		decode_add_push(decoder);
		break;
	case 0xa1:
	case 0xa9:
		decode_add_pop(decoder);
		break;
	case 0xae:
		decode_group15(decoder);
		break;
	case 0xc7:	/* cmpxchg8b, or registers */
		if (!decode_has_memory(decoder))
			break;
		if (decode_modrm_field(decoder) == 1)
			decode_add_mem_op(decoder, ACCESS_LOADS | ACCESS_STORES,
					  decoder->rex & REX_W ? 16 : 8);
		else
			decoder->unknown = true;
		break;
	}
}

static void decode_odd(struct decoder *decoder)
{
	if (decoder->map == ONE_BYTE)
		decode_odd_one_byte(decoder);
	else if (decoder->map == MAP_0F)
		decode_odd_two_bytes(decoder);
	else if (decode_has_memory(decoder)) /* movbe, crc32 */
		decode_add_mem_op(decoder, decoder->repeat ?
				  ACCESS_LOADS : ACCESS_STORES,
				  decode_width_bytes(decoder, PF1));
}

/* --- the whole instruction ------------------------------------------------ */

/*
 * mov, movzx, movsx: a register has what was loaded. ah to dh are parts of one.
 */
static void decode_set_target(struct decoder *decoder)
{
	u8 target = decode_modrm_field(decoder) | (decoder->rex & REX_R) << 1;

	if (decoder->map == ONE_BYTE && decoder->opcode == 0x8a &&
	    !decoder->rex && target >= 4)
		return;
	decoder->insn->target = target;
}

static void decode_operand(struct decoder *decoder, u16 entry)
{
	if (!decode_has_memory(decoder))
		return;
	if ((entry & NOMEM) == NOMEM) {
		decoder->unknown = true;
		return;
	}
	if (!(entry & RW)) {
		/* a member that does not exist, or lea, nop, prefetch */
		decoder->unknown |= (entry & GROUP) == GROUP;
		return;
	}
	decode_add_mem_op(decoder, (entry & RW) >> 5,
			  decode_width_bytes(decoder, entry & WIDTH_MASK));
	if ((entry & TO) == TO)
		decode_set_target(decoder);
}

static void decode_opcode(struct decoder *decoder, u16 entry)
{
	if (!entry) {
		decoder->unknown = true;
		return;
	}
	if (entry & M)
		decode_take_modrm(decoder);
	if ((entry & GROUP) == GROUP)
		entry = decode_entry_of_group(decoder, entry);
	if (entry & ODD)
		decode_odd(decoder);
	else if (entry & M)
		decode_operand(decoder, entry);
	decode_take_immediate(decoder, entry);
}

/* Take prefixes. Return the first byte of the opcode. */
static u8 decode_take_prefixes(struct decoder *decoder)
{
	for (;;) {
		u8 byte = decode_take_byte(decoder);

		switch (byte) {
		case 0x40 ... 0x4f:
			if (!decoder->is64)
				return byte;
			decoder->rex = byte;
			continue;
		case 0x66:
			decoder->operand16 = true;
			break;
		case 0x67:
			decoder->address_cut = true;
			break;
		case 0x64:
			decoder->segment = ACCESS_FS;
			break;
		case 0x65:
			decoder->segment = ACCESS_GS;
			break;
		case 0x26:
		case 0x2e:
		case 0x36:
		case 0x3e:
			/*
			 * Other segments are flat. 64-bit code ignores these.
			 */
			if (!decoder->is64)
				decoder->segment = ACCESS_FLAT;
			break;
		case 0xf0:
			decoder->locked = true;
			break;
		case 0xf2:
		case 0xf3:
			decoder->repeat = byte;
			break;
		default:
			return byte;
		}
		decoder->rex = 0;	/* REX only counts directly before the
					 * opcode */
	}
}

/*
 * Return true for opcodes that mean the same with VEX. Others of map 0f are
 * those of masks.
 */
static bool decode_is_vector_opcode(const struct decoder *decoder)
{
	u8 opcode = decoder->opcode;

	if (decoder->map != MAP_0F)
		return true;
	return opcode >= 0x10 && opcode != 0xc7 && opcode != 0xc3 &&
	       (opcode < 0x40 || opcode >= 0x50) &&
	       (opcode < 0x80 || opcode >= 0xc0 || opcode == 0xae);
}

/* @first: c4, or c5, which is one byte shorter */
static void decode_take_vex(struct decoder *decoder, u8 first)
{
	static const u8 repeat[4] = { 0, 0, 0xf3, 0xf2 };
	u8 byte = decode_take_byte(decoder), map = MAP_0F;
	u8 rex = ~byte >> 5 & REX_R;

	if (decoder->rex || decoder->operand16 || decoder->repeat)
		decoder->unknown = true;
	if (first == 0xc4) {
		rex = ~byte >> 5 & (REX_R | REX_X | REX_B);
		map = byte & 31;
		byte = decode_take_byte(decoder);
		rex |= byte >> 4 & REX_W;
	}
	decoder->rex = decoder->is64 ? rex : rex & REX_W;
	decoder->vector = byte & 4 ? 32 : 16;
	decoder->operand16 = (byte & 3) == 1;
	decoder->repeat = repeat[byte & 3];
	decoder->map = map;
	decoder->opcode = decode_take_byte(decoder);
	if (!map || map > MAP_0F3A || !decode_is_vector_opcode(decoder))
		decoder->unknown = true;
}

/* c4 and c5 may be lds and les in 32-bit code. */
static bool decode_is_vex(const struct decoder *decoder, u8 first)
{
	return (first == 0xc4 || first == 0xc5) &&
	       (decoder->is64 || (decoder->at < decoder->count &&
				  decoder->bytes[decoder->at] >= 0xc0));
}

static void decode_take_opcode(struct decoder *decoder)
{
	u8 byte = decode_take_prefixes(decoder);

	if (decode_is_vex(decoder, byte)) {
		decode_take_vex(decoder, byte);
		return;
	}
	if (byte == 0x0f) {
		byte = decode_take_byte(decoder);
		decoder->map = byte == 0x38 ? MAP_0F38 :
			       byte == 0x3a ? MAP_0F3A : MAP_0F;
		if (decoder->map != MAP_0F)
			byte = decode_take_byte(decoder);
	}
	decoder->opcode = byte;
}

/* Return the class of an instruction that accesses memory. */
static u8 decode_class(const struct decoder *decoder)
{
	u8 class = access_classes[decoder->map][decoder->opcode];

	if (decoder->locked)
		return HWPROF_CLASS_ATOMIC;
	if (class == CLASS_OF_GROUP5)
		return group5_classes[decode_modrm_field(decoder)];
	if (class == CLASS_OF_MOVBE)
		return decoder->repeat == 0xf2 ? HWPROF_CLASS_ARITHMETIC :
						 HWPROF_CLASS_MOVE;
	return class;
}

void access_decode(struct access_insn *insn, const u8 *bytes,
		   unsigned int count, bool is64)
{
	static const u16 *const maps[] = {
		[ONE_BYTE] = one_byte, [MAP_0F] = map_0f,
		[MAP_0F38] = map_0f38, [MAP_0F3A] = map_0f3a,
	};
	struct decoder decoder = {
		.bytes = bytes, .count = min(count, (unsigned int)INSN_MAX),
		.is64 = is64, .vector = 16, .insn = insn,
	};
	u16 entry;

	insn->count = 0;
	insn->repeats = false;
	insn->target = ACCESS_NO_REGISTER;
	decode_take_opcode(&decoder);
	if (!decoder.missing && !decoder.unknown) {
		entry = maps[decoder.map][decoder.opcode];
		if (decoder.map == MAP_0F3A && entry)
			entry |= I8;
		decode_opcode(&decoder, entry);
		insn->class = decode_class(&decoder);
	}
	insn->length = decoder.at;
	insn->state = decoder.missing && count < INSN_MAX ? ACCESS_SHORT :
		      decoder.missing || decoder.unknown ? ACCESS_UNKNOWN :
							   ACCESS_DECODED;
}
