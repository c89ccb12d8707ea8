/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Whole recordings of parts: those of values and ranges, which are added up
 * when a question is asked.
 */
#ifndef HWPROFD_WHOLES_H
#define HWPROFD_WHOLES_H

#include "parts.h"
#include "worker.h"

struct wholes {
	struct hwprof_profile *profile;
	struct hwprof_file **files;
	size_t count;			/* of files */
};

/*
 * Makes a profile of the whole recordings among @count parts. Returns
 * ANSWER_OK; or another answer, with a sentence in @message. Free it, also
 * then, with wholes_free().
 */
enum answer wholes_read(struct wholes *wholes, const struct part *parts,
			size_t count, enum hwprof_kind kind,
			const struct hwprof_options *options,
			char message[WORKER_MESSAGE]);
void wholes_free(struct wholes *wholes);

#endif /* HWPROFD_WHOLES_H */
