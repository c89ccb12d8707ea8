/* SPDX-License-Identifier: GPL-2.0-only */
/* Flushes: when what was learnt becomes rows. */
#ifndef HWPROF_FLUSH_H
#define HWPROF_FLUSH_H

struct session;
struct slot;

int flush_init(void);
void flush_exit(void);

void session_flush_init(struct session *session);
void session_flush_end(struct session *session);

/* flush_exit.c */
void slot_flush_init(struct slot *slot);
void slot_flush_end(struct slot *slot);

/* flush_disable.c, and what it asks of flush.c, in process context */
void flush_disable_probe(void);
void flush_disable_unprobe(void);
void session_flush_disabled(struct session *session);

#endif /* HWPROF_FLUSH_H */
