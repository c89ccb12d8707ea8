/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A live session. session.c makes it, attaches events to it and starts them;
 * session_rows.c reads what comes of it: records about processes from the rings of
 * the events, rows from the device.
 */
#ifndef HWPROF_LIVE_SESSION_H
#define HWPROF_LIVE_SESSION_H

#include "events.h"
#include "profile.h"
#include "unwinding.h"

enum {
	SESSION_RECORD_MAX = 1 << 16,	/* a header's size is a u16 */
};

/* What hwprof_session_attach() was told once. */
struct attached {
	struct events *events;
	pid_t *targets;			/* threads; one of -1: all of them */
	size_t target_count;
	bool on_exec;
	bool own;			/* this program may be in it, too */
	bool known;			/* what they had mapped was told */
};

struct hwprof_session {
	char message[1024];
	enum hwprof_kind kind;
	struct hwprof_event event;
	char name[256];			/* of that, as events have it */
	struct hwprof_session_options options;

	int device;
	struct hwprof_config config;
	struct unwinding *unwinding;	/* NULL: not wanted */
	struct events_kind feeder;	/* what events have in common */
	struct attached *attached;
	size_t attached_count;
	bool running, ran;		/* now; ever */

	struct hwprof_file *file;	/* where rows come from, for sentences */
	struct hwprof_profile *gathering;
	uint64_t now;			/* the latest time of all records */
	uint8_t *record;		/* of which a ring had the start, ... */
	size_t record_size;		/* ... so many bytes */

	void *rings;			/* of rows, mapped; NULL: there are none */
	size_t ring_size;		/* of the data of each */
	unsigned int ring_count;
};

/* Sets the sentence and returns @error. */
int session_fail(struct hwprof_session *session, int error,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Tells the module how to unwind what is to be profiled. */
void session_tell_tables(struct hwprof_session *session,
			 const struct attached *attached);
/* Tells of what was mapped before the events began. */
int session_tell_maps(struct hwprof_session *session,
		      const struct attached *attached);
/* Enables what may have this program in it, or disables it. */
int session_pause(struct hwprof_session *session, bool pause);
/* Takes what is in the rings of events. */
int session_drain_events(struct hwprof_session *session);
void session_unmap_rings(struct hwprof_session *session);

#endif /* HWPROF_LIVE_SESSION_H */
