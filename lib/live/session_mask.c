// SPDX-License-Identifier: LGPL-2.1-or-later
/* The mask of a session. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "base/mask_refused.h"
#include "live_session.h"

int hwprof_session_mask(struct hwprof_session *session,
			struct hwprof_mask *mask)
{
	struct hwprof_mask request = *mask;
	int error;

	request.size = sizeof(request);
	request.session = 0;
	if (!ioctl(session->device, HWPROF_IOC_MASK, &request)) {
		*mask = request;
		return 0;
	}
	error = errno;
	mask_refused(session->message, sizeof(session->message), error,
		     &session->event, mask);
	return error == ENOTTY ? -EOPNOTSUPP : -error;
}
