// SPDX-License-Identifier: GPL-2.0-only
/*
 * News: something was learnt, so a flush is due. All of this may run in NMI and
 * under any lock. It only queues an irq_work; flush.c has what that does.
 */
#include <linux/irq_work.h>

#include "session.h"

/*
 * Ask for a flush at the end of the interval, because something was learnt. May
 * be called in NMI and under locks of the scheduler. A session without news
 * costs nothing.
 */
void session_note_news(struct session *session)
{
	if (!READ_ONCE(session->news) && !xchg(&session->news, true))
		irq_work_queue(&session->flush_kick);
}

/*
 * Ask for a flush soon, not at the end of the interval; from anywhere. One kick
 * is enough. If the kernel's branches are profiled, those of the kick itself
 * may fill a window, which finds the table as crowded as before.
 */
void session_want_flush(struct session *session)
{
	if (!READ_ONCE(session->flush_wanted) &&
	    !xchg(&session->flush_wanted, true))
		irq_work_queue(&session->flush_kick);
}

/*
 * The lane's task, the last thread of its process, exits. Under perf's locks,
 * with interrupts off.
 */
void lane_exits(struct lane *lane)
{
	if (lane->session->rows && !lane->session->fetched)
		irq_work_queue(&lane->exit_kick);
}
