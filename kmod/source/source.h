/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source_ops: where events come from. A source knows the kernel and the
 * stream, never an engine: it feeds slots.
 */
#ifndef HWPROF_SOURCE_H
#define HWPROF_SOURCE_H

#include <linux/types.h>

#include "../config/registry.h"

struct root;
struct session;
struct slot;

struct source_ops {
	/* Why it cannot work on this machine: a sentence; NULL: it can. */
	const char *(*missing)(void);

	unsigned int *users;	/* sessions that need it: source_get() */

	/* The first session needs it; the last one is gone. Process context. */
	int (*on)(void);
	void (*off)(void);

	/* Each of them comes, and goes; may be NULL. */
	int (*join)(const struct session *session);
	void (*leave)(const struct session *session);

	/*
	 * The slot wants events of the task that runs on this CPU, from now
	 * on and until stop(). Interrupts are off; stop() leaves the slot
	 * without a cursor.
	 */
	void (*start)(struct slot *slot);
	void (*stop)(struct slot *slot);

	/* A root event was opened, in its event_init(): a trigger, maybe. */
	int (*open)(struct root *root);
};

/* What source_infos describes; NULL: no version has it yet. */
extern const struct source_ops *const sources[SOURCE_COUNT];

int source_get(const struct session *session);
void source_put(const struct session *session);

extern const struct source_ops step_source;
void step_init(void);
void step_exit(void);

extern const struct source_ops lbr_source;
void lbr_init(void);

extern const struct source_ops sample_source;
void sample_init(void);

/*
 * start() and stop() of a source that interrupts all else: before it is open,
 * all is ready; once it is closed, a handler that begins leaves it alone.
 */
void slot_open(struct slot *slot);
void slot_close(struct slot *slot);

#endif /* HWPROF_SOURCE_H */
