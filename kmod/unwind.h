/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Unwind tables, and where programs have the code that they describe. A file at
 * /dev/hwprof adds to them, one call at a time. Samples of its sessions look
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

/*
 * Make an empty set of tables, owned by current. Return -ENOMEM, -EMFILE or
 * -ENFILE as a pointer if there can be none.
 */
struct unwind *unwind_new(void);
/* Take and drop a reference; process context. unwind_put() ignores NULL. */
struct unwind *unwind_get(struct unwind *unwind);
void unwind_put(struct unwind *unwind);
/* Return who made it, with the credentials at that time. */
const struct opener *unwind_opener(const struct unwind *unwind);

/**
 * unwind_add_table() - Do HWPROF_IOC_UNWIND_TABLE
 * @unwind: the set of tables.
 * @rows: rows of the table.
 * @count: number of rows.
 *
 * unwind_set_maps() does HWPROF_IOC_UNWIND_MAPS. It returns 0, or -EACCES if
 * current may not attach to the process, or another errno. The caller then
 * gives the tables to sessions: see sessions_unwind().
 *
 * Return: number of the table, or a negative errno.
 */
int unwind_add_table(struct unwind *unwind,
		     const struct hwprof_unwind_row __user *rows, u32 count);
int unwind_set_maps(struct unwind *unwind, u32 pid,
		    const struct hwprof_unwind_map __user *maps, u32 count);

/*
 * Return the maps of what current runs, or NULL. Valid while interrupts stay
 * off.
 */
const struct unwind_image *unwind_image(const struct unwind *unwind);
/* Return the row for the code at @ip; NULL if no table knows it. */
const struct hwprof_unwind_row *unwind_row(const struct unwind_image *image,
					   u64 ip);

#endif /* HWPROF_UNWIND_H */
