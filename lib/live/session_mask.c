// SPDX-License-Identifier: LGPL-2.1-or-later
/* The mask of a session. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/mask_refused.h"
#include "live_session.h"

int session_note_mask(struct hwprof_session *session)
{
	bool is_new;

	if (!*session->mask ||
	    numbers_text(&session->gathering->masks, session->mask, &is_new))
		return 0;
	return session_fail(session, -ENOMEM, "out of memory");
}

/* Remembers the mask now in force, if something does not pass. */
static int keep_mask(struct hwprof_session *session,
		     const struct hwprof_mask *mask)
{
	hwprof_mask_print(mask, session->mask, sizeof(session->mask));
	if (!strcmp(session->mask, "all"))
		*session->mask = 0;
	return session_note_mask(session);
}

int hwprof_session_mask(struct hwprof_session *session,
			struct hwprof_mask *mask)
{
	struct hwprof_mask request = *mask;
	int error;

	request.size = sizeof(request);
	request.session = 0;
	if (!ioctl(session->device, HWPROF_IOC_MASK, &request)) {
		*mask = request;
		return keep_mask(session, mask);
	}
	error = errno;
	mask_refused(session->message, sizeof(session->message), error,
		     &session->event, mask);
	return error == ENOTTY ? -EOPNOTSUPP : -error;
}
