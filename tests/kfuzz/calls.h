/* SPDX-License-Identifier: GPL-2.0-only */
/* Makes the calls of an input. */
#ifndef KFUZZ_CALLS_H
#define KFUZZ_CALLS_H

#include <stdbool.h>

#include "findings.h"
#include "input.h"

/*
 * In a process made for it: makes all calls, whatever they say, closes all
 * files and returns, or has become another program. @type: of the PMU. @faults:
 * allocations can fail. @findings: what it saw is added.
 */
void calls_make(const struct input *input, uint32_t type, bool faults,
		struct findings *findings);

#endif /* KFUZZ_CALLS_H */
