// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the sections behind the data. The samples can be read without them.
 * Damage in a section is therefore a warning, and everything before it is used.
 * Sections that the library does not need are skipped unread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "base/read_whole.h"

enum {
	FEATURE_SIZE_MAX = 64 << 20,	/* a build with 10^5 objects has 10
					 * MB */
};

/*
 * Takes a string of perf: its size with padding as u32, then bytes, then zeros.
 */
static const char *take_string(struct byte_reader *reader)
{
	struct byte_reader part;
	uint32_t size;

	if (!reader_u32(reader, &size) || !reader_part(reader, size, &part))
		return NULL;
	return reader_string(&part);
}

static int parse_pmu_mappings(struct hwprof_file *file, uint64_t offset,
			      struct byte_reader body)
{
	uint32_t count, type;
	const char *name;

	if (!reader_u32(&body, &count))
		return file_warn(file, offset, "the table of PMUs is cut off");
	while (count--) {
		if (!reader_u32(&body, &type) || !(name = take_string(&body)))
			return file_warn(file, offset,
					 "the table of PMUs is cut off");
		if (!strcmp(name, HWPROF_PMU_NAME)) {
			file->pmus_known = true;
			file->pmu_found = true;
			file->pmu_type = type;
		}
	}
	file->pmus_known = true;
	return 0;
}

static int parse_arch(struct hwprof_file *file, struct byte_reader body)
{
	const char *name = take_string(&body);

	file->foreign = name && strcmp(name, "x86_64") &&
			(name[0] != 'i' || strcmp(name + 2, "86"));
	return 0;
}

/*
 * Returns true for Intel's CPUs with Skylake's core, like the module's
 * arch_copies_newest_branch().
 */
static bool copies_newest_branch(unsigned int family, unsigned int model)
{
	static const uint8_t models[] = {
		0x4e, 0x55, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6,
	};

	return family == 6 && model <= UINT8_MAX &&
	       memchr(models, model, sizeof(models));
}

/*
 * Parses vendor, family, model and stepping: "GenuineIntel,6,85,4", in decimal.
 */
static int parse_cpuid(struct hwprof_file *file, uint64_t offset,
		       struct byte_reader body)
{
	const char *text = take_string(&body);
	unsigned int family, model;

	if (!text)
		return file_warn(file, offset, "the CPU's name is cut off");
	if (strncmp(text, "GenuineIntel", 12))
		file->cpu = FILE_CPU_OTHER;
	else if (sscanf(text, "GenuineIntel,%u,%u", &family, &model) == 2)
		file->cpu = copies_newest_branch(family, model) ?
			    FILE_CPU_COPIES : FILE_CPU_OTHER;
	return 0;
}

/* Takes the names of the events, which are in the order of the attrs. */
static int parse_event_desc(struct hwprof_file *file, uint64_t offset,
			    struct byte_reader body)
{
	uint32_t count, attr_size, ids, i;
	const char *name;

	if (!reader_u32(&body, &count) || !reader_u32(&body, &attr_size))
		goto cut;
	for (i = 0; i < count; i++) {
		if (!reader_skip(&body, attr_size) ||
		    !reader_u32(&body, &ids) || !(name = take_string(&body)) ||
		    !reader_skip(&body, (uint64_t)ids * sizeof(uint64_t)))
			goto cut;
		if (i >= file->event_count)
			break;
		free(file->events[i].name);
		file->events[i].name = strdup(name);
		if (!file->events[i].name)
			return file_fail(file, -ENOMEM, "out of memory");
	}
	return 0;
cut:
	return file_warn(file, offset, "the names of the events are cut off");
}

/* Takes the groups: the number of each leader, and of the events behind it. */
static int parse_group_desc(struct hwprof_file *file, uint64_t offset,
			    struct byte_reader body)
{
	uint32_t count, leader, members;

	if (!reader_u32(&body, &count))
		goto cut;
	while (count--) {
		if (!take_string(&body) || !reader_u32(&body, &leader) ||
		    !reader_u32(&body, &members))
			goto cut;
		if (!members || leader >= file->event_count ||
		    members > file->event_count - leader)
			return file_warn(file, offset,
					 "a group of %u events is said to begin with event %u of %zu",
					 members, leader, file->event_count);
		file->events[leader].members = members - 1;
	}
	return 0;
cut:
	return file_warn(file, offset, "the groups of the events are cut off");
}

static uint8_t build_id_size(const struct perfdata_build_id *entry)
{
	return entry->header.misc & PERFDATA_MISC_BUILD_ID_SIZE ? entry->size :
								  BUILD_ID_MAX;
}

int build_ids_add(struct file_build_id **all, size_t *count,
		  const char *name, const struct build_id *id, uint16_t misc)
{
	struct file_build_id *more = reallocarray(*all, *count + 1,
						  sizeof(*more));
	char *copy = strdup(name);

	if (more)
		*all = more;
	if (!more || !copy) {
		free(copy);
		return -ENOMEM;
	}
	more[(*count)++] = (struct file_build_id){
		.name = copy, .id = *id, .misc = misc,
	};
	return 0;
}

static int add_build_id(struct hwprof_file *file,
			const struct perfdata_build_id *entry,
			const char *name)
{
	const struct build_id id = build_id_of(entry->id, build_id_size(entry));

	if (build_ids_add(&file->build_ids, &file->build_id_count, name, &id,
			  entry->header.misc & PERF_RECORD_MISC_CPUMODE_MASK))
		return file_fail(file, -ENOMEM, "out of memory");
	return 0;
}

/* Skips up to 36 zero bytes, which perf 6.12 wrote behind each entry. */
static void skip_zeros(struct byte_reader *body)
{
	static const uint8_t zeros[sizeof(struct perf_event_header)];

	while (reader_left(body) >= sizeof(zeros) &&
	       !memcmp(body->at, zeros, sizeof(zeros)))
		reader_skip(body, 4);
}

static int parse_build_ids(struct hwprof_file *file, uint64_t offset,
			   struct byte_reader body)
{
	for (;;) {
		struct perfdata_build_id entry;
		struct byte_reader record;
		const char *name;
		int error;

		skip_zeros(&body);
		if (reader_left(&body) < sizeof(entry.header))
			return 0;
		memcpy(&entry.header, body.at, sizeof(entry.header));
		if (!reader_part(&body, entry.header.size, &record) ||
		    !reader_copy(&record, &entry, sizeof(entry)) ||
		    !(name = reader_string(&record)))
			return file_warn(file, offset,
					 "the table of build ids is damaged behind %zu of them",
					 file->build_id_count);
		if (build_id_size(&entry) > BUILD_ID_MAX)
			return file_warn(
				file, offset,
				"a build id has %d bytes, more than %d: it and those behind it are left out",
				entry.size, BUILD_ID_MAX);
		error = add_build_id(file, &entry, name);
		if (error)
			return error;
	}
}

/* Takes the section that section_make() writes of a replay. */
static int parse_replay(struct hwprof_file *file, uint64_t offset,
			struct byte_reader body)
{
	struct file_replay *replay = &file->replay;
	uint32_t version, several, count;
	struct build_id id;
	const char *text;
	int error = 0;

	if (!reader_u32(&body, &version) || !reader_u32(&body, &several) ||
	    !reader_copy(&body, &replay->inferred, sizeof(double)) ||
	    !reader_u64(&body, &replay->lost) ||
	    !reader_u64(&body, &replay->lost_samples) ||
	    !(text = take_string(&body)) || !reader_u32(&body, &count) ||
	    !(replay->inferred >= 0 && replay->inferred <= 1))
		goto damaged;
	free(replay->event);
	replay->event = *text ? strdup(text) : NULL;
	replay->several = several;
	replay->known = true;
	if (*text && !replay->event)
		error = -ENOMEM;
	while (count-- && !error) {
		text = take_string(&body);
		if (!text)
			goto damaged;
		error = warnings_add(&replay->warnings, "%s", text);
	}
	while (!error && reader_left(&body)) {
		if (!(text = take_string(&body)) ||
		    !reader_copy(&body, &id, sizeof(id)) ||
		    id.size > BUILD_ID_MAX)
			goto damaged;
		error = build_ids_add(&replay->missing, &replay->missing_count,
				      text, &id, 0);
	}
	return error ? file_fail(file, error, "out of memory") : 0;
damaged:
	return file_warn(file, offset,
			 "the warnings of the replay are cut off");
}

static int parse_labels(struct hwprof_file *file, uint64_t offset,
			struct byte_reader body)
{
	int error = labels_parse(&file->labels, body);

	if (error == -ENOMEM)
		return file_fail(file, error, "out of memory");
	return error ? file_warn(file, offset,
				 "the labels of processes are damaged") : 0;
}

/* Takes the section that section_make() writes of masks. */
static int parse_masks(struct hwprof_file *file, uint64_t offset,
		       struct byte_reader body)
{
	enum { VERSION = 1 };
	uint32_t version;
	const char *text;
	bool is_new;

	if (!reader_u32(&body, &version) || version != VERSION)
		goto damaged;
	while (reader_left(&body)) {
		text = take_string(&body);
		if (!text)
			goto damaged;
		if (!numbers_text(&file->masks, text, &is_new))
			return file_fail(file, -ENOMEM, "out of memory");
	}
	return 0;
damaged:
	return file_warn(file, offset, "the masks of sessions are damaged");
}

static int parse_distances(struct hwprof_file *file, uint64_t offset,
			   struct byte_reader body)
{
	int error = distances_parse(&file->distances, body);

	if (error == -ENOMEM)
		return file_fail(file, error, "out of memory");
	return error ? file_warn(file, offset,
				 "the distances of sessions are damaged") : 0;
}

/* Returns true for a section about the machine or the recorder's command. */
static bool is_description(unsigned int feature)
{
	return feature == PERFDATA_HOSTNAME || feature == PERFDATA_OSRELEASE ||
	       (feature >= PERFDATA_ARCH && feature <= PERFDATA_CPUID) ||
	       feature == PERFDATA_CMDLINE;
}

/* Keeps a copy of a description for a file that is made from this one. */
static int keep_section(struct hwprof_file *file, unsigned int feature,
			struct byte_reader body)
{
	struct file_section *all;
	size_t size = reader_left(&body);
	void *bytes = malloc(size + 1);

	all = reallocarray(file->sections, file->section_count + 1,
			   sizeof(*all));
	if (all)
		file->sections = all;
	if (!all || !bytes) {
		free(bytes);
		return file_fail(file, -ENOMEM, "out of memory");
	}
	memcpy(bytes, body.at, size);
	all[file->section_count++] = (struct file_section){
		.feature = feature, .bytes = bytes, .size = size,
	};
	return 0;
}

static int parse(struct hwprof_file *file, unsigned int feature,
		 uint64_t offset, struct byte_reader body)
{
	switch (feature) {
	case PERFDATA_ARCH:
		return parse_arch(file, body);
	case PERFDATA_CPUID:
		return parse_cpuid(file, offset, body);
	case PERFDATA_PMU_MAPPINGS:
		return parse_pmu_mappings(file, offset, body);
	case PERFDATA_EVENT_DESC:
		return parse_event_desc(file, offset, body);
	case PERFDATA_GROUP_DESC:
		return parse_group_desc(file, offset, body);
	case PERFDATA_BUILD_ID:
		return parse_build_ids(file, offset, body);
	case PERFDATA_REPLAY:
		return parse_replay(file, offset, body);
	case PERFDATA_LABELS:
		return parse_labels(file, offset, body);
	case PERFDATA_MASKS:
		return parse_masks(file, offset, body);
	case PERFDATA_DISTANCES:
		return parse_distances(file, offset, body);
	}
	return 0;
}

int feature_parse(struct hwprof_file *file, unsigned int feature,
		  uint64_t offset, struct byte_reader body)
{
	size_t warned = file->warnings.count;
	int error = parse(file, feature, offset, body);

	/* Damaged descriptions are not copied. */
	if (error || !is_description(feature) ||
	    file->warnings.count != warned)
		return error;
	return keep_section(file, feature, body);
}

static bool is_of_use(unsigned int feature)
{
	return is_description(feature) || feature == PERFDATA_PMU_MAPPINGS ||
	       feature == PERFDATA_EVENT_DESC ||
	       feature == PERFDATA_GROUP_DESC ||
	       feature == PERFDATA_BUILD_ID || feature == PERFDATA_REPLAY ||
	       feature == PERFDATA_LABELS || feature == PERFDATA_MASKS ||
	       feature == PERFDATA_DISTANCES;
}

static int read_section(struct hwprof_file *file, unsigned int feature,
			const struct perfdata_section *section)
{
	uint8_t *bytes;
	int error;

	if (ends_before(file->fd, section->size, section->offset))
		return file_warn(file, section->offset,
				 "section %u is left out: the file ends in it",
				 feature);
	bytes = malloc(section->size);
	if (!bytes)
		return file_fail(file, -ENOMEM, "out of memory");
	error = read_whole(file->fd, bytes, section->size, section->offset);
	if (error)
		error = file_warn(file, section->offset,
				  "section %u is left out: it cannot be read: %s",
				  feature, strerror(-error));
	else
		error = feature_parse(file, feature, section->offset,
				      reader_of(bytes, section->size));
	free(bytes);
	return error;
}

/* Returns 0, 1 if the file ends here, or -ENOMEM. */
static int read_feature(struct hwprof_file *file, unsigned int feature,
			uint64_t entry)
{
	struct perfdata_section section;

	if (read_whole(file->fd, &section, sizeof(section), entry))
		return file_warn(file, entry,
				 "the file ends before its sections: names of events and build ids are not known")
			       ?: 1;
	if (!is_of_use(feature) || !section.size)
		return 0;
	if (section.size > FEATURE_SIZE_MAX ||
	    section.offset > INT64_MAX - section.size)
		return file_warn(
			file, entry,
			"section %u is left out: it is said to have %" PRIu64
			" bytes, and up to %d are allowed",
			feature, section.size, FEATURE_SIZE_MAX);
	return read_section(file, feature, &section);
}

/*
 * Reads the table of sections behind the data, which is in the order of their
 * bits.
 */
int features_read(struct hwprof_file *file)
{
	const struct perfdata_section *data = &file->header.data;
	unsigned int feature;
	uint64_t entry;

	file->traced =
		file->header.features[0] >> PERFDATA_AUXTRACE_SECTION & 1;
	if (!data->size)
		return file_warn(file, 48,
				 "the recording was not finished, as when its recorder was killed: names of events and build ids are not known");
	if (data->offset > INT64_MAX - data->size -
	    PERFDATA_FEATURES * sizeof(struct perfdata_section))
		return file_warn(file, 40,
				 "the data is said to be beyond any file");
	entry = data->offset + data->size;
	for (feature = 0; feature < PERFDATA_FEATURES; feature++) {
		int error;

		if (!(file->header.features[feature / 64] >> feature % 64 & 1))
			continue;
		error = read_feature(file, feature, entry);
		if (error)
			return error < 0 ? error : 0;
		entry += sizeof(struct perfdata_section);
	}
	return 0;
}
