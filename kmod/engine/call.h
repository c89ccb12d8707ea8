/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Windows of the call engine, whose tables are its own. */
#ifndef HWPROF_ENGINE_CALL_H
#define HWPROF_ENGINE_CALL_H

#include "engine.h"

struct call_table;

bool call_feed(void *table, void *cursor, const struct stream_event *event);

/* A window that was seen so often. */
void call_window_begin(struct call_table *table, u32 times);
void call_count(struct call_table *table, u32 space, u64 site, u64 callee);

/* False: the table wants to be retired. */
bool call_window_end(struct call_table *table);

#endif /* HWPROF_ENGINE_CALL_H */
