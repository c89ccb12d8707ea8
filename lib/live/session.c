// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/event_config.h"
#include "base/event_refused.h"
#include "profile/kinds.h"
#include "filter.h"
#include "live_session.h"
#include "pmu.h"
#include "source_choice.h"

enum {
	MEMORY_MIB = 16,
	EVENT_PAGES = 64,		/* of rings that have only records about
					 * maps */
};


const char *hwprof_session_error(const struct hwprof_session *session)
{
	return session ? session->message : "out of memory";
}

enum hwprof_kind hwprof_session_kind(const struct hwprof_session *session)
{
	return session->kind;
}

const struct hwprof_event *
hwprof_session_event(const struct hwprof_session *session)
{
	return &session->event;
}

/* --- the device ----------------------------------------------------------- */

static int find_kind(struct hwprof_session *session, const char *text)
{
	unsigned int kinds = event_kinds_of(session->event.config);
	unsigned int kind = kinds ? __builtin_ctz(kinds) : HWPROF_KINDS;

	session->kind = kind;
	if (hwprof_event_field(&session->event, "metrics"))
		return session_fail(session, -EOPNOTSUPP,
				    "event '%s' has metrics, of counters in its group: record it",
				    text);
	if (event_kinds_several(kinds))
		return session_fail(
			session, -EOPNOTSUPP,
			"event '%s' has several profiles, and a session has one: name one thing, or record it",
			text);
	if (kind == HWPROF_KINDS)
		return session_fail(
			session, -EOPNOTSUPP,
			"event '%s' has no profile: record it, or name one of "
			KIND_NAMES,
			text);
	if (kind == HWPROF_KIND_RANGES)
		session->options.profile.flags |= HWPROF_RANGES_OF_FLAG(
			hwprof_event_field(&session->event, "range_of"));
	return 0;
}

/* Chooses what the event leaves open, unless the event is given as a whole. */
static int complete(struct hwprof_session *session, const char *text,
		    bool *own_memory)
{
	const struct hwprof_session_options *options = &session->options;
	struct hwprof_event *event = &session->event;

	if (options->period && options->frequency)
		return session_fail(session, -EINVAL,
				    "period and frequency exclude each other");
	if (profile_check_options(session->kind, &options->profile,
				  session->message, sizeof(session->message)))
		return -EINVAL;
	if (event->whole)
		return 0;
	/* The targets are unknown yet, and may be other users' programs. */
	if (!source_choose_careful(event,
				   !options->period && !options->frequency))
		return session_fail(session, -EOPNOTSUPP,
				    "event '%s' would step its targets, which makes them far slower: give it 'step' if they may be, or name one thing",
				    text);
	*own_memory = !hwprof_event_field(event, "memory_mib");
	if (*own_memory)
		hwprof_event_set(event, "memory_mib", MEMORY_MIB);
	/* Bursts without a limit would cost too much. */
	if (hwprof_event_field(event, "burst") && !options->period &&
	    !options->frequency &&
	    !hwprof_event_field(event, "budget_permille"))
		hwprof_event_set(event, "budget_permille", CAREFUL_BUDGET);
	return 0;
}

static struct hwprof_config config_of(const struct hwprof_session *session)
{
	const struct hwprof_session_options *options = &session->options;
	const struct hwprof_event *event = &session->event;
	bool budget = hwprof_event_field(event, "budget_permille");
	struct hwprof_config config = {
		.size = sizeof(config),
		.flags = HWPROF_CONFIG_EXCLUDE_HV | HWPROF_CONFIG_EXCLUDE_GUEST,
		.config = event->config[0],
		.config1 = event->config[1],
		.config2 = event->config[2],
		/* With only a budget, as often as it allows. */
		.period = options->frequency ? options->frequency :
			  options->period ? options->period : budget,
	};

	if (!event->user)
		config.flags |= HWPROF_CONFIG_EXCLUDE_USER;
	if (!event->kernel)
		config.flags |= HWPROF_CONFIG_EXCLUDE_KERNEL;
	if (options->frequency)
		config.flags |= HWPROF_CONFIG_FREQ;
	return config;
}

/* The module's udev rule, if installed, gives the device to a group. */
static int not_permitted(struct hwprof_session *session)
{
	char buffer[1024];
	struct group entry, *group = NULL;
	struct stat device;

	if (!stat(HWPROF_DEVICE, &device) && device.st_gid &&
	    (device.st_mode & (S_IRGRP | S_IWGRP)) == (S_IRGRP | S_IWGRP))
		getgrgid_r(device.st_gid, &entry, buffer, sizeof(buffer),
			   &group);
	if (group)
		return session_fail(session, -EACCES,
				    "cannot open " HWPROF_DEVICE
				    ": it is for root and the group %s",
				    group->gr_name);
	return session_fail(session, -EACCES,
			    "cannot open " HWPROF_DEVICE
			    ": it is for root alone, by its mode");
}

static int open_device(struct hwprof_session *session)
{
	session->device = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC);
	if (session->device >= 0)
		return 0;
	if (errno == EACCES)
		return not_permitted(session);
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		return session_fail(session, -ENOENT,
				    "the hwprof module is not loaded: modprobe hwprof (there is no " HWPROF_DEVICE ")");
	return session_fail(session, -errno,
			    "cannot open " HWPROF_DEVICE ": %s",
			    strerror(errno));
}

static int refused(struct hwprof_session *session, int error)
{
	char why[256];

	if ((error == EINVAL || error == EOPNOTSUPP) &&
	    event_refused(&session->event, why, sizeof(why)))
		return session_fail(session, -error, "event '%s' %s",
				    session->name, why);
	switch (error) {
	case EINVAL:
		return session_fail(session, -error,
				    "event '%s' contradicts itself, or a value is out of its range",
				    session->name);
	case EOPNOTSUPP:
		return session_fail(session, -error,
				    "event '%s' needs what this machine or module does not have: see 'hwprof doctor'",
				    session->name);
	case EMFILE:
	case ENFILE:
		return session_fail(session, -error,
				    "there are too many sessions: end some, or raise /sys/class/misc/hwprof/limits");
	case ENOMEM:
		return session_fail(
			session, -error,
			"the module gives event '%s' no memory: lower memory_mib, or raise what users may lock (ulimit -l) or /sys/class/misc/hwprof/limits",
			session->name);
	}
	return session_fail(session, -error,
			    "the module refuses event '%s': %s", session->name,
			    strerror(error));
}

/*
 * Configures the session. If users may not lock that much memory, reduces the
 * size that we chose.
 */
static int configure(struct hwprof_session *session, bool own_memory)
{
	for (;;) {
		hwprof_event_print(&session->event, session->name,
				   sizeof(session->name));
		session->config = config_of(session);
		if (!ioctl(session->device, HWPROF_IOC_CONFIG,
			   &session->config))
			return 0;
		if (errno != ENOMEM || !own_memory ||
		    !event_shrink(&session->event, MEMORY_MIB))
			return refused(session, errno);
	}
}

/* --- events that feed it -------------------------------------------------- */

static int find_feeder(struct hwprof_session *session)
{
	int of = hwprof_event_field(&session->event, "range_of");
	struct perf_event_attr *attr = &session->feeder.attr;
	const struct hwprof_config *config = &session->config;
	int type = pmu_type(HWPROF_PMU_NAME);

	if (type < 0)
		return session_fail(session, -ENOENT,
				    "the hwprof module has no PMU: " PMU_DEVICES
				    "/" HWPROF_PMU_NAME "/type cannot be read");
	attr->type = type;
	attr->config2 = (uint64_t)config->session << 32;
	attr->exclude_user = !session->event.user;
	attr->exclude_kernel = !session->event.kernel;
	attr->freq = !!(config->flags & HWPROF_CONFIG_FREQ);
	attr->sample_period = config->period;
	/* Maps tell where data is. */
	attr->mmap_data = of != HWPROF_RANGE_IP && of != HWPROF_RANGE_CALLEE;
	session->feeder.name = session->name;
	return 0;
}

static int want_unwinding(struct hwprof_session *session)
{
	if (!unwinding_wanted(session->event.config))
		return 0;
	session->unwinding = unwinding_new(session->device, NULL);
	return session->unwinding
		       ? 0
		       : session_fail(session, -ENOMEM, "out of memory");
}

/* Records of all events have the same layout, so the file knows one event. */
static int make_file(struct hwprof_session *session)
{
	struct perf_event_attr attr = session->feeder.attr;

	attr.sample_type = EVENTS_SAMPLE_TYPE;
	attr.sample_id_all = 1;
	session->file = file_new(-1, session->name);
	session->record = malloc(SESSION_RECORD_MAX);
	if (!session->file || !session->record ||
	    file_add_event(session->file, &attr,
			   (struct byte_reader){ NULL, NULL }))
		return session_fail(session, -ENOMEM, "out of memory");
	session->gathering = profile_gathering(profile_kind_of(session->kind),
					       &session->options.profile,
					       session->file);
	return session->gathering
		       ? 0
		       : session_fail(session, -ENOMEM, "out of memory");
}

int hwprof_session_open(struct hwprof_session **result, const char *event,
			const struct hwprof_session_options *options)
{
	struct hwprof_session *session = calloc(1, sizeof(*session));
	bool own_memory = false;
	int error;

	*result = session;
	if (!session)
		return -ENOMEM;
	session->device = -1;
	if (options)
		session->options = *options;
	error = hwprof_event_parse(&session->event, event, session->message,
				   sizeof(session->message));
	if (!error)
		error = find_kind(session, event);
	if (!error)
		error = complete(session, event, &own_memory);
	if (!error)
		error = open_device(session);
	if (!error)
		error = configure(session, own_memory);
	if (!error)
		error = find_feeder(session);
	if (!error)
		error = want_unwinding(session);
	return error ? error : make_file(session);
}

static void detach(struct attached *attached)
{
	events_close(attached->events);
	free(attached->targets);
}

void hwprof_session_close(struct hwprof_session *session)
{
	if (!session)
		return;
	session_unmap_rings(session);
	while (session->attached_count)
		detach(&session->attached[--session->attached_count]);
	free(session->attached);
	free(session->filter);
	convergence_free(session->convergence);
	unwinding_free(session->unwinding);
	if (session->device >= 0)
		close(session->device);
	hwprof_profile_free(session->gathering);
	hwprof_file_close(session->file);
	free(session->record);
	free(session);
}

/* --- targets -------------------------------------------------------------- */

static int find_targets(struct hwprof_session *session,
			const struct hwprof_target *target,
			struct attached *attached)
{
	int error;

	if (target->kind == HWPROF_TARGET_PROCESS) {
		error = process_threads(target->id ? target->id : getpid(),
					&attached->targets,
					&attached->target_count);
		if (error == -ESRCH)
			return session_fail(session, error,
					    "there is no process %d",
					    target->id);
	} else {
		attached->targets = malloc(sizeof(*attached->targets));
		error = attached->targets ? 0 : -ENOMEM;
	}
	if (error)
		return session_fail(session, error, "out of memory");
	if (target->kind == HWPROF_TARGET_PROCESS)
		return 0;
	attached->target_count = 1;
	attached->targets[0] = target->kind == HWPROF_TARGET_SYSTEM ? -1 :
			       target->id;
	return 0;
}

static int open_events(struct hwprof_session *session,
		       const struct hwprof_target *target,
		       struct attached *attached)
{
	const struct events_options options = {
		.kinds = &session->feeder, .kind_count = 1,
		.targets = attached->targets,
		.target_count = attached->target_count,
		.cgroup = target->kind == HWPROF_TARGET_CGROUP,
		.cpus = target->cpus, .on_exec = target->on_exec,
		.inherit = !target->alone, .pages = EVENT_PAGES,
		.filter = session->filter,
	};
	int error = events_open(&attached->events, &options);

	/* Processes that enter a cgroup are not known in advance. */
	if (options.cgroup)
		attached->targets[0] = -1;
	if (!error)
		return 0;
	return session_fail(
		session, error, "%s%s",
		attached->events ? attached->events->message : "out of memory",
		error == -EACCES || error == -EPERM
			? ": see kernel.perf_event_paranoid, kernel.yama.ptrace_scope and 'hwprof doctor'"
			: "");
}

static int start(struct hwprof_session *session, struct attached *attached)
{
	int error;

	if (!attached->known)
		session_tell_tables(session, attached);
	error = events_enable(attached->events);
	if (error)
		return session_fail(session, error, "%s",
				    attached->events->message);
	/*
	 * Enable events first: maps made meanwhile are then reported twice, not
	 * lost.
	 */
	if (!attached->known)
		error = session_tell_maps(session, attached);
	attached->known = true;
	return error;
}

int hwprof_session_attach(struct hwprof_session *session,
			  const struct hwprof_target *target)
{
	struct attached *all = reallocarray(session->attached,
					    session->attached_count + 1,
					    sizeof(*all));
	struct attached attached = {
		.waits = target->on_exec, .known = target->on_exec,
		.own = target->kind == HWPROF_TARGET_SYSTEM ||
		       target->kind == HWPROF_TARGET_CGROUP,
	};
	int error;

	if (!all)
		return session_fail(session, -ENOMEM, "out of memory");
	session->attached = all;
	error = find_targets(session, target, &attached);
	if (!error)
		error = open_events(session, target, &attached);
	if (!error && session->running && !attached.waits)
		error = start(session, &attached);
	if (error) {
		detach(&attached);
		return error;
	}
	all[session->attached_count++] = attached;
	return 0;
}

int hwprof_session_filter(struct hwprof_session *session, const char *filter)
{
	char words[FILTER_WORDS_MAX], *copy = NULL;
	int error;

	if (session->attached_count)
		return session_fail(session, -EBUSY,
				    "a filter comes before the first target");
	if (filter) {
		error = filter_resolve(filter, words, sizeof(words),
				       session->message,
				       sizeof(session->message));
		if (error)
			return error;
		copy = strdup(words);
		if (!copy)
			return session_fail(session, -ENOMEM, "out of memory");
	}
	free(session->filter);
	session->filter = copy;
	return 0;
}

/* --- on and off ----------------------------------------------------------- */

int hwprof_session_start(struct hwprof_session *session)
{
	int error = 0;
	size_t i;

	for (i = 0; i < session->attached_count && !error; i++) {
		struct attached *attached = &session->attached[i];

		if (!attached->waits)
			error = start(session, attached);
	}
	if (!error)
		session->running = session->ran = true;
	return error;
}

int hwprof_session_stop(struct hwprof_session *session)
{
	int error = 0;
	size_t i;

	for (i = 0; i < session->attached_count && !error; i++) {
		struct attached *attached = &session->attached[i];

		error = events_disable(attached->events);
		if (error)
			session_fail(session, error, "%s",
				     attached->events->message);
		else
			attached->waits = false;
	}
	session->running = false;
	return error;
}

int hwprof_session_reset(struct hwprof_session *session)
{
	/* Rows in rings are from the time before. */
	int error = hwprof_session_rows(session, NULL, NULL);

	if (error)
		return error;
	if (ioctl(session->device, HWPROF_IOC_RESET, 0))
		return session_fail(session, -errno, "cannot reset: %s",
				    strerror(errno));
	session_converge_reset(session);
	profile_reset(session->gathering);
	return session_note_mask(session);
}
