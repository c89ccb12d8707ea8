// SPDX-License-Identifier: GPL-2.0-only
/*
 * qemu-x86_64 -plugin loads.so,most=N PROGRAM [ARG]... 200> FILE
 *
 * Writes the first N loads of a program as struct load: what each instruction
 * reads from memory first. The emulator says which do and where; the value is read
 * there, since the program's memory is the emulator's: nothing of it is hwprof's
 * own code.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "loads.h"

/*
 * Of qemu-plugin.h, which Debian has in no package: the interface's version 1,
 * in the words of QEMU's documentation.
 */
typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum { QEMU_PLUGIN_CB_NO_REGS = 0, QEMU_PLUGIN_MEM_R = 1 };
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
		void (*cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
		void (*cb)(qemu_plugin_id_t id, void *context), void *context);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb,
						 size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, void *context), int flags,
		void *context);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, qemu_plugin_meminfo_t info,
			   uint64_t address, void *context),
		int flags, int accesses, void *context);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;

enum { FILE_NUMBER = 200, BUFFERED = 4096 };

static struct load buffer[BUFFERED];
static unsigned int buffered;
static uint64_t left;
static bool fresh;		/* the instruction has not read anything yet */

static void flush(void)
{
	const char *at = (const char *)buffer;
	size_t size = buffered * sizeof(*buffer);

	while (size) {
		ssize_t wrote = write(FILE_NUMBER, at, size);

		if (wrote <= 0)
			_exit(125);
		at += wrote;
		size -= wrote;
	}
	buffered = 0;
}

static void begins(unsigned int cpu, void *pc)
{
	fresh = true;
}

static void reads(unsigned int cpu, qemu_plugin_meminfo_t info,
		  uint64_t address, void *pc)
{
	struct load *load = &buffer[buffered];
	uint32_t width = 1U << qemu_plugin_mem_size_shift(info);

	if (!fresh)
		return;
	fresh = false;
	*load = (struct load){
		.pc = (uint64_t)pc, .address = address, .width = width,
	};
	memcpy(&load->value, (const void *)address, width < 8 ? width : 8);
	if (++buffered < BUFFERED && left > 1) {
		left--;
		return;
	}
	flush();
	if (!--left)
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
	flush();
}

__attribute__((visibility("default")))
int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc,
			char **argv)
{
	if (argc != 1 || strncmp(argv[0], "most=", 5))
		return -1;
	left = strtoull(argv[0] + 5, NULL, 0);
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ends, NULL);
	return left ? 0 : -1;
}
