/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Sessions of /dev/hwprof whose rows a recording takes. The events of the
 * recording feed them. Such a session can have BPF programs.
 */
#ifndef HWPROF_DEVICE_ROWS_H
#define HWPROF_DEVICE_ROWS_H

#include <linux/hwprof.h>
#include <linux/perf_event.h>
#include <stdint.h>

struct device_rows;

/* Gets each row, and the time of its record. */
typedef int (*device_rows_fn)(void *context, const struct hwprof_row *row,
			      uint64_t time);

/*
 * Makes a session as @attr says: its period is the session's, and 0 where the
 * source sees all. All functions return 0 or a negative errno.
 */
int device_rows_open(struct device_rows **rows,
		     const struct perf_event_attr *attr);
void device_rows_close(struct device_rows *rows);

/* Returns the attr of an event that feeds the session. */
struct perf_event_attr device_rows_feeder(const struct device_rows *rows);

/* Returns the descriptor, which belongs to @rows. */
int device_rows_fd(const struct device_rows *rows);

/* Gives the session the BPF program @fd for events of @kinds. */
int device_rows_program(const struct device_rows *rows, int fd,
			unsigned int kinds, unsigned int limit_us);
int device_rows_account(const struct device_rows *rows,
			enum hwprof_program_kind kind,
			struct hwprof_program_account *account);

/* Passes the rows of all that grew since the last call to @fn. */
int device_rows_fetch(struct device_rows *rows, device_rows_fn fn,
		      void *context);

#endif /* HWPROF_DEVICE_ROWS_H */
