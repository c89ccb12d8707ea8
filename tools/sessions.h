/* SPDX-License-Identifier: GPL-2.0-only */
/* The sessions that sysfs shows. */
#ifndef HWPROF_SESSIONS_H
#define HWPROF_SESSIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Opens the device at *@device. Returns -1 or the exit status. */
int sessions_open_device(int *device);

/* Reads a line of an attribute. Returns false if there is none for us. */
bool sessions_read(unsigned int session, const char *name, char *text,
		   size_t size);

/* Returns the pid of the process that made it; 0: not known. */
uint64_t sessions_owner(unsigned int session);

/*
 * Calls @visit for the sessions of process @pid (0: for all), in order, until
 * it returns something other than -1. Returns -1 or the exit status.
 */
int sessions_each(uint64_t pid,
		  int (*visit)(void *context, unsigned int session),
		  void *context);

/*
 * Calls the device for a session until a ring has room for the rows of before,
 * or a second is over. Returns 0 or an errno.
 */
int sessions_change(int device, unsigned long request, void *argument);

#endif /* HWPROF_SESSIONS_H */
