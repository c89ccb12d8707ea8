// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "query.h"

#define PPROF	"/debug/pprof/"
#define API	"/api/v1/"

/* Kinds that are kept, beside those of whole recordings. */
#define KEPT	(1U << HWPROF_KIND_LOOPS | 1U << HWPROF_KIND_CALLS |	\
		 1U << HWPROF_KIND_PATHS | 1U << HWPROF_KIND_EDGES |	\
		 1U << HWPROF_KIND_CCT)
#define KINDS_TEXT	"loops, calls, paths, edges, cct, values and ranges"

static int refuse(char *message, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int refuse(char *message, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, QUERY_MESSAGE, format, args);
	va_end(args);
	return error;
}

static int set_kind(struct query *query, const char *name, char *message)
{
	int kind = hwprof_kind_of(name);

	if (kind < 0)
		return refuse(message, -EINVAL,
			      "there is no kind '%.32s': there are " KINDS_TEXT,
			      name);
	if (!((KEPT | PARTS_WHOLE) >> kind & 1))
		return refuse(message, -EINVAL,
			      "%s are not collected: there are " KINDS_TEXT,
			      name);
	query->kind = kind;
	return 0;
}

/* /debug/pprof/loops and so on; profile is the usual name of contexts. */
static int parse_pprof(struct query *query, const char *name, char *message)
{
	query->what = QUERY_EXPORT;
	query->content_type = "application/octet-stream";
	strcpy(query->format, "pprof");
	return set_kind(query, strcmp(name, "profile") ? name : "cct", message);
}

static int parse_api(struct query *query, const char *name, char *message)
{
	query->content_type = "application/json";
	if (!strcmp(name, "builds")) {
		query->what = QUERY_BUILDS;
	} else if (!strcmp(name, "windows")) {
		query->what = QUERY_WINDOWS;
	} else if (!strcmp(name, "labels")) {
		query->what = QUERY_LABELS;
	} else if (!strcmp(name, "ranges")) {
		query->what = QUERY_RANGES;
		query->kind = HWPROF_KIND_RANGES;
	} else if (!strcmp(name, "now")) {
		query->what = QUERY_NOW;
	} else if (!strcmp(name, "recording")) {
		query->what = QUERY_RECORDING;
		query->content_type = "application/octet-stream";
	} else if (!strcmp(name, "export")) {
		query->what = QUERY_EXPORT;
		query->content_type = "application/octet-stream";
	} else if (!strncmp(name, "profile/", 8)) {
		query->what = QUERY_JSON;
		return set_kind(query, name + 8, message);
	} else {
		return refuse(message, -ENOENT,
			      "there is no " API "%.64s: there are builds, labels, windows, ranges, now, profile/KIND, export and recording",
			      name);
	}
	return 0;
}

static int parse_path(struct query *query, const char *path, char *message)
{
	if (!strncmp(path, PPROF, strlen(PPROF)))
		return parse_pprof(query, path + strlen(PPROF), message);
	if (!strncmp(path, API, strlen(API)))
		return parse_api(query, path + strlen(API), message);
	if (!strcmp(path, "/page")) {
		query->what = QUERY_PAGE;
		query->content_type = "text/html; charset=utf-8";
		return 0;
	}
	return refuse(message, -ENOENT,
		      "there is nothing at '%.64s': there are /, /page, /metrics, /healthz, /readyz, " PPROF "... and " API "...",
		      path);
}

/* Parses up to 15 digits, and a fraction, which is left out. */
static int set_number(int64_t *number, const struct query_argument *argument,
		      int64_t least, int64_t most, char *message)
{
	size_t digits = strspn(argument->value, "0123456789");
	const char *rest = argument->value + digits;

	if (*rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (digits && digits < 16 && !*rest) {
		*number = strtoll(argument->value, NULL, 10);
		if (*number >= least && *number <= most)
			return 0;
	}
	return refuse(message, -EINVAL,
		      "%s is '%.32s': allowed are numbers from %lld to %lld",
		      argument->name, argument->value, (long long)least,
		      (long long)most);
}

static int set_build_id(char build_id[41],
			const struct query_argument *argument, char *message)
{
	const char *value = argument->value;
	size_t length = strlen(value), i;

	if (!length || length > 40 ||
	    strspn(value, "0123456789abcdefABCDEF") != length)
		return refuse(message, -EINVAL,
			      "%s is '%.48s': allowed are 1 to 40 hexadecimal digits",
			      argument->name, value);
	for (i = 0; i <= length; i++)
		build_id[i] = tolower((unsigned char)value[i]);
	return 0;
}

static int set_text(char text[QUERY_FORMAT],
		    const struct query_argument *argument, char *message)
{
	if (strlen(argument->value) >= QUERY_FORMAT)
		return refuse(message, -EINVAL, "%s is '%.32s', which is too long",
			      argument->name, argument->value);
	strcpy(text, argument->value);
	return 0;
}

static int set_label(char *text, size_t size,
		     const struct query_argument *argument, char *message)
{
	if (*argument->value && strlen(argument->value) < size) {
		strcpy(text, argument->value);
		return 0;
	}
	return refuse(message, -EINVAL,
		      "%s is '%.32s': allowed are 1 to %zu characters",
		      argument->name, argument->value, size - 1);
}

static int set_cgroup(struct label_filter *filter,
		      const struct query_argument *argument, char *message)
{
	if (*argument->value != '/')
		return refuse(message, -EINVAL,
			      "cgroup is '%.32s': allowed is a path that begins with '/', as in /proc/PID/cgroup",
			      argument->value);
	return set_label(filter->cgroup, sizeof(filter->cgroup), argument,
			 message);
}

static int set_container(struct label_filter *filter,
			 const struct query_argument *argument, char *message)
{
	size_t length = strlen(argument->value);

	if (length && length <= LABEL_CONTAINER &&
	    strspn(argument->value, "0123456789abcdef") == length) {
		strcpy(filter->container, argument->value);
		return 0;
	}
	return refuse(message, -EINVAL,
		      "container is '%.32s': allowed are 1 to %d hexadecimal digits in small letters",
		      argument->value, LABEL_CONTAINER);
}

static int set_uid(struct label_filter *filter,
		   const struct query_argument *argument, char *message)
{
	int64_t uid = 0;
	int error = set_number(&uid, argument, 0, LABEL_NO_UID - 1, message);

	filter->by_uid = true;
	filter->uid = uid;
	return error;
}

/* Takes a label. Returns 1 if @argument is none. */
static int take_label(struct label_filter *filter,
		      const struct query_argument *argument, char *message)
{
	const char *name = argument->name;

	if (!strcmp(name, "uid"))
		return set_uid(filter, argument, message);
	if (!strcmp(name, "cgroup"))
		return set_cgroup(filter, argument, message);
	if (!strcmp(name, "container"))
		return set_container(filter, argument, message);
	if (!strcmp(name, "unit"))
		return set_label(filter->unit, sizeof(filter->unit), argument,
				 message);
	if (!strcmp(name, "program"))
		return set_label(filter->program, sizeof(filter->program),
				 argument, message);
	return 1;
}

struct times {
	int64_t seconds, from, to;	/* -1: not given */
	int64_t before_from, before_to;	/* -1: not given */
};

/* Takes what a page's profiles are compared with. */
static int take_before(struct query *query, struct times *times,
		       const struct query_argument *argument, char *message)
{
	const int64_t most = 1LL << 40;
	const char *name = argument->name;

	query->diff = true;
	if (!strcmp(name, "diff_from"))
		return set_number(&times->before_from, argument, 0, most,
				  message);
	if (!strcmp(name, "diff_to"))
		return set_number(&times->before_to, argument, 0, most,
				  message);
	if (!strcmp(name, "diff_build_id"))
		return set_build_id(query->before_build_id, argument, message);
	return refuse(message, -EINVAL, "there is no parameter '%.32s' here",
		      name);
}

static int take(struct query *query, struct times *times,
		const struct query_argument *argument, char *message)
{
	const int64_t most = 1LL << 40;
	const char *name = argument->name;
	int64_t limit;
	int error;

	if (!strcmp(name, "seconds"))
		return set_number(&times->seconds, argument, 1, most, message);
	if (!strcmp(name, "from"))
		return set_number(&times->from, argument, 0, most, message);
	if (!strcmp(name, "to"))
		return set_number(&times->to, argument, 0, most, message);
	if (!strcmp(name, "build_id"))
		return set_build_id(query->build_id, argument, message);
	if (!strcmp(name, "kind") && query->what != QUERY_RANGES)
		return set_kind(query, argument->value, message);
	if (!strcmp(name, "format") && query->what == QUERY_EXPORT)
		return set_text(query->format, argument, message);
	if (!strcmp(name, "version") && query->what == QUERY_EXPORT)
		return set_text(query->version, argument, message);
	if (!strncmp(name, "diff_", 5) && query->what == QUERY_PAGE)
		return take_before(query, times, argument, message);
	if (!strcmp(name, "limit") && (query->what == QUERY_JSON ||
				       query->what == QUERY_PAGE)) {
		error = set_number(&limit, argument, 1, most, message);
		query->limit = limit;
		return error;
	}
	if (!strcmp(name, "pid"))
		return refuse(message, -EINVAL,
			      "pid: windows are not kept by process; use program, uid, cgroup, unit or container");
	error = take_label(&query->filter, argument, message);
	return error <= 0 ? error : refuse(message, -EINVAL, "there is no parameter '%.32s' here",
		      name);
}

static int set_times(struct query *query, const struct times *times,
		     int64_t now, char *message)
{
	int64_t seconds = times->seconds < 0 ? QUERY_SECONDS : times->seconds;

	if (times->seconds >= 0 && times->from >= 0 && times->to >= 0)
		return refuse(message, -EINVAL,
			      "seconds, from and to say too much: give two of them");
	query->to = times->to >= 0 ? times->to :
		    times->from >= 0 && times->seconds >= 0 ?
		    times->from + seconds : now;
	query->from = times->from >= 0 ? times->from : query->to - seconds;
	if (query->from < 0)
		query->from = 0;
	if (query->from >= query->to)
		return refuse(message, -EINVAL,
			      "from is %lld, which is not before %lld",
			      (long long)query->from, (long long)query->to);
	return 0;
}

/*
 * Completes the time and the build to compare with: each is that of the rest of
 * the question unless it was given.
 */
static int set_before(struct query *query, const struct times *times,
		      char *message)
{
	bool given = times->before_from >= 0;

	if (!query->diff)
		return 0;
	if (given != (times->before_to >= 0))
		return refuse(message, -EINVAL,
			      "diff_from and diff_to belong together: give both, or diff_build_id alone");
	query->before_from = given ? times->before_from : query->from;
	query->before_to = given ? times->before_to : query->to;
	if (!*query->before_build_id)
		strcpy(query->before_build_id, query->build_id);
	if (query->before_from < query->before_to)
		return 0;
	return refuse(message, -EINVAL,
		      "diff_from is %lld, which is not before %lld",
		      (long long)query->before_from,
		      (long long)query->before_to);
}

/* The default kind of a format is the first that it can have. */
static int check_format(struct query *query, char *message)
{
	const struct hwprof_format *format = hwprof_format_of(query->format);
	int kind;

	if (!format)
		return refuse(message, -EINVAL,
			      "format is '%s': see hwprof-export(1) for those that there are",
			      query->format);
	for (kind = 0; query->kind < 0 && kind < HWPROF_KINDS; kind++)
		if (format->kinds & KEPT & 1U << kind)
			query->kind = kind;
	if (query->kind >= 0 && format->kinds >> query->kind & 1)
		return 0;
	return refuse(message, -EINVAL, "format %s cannot have %s",
		      format->name, query->kind < 0 ? "what is collected" :
		      hwprof_kind_name(query->kind));
}

/* Whole recordings are given out as profiles, and not chosen by anything. */
static int check_whole(struct query *query, char *message)
{
	query->values = query->kind >= 0 && part_kind_is_whole(query->kind);
	if (!query->values)
		return 0;
	if (query->what != QUERY_JSON && query->what != QUERY_EXPORT &&
	    query->what != QUERY_RANGES)
		return refuse(message, -EINVAL,
			      "%s are given out by /api/v1/profile, /api/v1/export and /debug/pprof alone, and ranges by /api/v1/ranges",
			      hwprof_kind_name(query->kind));
	if (*query->build_id || label_filter_is_set(&query->filter))
		return refuse(message, -EINVAL,
			      "%s cannot be chosen by build_id or labels",
			      hwprof_kind_name(query->kind));
	return 0;
}

int query_parse(struct query *query, const char *path,
		const struct query_argument *arguments, size_t count,
		int64_t now, char message[QUERY_MESSAGE])
{
	struct times times = { -1, -1, -1, -1, -1 };
	int error;
	size_t i;

	*query = (struct query){ .kind = -1, .now = now };
	error = parse_path(query, path, message);
	for (i = 0; i < count && !error; i++)
		error = take(query, &times, &arguments[i], message);
	if (!error)
		error = set_times(query, &times, now, message);
	if (!error)
		error = set_before(query, &times, message);
	if (!error && query->what == QUERY_EXPORT)
		error = check_format(query, message);
	return error ? error : check_whole(query, message);
}
