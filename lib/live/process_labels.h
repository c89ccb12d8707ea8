/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Labels of processes that run here, taken when they are seen. */
#ifndef HWPROF_PROCESS_LABELS_H
#define HWPROF_PROCESS_LABELS_H

#include "perfdata/labels.h"

struct perf_event_header;

/*
 * Looks at a process. If it is gone, its label stays what it was, but is not
 * `seen` any more. Returns 0 or -ENOMEM.
 */
int process_labels_look(struct label_table *labels, uint32_t pid);

/*
 * Takes a record of the kernel: a child is in the cgroup of its parent, and
 * belongs to the same user; a process that executes a program is looked at.
 * @body is what follows the header, of @size bytes. Returns 0 or -ENOMEM.
 */
int process_labels_take(struct label_table *labels,
			const struct perf_event_header *header,
			const void *body, size_t size);

#endif /* HWPROF_PROCESS_LABELS_H */
