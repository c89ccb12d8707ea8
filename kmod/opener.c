// SPDX-License-Identifier: GPL-2.0-only
/* Openers: see opener.h. */
#include <linux/cred.h>
#include <linux/sched/signal.h>

#include "opener.h"

struct opener opener_of_current(void)
{
	return (struct opener) {
		.tgid = task_tgid_nr(current),
		.born = current->group_leader->start_time,
		.exec = current->self_exec_id,
		.cred = current_cred(),
	};
}

static bool opener_is_same_process(const struct opener *a,
				   const struct opener *b)
{
	return a->tgid == b->tgid && a->born == b->born && a->exec == b->exec;
}

bool opener_equal(const struct opener *a, const struct opener *b)
{
	return opener_is_same_process(a, b) && a->cred == b->cred;
}

int opener_check(const struct opener *opener)
{
	const struct opener now = opener_of_current();

	if (!opener_is_same_process(opener, &now))
		return -EPERM;
	return opener->cred == now.cred ? 0 : -EACCES;
}
