// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parameters that change while a session runs. Readers are ticks, which run
 * with interrupts off or in NMI, and so hold off RCU.
 */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/slab.h>

#include "right.h"
#include "tuning.h"

enum {
	TUNING_FLAGS = HWPROF_TUNE_PERIOD | HWPROF_TUNE_BURST |
		       HWPROF_TUNE_BUDGET | HWPROF_TUNE_FREQ,
};

static void tuning_set_period(struct tuning *tuning,
			      const struct session *session, u64 period)
{
	bool freq = session->key.freq && session->config.clocked;

	tuning->period = period;
	tuning->distance = freq && period ? NSEC_PER_SEC / period : period;
}

int tuning_init(struct session *session)
{
	const struct hwprof_mask everything = { .size = 0 };
	struct tuning *tuning = kzalloc(sizeof(*tuning), GFP_KERNEL_ACCOUNT);

	if (!tuning)
		return -ENOMEM;
	mutex_init(&session->tuning_lock);
	tuning_set_period(tuning, session, session->key.period);
	tuning->burst = session->config.burst;
	tuning->budget_permille = session->config.budget_permille;
	tuning->mask = mask_of(&everything);
	RCU_INIT_POINTER(session->tuning, tuning);
	return 0;
}

/* Nobody reads them any more. */
void tuning_free(struct session *session)
{
	kfree(rcu_access_pointer(session->tuning));
}

int tuning_check_attach_all(void)
{
	int err = right_attach_all();

	return err == -EACCES ? -EPERM : err;
}

/*
 * Check that current may do to the session what its opener may. A process of
 * the same user with fewer capabilities may not, nor one to which a privileged
 * program has only passed the file. Others need what a session of all programs
 * takes.
 */
int tuning_check_right(const struct session *session)
{
	const struct cred *opener = session->key.opener.cred;
	const struct cred *own = current_cred();

	if (uid_eq(own->euid, session->viewer) &&
	    own->user_ns == opener->user_ns &&
	    cap_issubset(opener->cap_permitted, own->cap_permitted))
		return 0;
	if (session->config.source_caps & SOURCE_ATTACHES)
		return tuning_check_attach_all();
	return perfmon_capable() ? 0 : -EPERM;
}

static int tuning_check_period(const struct session *session,
			       const struct hwprof_tuning *request)
{
	bool freq = request->flags & HWPROF_TUNE_FREQ;

	if (!(request->flags & HWPROF_TUNE_PERIOD))
		return freq ? -EINVAL : 0;
	if (freq != session->key.freq || !request->period)
		return -EINVAL;
	return request->period > (freq ? HWPROF_FREQ_MAX : S64_MAX) ?
	       -EINVAL : 0;
}

static int tuning_check(const struct session *session,
			const struct hwprof_tuning *request)
{
	const struct session_config *config = &session->config;

	if (request->flags & ~TUNING_FLAGS)
		return -EINVAL;
	if (!config->windows ||
	    (request->flags & HWPROF_TUNE_BURST && !config->burst))
		return -EOPNOTSUPP;
	if (request->flags & HWPROF_TUNE_BURST &&
	    (request->burst < HWPROF_BURST_MIN ||
	     request->burst > HWPROF_BURST_MAX))
		return -EINVAL;
	if (request->flags & HWPROF_TUNE_BUDGET &&
	    (!config->budget_permille || !request->budget_permille ||
	     request->budget_permille > HWPROF_BUDGET_PERMILLE_MAX))
		return -EINVAL;
	return tuning_check_period(session, request);
}

struct tuning *tuning_locked(const struct session *session)
{
	return rcu_dereference_protected(session->tuning,
				lockdep_is_held(&session->tuning_lock));
}

static void tuning_publish(struct session *session, void *context)
{
	struct tuning *new = context, *old;

	old = rcu_replace_pointer(session->tuning, new,
				  lockdep_is_held(&session->tuning_lock));
	/* Whoever sees the bit finds a mask; a mask may let everything pass. */
	assign_bit(NARROWED_BY_MASK, &session->narrowed, new->mask.leaves_out);
	kfree_rcu(old, rcu);
}

int tuning_change(struct session *session,
		  void (*edit)(const struct session *session,
			       struct tuning *tuning, const void *request),
		  const void *request)
{
	struct tuning *new;

	new = kmemdup(tuning_locked(session), sizeof(*new), GFP_KERNEL_ACCOUNT);
	if (!new)
		return -ENOMEM;
	edit(session, new, request);
	if (session_flush_around(session, tuning_publish, new))
		return 0;
	kfree(new);
	return -EAGAIN;
}

static void tuning_edit(const struct session *session, struct tuning *new,
			const void *context)
{
	const struct hwprof_tuning *request = context;

	if (request->flags & HWPROF_TUNE_PERIOD)
		tuning_set_period(new, session, request->period);
	if (request->flags & HWPROF_TUNE_BURST)
		new->burst = request->burst;
	if (request->flags & HWPROF_TUNE_BUDGET)
		new->budget_permille = request->budget_permille;
	new->changes++;
}

static void tuning_answer(const struct session *session,
			  struct hwprof_tuning *request)
{
	const struct tuning *tuning = tuning_locked(session);

	*request = (struct hwprof_tuning) {
		.size = request->size,
		.flags = session->key.freq ? HWPROF_TUNE_FREQ : 0,
		.session = session->id,
		.burst = tuning->burst,
		.budget_permille = tuning->budget_permille,
		.changes = tuning->changes,
		.period = tuning->period,
	};
}

int tuning_request(struct session *session, struct hwprof_tuning *request)
{
	int err = tuning_check_right(session) ?: tuning_check(session, request);

	if (err)
		return err;
	if (mutex_lock_killable(&session->tuning_lock))
		return -EINTR;
	if (request->flags)
		err = tuning_change(session, tuning_edit, request);
	if (!err)
		tuning_answer(session, request);
	mutex_unlock(&session->tuning_lock);
	return err;
}
