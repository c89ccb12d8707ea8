/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The rings of a session, one for each CPU: memory that the kernel writes rows
 * to, and that the reader has mapped. Rows come out of one profile. Its owner,
 * of whom there is one at a time, writes to the ring of the CPU where it runs.
 */
#ifndef HWPROF_RING_H
#define HWPROF_RING_H

#include <linux/types.h>
#include <linux/wait.h>

struct hwprof_ring_page;
struct hwprof_row;
struct vm_area_struct;

struct ring {
	/* The reader can write anything there. */
	struct hwprof_ring_page *page;
	void *data;
	u64 size;			/* bytes of data: a power of two */
	u64 head;			/* true value of page->data_head */
	u64 waited;
};

struct rings {
	void *memory;			/* of all rings, one behind the other */
	u64 size;			/* bytes of data of each ring */
	/* Bytes in one ring that make it ready. */
	u32 watermark;
	bool waits;			/* rows are waiting for room */
	wait_queue_head_t readers;
	struct ring ring[];		/* nr_cpu_ids of them */
};

struct rings *rings_make(u64 size, u32 watermark);
void rings_free(struct rings *rings);
size_t rings_bytes(u64 size);	/* with control pages */

/* Return this CPU's ring. The owner may move to another CPU while it writes. */
struct ring *rings_here(struct rings *rings);

/**
 * ring_write() - Write a record
 * @ring: the ring.
 * @time: time of the record.
 * @row: header of the row.
 * @rest: the row behind its header.
 *
 * Context: the caller owns the profile.
 * Return: false if there is no room.
 */
bool ring_write(struct ring *ring, u64 time, const struct hwprof_row *row,
		const void *rest);

/**
 * rings_wake() - Wake readers after some writes
 * @rings: all rings.
 * @ring: the ring that was written to.
 * @waits: some rows found no room.
 *
 * Context: process context.
 */
void rings_wake(struct rings *rings, struct ring *ring, bool waits);

bool rings_are_ready(const struct rings *rings);
int rings_map(struct rings *rings, struct vm_area_struct *vma);

#endif /* HWPROF_RING_H */
