// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows that are fetched. They go through a buffer of the kernel's, because a
 * copy to the reader may take as long as the reader likes, and nobody shall
 * wait for it.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "session.h"
#include "snapshot.h"

enum { RECORDS_BYTES = 64 << 10 };

int snapshot_init(struct snapshot *snapshot)
{
	BUILD_BUG_ON(offsetof(struct hwprof_record, row) + HWPROF_ROW_MAX >
		     HWPROF_SNAPSHOT_MIN);
	*snapshot = (struct snapshot) {
		.records = kvmalloc(RECORDS_BYTES, GFP_KERNEL_ACCOUNT),
	};
	return snapshot->records ? 0 : -ENOMEM;
}

void snapshot_free(struct snapshot *snapshot)
{
	kvfree(snapshot->records);
}

void snapshot_drop(struct snapshot *snapshot)
{
	snapshot->filled = snapshot->taken = 0;
	snapshot->begun = snapshot->done = false;
}

/* --- in ------------------------------------------------------------------- */

struct fill {
	struct snapshot *snapshot;
	struct session *session;
	u64 now;
	bool full;
};

static size_t snapshot_record_size(const struct hwprof_record *record)
{
	return offsetof(struct hwprof_record, row) + record->row.size;
}

/* An engine_emit that appends a record. Return false if the buffer is full. */
static bool snapshot_put_row(void *context, const void *row, u64 ip, u64 addr,
			     u64 period)
{
	struct fill *fill = context;
	struct snapshot *snapshot = fill->snapshot;
	struct hwprof_record *record = snapshot->records + snapshot->filled;
	size_t size = ((const struct hwprof_row *)row)->size;

	if (RECORDS_BYTES - snapshot->filled < sizeof(record->time) + size) {
		fill->full = true;
		return false;
	}
	memcpy((void *)record + offsetof(struct hwprof_record, row), row, size);
	record->time = session_sign(fill->session, &record->row) ?: fill->now;
	snapshot->filled += snapshot_record_size(record);
	fill->session->delivered += period;
	return true;
}

/* Return false if there are more rows than the buffer has room for. */
static bool snapshot_put_rows(struct fill *fill)
{
	struct session *session = fill->session;
	bool done;

	do {
		done = session->engine->rows(session->profile, 0,
					     &fill->snapshot->at, PROFILE_LOOKS,
					     snapshot_put_row, fill);
		cond_resched();
	} while (!done && !fill->full);
	return done;
}

static bool snapshot_put_totals(struct fill *fill)
{
	struct hwprof_row_totals totals;

	session_totals(fill->session, &totals);
	return snapshot_put_row(fill, &totals, 0, 0, 0);
}

/*
 * Fill the buffer with further records. Rows are only known to be complete if
 * the profile did not change since the snapshot began; otherwise begin anew.
 */
static void snapshot_fill_records(struct snapshot *snapshot,
				  struct session *session)
{
	struct fill fill = { snapshot, session, session_now(session) };
	bool retired = session_fetch(session, !snapshot->begun);

	if (!snapshot->begun)
		snapshot->retired = retired;
	if (!snapshot->begun || snapshot->pass != session->pass)
		snapshot->at = 0;
	snapshot->begun = true;
	snapshot->pass = session->pass;
	snapshot->filled = snapshot->taken = 0;
	snapshot->done = snapshot_put_rows(&fill) && snapshot_put_totals(&fill);
	session_fetched(session, snapshot->done && snapshot->retired);
}

/* --- out ------------------------------------------------------------------ */

/* Return the bytes of whole records that have not arrived, at most @size. */
static size_t snapshot_records_within(const struct snapshot *snapshot,
				      size_t size)
{
	size_t at = snapshot->taken, next;

	for (; at < snapshot->filled; at = next) {
		next = at + snapshot_record_size(snapshot->records + at);
		if (next - snapshot->taken > size)
			break;
	}
	return at - snapshot->taken;
}

/* Copy records. Return the bytes that have arrived, or -EFAULT. */
static ssize_t snapshot_take_records(struct snapshot *snapshot, char __user *to,
				     size_t size)
{
	size_t bytes = snapshot_records_within(snapshot, size);

	if (copy_to_user(to, snapshot->records + snapshot->taken, bytes))
		return -EFAULT;
	snapshot->taken += bytes;
	return bytes;
}

ssize_t snapshot_read(struct snapshot *snapshot, struct session *session,
		      char __user *to, size_t size, bool *done)
{
	size_t read = 0;
	ssize_t bytes;

	*done = false;
	do {
		if (snapshot->taken == snapshot->filled)
			snapshot_fill_records(snapshot, session);
		bytes = snapshot_take_records(snapshot, to + read, size - read);
		if (bytes < 0)
			return read ?: bytes;
		read += bytes;
		if (snapshot->taken < snapshot->filled)
			return read;	/* the buffer is full */
		if (snapshot->done) {
			snapshot_drop(snapshot);
			*done = true;
			return read;
		}
		cond_resched();
	} while (!signal_pending(current));
	return read;
}
