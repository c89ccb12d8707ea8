/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * BPF programs written by hand, so that tests need no compiler for them, and
 * the ioctls that give them to sessions.
 */
#ifndef KSELFTEST_BPF_H
#define KSELFTEST_BPF_H

#include <linux/bpf.h>
#include <linux/hwprof.h>
#include <stdbool.h>
#include <stdint.h>

enum { BPF_CODE_MAX = 64 };

/* A program that is being written. */
struct bpf_code {
	struct bpf_insn insns[BPF_CODE_MAX];
	unsigned int count;
};

/* Makes a hash of 64-bit counts. Returns a descriptor, or a negative errno. */
int bpf_counts(unsigned int entries);

/* Sets the count of a key. */
void bpf_count_set(int map, uint64_t key, uint64_t count);

/* Returns the count of a key; 0 if there is none. */
uint64_t bpf_count(int map, uint64_t key);

/* Programs begin with this. */
void bpf_begin(struct bpf_code *code);

/*
 * Adds word @word of the event, or 1 if that is negative, to the count of the
 * key in word @key. A key that has no count is left alone.
 */
void bpf_add(struct bpf_code *code, int map, unsigned int key, int word);

/* Returns @verdict if word @word of the event is @value. */
void bpf_return_if(struct bpf_code *code, unsigned int word, int value,
		   int verdict);

/* Asks for the time @times times. */
void bpf_waste(struct bpf_code *code, int times);

/* Returns @verdict: the end of a program. */
void bpf_return(struct bpf_code *code, int verdict);

/* Loads a program. Returns a descriptor, or a negative errno. */
int bpf_load(const struct bpf_code *code, enum bpf_prog_type type);

/*
 * Loads a raw tracepoint program that may sleep. Returns a descriptor, or a
 * negative errno, as all kernels do that have no such programs.
 */
int bpf_load_sleepable(const struct bpf_code *code);

/* Gives the session a program. Returns 0 or a negative errno. */
int bpf_give(int session, int program, unsigned int kinds);

/* Asks for the account of the program of a kind, or ends the test. */
struct hwprof_program_account bpf_account(int session, unsigned int kind);

#endif /* KSELFTEST_BPF_H */
