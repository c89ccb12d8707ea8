// SPDX-License-Identifier: GPL-2.0-only
/*
 * qemu-x86_64 -plugin loads.so,most=N PROGRAM [ARG]... 200> FILE
 *
 * Writes the first N loads of a program as struct load: the first read from
 * memory of each executed instruction. The emulator tells the instruction and
 * the address. The plugin reads the value there, since it shares the emulator's
 * memory with the program. No code of hwprof takes part. Only for programs of
 * one thread.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loads.h"
#include "plugin.h"

static uint64_t left;
static bool fresh;		/* the instruction has not read anything yet */

static void begins(unsigned int cpu, void *pc)
{
	fresh = true;
}

static void reads(unsigned int cpu, qemu_plugin_meminfo_t info,
		  uint64_t address, void *pc)
{
	uint32_t width = 1U << qemu_plugin_mem_size_shift(info);
	struct load load = {
		.pc = (uint64_t)pc, .address = address, .width = width,
	};

	if (!fresh)
		return;
	fresh = false;
	memcpy(&load.value, (const void *)address, width < 8 ? width : 8);
	plugin_write(&load, sizeof(load));
	if (--left)
		return;
	plugin_flush();
	_exit(0);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb), i;

	for (i = 0; i < count; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		void *pc = (void *)qemu_plugin_insn_vaddr(insn);

		qemu_plugin_register_vcpu_insn_exec_cb(insn, begins,
						       QEMU_PLUGIN_CB_NO_REGS,
						       pc);
		qemu_plugin_register_vcpu_mem_cb(insn, reads,
						 QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_R, pc);
	}
}

static void ends(qemu_plugin_id_t id, void *context)
{
	plugin_flush();
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
				      int argc, char **argv)
{
	if (argc != 1 || strncmp(argv[0], "most=", 5))
		return -1;
	left = strtoull(argv[0] + 5, NULL, 0);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ends, NULL);
	return left ? 0 : -1;
}
