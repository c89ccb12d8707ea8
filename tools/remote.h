/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings of hwprofd, which take the place of a file's name:
 *
 *	unix:PATH[?PARAMETERS]			its local socket
 *	http://HOST[:PORT][/PREFIX][?PARAMETERS]
 *
 * The parameters are those of /api/v1/recording, such as seconds=600.
 */
#ifndef HWPROF_REMOTE_H
#define HWPROF_REMOTE_H

#include <stdbool.h>

#include "hwprof.h"

/* Returns true if @name is of this form. */
bool remote_is_named(const char *name);

/*
 * Does as hwprof_file_open(), also for recordings of hwprofd: it fetches one
 * each time.
 */
int remote_file_open(struct hwprof_file **file, const char *name);

#endif /* HWPROF_REMOTE_H */
