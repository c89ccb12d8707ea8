/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A snapshot: the rows of a session on their way to a reader. A row is told
 * only once, so it is kept here until it has arrived.
 */
#ifndef HWPROF_SNAPSHOT_H
#define HWPROF_SNAPSHOT_H

#include <linux/types.h>

struct session;

struct snapshot {
	/* Array of struct hwprof_record of different sizes. */
	void *records;
	size_t filled;		/* bytes of records */
	size_t taken;		/* bytes of these that have arrived */
	bool begun;		/* some rows were told */
	bool done;		/* all rows were told, and totals */
	/*
	 * session->pass when rows were told: the profile has not changed if it
	 * is the same.
	 */
	u64 pass;
	size_t at;		/* position in the engine's rows */
	bool retired;		/* all tables were merged into the profile */
};

int snapshot_init(struct snapshot *snapshot);
void snapshot_free(struct snapshot *snapshot);

/* Forget the snapshot. Rows that were told and have not arrived are lost. */
void snapshot_drop(struct snapshot *snapshot);

/**
 * snapshot_read() - Copy whole records to a reader
 * @snapshot: the snapshot.
 * @session: its session.
 * @to: the reader's buffer.
 * @size: bytes of it.
 * @done: set to whether the snapshot is complete.
 *
 * Return: number of bytes copied, or a negative errno if there are none.
 */
ssize_t snapshot_read(struct snapshot *snapshot, struct session *session,
		      char __user *to, size_t size, bool *done);

#endif /* HWPROF_SNAPSHOT_H */
