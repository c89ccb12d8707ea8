/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables for unwinding, and where programs have the code that they are of. A file
 * at /dev/hwprof adds to them, one call at a time; samples of its sessions look
 * them up, in any context.
 */
#ifndef HWPROF_UNWIND_H
#define HWPROF_UNWIND_H

#include <linux/types.h>

struct hwprof_unwind_map;
struct hwprof_unwind_row;
struct opener;
struct session;
struct unwind;
struct unwind_image;

/* Of current's, nothing yet. NULL: no memory. */
struct unwind *unwind_new(void);
/* One more who has it; and one less, in process context. NULL is nobody's. */
struct unwind *unwind_get(struct unwind *unwind);
void unwind_put(struct unwind *unwind);
/* Who made it, with which credentials. */
const struct opener *unwind_opener(const struct unwind *unwind);

/*
 * As the ioctls of these names. The first one's result is a table's number; the
 * second one gives tables to @session or, if NULL, to the opener's perf events'.
 * It returns EACCES if current may not attach to the process.
 */
int unwind_add_table(struct unwind *unwind,
		     const struct hwprof_unwind_row __user *rows, u32 count);
int unwind_set_maps(struct unwind *unwind, struct session *session, u32 pid,
		    const struct hwprof_unwind_map __user *maps, u32 count);

/* What current runs, until interrupts are on again; NULL: nothing is known. */
const struct unwind_image *unwind_image(const struct unwind *unwind);
/* What its table says of @ip; NULL: there is none, or it does not know. */
const struct hwprof_unwind_row *unwind_row(const struct unwind_image *image,
					   u64 ip);

#endif /* HWPROF_UNWIND_H */
