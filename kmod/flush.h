/* SPDX-License-Identifier: GPL-2.0-only */
/* Flushes: when what was learnt becomes rows. */
#ifndef HWPROF_FLUSH_H
#define HWPROF_FLUSH_H

struct session;
struct lane;

int flush_init(void);
void flush_exit(void);

void session_flush_init(struct session *session);
void session_flush_end(struct session *session);

/* flush_exit.c */
void lane_flush_init(struct lane *lane);
void lane_flush_end(struct lane *lane);

/* flush_disable.c, and what it asks of flush.c, in process context */
void flush_disable_probe(const struct pmu *pmu);
void flush_disable_unprobe(void);
void session_flush_disabled(struct session *session);

#endif /* HWPROF_FLUSH_H */
