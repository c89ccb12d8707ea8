// SPDX-License-Identifier: GPL-2.0-only
#include "config/mask_rules.h"
#include "mask.h"
#include "right.h"

/* A mask that is set before anything has run replaces none. */
static void mask_edit(const struct session *session, struct tuning *tuning,
		      const void *mask)
{
	tuning->mask = *(const struct mask *)mask;
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

/*
 * Check that current may choose which events are left out, or know it. The
 * session's user sees how many events pass, so that whoever chooses learns what
 * is in the program's memory and where its code is. The opener has that right.
 * The session's targets and their children are not known here, so that others
 * must be allowed to attach to every program.
 */
static int mask_check_right(const struct session *session,
			    const struct mask *mask)
{
	if (!mask->leaves_out || !opener_check(&session->key.opener))
		return 0;
	return right_attach_all() ? -EPERM : 0;
}

int mask_request(struct session *session, struct hwprof_mask *request)
{
	const struct mask wanted = mask_of(request);
	bool sets = request->flags & HWPROF_MASK_SET;
	int err = tuning_check_right(session);

	if (!err && request->flags)
		err = mask_check(&session->config, request).error;
	if (err)
		return err;
	if (mutex_lock_killable(&session->tuning_lock))
		return -EINTR;
	err = mask_check_right(session, sets ? &wanted :
			       &tuning_locked(session)->mask);
	if (!err && sets)
		err = tuning_change(session, mask_edit, &wanted);
	if (!err)
		mask_answer(session, request);
	mutex_unlock(&session->tuning_lock);
	return err;
}
