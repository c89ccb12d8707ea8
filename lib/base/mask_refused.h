/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why the module does not take a mask. */
#ifndef HWPROF_MASK_REFUSED_H
#define HWPROF_MASK_REFUSED_H

#include "hwprof.h"

/*
 * Writes a sentence about the errno that HWPROF_IOC_MASK failed with. @event is
 * that of the session; NULL: it is not known.
 */
void mask_refused(char *message, size_t size, int error,
		  const struct hwprof_event *event,
		  const struct hwprof_mask *mask);

#endif /* HWPROF_MASK_REFUSED_H */
