// SPDX-License-Identifier: GPL-2.0-only
/*
 * The protocol of perf's rings: the writer moves data_head, the reader
 * data_tail.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ring.h"
#include "../uapi/linux/hwprof.h"

/* Return the bytes of one ring. */
static size_t ring_bytes(u64 size)
{
	return PAGE_SIZE + size;
}

size_t rings_bytes(u64 size)
{
	return nr_cpu_ids * ring_bytes(size);
}

static void ring_init(struct ring *ring, void *memory, u64 size)
{
	ring->page = memory;
	ring->data = memory + PAGE_SIZE;
	ring->size = size;
	ring->page->version = HWPROF_RING_VERSION;
	ring->page->data_offset = PAGE_SIZE;
	ring->page->data_size = size;
}

struct rings *rings_make(u64 size, u32 watermark)
{
	struct rings *rings = kzalloc(struct_size(rings, ring, nr_cpu_ids),
				      GFP_KERNEL_ACCOUNT);
	unsigned int cpu;

	if (!rings)
		return NULL;
	/*
	 * As for tables, fail where memory is short. vmalloc_user() would not
	 * charge the opener's memory cgroup.
	 */
	if (rings_bytes(size) >> PAGE_SHIFT <= si_mem_available())
		rings->memory = __vmalloc(rings_bytes(size),
					  GFP_KERNEL_ACCOUNT | __GFP_ZERO |
					  __GFP_NOWARN | __GFP_RETRY_MAYFAIL);
	if (!rings->memory) {
		kfree(rings);
		return NULL;
	}
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		ring_init(&rings->ring[cpu],
			  rings->memory + cpu * ring_bytes(size), size);
	rings->size = size;
	rings->watermark = watermark;
	init_waitqueue_head(&rings->readers);
	return rings;
}

void rings_free(struct rings *rings)
{
	vfree(rings->memory);
	kfree(rings);
}

struct ring *rings_here(struct rings *rings)
{
	return &rings->ring[raw_smp_processor_id()];
}

/* Return the bytes in use. A tail that makes no sense counts as a full ring. */
static u64 ring_bytes_used(const struct ring *ring)
{
	u64 tail = smp_load_acquire(&ring->page->data_tail);

	return min(ring->head - tail, ring->size);
}

static void ring_copy_in(struct ring *ring, u64 at, const void *from,
			 size_t size)
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

	if (ring->size - ring_bytes_used(ring) < size)
		return false;
	ring_copy_in(ring, ring->head, &begin, sizeof(begin));
	ring_copy_in(ring, ring->head + sizeof(begin), rest,
		     size - sizeof(begin));
	WRITE_ONCE(ring->head, ring->head + size);
	/* A reader that sees the head also sees the data before it. */
	smp_store_release(&ring->page->data_head, ring->head);
	return true;
}

bool rings_are_ready(const struct rings *rings)
{
	u64 enough = READ_ONCE(rings->waits) ? 1 : max(rings->watermark, 1U);
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		const struct ring *ring = &rings->ring[cpu];

		if (READ_ONCE(ring->head) - READ_ONCE(ring->page->data_tail) >=
		    enough)
			return true;
	}
	return false;
}

void rings_wake(struct rings *rings, struct ring *ring, bool waits)
{
	WRITE_ONCE(rings->waits, waits);
	if (waits)
		WRITE_ONCE(ring->page->waited, ++ring->waited);
	if (rings_are_ready(rings))
		wake_up_interruptible_poll(&rings->readers,
					   EPOLLIN | EPOLLRDNORM);
}

/* Map pages as remap_vmalloc_range() does for memory of vmalloc_user(). */
static int ring_map_pages(struct rings *rings, struct vm_area_struct *vma)
{
	unsigned long all = rings_bytes(rings->size) >> PAGE_SHIFT;
	unsigned long i;
	int err;

	if (vma->vm_pgoff > all || vma_pages(vma) > all - vma->vm_pgoff)
		return -EINVAL;
	for (i = 0; i < vma_pages(vma); i++) {
		void *page = rings->memory +
			     ((vma->vm_pgoff + i) << PAGE_SHIFT);

		err = vm_insert_page(vma, vma->vm_start + (i << PAGE_SHIFT),
				     vmalloc_to_page(page));
		if (err)
			return err;
	}
	return 0;
}

/* Map one ring or several. They may be mapped more than once. */
int rings_map(struct rings *rings, struct vm_area_struct *vma)
{
	unsigned long pages = ring_bytes(rings->size) >> PAGE_SHIFT;

	if (!(vma->vm_flags & VM_SHARED) || vma->vm_pgoff % pages ||
	    vma_pages(vma) % pages)
		return -EINVAL;
	vm_flags_set(vma, VM_DONTEXPAND | VM_DONTDUMP);
	return ring_map_pages(rings, vma);
}
