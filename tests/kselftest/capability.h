/* SPDX-License-Identifier: GPL-2.0-only */
/* Capabilities of the calling thread, effective and permitted. */
#ifndef CAPABILITY_H
#define CAPABILITY_H

#include <linux/capability.h>
#include <stdbool.h>
#include <stdint.h>

/* Keeps those of @set alone, a bit 1ULL << CAP_... each. */
bool capabilities_keep(uint64_t set);

/* Keeps all but CAP_... @capability. */
bool capability_drop(unsigned int capability);

#endif /* CAPABILITY_H */
