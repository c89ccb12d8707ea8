/* SPDX-License-Identifier: GPL-2.0-only */
/* Productions at work: their maps, their programs, and what they counted. */
#ifndef HWPROF_PRODUCTION_RUN_H
#define HWPROF_PRODUCTION_RUN_H

#include <stdio.h>
#include <sys/types.h>

#include "live/device_rows.h"
#include "production.h"

struct production_run;

/*
 * Makes the maps. Functions without a file are those of @program; NULL: there
 * is none. Functions that return int return -1, or the exit status after they
 * have said what failed.
 */
int production_run_open(struct production_run **run,
			const struct productions *productions,
			struct production_mode mode, const char *program);
void production_run_close(struct production_run *run);

/* Gives a session the programs of the productions. */
int production_run_watch(struct production_run *run, struct device_rows *rows);
/* Gives a session of the profile its gate, if the productions need one. */
int production_run_gate(struct production_run *run,
			const struct device_rows *rows, bool accesses);

/*
 * Looks where process @pid has the functions whose addresses are not known yet.
 */
void production_run_find(struct production_run *run, pid_t pid);

/* Returns a descriptor that is readable when an action asks for something. */
int production_run_fd(const struct production_run *run);
/* Tells what actions have asked for since the last call. */
void production_run_ask(struct production_run *run, bool *snapshot, bool *stop);

/* Prints all counts and histograms, as text or JSON; and what was missed. */
int production_run_print(const struct production_run *run, bool json,
			 FILE *out);
void production_run_warn(const struct production_run *run);

#endif /* HWPROF_PRODUCTION_RUN_H */
