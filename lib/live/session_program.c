// SPDX-License-Identifier: LGPL-2.1-or-later
/* BPF programs of a session. The caller has loaded them. */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#include "live_session.h"

static int refused(struct hwprof_session *session, int error)
{
	switch (error) {
	case ENOTTY:
		return session_fail(session, -EOPNOTSUPP,
				    "the module that is loaded has no programs: it is older than this library");
	case EPERM:
		return session_fail(session, -EPERM,
				    "programs take CAP_BPF and CAP_PERFMON, in the process that made the session");
	case EACCES:
		return session_fail(session, -EACCES,
				    "the session was made with other credentials");
	case EBADF:
		return session_fail(session, -EBADF,
				    "the program is no open descriptor");
	case EBUSY:
		return session_fail(session, -EBUSY,
				    "programs for loads, stores and exits of loops come before the first target");
	case EOPNOTSUPP:
		return session_fail(session, -EOPNOTSUPP,
				    "event '%s' has no such events for a program; or the kernel is built without CONFIG_BPF_SYSCALL",
				    session->name);
	case EINVAL:
		return session_fail(session, -EINVAL,
				    "the module does not take the program: it must be a raw tracepoint program that reads up to %d words, and event '%s' must not see the kernel by samples or records",
				    HWPROF_PROGRAM_WORDS, session->name);
	}
	return session_fail(session, -error, "the module refuses the program: %s",
			    strerror(error));
}

int hwprof_session_program(struct hwprof_session *session, int program,
			   unsigned int kinds,
			   const struct hwprof_program_options *options)
{
	struct hwprof_program request = {
		.size = sizeof(request), .fd = program, .kinds = kinds,
		.cookie = options ? options->cookie : 0,
		.limit_us = options ? options->limit_us : 0,
	};

	return ioctl(session->device, HWPROF_IOC_PROGRAM, &request)
		       ? refused(session, errno)
		       : 0;
}

int hwprof_session_program_account(struct hwprof_session *session,
				   enum hwprof_program_kind kind,
				   struct hwprof_program_account *account)
{
	*account = (struct hwprof_program_account){
		.size = sizeof(*account), .kind = kind,
	};
	return ioctl(session->device, HWPROF_IOC_PROGRAM_ACCOUNT, account)
		       ? refused(session, errno)
		       : 0;
}
