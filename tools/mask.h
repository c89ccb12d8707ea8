/* SPDX-License-Identifier: GPL-2.0-only */
/* The option --mask. */
#ifndef HWPROF_TOOLS_MASK_H
#define HWPROF_TOOLS_MASK_H

#include "hwprof.h"

/* Reads the option's value. Returns -1 or the exit status. */
int mask_option(struct hwprof_mask *mask, const char *text);

/*
 * Gives a session the mask. @event is that of the session; NULL: it is not
 * known. Returns -1 or the exit status.
 */
int mask_session(int device, unsigned int session,
		 const struct hwprof_mask *mask,
		 const struct hwprof_event *event);

#endif /* HWPROF_TOOLS_MASK_H */
