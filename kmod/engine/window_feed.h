/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * engine_ops.feed_window() of each engine, and a function that feeds several
 * engines from one walk.
 */
#ifndef HWPROF_ENGINE_WINDOW_FEED_H
#define HWPROF_ENGINE_WINDOW_FEED_H

#include "engine.h"

bool loop_feed_window(void *table, struct window *window,
		      struct window_counts *counts);
bool call_feed_window(void *table, struct window *window,
		      struct window_counts *counts);
bool path_feed_window(void *table, struct window *window,
		      struct window_counts *counts);
bool edge_feed_window(void *table, struct window *window,
		      struct window_counts *counts);

/**
 * window_feed() - Feed a window to several tables in one walk
 * @loops: table of the loop engine, or NULL.
 * @calls: table of the call engine, or NULL.
 * @paths: table of the path engine, or NULL.
 * @edges: table of the edge engine, or NULL.
 * @window: a window that was begun and not walked yet.
 * @counts: counts to add to.
 *
 * Return: false if a table is crowded and should be retired, as feed().
 */
bool window_feed(void *loops, void *calls, void *paths, void *edges,
		 struct window *window, struct window_counts *counts);

#endif /* HWPROF_ENGINE_WINDOW_FEED_H */
