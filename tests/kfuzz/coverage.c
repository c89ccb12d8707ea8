// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <linux/kcov.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "coverage.h"

bool coverage_open(struct coverage *coverage)
{
	coverage->fd = open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC);
	if (coverage->fd < 0)
		return false;
	if (!ioctl(coverage->fd, KCOV_INIT_TRACE, (unsigned long)COVERAGE_PCS))
		return true;
	perror("kcov");
	return false;
}

bool coverage_map(struct coverage *coverage)
{
	size_t bytes = (size_t)COVERAGE_PCS * sizeof(uint64_t);
	void *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
			  coverage->fd, 0);

	if (area == MAP_FAILED) {
		perror("kcov's memory");
		return false;
	}
	/* All of it is there, and to copy it takes long. */
	madvise(area, bytes, MADV_DONTFORK);
	coverage->area = area;
	return true;
}

void coverage_clear(struct coverage *coverage)
{
	__atomic_store_n(&coverage->area[0], 0, __ATOMIC_RELAXED);
}

void coverage_begin(const struct coverage *coverage)
{
	if (ioctl(coverage->fd, KCOV_ENABLE, (unsigned long)KCOV_TRACE_PC))
		perror("enabling kcov");
}

/* Only the module is instrumented, so the low bits tell places apart. */
static bool add_pc(struct map *map, uint64_t pc)
{
	uint64_t *bits = &map->bits[pc % COVERAGE_BITS / 64];
	uint64_t bit = 1ULL << pc % 64;

	if (*bits & bit)
		return false;
	*bits |= bit;
	map->count++;
	return true;
}

bool coverage_add(const struct coverage *coverage, struct map *map)
{
	uint64_t i, count = coverage->area[0];
	bool new = false;

	for (i = 1; i <= count; i++)
		new |= add_pc(map, coverage->area[i]);
	return new;
}

bool coverage_is_full(const struct coverage *coverage)
{
	return coverage->area[0] >= COVERAGE_PCS - 1;
}
