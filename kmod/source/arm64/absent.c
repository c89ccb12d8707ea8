// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sources that this architecture does not have. They say why, so that no
 * session of theirs is made, and nothing else of them is called.
 */
#include "../source.h"

static unsigned int no_users;

static const char *const why_not =
	"not on arm64: it needs the trap flag of x86-64";

const struct source_ops step_source = {
	.why_not	= &why_not,
	.users		= &no_users,
};

void step_init(void)
{
}

void step_exit(void)
{
}
