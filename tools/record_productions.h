/* SPDX-License-Identifier: GPL-2.0-only */
/* Productions of `hwprof record`: --when and --then. */
#ifndef HWPROF_RECORD_PRODUCTIONS_H
#define HWPROF_RECORD_PRODUCTIONS_H

#include "record.h"

struct record_productions;

/*
 * Makes sessions for the events of the request, whose PMU is known, gives them
 * programs, and adds to @kinds the event of a session that watches for
 * patterns. @count is the number of kinds, before and after. Returns -1, or the
 * exit status. *@productions stays NULL without --when.
 */
int record_productions_open(struct record_productions **productions,
			    struct record_request *request, size_t *count);
void record_productions_close(struct record_productions *productions);

/* Looks for functions in a process that runs. */
void record_productions_find(struct record_productions *productions, pid_t pid);

/*
 * Returns a descriptor that is readable when @signals is, or when an action
 * asks for something; -1: there is none.
 */
int record_productions_poll(struct record_productions *productions,
			    int signals);
/*
 * Does what actions have asked for. Sets *@stop if recording is to end. Returns
 * -1, or the exit status.
 */
int record_productions_obey(struct record_productions *productions,
			    struct recording *recording, bool *stop);

/* Prints what was counted. Returns -1, or the exit status. */
int record_productions_finish(struct record_productions *productions);

#endif /* HWPROF_RECORD_PRODUCTIONS_H */
