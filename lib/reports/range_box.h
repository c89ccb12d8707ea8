/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes of pairs as ranges of numbers. A number has the bits of code and
 * address in the order in which the engine's tree takes them
 * (engine/range_tree.h). Each box is then an interval of numbers, and boxes
 * nest as their intervals do.
 */
#ifndef HWPROF_RANGE_BOX_H
#define HWPROF_RANGE_BOX_H

#include "range_hot.h"

struct pair {
	uint64_t code, address;
};

range_number box_number(struct pair pair);
struct pair box_pair(range_number number);
/* Returns log2 of the bytes of code in a box of 2^@bits pairs. */
uint32_t box_code_bits(uint32_t bits);

#endif /* HWPROF_RANGE_BOX_H */
