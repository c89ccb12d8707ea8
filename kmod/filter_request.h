/* SPDX-License-Identifier: GPL-2.0-only */
/* Code that a session looks at, as perf was asked for it. */
#ifndef HWPROF_FILTER_REQUEST_H
#define HWPROF_FILTER_REQUEST_H

#include <linux/types.h>

struct inode;

enum { FILTER_RANGES = 8 };

/* Bytes of a file, or addresses. */
struct filter_part {
	/* Only compared, with three numbers of it. NULL: addresses. */
	const struct inode *file;
	u64 number;
	u32 generation;
	u32 device;
	u64 offset;			/* in the file; or the first address */
	u64 size;			/* in bytes */
};

struct filter_request {
	struct filter_part parts[FILTER_RANGES];
	u64 version;			/* another one after each change */
	u32 count;			/* 0: the session sees everything */
	bool files;			/* a part is of a file */
	bool addresses;			/* a part is not */
};

#endif /* HWPROF_FILTER_REQUEST_H */
