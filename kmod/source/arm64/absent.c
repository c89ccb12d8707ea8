// SPDX-License-Identifier: GPL-2.0-only
/* Sources that this architecture does not have. They say why, and refuse. */
#include <linux/errno.h>

#include "../source.h"

static unsigned int no_users;

static int absent_on(void)
{
	return -EOPNOTSUPP;
}

static const char *const why_not =
	"not on arm64: it needs the trap flag of x86-64";

const struct source_ops step_source = {
	.why_not	= &why_not,
	.users		= &no_users,
	.on		= absent_on,
};

void step_init(void)
{
}

void step_exit(void)
{
}
