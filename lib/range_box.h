/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Boxes of pairs as ranges of numbers: the bits of code and address in the order
 * in which the engine's tree takes them (engine/range_tree.h), so that a box has
 * one interval of them, and boxes are inside each other as their intervals are.
 */
#ifndef HWPROF_RANGE_BOX_H
#define HWPROF_RANGE_BOX_H

#include "range_hot.h"

struct pair {
	uint64_t code, address;
};

range_number box_number(struct pair pair);
struct pair box_pair(range_number number);
/* Of the 2^@bits pairs of a box: log2 of the bytes of code. */
uint32_t box_code_bits(uint32_t bits);

#endif /* HWPROF_RANGE_BOX_H */
