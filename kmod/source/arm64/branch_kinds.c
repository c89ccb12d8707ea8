// SPDX-License-Identifier: GPL-2.0-only
/* BRBE records the kind of each branch. See branch_kinds.h. */
#include "../branch_kinds.h"

int branch_kinds_on(void)
{
	return 0;
}

void branch_kinds_off(void)
{
}

void branch_kinds_of(u8 *kinds, const struct window_branch *branches, u32 count,
		     bool kernel, bool is64)
{
	window_recorded_kinds(kinds, branches, count);
}
