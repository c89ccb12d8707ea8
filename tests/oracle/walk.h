/* SPDX-License-Identifier: GPL-2.0-only */
/* Walks one thread's events over regions that are known already. */
#ifndef TESTS_ORACLE_WALK_H
#define TESTS_ORACLE_WALK_H

#include "region.h"

/* @depth: raised where this thread was deeper. */
void walk_thread(struct regions *regions, uint64_t span,
		 const struct stream_event *events, size_t count,
		 struct oracle_depth *depth);

bool walk_is_back_edge(const struct stream_event *event, uint64_t span);

#endif /* TESTS_ORACLE_WALK_H */
