/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ring: memory that a session's rows are written to as they come, and its
 * reader has mapped. One for the session: its rows come out of one profile, of
 * which there is one owner at a time.
 */
#ifndef HWPROF_RING_H
#define HWPROF_RING_H

#include <linux/types.h>
#include <linux/wait.h>

struct hwprof_ring_page;
struct hwprof_row;
struct vm_area_struct;

struct ring {
	struct hwprof_ring_page *page;	/* the reader may write what he likes */
	void *data;
	u64 size;			/* of data: a power of two */
	u64 head;			/* as page->data_head should be */
	u64 waited;
	bool waits;			/* rows do, for room */
	u32 watermark;
	wait_queue_head_t readers;
};

struct ring *ring_make(u64 size, u32 watermark);
void ring_free(struct ring *ring);
size_t ring_bytes(u64 size);	/* that it takes, control page included */

/*
 * The writer: who owns the profile. @rest is what the row has behind its header.
 * False: there is no room.
 */
bool ring_write(struct ring *ring, u64 time, const struct hwprof_row *row,
		const void *rest);

/* It is through; @waits: some rows found no room. Process context. */
void ring_wake(struct ring *ring, bool waits);

bool ring_is_ready(const struct ring *ring);
int ring_map(struct ring *ring, struct vm_area_struct *vma);

#endif /* HWPROF_RING_H */
