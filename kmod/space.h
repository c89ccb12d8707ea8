/* SPDX-License-Identifier: GPL-2.0-only */
/* How records of address spaces are found, for space.c and space_end.c. */
#ifndef HWPROF_SPACE_H
#define HWPROF_SPACE_H

#include "session.h"

/* Flag in a key: the process is gone, and its number may be reused. */
#define SPACE_ENDED	(1ULL << 63)

/* Return the key of a task's address space. @exec: task_struct.self_exec_id. */
u64 space_key(struct task_struct *task, u64 exec);

/* Return a record by its key, from probe *@probe on; NULL if there is none. */
struct space *space_by_key(struct session *session, u64 key, int *probe);

#endif /* HWPROF_SPACE_H */
