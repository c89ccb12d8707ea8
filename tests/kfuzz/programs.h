/* SPDX-License-Identifier: GPL-2.0-only */
/* BPF programs at random, which the verifier takes for the most part. */
#ifndef KFUZZ_PROGRAMS_H
#define KFUZZ_PROGRAMS_H

#include <stdint.h>

/* Makes a program of @seed. Returns a descriptor, or -1. */
int program_make(uint64_t seed);

#endif /* KFUZZ_PROGRAMS_H */
