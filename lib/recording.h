/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording while it runs: events, and the file that takes what their rings
 * give.
 */
#ifndef HWPROF_RECORDING_H
#define HWPROF_RECORDING_H

#include "events.h"

#include <poll.h>

struct recording;

/*
 * Opens the events, disabled; @options must live as long. *@recording is NULL only for -ENOMEM; otherwise
 * recording_error() has the sentence, and for what the module or the kernel
 * refuses, recording_refused() the event. All return a negative errno.
 */
int recording_open(struct recording **recording,
		   const struct events_options *options);
/* The index of the event whose opening failed; -1: it was something else. */
int recording_refused(const struct recording *recording);

/* Begins the file @path; the events run from now on, or from the exec. */
int recording_start(struct recording *recording, const char *path);

/*
 * Waits up to @milliseconds for records or for the caller's @other, and writes
 * what there is. 1: all targets are gone; 0: go on.
 */
int recording_step(struct recording *recording, struct pollfd *other,
		   int milliseconds);

/* Stops the events, takes the rest and completes the file. */
int recording_finish(struct recording *recording,
		     const struct writer_facts *facts,
		     struct writer_summary *summary);

/* So far: hwprof's rows or samples, records lost, bytes of the file. */
void recording_progress(const struct recording *recording,
			uint64_t *samples, uint64_t *lost, uint64_t *bytes);

/* What samples' stacks lack, a sentence; NULL: nothing that is known. */
const char *recording_warning(const struct recording *recording);

const char *recording_error(const struct recording *recording);
void recording_close(struct recording *recording);

#endif /* HWPROF_RECORDING_H */
