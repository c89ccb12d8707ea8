// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>

#include "base/mask_refused.h"
#include "command.h"
#include "mask.h"
#include "sessions.h"

int mask_option(struct hwprof_mask *mask, const char *text)
{
	char message[1024];

	return hwprof_mask_parse(mask, text, message, sizeof(message)) ?
		       usage_error("%s", message) :
		       -1;
}

int mask_session(int device, unsigned int session,
		 const struct hwprof_mask *mask,
		 const struct hwprof_event *event)
{
	struct hwprof_mask request = *mask;
	char message[512];
	int error;

	request.size = sizeof(request);
	request.session = session;
	error = sessions_change(device, HWPROF_IOC_MASK, &request);
	if (!error)
		return -1;
	if (error == ENOENT)
		return failed("there is no session %u: 'hwprof ctl' lists those that you may change",
			      session);
	mask_refused(message, sizeof(message), error, event, mask);
	return failed("session %u: %s", session, message);
}
