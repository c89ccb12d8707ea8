/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A live session. session.c makes it, attaches events to it and starts them.
 * session_rows.c reads records about processes from the rings of the events,
 * and rows from the device.
 */
#ifndef HWPROF_LIVE_SESSION_H
#define HWPROF_LIVE_SESSION_H

#include "convergence.h"
#include "events.h"
#include "profile/profile.h"
#include "unwinding.h"

enum {
	SESSION_RECORD_MAX = 1 << 16,	/* a header's size is a u16 */
};

/* One call of hwprof_session_attach(). */
struct attached {
	struct events *events;
	pid_t *targets;			/* threads; a single -1: all threads */
	size_t target_count;
	bool waits;			/* until it is stopped, an exec begins
					 * it, and not a start */
	bool own;			/* the target may include this
					 * program */
	bool known;			/* their maps have been noted */
};

struct hwprof_session {
	char message[1024];
	enum hwprof_kind kind;
	struct hwprof_event event;
	char name[256];			/* the event as text, for perf */
	struct hwprof_session_options options;
	char *filter;			/* in the kernel's words; NULL: none */

	int device;
	struct hwprof_config config;
	char mask[HWPROF_MASK_TEXT];	/* as we know it; "": none */
	struct unwinding *unwinding;	/* NULL: not wanted */
	struct events_kind feeder;	/* the attr that all events have */
	struct attached *attached;
	size_t attached_count;
	bool running, ran;		/* running now; has ever run */

	struct hwprof_file *file;	/* origin of rows in messages */
	struct hwprof_profile *gathering;
	uint64_t now;			/* latest time in any record */
	uint8_t *record;		/* start of a record that wraps in its
					 * ring */
	size_t record_size;		/* bytes of that start */

	struct convergence *convergence;	/* NULL: it does not converge */
	struct hwprof_row_totals totals;	/* the last ones, */
	bool has_totals;			/* if not judged yet */

	void *rings;			/* mapped rings of rows; NULL: none */
	size_t ring_size;		/* of each ring's data */
	unsigned int ring_count;
};

/* Sets the message and returns @error. */
int session_fail(struct hwprof_session *session, int error,
		 const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Gives the module the tables for unwinding of the targets. */
void session_tell_tables(struct hwprof_session *session,
			 const struct attached *attached);
/* Notes the maps that targets had before the events began. */
int session_tell_maps(struct hwprof_session *session,
		      const struct attached *attached);
/* Disables the events that may include this program, or enables them again. */
int session_pause(struct hwprof_session *session, bool pause);
/* Reads the rings of the events. */
int session_drain_events(struct hwprof_session *session);
void session_unmap_rings(struct hwprof_session *session);
/* Makes profiles from now on tell the mask. Returns 0 or -ENOMEM. */
int session_note_mask(struct hwprof_session *session);

/* Judges a row, if the session converges. Returns 0 or -ENOMEM. */
int session_converge_row(struct hwprof_session *session, uint64_t time,
			 const struct hwprof_row *row);
/*
 * Changes the distance if it is time, after all rows were read. Returns 1 if it
 * did: then rows are to be read again, whose totals say when. Otherwise 0 or a
 * negative errno.
 */
int session_converge(struct hwprof_session *session);
void session_converge_reset(struct hwprof_session *session);

#endif /* HWPROF_LIVE_SESSION_H */
