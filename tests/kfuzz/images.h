/* SPDX-License-Identifier: GPL-2.0-only */
/* Unwind tables, and processes that choose what their image is told by. */
#ifndef KFUZZ_IMAGES_H
#define KFUZZ_IMAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "findings.h"

/*
 * Change the calling process's start_code, start_stack and start_brk as the
 * words say. False: it may not, or the kernel refuses such fields.
 */
bool image_choose(const uint64_t *word);

/*
 * Start processes that differ in one field, and tell a new file of the device
 * about them. There must be room for all, as for images with random fields.
 * Add to @findings.
 */
void images_try(const uint64_t *word, struct findings *findings);

#endif /* KFUZZ_IMAGES_H */
