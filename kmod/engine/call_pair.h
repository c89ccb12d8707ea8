/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Call pairs, and how events become pairs: what is below the call engine. */
#ifndef HWPROF_ENGINE_CALL_PAIR_H
#define HWPROF_ENGINE_CALL_PAIR_H

#include "saving.h"

/* How call pairs are kept in a space-saving table. */
extern const struct saving_kind call_kind;

/* engine_ops.feed() of the call engine. */
bool call_feed(void *table, void *cursor, const struct stream_event *event);

/* Count one call, or as many as the window stands for. */
void call_count(struct saving_table *table, u32 space, u64 site, u64 callee);

#endif /* HWPROF_ENGINE_CALL_PAIR_H */
