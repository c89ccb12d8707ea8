// SPDX-License-Identifier: GPL-2.0-only
/*
 * qemu-x86_64 -plugin jumps.so,count=on PROGRAM [ARG]... 200> FILE
 * qemu-x86_64 -plugin jumps.so,trace=on PROGRAM [ARG]... 200> FILE
 *
 * Counts the jumps that the program's own code really took, conditional or not,
 * without calls and returns, and its instructions and all of its taken
 * branches; or writes all taken branches, those of libraries, too, as struct
 * pgo_branch. One thread only. The emulator tells what runs, and capstone
 * decodes it.
 */
#include <capstone/capstone.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "linux/hwprof.h"
#include "tests/accuracy/plugin.h"
#include "trace.h"

/* Further functions of the emulator's interface. */
uint64_t qemu_plugin_start_code(void);
uint64_t qemu_plugin_end_code(void);

/* Code that runs from its start to its end, and the kind of its end. */
struct block {
	uint64_t start, end;
	uint64_t last;			/* instruction */
	uint32_t count;			/* of instructions */
	uint32_t kind;			/* of a branch; 0: none */
};

static csh decoder;
static bool counts;
static const struct block *before;	/* the block that ran last */
static uint64_t jumps, branches, instructions;
static uint32_t since;			/* instructions since a branch */

static bool is_own(uint64_t address)
{
	return address >= qemu_plugin_start_code() &&
	       address < qemu_plugin_end_code();
}

static bool is_jump(uint32_t kind)
{
	return kind == HWPROF_BRANCH_COND || kind == HWPROF_BRANCH_JUMP ||
	       kind == HWPROF_BRANCH_INDIRECT;
}

static void take(const struct block *last, uint64_t to)
{
	const struct pgo_branch branch = { last->last, to, last->kind, since };

	since = 0;
	branches++;
	if (!counts)
		plugin_write(&branch, sizeof(branch));
	else if (is_jump(last->kind) && is_own(last->last))
		jumps++;
}

static void runs(unsigned int cpu, void *context)
{
	const struct block *block = context, *last = before;

	before = block;
	/* A string instruction that repeats itself is no branch. */
	if (last && last->kind && block->start != last->end)
		take(last, block->start);
	since += block->count;
	instructions += block->count;
}

static uint32_t kind_of(const cs_insn *insn)
{
	bool direct = insn->detail->x86.op_count == 1 &&
		      insn->detail->x86.operands[0].type == X86_OP_IMM;

	if (cs_insn_group(decoder, insn, CS_GRP_CALL))
		return HWPROF_BRANCH_CALL;
	if (cs_insn_group(decoder, insn, CS_GRP_RET))
		return HWPROF_BRANCH_RET;
	if (!cs_insn_group(decoder, insn, CS_GRP_JUMP))
		return 0;
	if (!direct)
		return HWPROF_BRANCH_INDIRECT;
	return insn->id == X86_INS_JMP ? HWPROF_BRANCH_JUMP :
					 HWPROF_BRANCH_COND;
}

/* Makes a block, which is never freed, since its code may run until the end. */
static struct block *block_of(const struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb);
	const struct qemu_plugin_insn *last =
		qemu_plugin_tb_get_insn(tb, count - 1);
	struct block *block = calloc(1, sizeof(*block));
	cs_insn *insn;

	if (!block)
		abort();
	block->start = qemu_plugin_tb_vaddr(tb);
	block->last = qemu_plugin_insn_vaddr(last);
	block->end = block->last + qemu_plugin_insn_size(last);
	block->count = count;
	if (!cs_disasm(decoder, qemu_plugin_insn_data(last),
		       qemu_plugin_insn_size(last), block->last, 1, &insn))
		return block;
	block->kind = kind_of(insn);
	cs_free(insn, 1);
	return block;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	qemu_plugin_register_vcpu_tb_exec_cb(tb, runs, QEMU_PLUGIN_CB_NO_REGS,
					     block_of(tb));
}

static void ends(qemu_plugin_id_t id, void *context)
{
	char text[128];
	int size;

	if (counts) {
		size = snprintf(text, sizeof(text),
				"%" PRIu64 " %" PRIu64 " %" PRIu64 "\n", jumps,
				branches, instructions);
		plugin_write(text, size);
	}
	plugin_flush();
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
				      int argc, char **argv)
{
	const char *mode = argc == 1 ? argv[0] : "";

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder))
		return -1;
	cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON);
	counts = !strncmp(mode, "count", strlen("count"));
	if (!counts && strncmp(mode, "trace", strlen("trace")))
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ends, NULL);
	return 0;
}
