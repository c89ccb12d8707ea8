/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hands each window on to other programs, as far as the configuration names
 * any: windows of push_seconds are added up and become a request for each kind
 * and receiver. Requests wait in memory, bounded by push_spool_mib, until the
 * receiver has taken them. Those that wait at the end are kept in a file.
 */
#ifndef HWPROFD_PUSH_H
#define HWPROFD_PUSH_H

#include "config.h"
#include "parts.h"
#include "push_body.h"

struct push;

/**
 * struct push_counts - What became of a receiver's requests
 * @sent: taken.
 * @failed: tries that failed, and are repeated.
 * @rejected: given up because the receiver does not want them.
 * @dropped: given up for lack of room, or because they could not be made.
 * @waiting: not yet sent.
 * @waiting_bytes: of those.
 */
struct push_counts {
	uint64_t sent, failed, rejected, dropped;
	uint64_t waiting, waiting_bytes;
};

/*
 * @config may change from one call to another, but not its address. @symbols is
 * a folder with files by build id. @folder has the file of requests that waited
 * at the end; NULL: there is none. Returns NULL if out of memory.
 */
struct push *push_new(const struct config *config, const char *symbols,
		      const char *folder);
void push_free(struct push *push);

/*
 * Makes requests of all windows, writes those that wait to the file, and says
 * so. What cannot be written is dropped, which is said, too.
 */
void push_finish(struct push *push);

/* Adds a window from ns @begin_ns to @end_ns on CLOCK_BOOTTIME. */
void push_add(struct push *push, uint64_t begin_ns, uint64_t end_ns,
	      const struct parts *parts);

/*
 * Does what can be done at once. Returns true if a worker runs. push_fd() is
 * readable when there is more to do, and push_timeout() returns the
 * milliseconds, @most at most, after which there is.
 */
bool push_run(struct push *push);
int push_fd(const struct push *push);
int push_timeout(const struct push *push, int most);

void push_count(const struct push *push,
		struct push_counts counts[PUSH_TARGETS]);

#endif /* HWPROFD_PUSH_H */
