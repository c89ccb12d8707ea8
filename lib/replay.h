/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The branch stacks of a recording, through an engine. */
#ifndef HWPROF_REPLAY_H
#define HWPROF_REPLAY_H

#include "engine/engine.h"
#include "loops.h"

/* What becomes of them. */
struct replay_into {
	const struct engine_ops *engine;
	struct collected *collected;	/* gets processes and totals */
	struct objects *objects;
	struct warnings *warnings;
	/* Takes a row that says whose it is, as of @time. -ENOMEM. */
	int (*take)(void *context, const struct hwprof_row *row, uint64_t time);
	void *context;			/* of take() */
};

/* 0, or a file_fail(). @options may be NULL. */
int replay_stacks(const struct replay_into *into, struct hwprof_file *file,
		  const struct hwprof_replay_options *options);

#endif /* HWPROF_REPLAY_H */
