/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables for unwinding, for a session at the module while it runs: those of the
 * objects that profiled processes have mapped, made once each. Whatever cannot be
 * had (a file that is gone, memory, an older module) is not there, and frame
 * pointers are followed in its place.
 */
#ifndef HWPROF_UNWINDING_H
#define HWPROF_UNWINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct synthesis;
struct unwinding;

/* Does an event of the module with this @config take samples' stacks of calls? */
bool unwinding_wanted(uint64_t config);

/* @device: an open /dev/hwprof, which must live as long. NULL: out of memory. */
struct unwinding *unwinding_new(int device);
void unwinding_free(struct unwinding *unwinding);

/* Is a record of perf's of code that is mapped? Its first word is whose. */
bool unwinding_is_map(uint32_t type, uint16_t misc);

/* @pid has mapped something. NULL is allowed. */
void unwinding_note(struct unwinding *unwinding, uint32_t pid);

/* Tells the module what all that were noted have mapped. NULL is allowed. */
void unwinding_update(struct unwinding *unwinding);

/*
 * Tells it what is mapped by those whom @synthesis is about, before their events
 * begin: to make tables takes time. NULL is allowed.
 */
void unwinding_begin(struct unwinding *unwinding,
		     const struct synthesis *synthesis);

/* For so many objects the module had no room. */
unsigned int unwinding_refused(const struct unwinding *unwinding);

#endif /* HWPROF_UNWINDING_H */
