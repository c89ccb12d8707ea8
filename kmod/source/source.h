/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source_ops: where events come from. A source knows the kernel and the
 * stream, never an engine: it feeds slots.
 */
#ifndef HWPROF_SOURCE_H
#define HWPROF_SOURCE_H

#include <linux/types.h>

struct perf_event_attr;
struct root;
struct session;
struct slot;

struct source_ops {
	const char *name;	/* as in HWPROF_FIELDS */
	u32 number;		/* enum hwprof_source */
	bool attaches;		/* as a debugger does: see right.h */

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

/* The one it names or, of those that can work here, the one that sees most. */
const struct source_ops *source_of(const struct perf_event_attr *attr);

/* Returns true if @attr steps every instruction without having asked for `step`. */
bool source_steps_unasked(const struct perf_event_attr *attr);

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
