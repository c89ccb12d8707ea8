/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Playback of a recording: perf's samples pass through an engine in the order
 * of time, and with the processes of their time. The engine's rows go into a
 * profile as if the module had recorded them.
 */
#ifndef HWPROF_PLAYBACK_H
#define HWPROF_PLAYBACK_H

#include "conversion.h"
#include "profile/profile.h"
#include "finished_rounds.h"
#include "user_engine.h"

/* A program: what a process runs from fork or exec to exec or exit. */
struct program {
	uint32_t pid;
	uint64_t last;			/* time of its last stack */
};

struct playback;

/*
 * How to play one kind of samples: branch stacks (replay.c) or call stacks
 * (chains.c).
 */
struct playback_kind {
	const struct engine_ops *engine;
	bool keyed;			/* hashes of the engine need a key */
	bool kindless;			/* kinds of branches do not matter */
	/* Sets the parameters of the engine; may be NULL. */
	void (*configure)(const struct hwprof_profile *profile,
			  struct engine_params *params);
	/*
	 * Takes a row of time @time, with its process set. Returns 0 or
	 * -ENOMEM.
	 */
	int (*row)(struct hwprof_profile *profile, const struct hwprof_row *row,
		   uint64_t time);
	/* Fails if no event of the file has such samples. */
	int (*expected)(struct hwprof_file *file);
	/*
	 * Keep a sample in rounds.newer, and take the samples of rounds.older.
	 */
	int (*sample)(struct playback *playback, const struct record *record);
	int (*round)(struct playback *playback);
	/* Takes another record than a sample; may be NULL. */
	int (*record)(struct playback *playback, const struct record *record);
	/* Takes what was kept, at the end; may be NULL. */
	void (*flush)(struct playback *playback);
	/* Adds warnings for the user. Returns 0 or -ENOMEM. */
	int (*warn)(struct playback *playback);
};

struct playback {
	const struct playback_kind *kind;
	struct hwprof_file *file;
	struct hwprof_profile *profile;		/* receives the rows */
	struct processes *processes;
	const struct hwprof_replay_options *options;
	struct finished_rounds rounds;
	struct user_engine engine;
	struct program *programs;	/* by number; [0] is the kernel */
	size_t program_count;
	size_t event;			/* number of the last sample's event,
					 * from 1 */
	uint32_t basis;			/* the weakest of all samples */
	bool failed;			/* memory was out for a row */
	struct conversion *conversion;	/* NULL: rows are not written */
	int unwritten;			/* the failure to write a row; 0:
					 * none */

	uint64_t untimed;		/* records without a time so far */
	uint64_t next_progress;		/* offset in the file of the next
					 * call */
	uint64_t unknown;		/* samples of events that the file
					 * lacks */
	uint64_t unchosen;		/* samples of events that are not
					 * replayed */
	uint64_t guests;		/* samples of guests */
};

/* Returns 0 or as file_fail(). playback_destroy() is needed in either case. */
int playback_init(struct playback *playback, const struct playback_kind *kind,
		  struct hwprof_profile *profile,
		  const struct hwprof_replay_options *options);
int playback_run(struct playback *playback);
void playback_destroy(struct playback *playback);

/*
 * Returns the number of the program that @pid runs at @time, when it has a
 * sample; 0 if out of memory.
 */
uint32_t playback_program(struct playback *playback, uint32_t pid,
			  uint64_t time);
/* Returns the process of a sample, or that of the guest that runs in it. */
uint32_t playback_pid(struct playback *playback, const struct record *record);
/* Sets the message, and returns -ENOMEM. */
int playback_no_memory(struct playback *playback);

/* Returns true if the event was asked for, or none was. */
bool playback_wants(const struct playback *playback,
		    const struct file_event *event);
/* Does the same for a sample's event, and gives its name to the profile. */
bool playback_take_event(struct playback *playback,
			 const struct file_event *event);

/* Returns true if the event counts taken branches. */
bool playback_counts_branches(const struct perf_event_attr *attr);

#endif /* HWPROF_PLAYBACK_H */
