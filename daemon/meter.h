/* SPDX-License-Identifier: GPL-2.0-only */
/* How much CPU time the machine uses, and the collector and hwprofd of it. */
#ifndef HWPROFD_METER_H
#define HWPROFD_METER_H

#include <stdio.h>

#include "spending.h"
#include "wire.h"

/* As it was read last. */
struct meter {
	bool begun;
	uint64_t now_ns, idle_ns, own_ns, files_ns;
	unsigned int cpus;		/* 0: unknown */
	bool answered;			/* by hwprofd, since it was connected */
	struct wire_spent answer;
};

/*
 * Reads /proc/stat: sets *@idle_ns to how long CPUs had nothing to do, and
 * *@cpus to how many are online. Returns false for another text.
 */
bool meter_read_idle(FILE *in, uint64_t *idle_ns, unsigned int *cpus);

/*
 * Returns what happened since the last call. @self_ns is CPU time of the
 * collector so far, and @files_ns that of its processes, which read programs'
 * files. @socket leads to hwprofd, or is -1.
 */
struct spent meter_read(struct meter *meter, uint64_t self_ns,
			uint64_t files_ns, int socket);

/* Notes that hwprofd is another one. */
void meter_forget_answer(struct meter *meter);

#endif /* HWPROFD_METER_H */
