/* SPDX-License-Identifier: GPL-2.0-only */
/* Questions: what a path and the parameters behind it ask for. */
#ifndef HWPROFD_QUERY_H
#define HWPROFD_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hwprof.h"
#include "merge/label_filter.h"

enum {
	QUERY_MESSAGE = 512,
	QUERY_SECONDS = 60,		/* without a time */
	QUERY_FORMAT = 16,
};

enum query_what {
	QUERY_EXPORT,			/* a profile in another tool's format */
	QUERY_JSON,			/* a profile */
	QUERY_RECORDING,		/* a recording, for 'hwprof report' */
	QUERY_BUILDS,			/* which builds there are */
	QUERY_WINDOWS,			/* which windows of time */
	QUERY_PAGE,			/* profiles, for a browser */
	QUERY_NOW,			/* how hwprofd is */
	QUERY_LABELS,			/* which programs, users and cgroups */
	QUERY_RANGES,			/* hot ranges by window of time */
};

struct query {
	enum query_what what;
	int kind;			/* enum hwprof_kind; -1: all */
	char format[QUERY_FORMAT];	/* QUERY_EXPORT */
	char version[QUERY_FORMAT];	/* of the format; "": its default */
	int64_t from, to;		/* seconds of the store's clock */
	char build_id[41];		/* or its beginning; "": all */
	struct label_filter filter;	/* by labels */
	int64_t now;			/* the present time */
	bool values;			/* it is about values or data */
	uint64_t limit;			/* things in a list; 0: all, or the
					 * page's default */
	/* QUERY_PAGE: what it is compared with. */
	bool diff;
	int64_t before_from, before_to;
	char before_build_id[41];
	const char *content_type;
};

struct query_argument {
	const char *name;
	const char *value;		/* "" without one */
};

/*
 * Reads a question of time @now. Returns 0; -ENOENT if @path asks for nothing;
 * or -EINVAL. @message then says why.
 */
int query_parse(struct query *query, const char *path,
		const struct query_argument *arguments, size_t count,
		int64_t now, char message[QUERY_MESSAGE]);

#endif /* HWPROFD_QUERY_H */
