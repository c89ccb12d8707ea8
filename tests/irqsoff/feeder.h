/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions of the device: what feeds and what reads them. */
#ifndef IRQSOFF_FEEDER_H
#define IRQSOFF_FEEDER_H

#include <linux/hwprof.h>

/* Open an event that feeds the session, and fill its profile. */
int feed(struct hwprof_config *config, unsigned int mib);

/* Read a snapshot of the session. */
void take_all(int fd);

#endif /* IRQSOFF_FEEDER_H */
