// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stddef.h>
#include <string.h>

#include <linux/perf_event.h>

#include "base/event_names.h"

struct event_name {
	const char *name;
	uint32_t type;
	uint64_t config;
};

#define HARDWARE(event) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##event
#define SOFTWARE(event) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##event

/* The first of an event's names is the one that reports have. */
static const struct event_name names[] = {
	{ "cycles", HARDWARE(CPU_CYCLES) },
	{ "cpu-cycles", HARDWARE(CPU_CYCLES) },
	{ "instructions", HARDWARE(INSTRUCTIONS) },
	{ "cache-references", HARDWARE(CACHE_REFERENCES) },
	{ "cache-misses", HARDWARE(CACHE_MISSES) },
	{ "branches", HARDWARE(BRANCH_INSTRUCTIONS) },
	{ "branch-instructions", HARDWARE(BRANCH_INSTRUCTIONS) },
	{ "branch-misses", HARDWARE(BRANCH_MISSES) },
	{ "bus-cycles", HARDWARE(BUS_CYCLES) },
	{ "stalled-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND) },
	{ "idle-cycles-frontend", HARDWARE(STALLED_CYCLES_FRONTEND) },
	{ "stalled-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND) },
	{ "idle-cycles-backend", HARDWARE(STALLED_CYCLES_BACKEND) },
	{ "ref-cycles", HARDWARE(REF_CPU_CYCLES) },
	{ "cpu-clock", SOFTWARE(CPU_CLOCK) },
	{ "task-clock", SOFTWARE(TASK_CLOCK) },
	{ "page-faults", SOFTWARE(PAGE_FAULTS) },
	{ "faults", SOFTWARE(PAGE_FAULTS) },
	{ "context-switches", SOFTWARE(CONTEXT_SWITCHES) },
	{ "cs", SOFTWARE(CONTEXT_SWITCHES) },
	{ "cpu-migrations", SOFTWARE(CPU_MIGRATIONS) },
	{ "migrations", SOFTWARE(CPU_MIGRATIONS) },
	{ "minor-faults", SOFTWARE(PAGE_FAULTS_MIN) },
	{ "major-faults", SOFTWARE(PAGE_FAULTS_MAJ) },
	{ "alignment-faults", SOFTWARE(ALIGNMENT_FAULTS) },
	{ "emulation-faults", SOFTWARE(EMULATION_FAULTS) },
	{ "dummy", SOFTWARE(DUMMY) },
	{ "bpf-output", SOFTWARE(BPF_OUTPUT) },
	{ "cgroup-switches", SOFTWARE(CGROUP_SWITCHES) },
};

enum { NAMES = sizeof(names) / sizeof(names[0]) };

const char *event_name(uint32_t type, uint64_t config)
{
	size_t i;

	/* The upper half is the PMU of one kind of core. */
	if (type == PERF_TYPE_HARDWARE)
		config = (uint32_t)config;
	for (i = 0; i < NAMES; i++)
		if (names[i].type == type && names[i].config == config)
			return names[i].name;
	return NULL;
}

bool event_by_name(const char *name, struct perf_event_attr *attr)
{
	size_t i;

	for (i = 0; i < NAMES; i++) {
		if (strcmp(names[i].name, name))
			continue;
		attr->type = names[i].type;
		attr->config = names[i].config;
		return true;
	}
	return false;
}
