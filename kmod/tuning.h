/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The parameters of a session that can change while it runs. They are replaced
 * as a whole. A lane takes them over at its next tick.
 */
#ifndef HWPROF_TUNING_H
#define HWPROF_TUNING_H

#include <linux/rcupdate.h>

#include "engine/mask.h"
#include "session.h"

/**
 * struct tuning - Parameters
 * @rcu: frees them.
 * @period: of the trigger, or its frequency; 0: the default, or what the budget
 *	allows.
 * @distance: the same as perf wants it for the trigger. A clock has a period
 *	in ns, whatever was asked for.
 * @burst: branches of a burst; 0: none are taken.
 * @budget_permille: share of the time; 0: there is no budget.
 * @changes: how often they have changed; but for masks that were set before
 *	anything ran.
 * @mask: which events pass: see mask.h.
 */
struct tuning {
	struct rcu_head rcu;
	u64 period;
	u64 distance;
	u32 burst;
	u32 budget_permille;
	u32 changes;
	struct mask mask;
};

/* Return 0 or -ENOMEM. */
int tuning_init(struct session *session);
void tuning_free(struct session *session);

/**
 * tuning_request() - Ask for the parameters of a session, or change them
 * @session: the session, which the caller holds.
 * @request: what to change. It receives the parameters now in force.
 *
 * Context: process context; may sleep.
 * Return: 0 or an errno: see struct hwprof_tuning.
 */
int tuning_request(struct session *session, struct hwprof_tuning *request);

/*
 * For mask.c: return 0 if current may change the session, or attach to every
 * program; -EPERM if not; or another errno. May sleep.
 */
int tuning_check_right(const struct session *session);
int tuning_check_attach_all(void);

/* Return the parameters. The caller holds tuning_lock. */
struct tuning *tuning_locked(const struct session *session);

/**
 * tuning_change() - Replace the parameters by changed ones
 * @session: the session. The caller holds tuning_lock.
 * @edit: changes a copy, and counts the change.
 * @request: is passed to @edit.
 *
 * Return: 0, -ENOMEM, or -EAGAIN if rows from before cannot be written.
 */
int tuning_change(struct session *session,
		  void (*edit)(const struct session *session,
			       struct tuning *tuning, const void *request),
		  const void *request);

/* Return the parameters. Interrupts are off, or this is an NMI. */
static inline const struct tuning *tuning_now(const struct session *session)
{
	return rcu_dereference_sched(session->tuning);
}

#endif /* HWPROF_TUNING_H */
