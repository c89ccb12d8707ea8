/* SPDX-License-Identifier: GPL-2.0-only */
/* A process that may less than it did when it opened its files. */
#ifndef KFUZZ_CREDENTIALS_H
#define KFUZZ_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

/* By the word, in one way or another. False: there was nothing to lose. */
bool credentials_drop(uint64_t word);

#endif /* KFUZZ_CREDENTIALS_H */
