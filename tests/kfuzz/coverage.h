/* SPDX-License-Identifier: GPL-2.0-only */
/* Which code a task makes the kernel execute (kcov), and how much is new. */
#ifndef KFUZZ_COVERAGE_H
#define KFUZZ_COVERAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	COVERAGE_PCS	= 1 << 20,	/* of one input; others are not seen */
	COVERAGE_BITS	= 1 << 22,	/* bytes of code that a map has */
};

/* The coverage of one worker, whose children take turns. */
struct coverage {
	int fd;
	uint64_t *area;		/* the number of PCs, and these */
};

/* Places that were seen. */
struct map {
	uint64_t bits[COVERAGE_BITS / 64];
	unsigned int count;
};

/* Needs root. False: this kernel has no kcov, or not the memory. */
bool coverage_open(struct coverage *coverage);

/* In the worker, which reads; its children do not get the mapping. */
bool coverage_map(struct coverage *coverage);

/* In the worker: what was seen is forgotten. */
void coverage_clear(struct coverage *coverage);

/* In a child: from now on, until it ends. */
void coverage_begin(const struct coverage *coverage);

/* Was anything of what came since new to the map? Now it knows it. */
bool coverage_add(const struct coverage *coverage, struct map *map);

/* There were more PCs than there is room for. */
bool coverage_is_full(const struct coverage *coverage);

#endif /* KFUZZ_COVERAGE_H */
