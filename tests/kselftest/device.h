/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions of /dev/hwprof, opened by hand, and what snapshots of them say. */
#ifndef DEVICE_H
#define DEVICE_H

#include <linux/hwprof.h>
#include <stdbool.h>
#include <stddef.h>

#include "event.h"

/* Of the engine, for user space, as event_attr() has it. */
struct hwprof_config device_config(uint64_t config);

/* An open file with its session; a negative errno if that fails. */
int device_open(struct hwprof_config *config);

/* Event that feeds it: nothing but what it must say. */
struct perf_event_attr device_feeder(const struct hwprof_config *config);

/* One call: bytes in the buffer, or a negative errno. */
long device_read(int fd, void *buffer, size_t size, bool *more);

/* All of a snapshot, by calls with a buffer of @size bytes; 0, or an errno. */
int device_snapshot(int fd, size_t size, struct tally *tally);

int device_reset(int fd);

/* Rings with so many bytes of data each: their number, or a negative errno. */
int device_ring(int fd, size_t size, unsigned int watermark);

/* So many rings, mapped, from the first one on; NULL: no, and errno says why. */
struct hwprof_ring_page *device_map(int fd, size_t size, unsigned int rings);

struct hwprof_ring_page *device_nth(struct hwprof_ring_page *first,
				    unsigned int ring);

/* What is in so many rings goes to @tally, and makes room. */
void device_drain(struct hwprof_ring_page *first, unsigned int rings,
		  struct tally *tally);

/* A table for unwinding: its number, or a negative errno. */
int device_add_table(int fd, const struct hwprof_unwind_row *rows,
		     unsigned int count);

/* What the process has mapped of that; 0, or a negative errno. */
int device_set_maps(int fd, const struct hwprof_unwind_map *maps,
		    unsigned int count, pid_t pid);

#endif /* DEVICE_H */
