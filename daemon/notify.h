/* SPDX-License-Identifier: GPL-2.0-only */
/* systemd's protocol for services: sd_notify(3) and sd_watchdog_enabled(3). */
#ifndef HWPROFD_NOTIFY_H
#define HWPROFD_NOTIFY_H

#include <stdint.h>

/* Sends @state, such as "READY=1". Does nothing without systemd. */
void notify(const char *state);

/* Returns how often systemd wants a sign of life, in ms; 0: never. */
uint64_t notify_watchdog_ms(void);

#endif /* HWPROFD_NOTIFY_H */
