// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "command.h"
#include "base/event_config.h"
#include "base/event_refused.h"
#include "refusal.h"
#include "live/permission.h"
#include "live/source_choice.h"
#include "profile/event_kinds.h"

static bool opens(const struct perf_event_attr *attr,
		  const struct hwprof_event *event)
{
	struct perf_event_attr copy = *attr;
	long fd;

	copy.config = event->config[0];
	copy.config1 = event->config[1];
	copy.config2 = event->config[2];
	copy.disabled = 1;
	copy.enable_on_exec = 0;
	fd = syscall(SYS_perf_event_open, &copy, 0, -1, -1,
		     PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Returns the field that the module refused: the event opens without it. */
static const char *find_field(const struct perf_event_attr *attr,
			      const struct hwprof_event *event)
{
	size_t i;

	for (i = 0; i < FIELD_COUNT; i++) {
		const char *name = field_places[i].name;
		struct hwprof_event without = *event;

		if (!hwprof_event_field(event, name))
			continue;
		hwprof_event_set(&without, name, 0);
		if (opens(attr, &without))
			return name;
	}
	return NULL;
}

/* Returns the first thing that the event profiles. */
static const char *find_subject(const struct hwprof_event *event)
{
	return engine_infos[__builtin_ctz(config_engines(event->config))].name;
}

/*
 * Returns true if @source can provide what the event needs. A source that the
 * event names is the only one.
 */
static bool wants_source(const struct hwprof_event *event,
			 enum source_id source)
{
	const struct session_config config = event_config(event, ALL_SOURCES);
	struct hwprof_event with = *event;

	if (config.sources)
		return config.sources >> source & 1;
	hwprof_event_set(&with, source_infos[source].name, 1);
	return !event_refusal(&with).error;
}

/* Explains that no suitable source works. Returns false if one does. */
static bool explain_sources(const struct hwprof_event *event, const char *text)
{
	char reasons[512] = "", reason[128];
	size_t used = 0, i;

	for (i = 0; i < SOURCE_COUNT; i++) {
		const char *name = source_infos[i].name;

		if (!wants_source(event, i))
			continue;
		if (!read_cap(name, reason, sizeof(reason)) ||
		    !strcmp(reason, "yes"))
			return false;
		used += snprintf(reasons + used, sizeof(reasons) - used,
				 "%s%s: %s", used ? "; " : "", name, reason);
	}
	if (used)
		failed("event '%s' has no source on this machine: %s", text,
		       reasons);
	return used;
}

static void explain_attaching(const char *text)
{
	char settings[PERMISSION_TEXT];

	failed("not permitted to step the program for event '%s': this takes the right to attach to it as a debugger, or, for all programs, CAP_PERFMON, CAP_SYS_PTRACE and the right to attach to the init process; %s; run as root, or take the source lbr or sample",
	       text, permission_settings(true, settings));
}

/*
 * Explains a missing permission. If the event opens on hwprof itself, possibly
 * with less memory, the target is the reason.
 */
static void explain_permission(const struct perf_event_attr *attr,
			       const struct hwprof_event *event,
			       const char *text)
{
	struct hwprof_event small = *event;
	char settings[PERMISSION_TEXT];

	hwprof_event_set(&small, "memory_mib", 0);
	if (event_attaches(event) && opens(attr, &small)) {
		explain_attaching(text);
		return;
	}
	failed("not permitted to open event '%s': %s; run as root, give the program CAP_PERFMON, or lower it (2 allows users their own programs in user mode, 1 the kernel too)",
	       text, permission_settings(false, settings));
}

static void explain_unsupported(const struct perf_event_attr *attr,
				const struct hwprof_event *event,
				const char *text, int error)
{
	const char *field = find_field(attr, event);
	struct perf_event_attr user = *attr;

	user.exclude_user = 0;
	user.exclude_kernel = 1;
	if (event->kernel && opens(&user, event))
		failed("the module does not support the kernel in event '%s' (%s): give it the modifier 'u'",
		       text, strerror(error));
	else if (field)
		failed("the module does not support '%s=%" PRIu64
		       "' in event '%s' here (%s): leave it out, or see 'hwprof doctor'",
		       field, hwprof_event_field(event, field), text,
		       strerror(error));
	else
		failed("the module does not support '%s' as event '%s' asks for it (%s): see 'hwprof doctor'",
		       find_subject(event), text, strerror(error));
}

/* Says which rule the event breaks on any machine; false: none. */
static bool explain_rule(const struct hwprof_event *event, const char *text)
{
	char why[256];
	bool refused = event_refused(event, why, sizeof(why));

	if (refused)
		failed("event '%s' %s", text, why);
	return refused;
}

/*
 * Explains that older modules profile one thing per event. Returns false if
 * that is not the reason, because one of the things alone is refused, too.
 */
static bool explain_several(const struct perf_event_attr *attr,
			    const struct hwprof_event *event, const char *text)
{
	unsigned int kinds = event_kinds_of(event->config), kind;
	char names[EVENT_KINDS_TEXT];

	if (!event_kinds_several(kinds))
		return false;
	for (kind = 0; kind < HWPROF_KINDS; kind++) {
		struct hwprof_event alone = *event;
		unsigned int other;

		for (other = 0; other < HWPROF_KINDS; other++)
			if (other != kind)
				hwprof_event_set(&alone,
						 hwprof_kind_name(other), 0);
		if (kinds >> kind & 1 && !opens(attr, &alone))
			return false;
	}
	failed("this module profiles one thing an event, and '%s' has %s: give each an event (-e) of its own",
	       text, event_kinds_names(kinds, names));
	return true;
}

static void explain_memory(const struct hwprof_event *event, const char *text)
{
	uint64_t memory = hwprof_event_field(event, "memory_mib");

	failed("the kernel gives event '%s' no memory of %" PRIu64
	       " MiB: lower memory_mib, or raise what users may lock (ulimit -l)",
	       text, memory ? memory : HWPROF_DEFAULT_MEMORY_MIB);
}

void explain_refusal(const struct perf_event_attr *attr,
		     const struct hwprof_event *event, const char *text,
		     int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		if (hwprof_event_field(event, "session"))
			failed("the session in event '%s' is no other program's to feed: leave it out",
			       text);
		else
			explain_permission(attr, event, text);
		return;
	case EINVAL:
	case EOPNOTSUPP:
	case ENOENT:
		if (!explain_rule(event, text) &&
		    (error != EOPNOTSUPP || !explain_sources(event, text)) &&
		    !explain_several(attr, event, text))
			explain_unsupported(attr, event, text, error);
		return;
	case ENOMEM:
		explain_memory(event, text);
		return;
	case EMFILE:
		failed("too many open files for an event on each CPU and thread: raise the limit (ulimit -n), or that of sessions (/sys/class/misc/hwprof/limits)");
		return;
	case ESRCH:
		failed("the process or thread to be recorded has gone");
		return;
	}
	failed("cannot open event '%s': %s", text, strerror(error));
}

int refuse_stepping(const char *text, const char *instead)
{
	return usage_error("event '%s' would step programs that run already, which makes them far slower: give it %s, or 'step' if they may be",
			   text, instead);
}

bool steps_unasked(const struct hwprof_event *event)
{
	const struct session_config config = event_config(event,
							  sources_here());

	return event->whole && !source_is_named(event) &&
	       config.source_caps & SOURCE_WHOLE;
}
