// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "perfdata/file.h"
#include "pmu.h"
#include "writer.h"

enum {
	NAME_ALIGN = 64,	/* perf pads names to this */
};

const enum perfdata_feature sections_written[] = {
	PERFDATA_BUILD_ID, PERFDATA_HOSTNAME, PERFDATA_OSRELEASE,
	PERFDATA_VERSION, PERFDATA_ARCH, PERFDATA_NRCPUS, PERFDATA_CPUDESC,
	PERFDATA_CPUID, PERFDATA_CMDLINE, PERFDATA_EVENT_DESC,
	PERFDATA_PMU_MAPPINGS, PERFDATA_GROUP_DESC, PERFDATA_SAMPLE_TIME,
	PERFDATA_DISTANCES, PERFDATA_MASKS, PERFDATA_LABELS, PERFDATA_REPLAY, 0,
};

static void put(FILE *out, const void *bytes, size_t size)
{
	fwrite(bytes, 1, size, out);
}

static void put_u32(FILE *out, uint32_t value)
{
	put(out, &value, sizeof(value));
}

static void put_u64(FILE *out, uint64_t value)
{
	put(out, &value, sizeof(value));
}

static size_t padded(size_t size)
{
	return (size + NAME_ALIGN - 1) / NAME_ALIGN * NAME_ALIGN;
}

static void put_padded(FILE *out, const char *text)
{
	static const char zeros[NAME_ALIGN];
	size_t size = strlen(text) + 1;

	put(out, text, size);
	put(out, zeros, padded(size) - size);
}

static void put_string(FILE *out, const char *text)
{
	put_u32(out, padded(strlen(text) + 1));
	put_padded(out, text);
}

static int put_build_ids(FILE *out, const struct section_facts *facts)
{
	size_t i;

	for (i = 0; i < facts->build_id_count; i++) {
		const struct file_build_id *known = &facts->build_ids[i];
		struct perfdata_build_id entry = {
			.header.misc = known->misc |
				       PERFDATA_MISC_BUILD_ID_SIZE,
			.header.size = sizeof(entry) +
				       padded(strlen(known->name) + 1),
			.pid = -1,
			.size = known->id.size,
		};

		memcpy(entry.id, known->id.bytes, sizeof(entry.id));
		put(out, &entry, sizeof(entry));
		put_padded(out, known->name);
	}
	return facts->build_id_count ? 0 : -ENOENT;
}

/* Writes the value of "model name" in /proc/cpuinfo, as perf does. */
static int put_cpu_name(FILE *out)
{
	FILE *info = fopen("/proc/cpuinfo", "re");
	int error = -ENOENT;
	char line[256];

	if (!info)
		return error;
	while (error && fgets(line, sizeof(line), info)) {
		char *value = strchr(line, ':');

		if (strncmp(line, "model name", 10) || !value)
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = 0;
		put_string(out, value);
		error = 0;
	}
	fclose(info);
	return error;
}

static int put_command(FILE *out, const struct writer_facts *facts)
{
	int i;

	put_u32(out, facts->argc);
	for (i = 0; i < facts->argc; i++)
		put_string(out, facts->argv[i]);
	return 0;
}

static int put_events(FILE *out, const struct section_facts *facts)
{
	size_t i, j;

	put_u32(out, facts->event_count);
	put_u32(out, sizeof(struct perf_event_attr));
	for (i = 0; i < facts->event_count; i++) {
		const struct writer_event *event = &facts->events[i];

		put(out, &event->attr, sizeof(event->attr));
		put_u32(out, event->id_count);
		put_string(out, event->name);
		for (j = 0; j < event->id_count; j++)
			put_u64(out, event->ids[j]);
	}
	return 0;
}

/* Writes groups as perf does; its groups have no name either. */
static int put_groups(FILE *out, const struct section_facts *facts)
{
	uint32_t count = 0;
	size_t i;

	for (i = 0; i < facts->event_count; i++)
		count += !!facts->events[i].members;
	put_u32(out, count);
	for (i = 0; i < facts->event_count; i++) {
		if (!facts->events[i].members)
			continue;
		put_string(out, "{anon_group}");
		put_u32(out, i);
		put_u32(out, 1 + facts->events[i].members);
	}
	return count ? 0 : -ENOENT;
}

/*
 * Excludes hwprof, which is always written, even if its module has been
 * unloaded.
 */
static int is_other_pmu(const struct dirent *entry)
{
	return entry->d_name[0] != '.' &&
	       strcmp(entry->d_name, HWPROF_PMU_NAME) &&
	       pmu_type(entry->d_name) >= 0;
}

/* Writes hwprof and, if this machine was recorded, its other PMUs. */
static int put_pmus(FILE *out, const struct writer_facts *facts)
{
	struct dirent **entries = NULL;
	int count = facts->of ? 0 : scandir(PMU_DEVICES, &entries,
					    is_other_pmu, alphasort);
	int i;

	put_u32(out, 1 + (count > 0 ? count : 0));
	put_u32(out, facts->pmu_type);
	put_string(out, HWPROF_PMU_NAME);
	for (i = 0; i < count; i++) {
		put_u32(out, pmu_type(entries[i]->d_name));
		put_string(out, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}

/* Writes what parse_replay() of features.c reads. */
static int put_replay(FILE *out, const struct file_replay *replay)
{
	enum { VERSION = 1 };
	size_t i;

	if (!replay)
		return -ENOENT;
	put_u32(out, VERSION);
	put_u32(out, replay->several);
	put(out, &replay->inferred, sizeof(replay->inferred));
	put_u64(out, replay->lost);
	put_u64(out, replay->lost_samples);
	put_string(out, replay->event ? replay->event : "");
	put_u32(out, replay->warnings.count);
	for (i = 0; i < replay->warnings.count; i++)
		put_string(out, replay->warnings.sentences[i]);
	for (i = 0; i < replay->missing_count; i++) {
		put_string(out, replay->missing[i].name);
		put(out, &replay->missing[i].id, sizeof(struct build_id));
	}
	return 0;
}

/* Writes what parse_masks() of features.c reads. */
static int put_masks(FILE *out, const struct numbers *masks)
{
	enum { VERSION = 1 };
	size_t i;

	if (!masks || !masks->count)
		return -ENOENT;
	put_u32(out, VERSION);
	for (i = 0; i < masks->count; i++)
		put_string(out, masks->list[i]->text);
	return 0;
}

/* Copies a section that describes the machine or the recorder. */
static int put_copy(FILE *out, enum perfdata_feature feature,
		    const struct hwprof_file *of)
{
	size_t i;

	for (i = 0; i < of->section_count; i++) {
		if (of->sections[i].feature != feature)
			continue;
		put(out, of->sections[i].bytes, of->sections[i].size);
		return 0;
	}
	return -ENOENT;
}

/* Describes this machine, and the command that recorded here. */
static int put_description(FILE *out, enum perfdata_feature feature,
			   const struct section_facts *facts)
{
	struct utsname system;

	if (facts->facts->of)
		return put_copy(out, feature, facts->facts->of);
	uname(&system);
	switch (feature) {
	case PERFDATA_HOSTNAME:
		put_string(out, system.nodename);
		return 0;
	case PERFDATA_OSRELEASE:
		put_string(out, system.release);
		return 0;
	case PERFDATA_ARCH:
		put_string(out, system.machine);
		return 0;
	case PERFDATA_NRCPUS:
		put_u32(out, sysconf(_SC_NPROCESSORS_CONF));
		put_u32(out, sysconf(_SC_NPROCESSORS_ONLN));
		return 0;
	case PERFDATA_CPUDESC:
		return put_cpu_name(out);
	case PERFDATA_CMDLINE:
		return put_command(out, facts->facts);
	default:
		return -ENOENT;
	}
}

static int put_section(FILE *out, enum perfdata_feature feature,
		       const struct section_facts *facts)
{
	switch (feature) {
	case PERFDATA_BUILD_ID:
		return put_build_ids(out, facts);
	case PERFDATA_VERSION:
		put_string(out, "hwprof " HWPROF_VERSION);
		return 0;
	case PERFDATA_EVENT_DESC:
		return put_events(out, facts);
	case PERFDATA_PMU_MAPPINGS:
		return put_pmus(out, facts->facts);
	case PERFDATA_GROUP_DESC:
		return put_groups(out, facts);
	case PERFDATA_SAMPLE_TIME:
		put_u64(out, facts->first_time);
		put_u64(out, facts->last_time);
		return facts->first_time > facts->last_time ? -ENOENT : 0;
	case PERFDATA_DISTANCES:
		return facts->facts->distances &&
		       distances_put(facts->facts->distances, out) ? 0 :
								     -ENOENT;
	case PERFDATA_MASKS:
		return put_masks(out, facts->facts->masks);
	case PERFDATA_LABELS:
		return facts->facts->labels &&
		       labels_put(facts->facts->labels, out) ? 0 : -ENOENT;
	case PERFDATA_REPLAY:
		return put_replay(out, facts->facts->replay);
	default:
		return put_description(out, feature, facts);
	}
}

int section_make(enum perfdata_feature feature,
		 const struct section_facts *facts, char **body, size_t *size)
{
	FILE *out = open_memstream(body, size);
	int error;

	if (!out)
		return -ENOMEM;
	error = put_section(out, feature, facts);
	if (fclose(out))
		error = -ENOMEM;
	if (error) {
		free(*body);
		*body = NULL;
	}
	return error;
}
