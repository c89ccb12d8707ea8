// SPDX-License-Identifier: GPL-2.0-only
/*
 * qemu-x86_64 -plugin trace.so,references=N[,maps=MAPS] PROGRAM [ARG]...
 *	200> FILE
 * qemu-x86_64 -plugin trace.so,branches=N PROGRAM [ARG]... 200> FILE
 *
 * Writes a program's calls, its back edges and its first N references to data,
 * in order, as struct trace_event; or its first N taken branches. The file MAPS
 * gets what is mapped at the end, as in /proc/PID/maps. The emulator tells what
 * runs, and capstone decodes it. No code of hwprof takes part.
 */
#include <capstone/capstone.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "trace.h"
#include "linux/hwprof.h"
#include "plugin.h"

enum { THREADS = 4096 };

/* Code that runs from its start to its end, and the kind of its end. */
struct block {
	uint64_t start, end;
	uint64_t last;		/* instruction */
	bool calls, jumps, returns;
};

static csh decoder;
static bool of_branches;
static char maps[4096];		/* file; "": none */
static _Atomic uint64_t left;	/* branches, or references, to be written */
static const struct block *before[THREADS];	/* what a thread ran last */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void tell(uint64_t from, uint64_t to, enum trace_kind kind)
{
	const struct trace_event event = { from, to, kind };
	bool is_limited = kind == TRACE_REFERENCE || kind == TRACE_BRANCH;

	pthread_mutex_lock(&lock);
	if (!is_limited || left) {
		plugin_write(&event, sizeof(event));
		left -= is_limited;
	}
	if (of_branches && !left) {
		plugin_flush();
		_exit(0);
	}
	pthread_mutex_unlock(&lock);
}

static void tell_branch(const struct block *last, uint64_t to)
{
	if (of_branches) {
		if ((last->calls || last->jumps || last->returns) &&
		    to != last->end)
			tell(last->last, to, TRACE_BRANCH);
	} else if (last->calls) {
		tell(last->last, to, TRACE_CALL);
	} else if (last->jumps && to <= last->last &&
		   last->last - to <= HWPROF_DEFAULT_SPAN) {
		tell(last->last, to, TRACE_BACK_EDGE);
	}
}

static void runs(unsigned int cpu, void *context)
{
	const struct block *block = context, *last = before[cpu % THREADS];

	before[cpu % THREADS] = block;
	if (last)
		tell_branch(last, block->start);
}

static void refers(unsigned int cpu, qemu_plugin_meminfo_t info,
		   uint64_t address, void *context)
{
	if (left)
		tell(0, address, TRACE_REFERENCE);
}

/* Makes a block, which is never freed, since its code may run until the end. */
static struct block *block_of(const struct qemu_plugin_tb *tb)
{
	const struct qemu_plugin_insn *last =
		qemu_plugin_tb_get_insn(tb, qemu_plugin_tb_n_insns(tb) - 1);
	struct block *block = calloc(1, sizeof(*block));
	cs_insn *insn;

	if (!block)
		abort();
	block->start = qemu_plugin_tb_vaddr(tb);
	block->last = qemu_plugin_insn_vaddr(last);
	block->end = block->last + qemu_plugin_insn_size(last);
	if (!cs_disasm(decoder, qemu_plugin_insn_data(last),
		       qemu_plugin_insn_size(last), block->last, 1, &insn))
		return block;
	block->calls = cs_insn_group(decoder, insn, CS_GRP_CALL);
	block->jumps = cs_insn_group(decoder, insn, CS_GRP_JUMP);
	block->returns = cs_insn_group(decoder, insn, CS_GRP_RET);
	cs_free(insn, 1);
	return block;
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t count = qemu_plugin_tb_n_insns(tb), i;

	pthread_mutex_lock(&lock);
	qemu_plugin_register_vcpu_tb_exec_cb(tb, runs, QEMU_PLUGIN_CB_NO_REGS,
					     block_of(tb));
	pthread_mutex_unlock(&lock);
	for (i = 0; i < count && !of_branches; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i),
						 refers, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
}

/* The emulator maps what the program maps, at the program's own addresses. */
static void write_maps(void)
{
	FILE *from = fopen("/proc/self/maps", "r"), *to = fopen(maps, "w");
	int next;

	if (!from || !to)
		_exit(125);
	while ((next = getc(from)) != EOF)
		putc(next, to);
	fclose(from);
	if (fclose(to))
		_exit(125);
}

static void ends(qemu_plugin_id_t id, void *context)
{
	pthread_mutex_lock(&lock);
	plugin_flush();
	if (*maps)
		write_maps();
	pthread_mutex_unlock(&lock);
}

PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info,
				      int argc, char **argv)
{
	uint64_t most;

	if (cs_open(CS_ARCH_X86, CS_MODE_64, &decoder))
		return -1;
	cs_option(decoder, CS_OPT_DETAIL, CS_OPT_ON);
	of_branches = argc && sscanf(argv[0], "branches=%" SCNu64, &most) == 1;
	if (argc < 1 || argc > 2 ||
	    (!of_branches &&
	     sscanf(argv[0], "references=%" SCNu64, &most) != 1))
		return -1;
	if (argc == 2 &&
	    (of_branches || sscanf(argv[1], "maps=%4095s", maps) != 1))
		return -1;
	left = most;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, ends, NULL);
	return 0;
}
