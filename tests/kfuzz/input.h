/* SPDX-License-Identifier: GPL-2.0-only */
/* An input: calls of the kernel, one after the other. */
#ifndef KFUZZ_INPUT_H
#define KFUZZ_INPUT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	STEPS_MAX	= 16,
	WORDS		= 20,
	FILES		= 6,		/* open at a time */
};

/*
 * X(call, weight): how often it comes up. What a call does is in calls.c.
 */
#define CALLS(X)							       \
	X(DEVICE,	6)	/* opens /dev/hwprof */			       \
	X(CONFIG,	8)						       \
	X(SNAPSHOT,	6)						       \
	X(RESET,	3)						       \
	X(RING,		4)						       \
	X(ODD_IOCTL,	2)						       \
	X(FEEDER,	8)	/* opens an event of the file's session */     \
	X(EVENT,	12)	/* opens any event */			       \
	X(EVENT_IOCTL,	10)						       \
	X(READ,		4)						       \
	X(WRITE,	1)						       \
	X(POLL,		2)						       \
	X(MAP,		6)						       \
	X(TOUCH,	4)	/* reads and writes what is mapped */	       \
	X(REMAP,	2)						       \
	X(UNMAP,	3)						       \
	X(CLOSE,	4)						       \
	X(DUP,		1)						       \
	X(PASS,		1)	/* over a socket, to itself */		       \
	X(RUN,		6)	/* code to be profiled */		       \
	X(FORK,		4)	/* a target, with all files */		       \
	X(KILL,		2)						       \
	X(EXEC,		1)						       \
	X(SYSFS,	3)	/* reads, or as root writes, a file */	       \
	X(TWIN,		3)	/* opens an event like the file's */	       \
	X(CHURN,	1)	/* siblings of the file, while rows come */    \
	X(DROP,		1)	/* credentials */			       \
	X(SPLIT,	1)	/* passes it to a process that may less */     \
	X(CHOOSE,	1)	/* what its image is told by */		       \
	X(TABLE,	2)	/* for unwinding */			       \
	X(MAPS,		2)						       \
	X(IMAGES,	1)	/* many of them, told to a new file */	       \
	X(PROGRAM,	5)	/* of BPF, for the file's session */	       \
	X(FILTER,	3)	/* an event's */			       \
	X(TUNE,		4)	/* a session */				       \
	X(MASK,		4)	/* of a session */

enum call {
#define X(call, weight)	CALL_##call,
	CALLS(X)
#undef X
	CALL_COUNT
};

/* Where a struct is that the kernel is given. */
enum place {
	PLACE_FINE,
	PLACE_END,		/* its last byte is the memory's last one */
	PLACE_BEYOND,		/* half of it is beyond */
	PLACE_ODD,		/* not aligned */
	PLACE_READ_ONLY,
	PLACE_NONE,		/* nothing is there */
	PLACE_NULL,
	PLACE_KERNEL,
	PLACE_COUNT
};

struct step {
	uint8_t call;		/* enum call */
	uint8_t file, other;	/* numbers of files; other: the group's leader,
				 * or the target */
	uint8_t place;		/* enum place */
	uint8_t fault;		/* this allocation of the call fails; 0: none */
	bool beside;		/* in a thread of its own */
	uint64_t word[WORDS];	/* its struct, and what else it needs */
};

/* Words of CALL_EVENT that follow its struct perf_event_attr. */
enum {
	WORD_PID	= 17,
	WORD_CPU	= 18,
	WORD_FLAGS	= 19,
};

/* Words that mean more than others. */
enum {
	PID_TARGET	= 2,		/* WORD_PID: what CALL_FORK made */
	TARGET_GROUP	= 3,		/* of CALL_FORK: group_target(), */
	TARGET_RUNS	= 5,		/* or runs and sleeps */
};

struct input {
	unsigned int count;
	struct step steps[STEPS_MAX];
};

/* As a program that knows what it does would begin; there are input_seeds(). */
unsigned int input_seeds(void);
void input_seed(struct input *input, unsigned int number, uint32_t type);

/* A seed that was changed in a few places. */
void input_scenario(struct input *input, uint32_t type, uint64_t *random);

/* At random, but of sense for the most part. @type: of the PMU. */
void input_make(struct input *input, uint32_t type, uint64_t *random);

/* Changes it in a few places; @other: one to take steps from. */
void input_mutate(struct input *input, const struct input *other,
		  uint32_t type, uint64_t *random);

#endif /* KFUZZ_INPUT_H */
