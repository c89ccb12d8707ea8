/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Labels: the user and the cgroup of each process. A section of hwprof's own in
 * a recording has them.
 */
#ifndef HWPROF_LABELS_H
#define HWPROF_LABELS_H

#include <stdio.h>

#include "base/byte_reader.h"
#include "base/numbers.h"

enum {
	LABEL_TABLE_MAX = 1 << 17,	/* processes: further ones have none */
	LABEL_PATH = 256,		/* a longer path loses its beginning */
};

#define LABEL_NO_UID	UINT32_MAX

/**
 * struct label - What is known of a process
 * @pid: its number.
 * @uid: its user, or root where others must not look into it; LABEL_NO_UID:
 *	unknown.
 * @seen: the user is that of the process itself, and was always the same.
 *	False if only its parent was seen.
 * @used: it is to be written.
 * @cgroup: path; "" if unknown. It belongs to the labels.
 * @path: its number there.
 */
struct label {
	uint32_t pid;
	uint32_t uid;
	bool seen, used;
	const char *cgroup;
	uint32_t path;
};

/* All 0: there are none. */
struct label_table {
	void *tree;			/* of struct label, by pid */
	size_t count;
	struct numbers cgroups;
};

/* Returns the label of a process, or NULL. */
struct label *labels_find(const struct label_table *labels, uint32_t pid);

/* Sets the label of a process. Returns 0 or -ENOMEM. */
int labels_set(struct label_table *labels, const struct label *label);

/*
 * Makes no label `seen` any more, because something may have been missed.
 * Returns 0 or -ENOMEM.
 */
int labels_doubt(struct label_table *labels);

void labels_free(struct label_table *labels);

/*
 * Writes the body of the section: labels that are used. Returns their number.
 */
size_t labels_put(const struct label_table *labels, FILE *out);

/*
 * Reads it. Returns 0; -EBADMSG if it is damaged, with what could be read; or
 * -ENOMEM.
 */
int labels_parse(struct label_table *labels, struct byte_reader body);

#endif /* HWPROF_LABELS_H */
