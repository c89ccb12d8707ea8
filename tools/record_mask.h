/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HWPROF_RECORD_MASK_H
#define HWPROF_RECORD_MASK_H

struct numbers;
struct record_request;

/*
 * Returns the number of the newest session that this program has made; 0: there
 * is none. It may end a moment later than the program has closed it.
 */
unsigned int record_newest_session(void);

/*
 * Gives the mask of the request, if there is one, to the sessions that this
 * program has made after the session @before. Returns -1 or the exit status.
 */
int record_mask(const struct record_request *request, unsigned int before);

/*
 * Adds the mask of the request as text, if something does not pass. Returns 0
 * or -ENOMEM.
 */
int record_mask_text(const struct record_request *request,
		     struct numbers *masks);

#endif /* HWPROF_RECORD_MASK_H */
