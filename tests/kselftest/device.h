/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions of /dev/hwprof, opened by hand, and their snapshots. */
#ifndef DEVICE_H
#define DEVICE_H

#include <linux/hwprof.h>
#include <stdbool.h>
#include <stddef.h>

#include "event.h"

/* Returns the config of an engine, for user space, like event_attr(). */
struct hwprof_config device_config(uint64_t config);

/* The same for samples of each ms, by the source that is everywhere. */
struct hwprof_config device_config_samples(void);

/* Opens a file with its session. Returns a descriptor, or a negative errno. */
int device_open(struct hwprof_config *config);

/* Returns an event that feeds the session, with only the necessary fields. */
struct perf_event_attr device_feeder(const struct hwprof_config *config);

/*
 * Reads once. Returns the number of bytes in the buffer, or a negative errno.
 */
long device_read(int fd, void *buffer, size_t size, bool *more);

/*
 * Reads a whole snapshot with a buffer of @size bytes. Returns 0 or a negative
 * errno.
 */
int device_snapshot(int fd, size_t size, struct tally *tally);

int device_reset(int fd);

/*
 * Makes rings with @size bytes of data. Returns their number, or a negative
 * errno.
 */
int device_ring(int fd, size_t size, unsigned int watermark);

/*
 * Maps that many rings, from the first on. Returns NULL and sets errno on
 * failure.
 */
struct hwprof_ring_page *device_map(int fd, size_t size, unsigned int rings);

struct hwprof_ring_page *device_nth(struct hwprof_ring_page *first,
				    unsigned int ring);

/* Reads that many rings into @tally, which frees their space. */
void device_drain(struct hwprof_ring_page *first, unsigned int rings,
		  struct tally *tally);

/* Adds a table for unwinding. Returns its number, or a negative errno. */
int device_add_table(int fd, const struct hwprof_unwind_row *rows,
		     unsigned int count);

/* Sets the process's maps with such tables. Returns 0 or a negative errno. */
int device_set_maps(int fd, const struct hwprof_unwind_map *maps,
		    unsigned int count, pid_t pid);

#endif /* DEVICE_H */
