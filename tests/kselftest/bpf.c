// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf.h"
#include "event.h"

static int bpf(int command, union bpf_attr *attr)
{
	int result = syscall(__NR_bpf, command, attr, sizeof(*attr));

	return result < 0 ? -errno : result;
}

static uint64_t address(const void *of)
{
	return (uintptr_t)of;
}

/* --- maps ---------------------------------------------------------------- */

int bpf_counts(unsigned int entries)
{
	union bpf_attr attr = {
		.map_type = BPF_MAP_TYPE_HASH, .key_size = 8, .value_size = 8,
		.max_entries = entries,
	};

	return bpf(BPF_MAP_CREATE, &attr);
}

void bpf_count_set(int map, uint64_t key, uint64_t count)
{
	union bpf_attr attr = {
		.map_fd = map, .key = address(&key), .value = address(&count),
	};

	if (bpf(BPF_MAP_UPDATE_ELEM, &attr))
		event_give_up("cannot set a count of a map");
}

uint64_t bpf_count(int map, uint64_t key)
{
	uint64_t count = 0;
	union bpf_attr attr = {
		.map_fd = map, .key = address(&key), .value = address(&count),
	};

	bpf(BPF_MAP_LOOKUP_ELEM, &attr);
	return count;
}

/* --- code ---------------------------------------------------------------- */

static void emit(struct bpf_code *code, int op, int to, int from, int offset,
		 int32_t value)
{
	if (code->count == BPF_CODE_MAX)
		event_give_up("a BPF program is too long");
	code->insns[code->count++] = (struct bpf_insn) {
		.code = op, .dst_reg = to, .src_reg = from, .off = offset,
		.imm = value,
	};
}

static void load_word(struct bpf_code *code, int to, unsigned int word)
{
	emit(code, BPF_LDX | BPF_MEM | BPF_DW, to, BPF_REG_6, 8 * word, 0);
}

static void set(struct bpf_code *code, int to, int32_t value)
{
	emit(code, BPF_ALU64 | BPF_MOV | BPF_K, to, 0, 0, value);
}

static void call(struct bpf_code *code, int helper)
{
	emit(code, BPF_JMP | BPF_CALL, 0, 0, 0, helper);
}

void bpf_begin(struct bpf_code *code)
{
	code->count = 0;
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_6, BPF_REG_1, 0, 0);
}

void bpf_add(struct bpf_code *code, int map, unsigned int key, int word)
{
	load_word(code, BPF_REG_1, key);
	emit(code, BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, BPF_REG_1, -8, 0);
	emit(code, BPF_LD | BPF_DW | BPF_IMM, BPF_REG_1, BPF_PSEUDO_MAP_FD, 0,
	     map);
	emit(code, 0, 0, 0, 0, 0);
	emit(code, BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_2, BPF_REG_10, 0, 0);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_2, 0, 0, -8);
	call(code, BPF_FUNC_map_lookup_elem);
	emit(code, BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0);
	if (word < 0)
		set(code, BPF_REG_1, 1);
	else
		load_word(code, BPF_REG_1, word);
	emit(code, BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_0, BPF_REG_1, 0,
	     BPF_ADD);
}

void bpf_return_if(struct bpf_code *code, unsigned int word, int value,
		   int verdict)
{
	load_word(code, BPF_REG_1, word);
	emit(code, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_1, 0, 2, value);
	bpf_return(code, verdict);
}

void bpf_waste(struct bpf_code *code, int times)
{
	set(code, BPF_REG_7, times);
	call(code, BPF_FUNC_ktime_get_ns);
	emit(code, BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_7, 0, 0, -1);
	emit(code, BPF_JMP | BPF_JNE | BPF_K, BPF_REG_7, 0, -3, 0);
}

void bpf_return(struct bpf_code *code, int verdict)
{
	set(code, BPF_REG_0, verdict);
	emit(code, BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
}

int bpf_load_sleepable(const struct bpf_code *code)
{
	union bpf_attr attr = {
		.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.prog_flags = BPF_F_SLEEPABLE,
		.insns = address(code->insns), .insn_cnt = code->count,
		.license = address("GPL"),
	};

	return bpf(BPF_PROG_LOAD, &attr);
}

int bpf_load(const struct bpf_code *code, enum bpf_prog_type type)
{
	static char log[1 << 16];
	union bpf_attr attr = {
		.prog_type = type, .insns = address(code->insns),
		.insn_cnt = code->count, .license = address("GPL"),
	};
	int fd = bpf(BPF_PROG_LOAD, &attr);

	if (fd >= 0)
		return fd;
	attr.log_buf = address(log);
	attr.log_size = sizeof(log);
	attr.log_level = 1;
	bpf(BPF_PROG_LOAD, &attr);
	fprintf(stderr, "# the verifier: %s\n", log);
	return fd;
}

/* --- sessions ------------------------------------------------------------ */

int bpf_give(int session, int program, unsigned int kinds)
{
	struct hwprof_program request = {
		.size = sizeof(request), .fd = program, .kinds = kinds,
	};

	return ioctl(session, HWPROF_IOC_PROGRAM, &request) ? -errno : 0;
}

struct hwprof_program_account bpf_account(int session, unsigned int kind)
{
	struct hwprof_program_account account = {
		.size = sizeof(account), .kind = kind,
	};

	if (ioctl(session, HWPROF_IOC_PROGRAM_ACCOUNT, &account))
		event_give_up("the account of a program is refused");
	return account;
}
