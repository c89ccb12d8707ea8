/* SPDX-License-Identifier: GPL-2.0-only */
/* Tasks that run, fork, exec, start threads, are killed, and so on. */
#ifndef STORM_H
#define STORM_H

/* Runs in a process of its own, until it is killed. */
void storm(void *unused);

#endif /* STORM_H */
