// SPDX-License-Identifier: GPL-2.0-only
/*
 * When loaded, writes ready-made rows into a ring, as sessions write them. The
 * parameters tell how many, and afterwards how long that took.
 */
#include <linux/init.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <linux/sizes.h>

#include "ring.h"
#include "../uapi/linux/hwprof.h"

static unsigned int rows;
module_param(rows, uint, 0444);

static unsigned long long ns, bytes;
module_param(ns, ullong, 0444);
module_param(bytes, ullong, 0444);

static bool write_rows(struct ring *ring)
{
	struct hwprof_row_call row = {
		.row.type = HWPROF_ROW_CALL, .row.size = sizeof(row),
	};
	u64 begin = local_clock();
	unsigned int i;

	for (i = 0; i < rows; i++)
		if (!ring_write(ring, begin, &row.row, &row.row + 1))
			return false;
	ns = local_clock() - begin;
	bytes = ring->head;
	return true;
}

static int __init ring_writer_init(void)
{
	struct rings *rings = rings_make(SZ_4M, 0);
	bool written;

	if (!rings)
		return -ENOMEM;
	written = write_rows(rings_here(rings));
	rings_free(rings);
	return written ? 0 : -ENOSPC;
}
module_init(ring_writer_init);

static void __exit ring_writer_exit(void)
{
}
module_exit(ring_writer_exit);

MODULE_DESCRIPTION("Times a ring of a session");
MODULE_LICENSE("GPL");
