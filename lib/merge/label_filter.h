/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Choosing processes by their labels. */
#ifndef HWPROF_LABEL_FILTER_H
#define HWPROF_LABEL_FILTER_H

#include "perfdata/labels.h"

enum {
	LABEL_NAME = 64,		/* of a program */
	LABEL_CONTAINER = 64,		/* hexadecimal digits of an id */
};

/**
 * struct label_filter - What is wanted
 * @program: name of the process; "": any.
 * @by_uid: those of @uid alone.
 * @uid: a user.
 * @only_seen: those whose user is known for sure; see struct label.
 * @cgroup: path of a cgroup, itself or below; "": any.
 * @unit: a unit of systemd, which is part of a path; "": any.
 * @container: the beginning of a container's id; "": any.
 *
 * All 0: any process.
 */
struct label_filter {
	char program[LABEL_NAME];
	bool by_uid, only_seen;
	uint32_t uid;
	char cgroup[LABEL_PATH];
	char unit[LABEL_PATH];
	char container[LABEL_CONTAINER + 1];
};

/* Returns true if the filter chooses at all. */
bool label_filter_is_set(const struct label_filter *filter);

/* Returns true for a process that is wanted. */
bool label_is_wanted(const struct label_filter *filter, const char *program,
		     const struct label *label);

/*
 * Finds the innermost unit of systemd (NAME.service or NAME.scope) in the path
 * of a cgroup. Returns its length; 0 if there is none.
 */
size_t label_unit(const char *cgroup, const char **unit);

/*
 * Finds the innermost id of a container, which has LABEL_CONTAINER digits.
 * Returns NULL if there is none.
 */
const char *label_container(const char *cgroup);

#endif /* HWPROF_LABEL_FILTER_H */
