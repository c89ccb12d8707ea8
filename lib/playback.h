/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording played back: what perf's samples say goes in the order of time, and
 * with the processes of its time, through an engine, whose rows go into a profile
 * as if the module had recorded them.
 */
#ifndef HWPROF_PLAYBACK_H
#define HWPROF_PLAYBACK_H

#include "profile.h"
#include "rounds.h"
#include "summary.h"

/* What runs between fork or exec and exec or exit. */
struct program {
	uint32_t pid;
	uint64_t last;			/* time of its last stack */
};

struct playback;

/* Of what samples: branch stacks (replay.c), calls (chains.c). */
struct playback_kind {
	const struct engine_ops *engine;
	bool keyed;			/* the engine's hashes are */
	bool kindless;			/* branches of all kinds count alike */
	/* Says in @params what is wanted of the engine; may be NULL. */
	void (*configure)(const struct hwprof_profile *profile,
			  struct engine_params *params);
	/* Takes a row that says whose it is, as of @time. -ENOMEM. */
	int (*row)(struct hwprof_profile *profile, const struct hwprof_row *row,
		   uint64_t time);
	/* Fails unless an event of the file has such samples. */
	int (*expected)(struct hwprof_file *file);
	/* Keeps a sample in rounds.newer; and takes those in rounds.older. */
	int (*sample)(struct playback *playback, const struct record *record);
	int (*round)(struct playback *playback);
	/* Takes a record that is no sample; may be NULL. */
	int (*record)(struct playback *playback, const struct record *record);
	/* There are no more; may be NULL. */
	void (*flush)(struct playback *playback);
	/* What the user is to be told. -ENOMEM. */
	int (*warn)(struct playback *playback);
};

struct playback {
	const struct playback_kind *kind;
	struct hwprof_file *file;
	struct hwprof_profile *profile;		/* that it goes into */
	struct processes *processes;
	const struct hwprof_replay_options *options;
	struct rounds rounds;
	struct summary summary;
	struct program *programs;	/* by number; [0]: the kernel */
	size_t program_count;
	size_t event;			/* number of the last sample's, from 1 */
	uint32_t basis;			/* the weakest of all samples */
	bool failed;			/* a row found no memory */

	uint64_t untimed;		/* records that have no time, so far */
	uint64_t next_progress;		/* offset in the file */
	uint64_t unknown;		/* samples of no event in the file, */
	uint64_t unchosen;		/* of events that are not replayed, */
	uint64_t guests;		/* and of guests */
};

/* 0, or a file_fail(). To be destroyed in either case. */
int playback_init(struct playback *playback, const struct playback_kind *kind,
		  struct hwprof_profile *profile,
		  const struct hwprof_replay_options *options);
int playback_run(struct playback *playback);
void playback_destroy(struct playback *playback);

/* The program that @pid runs at @time, which has a sample then. 0: no memory. */
uint32_t playback_program(struct playback *playback, uint32_t pid,
			  uint64_t time);
/* Whose the sample is: of the process, or of the guest that runs in it. */
uint32_t playback_pid(struct playback *playback, const struct record *record);
/* -ENOMEM, said. */
int playback_no_memory(struct playback *playback);

/* Is the event the one that was asked for, if any was? */
bool playback_wants(const struct playback *playback,
		    const struct file_event *event);
/* The same of a sample's, whose name the profile gets. */
bool playback_take_event(struct playback *playback,
			 const struct file_event *event);

/* Does the event count taken branches? */
bool playback_counts_branches(const struct perf_event_attr *attr);

#endif /* HWPROF_PLAYBACK_H */
