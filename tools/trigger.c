// SPDX-License-Identifier: GPL-2.0-only
/* Names of hardware events. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>

#include "command.h"
#include "base/event_names.h"
#include "base/late.h"
#include "hwprof.h"
#include "trigger.h"

#define DEVICES "/sys/bus/event_source/devices/"

enum found { NOT_FOUND, FOUND, TOO_MUCH };

/* The CPUs' own, whose events are raw events. */
static const char *const pmus[] = {
	"cpu", "cpu_core", "armv8_pmuv3", "armv8_pmuv3_0",
};

enum { PMU_COUNT = sizeof(pmus) / sizeof(pmus[0]) };

/* Refuses what a trigger has no bits for, such as a second word. */
static enum found fits(uint64_t event)
{
	struct hwprof_event scratch = { .user = true };

	return hwprof_event_set_trigger(&scratch, event) ? TOO_MUCH : FOUND;
}

static bool parse_number(const char *text, int base, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, base);
	return isxdigit((unsigned char)*text) && !*end && !errno;
}

static enum found from_number(const char *text, uint64_t *event)
{
	bool is_number = text[0] == 'r' ? parse_number(text + 1, 16, event) :
			 !strncmp(text, "0x", 2) &&
			 parse_number(text, 16, event);

	return is_number ? fits(*event) : NOT_FOUND;
}

/* The first line of a file in the PMU's folder. */
static bool read_of_pmu(const char *pmu, const char *folder, const char *name,
			char *line, size_t size)
{
	char path[256];

	if (strchr(name, '/'))
		return false;
	snprintf(path, sizeof(path), DEVICES "%s/%s/%s", pmu, folder, name);
	return read_line(path, line, size);
}

/* Puts @value where @format says, "config:0-7,32-35": lowest bits first. */
static bool place(const char *format, uint64_t value, uint64_t *event)
{
	unsigned int low, high;
	int used;

	if (strncmp(format, "config:", 7))
		return false;
	for (format += 7; sscanf(format, "%u%n", &low, &used) == 1;
	     format += *format == ',') {
		format += used;
		high = low;
		if (sscanf(format, "-%u%n", &high, &used) == 1)
			format += used;
		for (; low <= high && low < 64; low++, value >>= 1)
			*event |= (value & 1) << low;
	}
	return !*format && !value;
}

/* "event=0xc4,umask=0x20,inv", as the PMU's folder `format` has them. */
static enum found parse_terms(const char *pmu, char *terms, uint64_t *event)
{
	char *term, format[128];

	*event = 0;
	while ((term = strsep(&terms, ","))) {
		char *value = strchr(term, '=');
		uint64_t number = 1;

		if (value)
			*value++ = 0;
		if (!*term || (value && !parse_number(value, 0, &number)) ||
		    !read_of_pmu(pmu, "format", term, format, sizeof(format)))
			return NOT_FOUND;
		if (!place(format, number, event))
			return TOO_MUCH;
	}
	return fits(*event);
}

/* perf's "cpu/event=0xc4,umask=0x20/", or "cpu/name/". */
static enum found from_terms(const char *text, uint64_t *event)
{
	size_t length = strcspn(text, "/"), i;
	char terms[256], line[256];

	for (i = 0; text[length] && i < PMU_COUNT; i++) {
		if (strlen(pmus[i]) != length ||
		    strncmp(pmus[i], text, length))
			continue;
		snprintf(terms, sizeof(terms), "%s", text + length + 1);
		if (!*terms || terms[strlen(terms) - 1] != '/')
			return NOT_FOUND;
		terms[strlen(terms) - 1] = 0;
		if (read_of_pmu(pmus[i], "events", terms, line, sizeof(line)))
			return parse_terms(pmus[i], line, event);
		return parse_terms(pmus[i], terms, event);
	}
	return NOT_FOUND;
}

/* Looks for the event among those of the CPU's own PMU. */
static enum found from_sysfs(const char *name, uint64_t *event)
{
	char line[256];
	size_t i;

	for (i = 0; i < PMU_COUNT; i++)
		if (read_of_pmu(pmus[i], "events", name, line, sizeof(line)))
			return parse_terms(pmus[i], line, event);
	return NOT_FOUND;
}

/* perf's generic names, as the folders have them. */
static enum found from_generic(const char *text, uint64_t *event)
{
	static const char * const names[][2] = {
		{ "cycles", "cpu-cycles" },
		{ "cycles", "cpu_cycles" },
		{ "instructions", "inst_retired" },
		{ "branches", "branch-instructions" },
		{ "branches", "br_retired" },
	};
	enum found found = from_sysfs(text, event);
	size_t i;

	for (i = 0; !found && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(text, names[i][0]))
			found = from_sysfs(names[i][1], event);
	return found;
}

/* The functions of libpfm4. */
static struct {
	__typeof__(&pfm_initialize) initialize;
	__typeof__(&pfm_get_os_event_encoding) encode;
} libpfm;

/* Returns true if libpfm4 is installed. */
static bool load_libpfm(void)
{
	void *library;

	if (libpfm.encode)
		return true;
	library = dlopen("libpfm.so.4", RTLD_NOW);
	return library &&
	       LATE_FIND(library, libpfm.initialize, "pfm_initialize") &&
	       LATE_FIND(library, libpfm.encode, "pfm_get_os_event_encoding");
}

/* Looks for the event in libpfm4, of any type, for both privilege levels. */
static bool find_libpfm(const char *text, struct perf_event_attr *attr)
{
	pfm_perf_encode_arg_t encoding = {
		.attr = attr, .size = sizeof(encoding),
	};

	*attr = (struct perf_event_attr){ .size = sizeof(*attr) };
	return load_libpfm() && libpfm.initialize() == PFM_SUCCESS &&
	       libpfm.encode(text, PFM_PLM3, PFM_OS_PERF_EVENT,
			     &encoding) == PFM_SUCCESS;
}

static enum found from_libpfm(const char *text, uint64_t *event)
{
	struct perf_event_attr attr;

	/*
	 * Perf's generic names have no raw event but the one of the PMU's
	 * folder.
	 */
	if (!find_libpfm(text, &attr) || attr.type != PERF_TYPE_RAW)
		return NOT_FOUND;
	*event = attr.config;
	return attr.config1 || attr.config2 ? TOO_MUCH : fits(attr.config);
}

static enum found find(const char *text, uint64_t *event)
{
	enum found found = from_number(text, event);

	if (!found)
		found = from_terms(text, event);
	if (!found)
		found = from_generic(text, event);
	return found;
}

int trigger_parse(const char *text, uint64_t *event)
{
	enum found found;

	*event = 0;
	if (!strcmp(text, "clock"))
		return -1;
	found = find(text, event);
	if (!found)
		found = from_libpfm(text, event);
	if (found == FOUND)
		return -1;
	if (found == TOO_MUCH)
		return usage_error("--trigger '%s': a trigger has an event code, umask, edge, any, inv and cmask, and no more",
				   text);
	return usage_error("--trigger '%s': unknown here; allowed are clock, cycles, instructions, branches and the like where there are counters, raw codes (r20c4), terms (cpu/event=0xc4,umask=0x20/) and libpfm4's names of this CPU's events",
			   text);
}

int metric_parse(const char *text, struct perf_event_attr *attr)
{
	struct perf_event_attr named = { 0 };
	uint64_t event;

	/*
	 * Perf's own names need no libpfm4. That of Debian trixie knows none
	 * where there is no /sys.
	 */
	if (!event_by_name(text, &named) && !find_libpfm(text, &named)) {
		enum found found = find(text, &event);

		if (found == TOO_MUCH)
			return usage_error("--metric '%s': of terms and raw codes, what --trigger takes is allowed",
					   text);
		if (found == NOT_FOUND)
			return usage_error("--metric '%s': unknown here; allowed are names of perf's (instructions, cache-misses, page-faults), of the CPU's and of libpfm4's events, raw codes (r20c4) and terms (cpu/event=0xc4,umask=0x20/)",
					   text);
		named.type = PERF_TYPE_RAW;
		named.config = event;
	}
	attr->type = named.type;
	attr->config = named.config;
	attr->config1 = named.config1;
	attr->config2 = named.config2;
	return -1;
}
