/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Finds and opens files of programs for the collector, in a process of its own.
 * Their paths may lead through a file system that does not answer: an NFS
 * server that is gone, or a FUSE mount of a user. A process that asks such a
 * one cannot be trusted to come back, and may not even end when it is killed.
 */
#ifndef HWPROFD_FILE_OPENER_H
#define HWPROFD_FILE_OPENER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "code/code_facts.h"

enum {
	OPENER_WAIT_MS = 2000,		/* that an answer may take */
	OPENERS_MAX = 8,		/* that are given up */
};

/* Does the work; as code_reader's find, without a context. */
typedef int (*file_opener_fn)(const struct wanted_file *wanted, bool open,
			      struct found_file *found);

/**
 * struct file_opener_place - Files that are not asked for again
 * @major: of the device.
 * @minor: of the device.
 * @inode: of the file; 0: all files of the device.
 */
struct file_opener_place {
	unsigned int major, minor;
	uint64_t inode;
};

/**
 * struct file_opener_counts - What became of files
 * @hung: took too long, so that the process was given up.
 * @skipped: were not asked for, because they are in such a place, or because
 *	too many processes were given up.
 */
struct file_opener_counts {
	uint64_t hung, skipped;
};

/* A process. */
struct file_opener_process {
	pid_t pid;
	uint64_t cpu_ns;		/* that it said to have used */
};

struct file_opener {
	file_opener_fn find;			/* what the process calls */
	unsigned int wait_ms;
	int socket;			/* -1: no process runs */
	struct file_opener_process process;
	struct file_opener_place places[OPENERS_MAX];
	unsigned int place_count;
	struct file_opener_process left[OPENERS_MAX];	/* were killed, may
							 * live on */
	unsigned int left_count;
	struct file_opener_counts counts;
	bool said;			/* that the process has ended */
};

void file_opener_init(struct file_opener *opener);
/* Ends the process. */
void file_opener_stop(struct file_opener *opener);

/*
 * Starts the process, unless it runs. Returns 0 or a negative errno. Call it
 * early, so that the process has little of the caller's.
 */
int file_opener_start(struct file_opener *opener);

/* As code_reader's find. -ETIMEDOUT: it hung; -EBUSY: it was skipped. */
int file_opener_find(struct file_opener *opener,
		     const struct wanted_file *wanted, bool open,
		     struct found_file *found);

/* Returns false when too many were given up: all files are skipped then. */
bool file_opener_works(const struct file_opener *opener);

/* Returns the CPU time of processes that getrusage() does not know yet. */
uint64_t file_opener_cpu_ns(const struct file_opener *opener);

/* Forgets the places, so that they are asked for again. */
void file_opener_forget(struct file_opener *opener);

/*
 * Finds and opens a file in the calling process. It opens none whose closing
 * could hang: -EOPNOTSUPP.
 */
int file_opener_find_here(const struct wanted_file *wanted, bool open,
			  struct found_file *found);

#endif /* HWPROFD_FILE_OPENER_H */
