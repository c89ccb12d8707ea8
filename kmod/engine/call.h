/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The functions of the call engine that walks for several engines call. */
#ifndef HWPROF_ENGINE_CALL_H
#define HWPROF_ENGINE_CALL_H

#include "saving.h"

bool call_feed(void *table, void *cursor, const struct stream_event *event);

void call_count(struct saving_table *table, u32 space, u64 site, u64 callee);

#endif /* HWPROF_ENGINE_CALL_H */
