// SPDX-License-Identifier: GPL-2.0-only
#include "config/mask_rules.h"
#include "mask.h"

/* A mask that is set before anything has run replaces none. */
static void mask_edit(const struct session *session, struct tuning *tuning,
		      const void *request)
{
	tuning->mask = mask_of(request);
	tuning->changes += READ_ONCE(session->started);
}

static void mask_answer(const struct session *session,
			struct hwprof_mask *request)
{
	const struct tuning *tuning = tuning_locked(session);
	u32 size = request->size;

	*request = tuning->mask.asked;
	request->size = size;
	request->flags &= HWPROF_MASK_HASH;
	request->session = session->id;
	request->changes = tuning->changes;
}

int mask_request(struct session *session, struct hwprof_mask *request)
{
	bool sets = request->flags & HWPROF_MASK_SET;
	int err = tuning_check_right(session);

	if (!err && request->flags)
		err = mask_check(&session->config, request).error;
	if (err)
		return err;
	if (mutex_lock_killable(&session->tuning_lock))
		return -EINTR;
	if (sets)
		err = tuning_change(session, mask_edit, request);
	if (!err)
		mask_answer(session, request);
	mutex_unlock(&session->tuning_lock);
	return err;
}
