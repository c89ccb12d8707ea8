// SPDX-License-Identifier: GPL-2.0-only
/* As perf's rings: the writer moves data_head, the reader data_tail. */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "ring.h"
#include "../uapi/linux/hwprof.h"

size_t ring_bytes(u64 size)
{
	return PAGE_SIZE + size;
}

struct ring *ring_make(u64 size, u32 watermark)
{
	struct ring *ring = kzalloc(sizeof(*ring), GFP_KERNEL);

	if (!ring)
		return NULL;
	/* As for tables: what is too much hurts nobody. */
	if (ring_bytes(size) >> PAGE_SHIFT <= si_mem_available())
		ring->page = vmalloc_user(ring_bytes(size));
	if (!ring->page) {
		kfree(ring);
		return NULL;
	}
	ring->data = (void *)ring->page + PAGE_SIZE;
	ring->size = size;
	ring->watermark = watermark;
	init_waitqueue_head(&ring->readers);
	ring->page->version = HWPROF_RING_VERSION;
	ring->page->data_offset = PAGE_SIZE;
	ring->page->data_size = size;
	return ring;
}

void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	vfree(ring->page);
	kfree(ring);
}

/* A tail that cannot be is one that leaves no room. */
static u64 bytes_used(const struct ring *ring)
{
	u64 tail = smp_load_acquire(&ring->page->data_tail);

	return min(ring->head - tail, ring->size);
}

static void copy_in(struct ring *ring, u64 at, const void *from, size_t size)
{
	size_t start = at & (ring->size - 1);
	size_t first = min_t(size_t, size, ring->size - start);

	memcpy(ring->data + start, from, first);
	if (first < size)
		memcpy(ring->data, from + first, size - first);
}

bool ring_write(struct ring *ring, u64 time, const struct hwprof_row *row,
		const void *rest)
{
	const struct hwprof_record begin = { .time = time, .row = *row };
	size_t size = sizeof(time) + row->size;

	if (ring->size - bytes_used(ring) < size)
		return false;
	copy_in(ring, ring->head, &begin, sizeof(begin));
	copy_in(ring, ring->head + sizeof(begin), rest, size - sizeof(begin));
	WRITE_ONCE(ring->head, ring->head + size);
	/* Whoever sees the head sees what is before it. */
	smp_store_release(&ring->page->data_head, ring->head);
	return true;
}

bool ring_is_ready(const struct ring *ring)
{
	u64 used = READ_ONCE(ring->head) - READ_ONCE(ring->page->data_tail);

	return used && (used >= ring->watermark || READ_ONCE(ring->waits));
}

void ring_wake(struct ring *ring, bool waits)
{
	WRITE_ONCE(ring->waits, waits);
	if (waits)
		WRITE_ONCE(ring->page->waited, ++ring->waited);
	if (ring_is_ready(ring))
		wake_up_interruptible_poll(&ring->readers,
					   EPOLLIN | EPOLLRDNORM);
}

/* All of it, once or more often. */
int ring_map(struct ring *ring, struct vm_area_struct *vma)
{
	if (vma->vm_pgoff || !(vma->vm_flags & VM_SHARED) ||
	    vma->vm_end - vma->vm_start != ring_bytes(ring->size))
		return -EINVAL;
	return remap_vmalloc_range(vma, ring->page, 0);
}
