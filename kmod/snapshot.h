/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snapshot: what the rows of a session say, on its way to who asked for it.
 * Rows are told once, and so are kept here until they have arrived.
 */
#ifndef HWPROF_SNAPSHOT_H
#define HWPROF_SNAPSHOT_H

#include <linux/types.h>

struct session;

struct snapshot {
	void *records;		/* struct hwprof_record, one behind the other */
	size_t filled;		/* bytes, */
	size_t taken;		/* of which those have arrived */
	bool begun;		/* some of it was told, */
	bool done;		/* and all of it, totals too */
	u64 pass;		/* of the session: the profile is as it was then, */
	size_t at;		/* and the engine's rows were told up to here */
	bool retired;		/* all tables were in it */
};

int snapshot_init(struct snapshot *snapshot);
void snapshot_free(struct snapshot *snapshot);

/* What was told and has not arrived is given up. */
void snapshot_drop(struct snapshot *snapshot);

/*
 * Copies whole records to @to, at most @size bytes. How many bytes that were, or
 * an errno if there were none; @done: the snapshot is complete.
 */
ssize_t snapshot_read(struct snapshot *snapshot, struct session *session,
		      char __user *to, size_t size, bool *done);

#endif /* HWPROF_SNAPSHOT_H */
