// SPDX-License-Identifier: LGPL-2.1-or-later
/* Parameters of a session that runs. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "live_session.h"

static int refused(struct hwprof_session *session, int error)
{
	switch (error) {
	case ENOTTY:
		return session_fail(session, -EOPNOTSUPP,
				    "the module that is loaded cannot change a session: it is older than this library");
	case EPERM:
		return session_fail(session, -EPERM,
				    "to change a session takes CAP_PERFMON, or the user and the capabilities of the process that made it");
	case EOPNOTSUPP:
		return session_fail(session, -EOPNOTSUPP,
				    "event '%s' sees everything, or takes no bursts whose length could change",
				    session->name);
	case EINVAL:
		return session_fail(session, -EINVAL,
				    "the module does not take the change: a number is out of range, or event '%s' has no budget; a period stays a period, and a frequency a frequency",
				    session->name);
	case EAGAIN:
		return session_fail(session, -EAGAIN,
				    "nothing has changed: rows from before could not be written; read rows and try again");
	}
	return session_fail(session, -error,
			    "the module refuses the change: %s",
			    strerror(error));
}

int hwprof_session_tune(struct hwprof_session *session,
			struct hwprof_tuning *tuning)
{
	struct hwprof_tuning request = *tuning;

	request.size = sizeof(request);
	request.session = 0;
	if (ioctl(session->device, HWPROF_IOC_TUNE, &request))
		return refused(session, errno);
	*tuning = request;
	return 0;
}
