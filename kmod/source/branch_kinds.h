/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kinds of recorded branches: as the CPU recorded them, or else as their
 * instructions are decoded. Each architecture has its own.
 */
#ifndef HWPROF_BRANCH_KINDS_H
#define HWPROF_BRANCH_KINDS_H

#include "../engine/window.h"

/*
 * Before the first use, and after the last one: 0 or an errno. Process context.
 */
int branch_kinds_on(void);
void branch_kinds_off(void);

/*
 * Writes enum stream_kind of each branch to @kinds; 0: it cannot be said. Of
 * branches that are not @kernel's, if that is set, or not of the current
 * program, which runs 64-bit code if @is64 is set, anything may be said. In
 * NMIs.
 */
void branch_kinds_of(u8 *kinds, const struct window_branch *branches, u32 count,
		     bool kernel, bool is64);

#endif /* HWPROF_BRANCH_KINDS_H */
