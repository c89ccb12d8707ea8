/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Short-lived processes that read recordings, objects and debug information,
 * none of which is trusted. A worker has what it needs in memory, and one file
 * to write its answer to. It can open no socket, start no program, and look at
 * no other process; its time and memory are bounded, and it has no capability.
 * Where the kernel has Landlock, it can write to no file, and read files only
 * if its work is about programs.
 */
#ifndef HWPROFD_WORKER_H
#define HWPROFD_WORKER_H

#include <stdint.h>
#include <sys/types.h>

/* How a worker ends. The answer is in its file: for failures, a sentence. */
enum answer {
	ANSWER_OK = 0,
	ANSWER_WRONG = 1,	/* the question makes no sense */
	ANSWER_NOTHING = 2,	/* there is nothing of what was asked for */
	ANSWER_FAILED = 3,
};

enum {
	WORKER_MEMORY_MIB = 384,	/* addresses; the service has 512 */
	WORKER_DATA_MIB = 256,		/* of memory, with WORKER_ONE_FILE */
	WORKER_ANSWER_MIB = 64,		/* of the answer, with that */
	WORKER_MESSAGE = 512,
	WORKER_KEPT = 4,	/* descriptor of @keep in the worker */
};

enum worker_files {
	WORKER_NO_FILES,	/* the worker opens none but its own memory */
	WORKER_READS_FILES,
	WORKER_ONE_FILE,		/* it has @keep and its answer, and
					 * makes only the system calls that
					 * reading takes: it opens nothing */
};

struct worker {
	pid_t pid;		/* 0: none runs */
	int out;		/* its file */
	uint64_t deadline_ns;	/* on CLOCK_BOOTTIME */
};

/*
 * Starts a process that calls @fn with @context, and writes to its argument
 * @out. @keep is a descriptor that it needs, too, or -1. Returns 0 or a
 * negative errno.
 */
typedef enum answer (*worker_fn)(const void *context, int out);
int worker_start(struct worker *worker, worker_fn fn, const void *context,
		 enum worker_files files, int keep, unsigned int seconds);

/*
 * Returns 1 if the worker has ended, with its answer; 0 if it still runs. One
 * that takes too long is killed. The caller closes worker->out.
 */
int worker_ended(struct worker *worker, enum answer *answer);

/* Waits for the end, or until the time is over. */
enum answer worker_wait(struct worker *worker);

/* Kills it. The caller closes worker->out. */
void worker_stop(struct worker *worker);

/*
 * Reads the sentence of a failure, which becomes @message. @answer is how the
 * worker ended.
 */
void worker_message(const struct worker *worker, char message[WORKER_MESSAGE]);

/* Writes a sentence instead of an answer. For workers; returns @answer. */
enum answer worker_fail(int out, enum answer answer, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif /* HWPROFD_WORKER_H */
