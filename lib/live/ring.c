// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ring.h"

int ring_map(struct ring *ring, int fd, size_t pages)
{
	size_t page = sysconf(_SC_PAGESIZE);
	void *memory = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE,
			    MAP_SHARED, fd, 0);

	if (memory == MAP_FAILED)
		return -errno;
	ring->control = memory;
	ring->data = (uint8_t *)memory + page;
	ring->size = pages * page;
	return 0;
}

void ring_unmap(struct ring *ring)
{
	if (ring->control)
		munmap(ring->control, ring->data + ring->size -
				      (uint8_t *)ring->control);
	ring->control = NULL;
}

int ring_drain(struct ring *ring, ring_fn fn, void *context)
{
	/* Pairs with the kernel's barrier between the records and the head. */
	uint64_t head = __atomic_load_n(&ring->control->data_head,
					__ATOMIC_ACQUIRE);
	uint64_t tail = ring->control->data_tail;
	int error = 0;

	while (tail != head && !error) {
		size_t at = tail & (ring->size - 1);
		size_t size = head - tail;

		if (size > ring->size - at)
			size = ring->size - at;
		error = fn(context, ring->data + at, size);
		tail += size;
	}
	/* The kernel may overwrite this only after we have read it. */
	if (!error)
		__atomic_store_n(&ring->control->data_tail, tail,
				 __ATOMIC_RELEASE);
	return error;
}
