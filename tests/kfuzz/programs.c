// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program is a sequence of pieces. Each leaves numbers in r7 to r9, and the
 * event in r6. So any sequence is one that the verifier takes, but for reads
 * behind the event.
 */
#include <linux/bpf.h>
#include <linux/hwprof.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/engine/random.h"
#include "programs.h"

enum {
	INSNS		= 256,
	PIECES		= 20,
	PIECE_MAX	= 12,		/* instructions of a piece */
	LOOP_MAX	= 1000,
	ENTRIES		= 64,		/* of a map: soon full */
};

struct code {
	struct bpf_insn insns[INSNS];
	unsigned int count;
	uint64_t random;
};

static int bpf(int command, union bpf_attr *attr)
{
	return syscall(SYS_bpf, command, attr, sizeof(*attr));
}

static int map_make(enum bpf_map_type type, unsigned int flags)
{
	union bpf_attr attr = {
		.map_type = type, .key_size = 8, .value_size = 8,
		.max_entries = ENTRIES, .map_flags = flags,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

/* All programs of a process share the maps: each finds what others left. */
static int map_any(uint64_t *random)
{
	static int maps[4];

	if (!maps[0]) {
		maps[1] = map_make(BPF_MAP_TYPE_PERCPU_HASH, 0);
		maps[2] = map_make(BPF_MAP_TYPE_LRU_HASH, 0);
		maps[3] = map_make(BPF_MAP_TYPE_HASH, BPF_F_NO_PREALLOC);
		maps[0] = map_make(BPF_MAP_TYPE_HASH, 0);
	}
	return maps[random_below(random, 4)];
}

static void emit(struct code *code, int op, int to, int from, int offset,
		 int32_t value)
{
	code->insns[code->count++] = (struct bpf_insn) {
		.code = op, .dst_reg = to, .src_reg = from, .off = offset,
		.imm = value,
	};
}

/* One of the registers that numbers are in. */
static int any(struct code *code)
{
	return BPF_REG_7 + random_below(&code->random, 3);
}

static void copy(struct code *code, int to, int from)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, to, from, 0, 0);
}

/* The address of a place of the stack. */
static void place(struct code *code, int to, int offset)
{
	copy(code, to, BPF_REG_10);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_K, to, 0, 0, offset);
}

static void call(struct code *code, int helper)
{
	emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

/* --- pieces --------------------------------------------------------------- */

static void load(struct code *code)
{
	/* Once in a while, a word that there is not. */
	int word = random_below(&code->random, HWPROF_PROGRAM_WORDS * 50 + 1) %
		   (HWPROF_PROGRAM_WORDS + 1);

	if (word == HWPROF_PROGRAM_WORDS && random_below(&code->random, 20))
		word = 0;
	emit(code, BPF_LDX | BPF_MEM | BPF_DW, any(code), BPF_REG_6, 8 * word,
	     0);
}

static void compute(struct code *code)
{
	static const int ops[] = { BPF_ADD, BPF_SUB, BPF_MUL, BPF_XOR, BPF_OR };

	emit(code, BPF_ALU64 | ops[random_below(&code->random, 5)] | BPF_X,
	     any(code), any(code), 0, 0);
	emit(code, BPF_ALU64 | BPF_RSH | BPF_K, any(code), 0, 0,
	     random_below(&code->random, 64));
}

static void use_map(struct code *code)
{
	static const int helpers[] = {
		BPF_FUNC_map_lookup_elem, BPF_FUNC_map_update_elem,
		BPF_FUNC_map_delete_elem,
	};
	int helper = helpers[random_below(&code->random, 3)];

	emit(code, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, any(code), -8, 0);
	emit(code, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, any(code), -16, 0);
	emit(code, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0,
	     map_any(&code->random));
	emit(code, 0, 0, 0, 0, 0);
	place(code, BPF_REG_2, -8);
	place(code, BPF_REG_3, -16);
	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, 0);
	call(code, helper);
	if (helper != BPF_FUNC_map_lookup_elem)
		return;
	emit(code, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 1, 0);
	emit(code, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, any(code), 0,
	     BPF_ADD);
}

static void ask(struct code *code)
{
	static const int helpers[] = {
		BPF_FUNC_ktime_get_ns, BPF_FUNC_get_current_pid_tgid,
		BPF_FUNC_get_prandom_u32, BPF_FUNC_get_smp_processor_id,
		BPF_FUNC_get_current_task,
	};

	call(code, helpers[random_below(&code->random, 5)]);
	copy(code, any(code), BPF_REG_0);
}

static void read_memory(struct code *code)
{
	place(code, BPF_REG_1, -16);
	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, 8);
	copy(code, BPF_REG_3, any(code));
	call(code, random_below(&code->random, 2) ?
		   BPF_FUNC_probe_read_user : BPF_FUNC_probe_read_kernel);
}

static void skip(struct code *code)
{
	emit(code, BPF_JMP | BPF_JGT | BPF_K, any(code), 0, 1,
	     random_below(&code->random, 1000));
	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, any(code), 0, 0,
	     random_below(&code->random, 1 << 30));
}

/* Takes its time: some programs are taken away. */
static void wait(struct code *code)
{
	int counter = any(code);

	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, counter, 0, 0,
	     1 + random_below(&code->random, LOOP_MAX));
	call(code, BPF_FUNC_ktime_get_ns);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_K, counter, 0, 0, -1);
	emit(code, BPF_JMP | BPF_JNE | BPF_K, counter, 0, -3, 0);
}

static void finish(struct code *code)
{
	copy(code, BPF_REG_0, any(code));
	emit(code, BPF_ALU64 | BPF_AND | BPF_K, BPF_REG_0, 0, 0,
	     random_below(&code->random, 64));
	emit(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

int program_make(uint64_t seed)
{
	static void (*const pieces[])(struct code *) = {
		load, load, compute, use_map, use_map, ask, read_memory, skip,
		wait,
	};
	struct code code = { .random = seed };
	unsigned int count = random_below(&code.random, PIECES), reg;
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.insns = (uintptr_t)code.insns, .license = (uintptr_t)"GPL",
	};

	copy(&code, BPF_REG_6, BPF_REG_1);
	for (reg = BPF_REG_7; reg <= BPF_REG_9; reg++)
		emit(&code, BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, reg);
	while (count-- && code.count + PIECE_MAX + 3 < INSNS)
		pieces[random_below(&code.random, sizeof(pieces) /
					      sizeof(pieces[0]))](&code);
	finish(&code);
	attr.insn_cnt = code.count;
	return bpf(BPF_PROG_LOAD, &attr);
}
