// SPDX-License-Identifier: LGPL-2.1-or-later
#include "engine/range_tree.h"
#include "range_box.h"

enum { PAIR_BITS = 2 * RANGE_BITS };

static uint64_t low_bits(uint64_t value, uint32_t bits)
{
	return value & ((1U << bits) - 1);
}

range_number box_number(struct pair pair)
{
	range_number number = 0;
	uint32_t shift;

	for (shift = 0; shift < PAIR_BITS; shift += RANGE_BRANCH) {
		struct range_sides sides = range_sides(shift);
		uint64_t code = low_bits(pair.code, sides.code_branch);
		uint64_t address = low_bits(pair.address, sides.value_branch);

		pair.code >>= sides.code_branch;
		pair.address >>= sides.value_branch;
		number |= (range_number)(code << sides.value_branch | address)
			  << shift;
	}
	return number;
}

struct pair box_pair(range_number number)
{
	struct pair pair = { 0 };
	uint32_t shift;

	for (shift = 0; shift < PAIR_BITS; shift += RANGE_BRANCH) {
		struct range_sides sides = range_sides(shift);
		uint64_t digit = low_bits(number >> shift, RANGE_BRANCH);

		if (sides.code_branch)
			pair.code |= digit >> sides.value_branch <<
				     sides.code_bits;
		if (sides.value_branch)
			pair.address |= low_bits(digit, sides.value_branch) <<
					sides.value_bits;
	}
	return pair;
}

uint32_t box_code_bits(uint32_t bits)
{
	return range_code_bits(bits);
}
