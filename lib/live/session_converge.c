// SPDX-License-Identifier: LGPL-2.1-or-later
/* A live session that looks less often while there is nothing new. */
#include <errno.h>

#include "convergence.h"
#include "live_session.h"

static int check(struct hwprof_session *session,
		 const struct hwprof_converge *options,
		 struct hwprof_converge *complete)
{
	char why[256];

	if (session->convergence || session->ran)
		return session_fail(session, -EBUSY,
				    "a session is told to converge once, before it starts");
	if (convergence_options(complete, options, session->message,
				sizeof(session->message)))
		return -EINVAL;
	if (convergence_check(&session->event, why, sizeof(why)))
		return session_fail(session, -EOPNOTSUPP, "event '%s' %s",
				    session->name, why);
	return 0;
}

int hwprof_session_converge(struct hwprof_session *session,
			    const struct hwprof_converge *options)
{
	struct hwprof_tuning asked = { .flags = 0 };
	struct hwprof_converge complete;
	struct distance first;
	int error = check(session, options, &complete);

	if (!error)
		error = hwprof_session_tune(session, &asked);
	if (error)
		return error;
	if (asked.changes)
		return session_fail(session, -EBUSY,
				    "the session's parameters or its mask have changed: it cannot converge any more");
	if (!asked.period && !asked.budget_permille)
		return session_fail(session, -EINVAL,
				    "to converge, a session needs a period, a frequency or a budget");
	/* Code that the filter leaves out takes time, but no window. */
	if (asked.budget_permille && session->filter)
		return session_fail(session, -EINVAL,
				    "to converge with a filter, a session needs a period or a frequency, and no budget");
	first = convergence_distance(&asked, session->filter, 0);
	if (distances_add(&session->file->distances, &first))
		return session_fail(session, -ENOMEM, "out of memory");
	session->convergence = convergence_new(&complete, &asked);
	return session->convergence ?
	       0 : session_fail(session, -ENOMEM, "out of memory");
}

static void end(struct hwprof_session *session)
{
	convergence_free(session->convergence);
	session->convergence = NULL;
}

/* Returns the last distance that is known. */
static struct distance *last_distance(const struct hwprof_session *session)
{
	const struct distances *distances = &session->file->distances;

	return &distances->all[distances->count - 1];
}

static void take_totals(struct hwprof_session *session, uint64_t time,
			const struct hwprof_row_totals *row)
{
	const struct distance *last = last_distance(session);

	if (row->changes > last->number) {
		/* Somebody else has changed something. */
		end(session);
		return;
	}
	distances_date(&session->file->distances, last->session, row->changes,
		       time);
	session->totals = *row;
	session->has_totals = true;
}

int session_converge_row(struct hwprof_session *session, uint64_t time,
			 const struct hwprof_row *row)
{
	if (!session->convergence)
		return 0;
	if (row->type == HWPROF_ROW_TOTALS) {
		take_totals(session, time, (const void *)row);
		return 0;
	}
	return convergence_row(session->convergence, row);
}

int session_converge(struct hwprof_session *session)
{
	struct hwprof_tuning change;
	struct distance distance;
	int error;

	if (!session->convergence || !session->has_totals ||
	    distances_full(&session->file->distances))
		return 0;
	session->has_totals = false;
	if (!convergence_totals(session->convergence, &session->totals,
				&change))
		return 0;
	error = hwprof_session_tune(session, &change);
	if (error)
		return error == -EAGAIN || error == -EINTR ? 0 : error;
	if (change.changes != last_distance(session)->number + 1) {
		end(session);
		return 0;
	}
	distance = convergence_distance(&change, session->filter,
					DISTANCE_NEVER);
	if (distances_add(&session->file->distances, &distance))
		return session_fail(session, -ENOMEM, "out of memory");
	convergence_changed(session->convergence);
	return 1;
}

void session_converge_reset(struct hwprof_session *session)
{
	session->has_totals = false;
	distances_forget(&session->file->distances, session->config.session);
	if (session->convergence)
		convergence_reset(session->convergence);
}
