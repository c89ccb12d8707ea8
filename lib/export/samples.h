/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A profile as samples of stacks, which formats for people consist of: each has
 * frames, the innermost first, one value of each of the profile's types, and
 * labels.
 */
#ifndef HWPROF_SAMPLES_H
#define HWPROF_SAMPLES_H

#include "hwprof.h"
#include "base/numbers.h"
#include "code/objects.h"

enum {
	SAMPLES_TYPES = 4 + HWPROF_METRICS_MAX,
	SAMPLES_PROCESS_LABELS = 5,	/* of a process, at most */
	SAMPLES_LABELS = 8 + SAMPLES_PROCESS_LABELS,
};

struct samples_type {
	const char *type, *unit;	/* "calls", "count" */
};

struct samples_types {
	struct samples_type all[SAMPLES_TYPES];
	size_t count;
	size_t main;			/* the one that is shown first */
};

struct sample_frame {
	const char *object, *build_id;	/* NULL: unknown */
	const char *function;		/* NULL: no symbol */
	const char *file;
	unsigned int line;
	uint64_t address;
	uint64_t entry;			/* where its procedure begins, if that
					 * is known and has no symbol; or 0 */
};

struct sample_label {
	const char *key;
	const char *text;		/* NULL: a number */
	int64_t number;
};

struct stack_sample {
	const struct sample_frame *frames;
	size_t frame_count;
	const uint64_t *values;
	const struct sample_label *labels;
	size_t label_count;
};

/**
 * struct sample_labeller - Labels of processes, instead of their names
 * @label: sets labels of the process that the recording calls @pid; returns how
 *	many. Their texts need to stay until the next call.
 * @context: for @label.
 */
struct sample_labeller {
	size_t (*label)(void *context, uint32_t pid, const char *comm,
			struct sample_label labels[SAMPLES_PROCESS_LABELS]);
	void *context;
};

/* Returns 0, or another number to end with. */
typedef int (*samples_fn)(void *context, const struct stack_sample *sample);

/* Kinds of profiles that can be samples: bits 1 << enum hwprof_kind. */
#define SAMPLES_KINDS	(1U << HWPROF_KIND_CCT | 1U << HWPROF_KIND_LOOPS | \
			 1U << HWPROF_KIND_CALLS | 1U << HWPROF_KIND_PATHS | \
			 1U << HWPROF_KIND_VALUES | 1U << HWPROF_KIND_EDGES)

void samples_types(const struct hwprof_profile *profile,
		   struct samples_types *types);
/*
 * Calls @fn for each sample. @labeller may be NULL; it needs a profile with
 * HWPROF_PER_PROCESS. Returns 0, -ENOMEM, or the result of @fn.
 */
int samples_each(const struct hwprof_profile *profile,
		 const struct sample_labeller *labeller, samples_fn fn,
		 void *context);

/*
 * Returns the number that @make, which gets @context, gives to a frame. It is
 * asked once for each frame: looking it up in @frames, by the frame itself, is
 * quicker than by its names. Returns 0 if @make does, or if out of memory.
 */
uint64_t sample_frame_number(struct numbers *frames,
			     const struct sample_frame *frame,
			     uint64_t (*make)(void *context,
					      const struct sample_frame *frame),
			     void *context);

/* The frame's function, or in @text the address of its procedure or itself. */
enum { FRAME_TEXT = 32 };
const char *sample_frame_name(const struct sample_frame *frame,
			      char text[FRAME_TEXT]);

#endif /* HWPROF_SAMPLES_H */
