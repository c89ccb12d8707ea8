/* SPDX-License-Identifier: GPL-2.0-only */
/* A load of a traced program: loads.c writes it and value_error.c reads it. */
#ifndef TESTS_ACCURACY_LOADS_H
#define TESTS_ACCURACY_LOADS_H

#include <stdint.h>

struct load {
	uint64_t pc;
	uint64_t address;
	uint64_t value;		/* of more than eight bytes: the first eight */
	uint32_t width;
	uint32_t reserved;
};

#endif /* TESTS_ACCURACY_LOADS_H */
