/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The rules of a procedure's frame, from its description in .eh_frame: where
 * the caller's RSP, RBP and RIP are, line by line. Each instruction is run
 * once, and no memory is allocated, whatever is in the description: libdw
 * begins anew for each address, and allocates what registers' numbers say.
 */
#ifndef HWPROF_FRAME_H
#define HWPROF_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/byte_reader.h"
#include "eh_frame.h"

enum { FRAME_STATES_MAX = 16 };	/* that are remembered; compilers need 1 */

enum frame_rule_kind {
	FRAME_SAME,		/* the register has it still, or no rule does */
	FRAME_UNDEFINED,
	FRAME_SAVED,		/* @offset from the CFA */
	FRAME_OTHER,
};

struct frame_rule {
	enum frame_rule_kind kind;
	int64_t offset;
};

struct frame_rules {
	bool has_cfa;		/* it is register @cfa + @offset */
	uint64_t cfa;
	int64_t offset;
	struct frame_rule bp, ip;
};

/**
 * struct frame_common - What descriptions share (a CIE)
 * @offset: where it is in .eh_frame.
 * @known: it could be read.
 * @signal: its frames are of signal handlers.
 * @sized: descriptions have more data, with its size.
 * @encoding: of addresses.
 * @code_factor: of advances.
 * @data_factor: of offsets.
 * @rules: at a procedure's beginning.
 */
struct frame_common {
	uint64_t offset;
	bool known, signal, sized;
	uint8_t encoding;
	uint64_t code_factor;
	int64_t data_factor;
	struct frame_rules rules;
};

/**
 * struct frame - A description while it is read; all 0 before the first
 * @common: of the last description.
 * @begin: the first address.
 * @end: that behind the last.
 * @rules: of the present line.
 * @work: bytes that were looked at so far, for all descriptions.
 */
struct frame {
	struct frame_common common;
	uint64_t begin, end;
	struct frame_rules rules;
	uint64_t work;

	struct byte_reader code;
	uint64_t at;
	struct frame_rules states[FRAME_STATES_MAX];
	unsigned int depth;
};

/* Begins the description at @offset. Returns false if it makes no sense. */
bool frame_begin(struct frame *frame, const struct eh_frame *table,
		 uint64_t offset);

/*
 * Sets the rules of the next line. Returns where it ends. Behind an instruction
 * that makes no sense there are no rules.
 */
uint64_t frame_next(struct frame *frame);

#endif /* HWPROF_FRAME_H */
