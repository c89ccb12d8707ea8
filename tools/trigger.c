// SPDX-License-Identifier: GPL-2.0-only
/* Names of hardware events. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/perf_event.h>
#include <perfmon/pfmlib_perf_event.h>

#include "command.h"
#include "trigger.h"

#define DEVICES "/sys/bus/event_source/devices/"

enum { EVENT_MAX = 0xffff };	/* the field's 16 bits: umask and event code */

enum found { NOT_FOUND, FOUND, TOO_MUCH };

static bool parse_hex(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 16);
	return *text && !*end && !errno;
}

static enum found from_number(const char *text, uint64_t *event)
{
	bool is_number = text[0] == 'r' ? parse_hex(text + 1, event) :
			 !strncmp(text, "0x", 2) && parse_hex(text + 2, event);

	if (!is_number)
		return NOT_FOUND;
	return *event <= EVENT_MAX ? FOUND : TOO_MUCH;
}

/* "event=0xc4,umask=0x20" */
static enum found parse_terms(char *terms, uint64_t *event)
{
	char *term;

	*event = 0;
	while ((term = strsep(&terms, ",\n"))) {
		uint64_t value;

		if (!*term)
			continue;
		if (!strncmp(term, "event=0x", 8) &&
		    parse_hex(term + 8, &value))
			*event |= value;
		else if (!strncmp(term, "umask=0x", 8) &&
			 parse_hex(term + 8, &value))
			*event |= value << 8;
		else
			return TOO_MUCH;
	}
	return *event <= EVENT_MAX ? FOUND : TOO_MUCH;
}

/* What the kernel says of the CPU's own PMU. */
static enum found from_sysfs(const char *name, uint64_t *event)
{
	static const char * const pmus[] = {
		"cpu", "cpu_core", "armv8_pmuv3", "armv8_pmuv3_0",
	};
	size_t i;

	for (i = 0; i < sizeof(pmus) / sizeof(pmus[0]); i++) {
		char path[256], terms[128] = "";
		FILE *file;

		snprintf(path, sizeof(path), DEVICES "%s/events/%s", pmus[i],
			 name);
		file = strchr(name, '/') ? NULL : fopen(path, "r");
		if (!file)
			continue;
		if (!fgets(terms, sizeof(terms), file))
			terms[0] = 0;
		fclose(file);
		return parse_terms(terms, event);
	}
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

static enum found from_libpfm(const char *text, uint64_t *event)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	pfm_perf_encode_arg_t encoding = {
		.attr = &attr, .size = sizeof(encoding),
	};

	if (pfm_initialize() != PFM_SUCCESS ||
	    pfm_get_os_event_encoding(text, PFM_PLM3, PFM_OS_PERF_EVENT,
				      &encoding) != PFM_SUCCESS)
		return NOT_FOUND;
	*event = attr.config;
	return attr.type == PERF_TYPE_RAW && attr.config <= EVENT_MAX ?
	       FOUND : TOO_MUCH;
}

int trigger_parse(const char *text, uint64_t *event)
{
	enum found found;

	*event = 0;
	if (!strcmp(text, "clock"))
		return -1;
	found = from_number(text, event);
	if (!found)
		found = from_generic(text, event);
	if (!found)
		found = from_libpfm(text, event);
	if (found == FOUND)
		return -1;
	if (found == TOO_MUCH)
		return usage_error("--trigger '%s': more than an event code and a umask, which is all that a trigger has",
				   text);
	return usage_error("--trigger '%s': unknown here; allowed are clock, cycles, instructions, branches and the like where there are counters, raw codes (r20c4) and libpfm4's names of this CPU's events",
			   text);
}
