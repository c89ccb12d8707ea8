/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Closings: triggers of events are closed later, because perf may hold locks
 * where an event ends that this needs.
 */
#ifndef HWPROF_CLOSING_H
#define HWPROF_CLOSING_H

struct root;

/* Drop a reference to a root. The last one closes its triggers and frees it. */
void closing_put_root(struct root *root);

/*
 * Get what the root needs to have its triggers closed. Return 0; -ENOMEM;
 * -EMFILE if too many closings of its user wait.
 */
int closing_prepare(struct root *root);

int closings_init(void);
void closings_exit(void);

#endif /* HWPROF_CLOSING_H */
