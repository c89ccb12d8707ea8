/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The interface of plugins of qemu-x86_64, and their output.
 *
 * It declares version 1 of the interface, in the words of QEMU's documentation,
 * as no package of Debian has qemu-plugin.h.
 */
#ifndef TESTS_ACCURACY_PLUGIN_H
#define TESTS_ACCURACY_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PLUGIN_EXPORT	__attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum {
	QEMU_PLUGIN_CB_NO_REGS = 0,
	QEMU_PLUGIN_MEM_R = 1,
	QEMU_PLUGIN_MEM_RW = 3,
};
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id,
		void (*cb)(qemu_plugin_id_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
		void (*cb)(unsigned int cpu, void *context), int flags,
		void *context);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t id,
		void (*cb)(qemu_plugin_id_t id, void *context), void *context);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);
struct qemu_plugin_insn *
qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *insn);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *insn);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, void *context), int flags,
		void *context);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn,
		void (*cb)(unsigned int cpu, qemu_plugin_meminfo_t info,
			   uint64_t address, void *context),
		int flags, int accesses, void *context);
unsigned int qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t info);

/*
 * Writes to file 200, which the program does not use. One thread at a time.
 * plugin_flush() writes buffered data; it ends the program if it cannot.
 */
void plugin_write(const void *data, size_t size);
void plugin_flush(void);

#endif /* TESTS_ACCURACY_PLUGIN_H */
