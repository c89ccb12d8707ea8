/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * source_ops: where events come from. A source knows the kernel and the stream,
 * never an engine. It feeds lanes.
 */
#ifndef HWPROF_SOURCE_H
#define HWPROF_SOURCE_H

#include <linux/types.h>

#include "../config/registry.h"

struct root;
struct session;
struct lane;

/**
 * struct source_ops - What a source does
 * @why_not: a sentence that says why the source does not work on this machine;
 *	NULL if it does. It is set when the module is loaded.
 * @users: number of sessions that need the source: see source_get().
 * @on: The first session needs the source. Return 0 or an errno. Process
 *	context.
 * @off: The last session that needed it is gone. Process context.
 * @join: A session needs the source. Return 0 or an errno. May be NULL.
 * @leave: That session is gone. May be NULL.
 * @start: The lane wants events of the task that runs on this CPU, from now on
 *	until stop(). Interrupts are off.
 * @stop: The lane wants no more events. Leave it without a cursor. Interrupts
 *	are off.
 * @see_accesses: Prepare for sessions that want loads and stores. Return 0 or
 *	an errno. Process context. Sources with SOURCE_ACCESSES have it.
 * @open: A root event was opened, in its event_init(). The source may make a
 *	trigger. Return 0 or an errno.
 */
struct source_ops {
	const char *const *why_not;
	unsigned int *users;
	int (*on)(void);
	void (*off)(void);
	int (*join)(const struct session *session);
	void (*leave)(const struct session *session);
	void (*start)(struct lane *lane);
	void (*stop)(struct lane *lane);
	int (*see_accesses)(void);
	int (*open)(struct root *root);
};

/* The sources that source_infos describes; NULL: not implemented. */
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

#endif /* HWPROF_SOURCE_H */
