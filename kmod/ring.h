/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rings of a session, one for each CPU: memory that its rows are written to as
 * they come, and its reader has mapped. Rows come out of one profile, of which
 * there is one owner at a time, who writes to the ring of the CPU that he is on.
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
};

struct rings {
	void *memory;			/* of all, one behind the other */
	u64 size;			/* of the data of each */
	u32 watermark;			/* of each */
	bool waits;			/* rows do, for room */
	wait_queue_head_t readers;
	struct ring ring[];		/* nr_cpu_ids */
};

struct rings *rings_make(u64 size, u32 watermark);
void rings_free(struct rings *rings);
size_t rings_bytes(u64 size);	/* that they take, control pages included */

/* This CPU's. Who writes a few rows may be moved to another one meanwhile. */
struct ring *rings_here(struct rings *rings);

/*
 * The writer: who owns the profile. @rest is what the row has behind its header.
 * False: there is no room.
 */
bool ring_write(struct ring *ring, u64 time, const struct hwprof_row *row,
		const void *rest);

/* He is through with @ring; @waits: some rows found no room. Process context. */
void rings_wake(struct rings *rings, struct ring *ring, bool waits);

bool rings_are_ready(const struct rings *rings);
int rings_map(struct rings *rings, struct vm_area_struct *vma);

#endif /* HWPROF_RING_H */
