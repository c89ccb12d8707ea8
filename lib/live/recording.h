/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A running recording: events, and the file that receives the content of their
 * rings.
 */
#ifndef HWPROF_RECORDING_H
#define HWPROF_RECORDING_H

#include "events.h"

#include <poll.h>

struct code_reader;
struct hwprof_converge;
struct recording;

/*
 * Opens the events, disabled. @options must live as long as the recording.
 * *@recording is NULL only after -ENOMEM; otherwise recording_error() describes
 * a failure. If the module or the kernel refuses an event, recording_refused()
 * returns it. All functions return 0 or a negative errno.
 */
int recording_open(struct recording **recording,
		   const struct events_options *options);
/*
 * Returns the index of the event that could not be opened; -1 for other
 * failures.
 */
int recording_refused(const struct recording *recording);

/*
 * Mapped code, as recordings one after the other know it: each file is read
 * once, for its build id and for a table for unwinding. The module keeps the
 * tables meanwhile, and cannot be unloaded.
 */
struct known_code;

/*
 * @reader reads the files, and must live as long as the result; NULL: this
 * process does. Returns NULL if out of memory.
 */
struct known_code *known_code_new(const struct code_reader *reader);
void known_code_free(struct known_code *code);
/*
 * Forgets everything if it is time for that: too many files have come and gone,
 * or the module has no room for more tables, or little. In that case each time
 * is twice as long after the one before, up to an hour, because the reason may
 * last. No recording may use @code.
 */
void known_code_renew(struct known_code *code);
/* Returns the number of files and processes that have no room for tables. */
unsigned int known_code_refused(const struct known_code *code);

/*
 * Makes the recording, which is not started yet, use @code, which must live
 * longer. Without it a recording has its own.
 */
void recording_use_code(struct recording *recording,
			struct known_code *code);

/*
 * Makes the recording, which is not started yet, keep the users and cgroups of
 * processes that have rows.
 */
void recording_want_labels(struct recording *recording);

/*
 * Bounds the bytes of records that are written. What comes behind them is
 * dropped, and recording_dropped() has the number of records. Maps of processes
 * that ran before get one half at most, and no process more than 1/64.
 */
void recording_limit(struct recording *recording, uint64_t bytes);
uint64_t recording_dropped(const struct recording *recording);
/* Returns true if records from rings are dropped. */
bool recording_is_full(const struct recording *recording);

/*
 * Makes sessions of the recording, which is not started yet, look less often
 * while there is nothing new. @options are complete; see convergence.h.
 */
int recording_converge(struct recording *recording,
		       const struct hwprof_converge *options);

/* Creates the file @path, and starts the events, now or at the exec. */
int recording_start(struct recording *recording, const char *path);

/*
 * Waits up to @milliseconds for records or for the caller's @other, and writes
 * the records. Returns 1 if all targets are gone, otherwise 0.
 */
int recording_step(struct recording *recording, struct pollfd *other,
		   int milliseconds);

/* Writes the rows of sessions that events feed, as they are now. */
int recording_snapshot(struct recording *recording);

/* Stops the events, writes the rest and completes the file. */
int recording_finish(struct recording *recording,
		     const struct writer_facts *facts,
		     struct writer_summary *summary);

/*
 * Returns counts so far: hwprof's rows or samples, lost records, bytes of the
 * file.
 */
void recording_progress(const struct recording *recording,
			uint64_t *samples, uint64_t *lost, uint64_t *bytes);

/*
 * Returns a sentence about what stacks of samples lack, or about a session that
 * does not converge; NULL if nothing is known.
 */
const char *recording_warning(const struct recording *recording);

const char *recording_error(const struct recording *recording);
void recording_close(struct recording *recording);

#endif /* HWPROF_RECORDING_H */
