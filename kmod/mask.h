/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mask of a session: what passes is in engine/mask.h. It is a part of the
 * session's parameters, and is replaced with them.
 */
#ifndef HWPROF_MASK_H
#define HWPROF_MASK_H

#include "tuning.h"

/**
 * mask_request() - Ask for the mask of a session, or set it
 * @session: the session, which the caller holds.
 * @request: what was asked for. It receives the mask now in force.
 *
 * Context: process context; may sleep.
 * Return: 0 or an errno: see struct hwprof_mask.
 */
int mask_request(struct session *session, struct hwprof_mask *request);

/*
 * Return the session's mask; NULL: everything passes. Interrupts are off, or
 * this is an NMI.
 */
static __always_inline const struct mask *
mask_now(const struct session *session)
{
	return READ_ONCE(session->narrowed) & 1 << NARROWED_BY_MASK ?
	       &tuning_now(session)->mask : NULL;
}

#endif /* HWPROF_MASK_H */
