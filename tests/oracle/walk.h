/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks the events of one thread over known regions. */
#ifndef TESTS_ORACLE_WALK_H
#define TESTS_ORACLE_WALK_H

#include "region.h"

/*
 * Adds the thread's loops to @regions. Raises @depth to the depth of this
 * thread, if that is deeper.
 */
void walk_thread(struct regions *regions, uint64_t span,
		 const struct stream_event *events, size_t count,
		 struct oracle_depth *depth);

bool walk_is_back_edge(const struct stream_event *event, uint64_t span);

#endif /* TESTS_ORACLE_WALK_H */
