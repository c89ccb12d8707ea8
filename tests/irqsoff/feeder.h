/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions of the device: what feeds and what reads them. */
#ifndef IRQSOFF_FEEDER_H
#define IRQSOFF_FEEDER_H

#include <linux/hwprof.h>

/* Open an event of this task that feeds the session. */
int open_feeder(struct hwprof_config *config);

/* Open such an event, and fill the session's profile. */
int feed(struct hwprof_config *config, unsigned int mib);

/* Read a snapshot of the session. */
void take_all(int fd);

#endif /* IRQSOFF_FEEDER_H */
