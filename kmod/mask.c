// SPDX-License-Identifier: GPL-2.0-only
#include "config/mask_rules.h"
#include "mask.h"
#include "tuning.h"

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
static int mask_check_right(const struct session *session, bool leaves_out)
{
	if (!leaves_out || !opener_check(&session->key.opener))
		return 0;
	return tuning_check_attach_all();
}

/*
 * The right is asked for without the session's lock. That may take long: other
 * processes can keep a lock of the init process.
 */
static int mask_set(struct session *session, struct hwprof_mask *request)
{
	const struct mask wanted = mask_of(request);
	int err = mask_check_right(session, wanted.leaves_out);

	if (err)
		return err;
	if (mutex_lock_killable(&session->tuning_lock))
		return -EINTR;
	err = tuning_change(session, mask_edit, &wanted);
	if (!err)
		mask_answer(session, request);
	mutex_unlock(&session->tuning_lock);
	return err;
}

static int mask_get(struct session *session, struct hwprof_mask *request)
{
	struct hwprof_mask answer = *request;
	bool leaves_out;
	int err;

	if (mutex_lock_killable(&session->tuning_lock))
		return -EINTR;
	leaves_out = tuning_locked(session)->mask.leaves_out;
	mask_answer(session, &answer);
	mutex_unlock(&session->tuning_lock);
	err = mask_check_right(session, leaves_out);
	if (!err)
		*request = answer;
	return err;
}

int mask_request(struct session *session, struct hwprof_mask *request)
{
	int err = tuning_check_right(session);

	if (!err && request->flags)
		err = mask_check(&session->config, request).error;
	if (err)
		return err;
	return request->flags & HWPROF_MASK_SET ? mask_set(session, request) :
						  mask_get(session, request);
}
