/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* Engines' feed_window(), as engine.h says; and that of several together. */
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

/* Tables of which any may be NULL. */
bool window_feed(void *loops, void *calls, void *paths, void *edges,
		 struct window *window, struct window_counts *counts);

#endif /* HWPROF_ENGINE_WINDOW_FEED_H */
