// SPDX-License-Identifier: LGPL-2.1-or-later
#include <capstone/capstone.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "decode.h"
#include "base/late.h"

const char unknown_instruction[] =
	"code with an instruction that capstone does not know";

struct machine {
	unsigned int number;		/* EM_* */
	cs_arch arch;
	cs_mode mode;
	enum ending (*ending)(const cs_insn *insn, uint64_t *target);
};

/* The decoder of one machine. */
struct decode {
	const struct machine *machine;
	csh engine;
	cs_insn *insn;			/* NULL: not opened yet */
};

/* The functions of capstone. */
static struct {
	__typeof__(&cs_open) open;
	__typeof__(&cs_close) close;
	__typeof__(&cs_option) option;
	__typeof__(&cs_malloc) malloc;
	__typeof__(&cs_free) free;
	__typeof__(&cs_disasm_iter) next;
} capstone;

/* Returns true if capstone is there, and does what this code was made for. */
static bool load_capstone(void)
{
	void *library;

	if (capstone.next)
		return true;
	library = dlopen(LATE_NAME("libcapstone", CS_API_MAJOR), RTLD_NOW);
	return library && LATE_FIND(library, capstone.open, "cs_open") &&
	       LATE_FIND(library, capstone.close, "cs_close") &&
	       LATE_FIND(library, capstone.option, "cs_option") &&
	       LATE_FIND(library, capstone.malloc, "cs_malloc") &&
	       LATE_FIND(library, capstone.free, "cs_free") &&
	       LATE_FIND(library, capstone.next, "cs_disasm_iter");
}

/* --- x86 ------------------------------------------------------------------ */

static bool in_group(const cs_insn *insn, uint8_t group)
{
	unsigned int i;

	for (i = 0; i < insn->detail->groups_count; i++)
		if (insn->detail->groups[i] == group)
			return true;
	return false;
}

static enum ending x86_ending(const cs_insn *insn, uint64_t *target)
{
	const cs_x86 *x86 = &insn->detail->x86;
	bool direct = x86->op_count == 1 &&
		      x86->operands[0].type == X86_OP_IMM;

	switch (insn->id) {
	/* They return, but no procedure is called. */
	case X86_INS_SYSCALL:
	case X86_INS_SYSENTER:
		return ENDING_NONE;
	case X86_INS_UD2:
	case X86_INS_HLT:
		return ENDING_STOP;
	}
	if (in_group(insn, CS_GRP_RET) || in_group(insn, CS_GRP_IRET))
		return ENDING_RETURN;
	if (in_group(insn, CS_GRP_CALL)) {
		*target = direct ? (uint64_t)x86->operands[0].imm : 0;
		return ENDING_CALL;
	}
	if (!in_group(insn, CS_GRP_JUMP) &&
	    !in_group(insn, CS_GRP_BRANCH_RELATIVE))
		return ENDING_NONE;
	*target = direct ? (uint64_t)x86->operands[0].imm : 0;
	if (insn->id != X86_INS_JMP && insn->id != X86_INS_LJMP)
		return ENDING_COND;
	return direct ? ENDING_JUMP : ENDING_INDIRECT;
}

/* --- arm64 ---------------------------------------------------------------- */

/* Takes the target of a direct jump, which is the last operand. */
static enum ending direct(const cs_insn *insn, enum ending ending,
			  uint64_t *target)
{
	const cs_arm64 *arm64 = &insn->detail->arm64;

	*target = arm64->operands[arm64->op_count - 1].imm;
	return ending;
}

static enum ending arm64_ending(const cs_insn *insn, uint64_t *target)
{
	const cs_arm64 *arm64 = &insn->detail->arm64;
	bool always = arm64->cc == ARM64_CC_INVALID ||
		      arm64->cc == ARM64_CC_AL || arm64->cc == ARM64_CC_NV;

	switch (insn->id) {
	case ARM64_INS_B:
		return direct(insn, always ? ENDING_JUMP : ENDING_COND, target);
	case ARM64_INS_CBZ:
	case ARM64_INS_CBNZ:
	case ARM64_INS_TBZ:
	case ARM64_INS_TBNZ:
		return direct(insn, ENDING_COND, target);
	case ARM64_INS_BL:
		return direct(insn, ENDING_CALL, target);
	case ARM64_INS_BLR:
		return ENDING_CALL;
	case ARM64_INS_BR:
		return ENDING_INDIRECT;
	case ARM64_INS_RET:
		return ENDING_RETURN;
	case ARM64_INS_BRK:
		return ENDING_STOP;
	}
	return ENDING_NONE;
}

/* --- machines ------------------------------------------------------------- */

static const struct machine machines[] = {
	{ EM_X86_64, CS_ARCH_X86, CS_MODE_64, x86_ending },
	{ EM_386, CS_ARCH_X86, CS_MODE_32, x86_ending },
	{ EM_AARCH64, CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, arm64_ending },
};

enum {
	MACHINES = sizeof(machines) / sizeof(machines[0]),
};

_Static_assert(MNEMONIC_SIZE == CS_MNEMONIC_SIZE, "");

struct decoder {
	struct decode decodes[MACHINES];
};

struct decoder *decoder_new(void)
{
	struct decoder *decoder = calloc(1, sizeof(*decoder));
	unsigned int i;

	for (i = 0; decoder && i < MACHINES; i++)
		decoder->decodes[i].machine = &machines[i];
	return decoder;
}

void decoder_free(struct decoder *decoder)
{
	unsigned int i;

	if (!decoder)
		return;
	for (i = 0; i < MACHINES; i++) {
		if (!decoder->decodes[i].insn)
			continue;
		capstone.free(decoder->decodes[i].insn, 1);
		capstone.close(&decoder->decodes[i].engine);
	}
	free(decoder);
}

static bool open_decode(struct decode *decode)
{
	const struct machine *machine = decode->machine;

	if (decode->insn)
		return true;
	if (capstone.open(machine->arch, machine->mode, &decode->engine))
		return false;
	if (!capstone.option(decode->engine, CS_OPT_DETAIL, CS_OPT_ON))
		decode->insn = capstone.malloc(decode->engine);
	if (!decode->insn)
		capstone.close(&decode->engine);
	return decode->insn;
}

/* --- code ----------------------------------------------------------------- */

const char *code_of_bytes(struct code *code, struct decoder *decoder,
			  unsigned int machine, const uint8_t *bytes,
			  size_t size, uint64_t address)
{
	unsigned int i = 0;

	while (i < MACHINES && machines[i].number != machine)
		i++;
	if (i == MACHINES)
		return "code of a machine that is not known";
	if (!load_capstone())
		return "code that needs " LATE_NAME("libcapstone", CS_API_MAJOR)
		       ", which is not installed";
	if (!open_decode(&decoder->decodes[i]))
		return "code that capstone is not made for";
	*code = (struct code){ &decoder->decodes[i], bytes, size, address };
	return NULL;
}

const char *code_begin(struct code *code, struct decoder *decoder,
		       struct object *object, uint64_t address)
{
	unsigned int machine;
	const uint8_t *bytes;
	size_t size;

	if (!object_is_file(object))
		return "code in no file";
	bytes = object_code(object, address, &size, &machine);
	if (!bytes)
		return "code that cannot be read";
	return code_of_bytes(code, decoder, machine, bytes, size, address);
}

bool code_next(struct code *code, struct instruction *instruction)
{
	struct decode *decode = code->decode;
	cs_insn *insn = decode->insn;

	if (!capstone.next(decode->engine, &code->bytes, &code->size,
			   &code->address, insn))
		return false;
	*instruction = (struct instruction){
		.address = insn->address, .length = insn->size,
	};
	instruction->ending = decode->machine->ending(insn,
						      &instruction->target);
	memcpy(instruction->mnemonic, insn->mnemonic, MNEMONIC_SIZE);
	return true;
}

const char *code_operands(const struct code *code)
{
	return code->decode->insn->op_str;
}
