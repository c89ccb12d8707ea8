// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/tree.h"
#include "known_files.h"
#include "perfdata/file.h"
#include "writer.h"

struct writer {
	FILE *out;
	char *name;
	char message[512];
	struct perfdata_header header;
	const struct writer_event *events;	/* belong to the caller */
	size_t event_count;
};

static int fail(struct writer *writer, int error, const char *what)
{
	snprintf(writer->message, sizeof(writer->message), "%s: %s: %s",
		 writer->name, what, strerror(-error));
	return error;
}

const char *writer_error(const struct writer *writer)
{
	return writer ? writer->message : "out of memory";
}

uint64_t writer_bytes(const struct writer *writer)
{
	return writer->header.data.offset + writer->header.data.size;
}

static int put(struct writer *writer, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, writer->out) == size)
		return 0;
	return fail(writer, errno ? -errno : -EIO, "cannot write");
}

/* Writes the ids of all events, and the attrs that refer to them. */
static int put_events(struct writer *writer)
{
	struct perfdata_section ids = { .offset = sizeof(writer->header) };
	int error = 0;
	size_t i;

	for (i = 0; i < writer->event_count && !error; i++)
		error = put(writer, writer->events[i].ids,
			    writer->events[i].id_count * sizeof(uint64_t));
	for (i = 0; i < writer->event_count && !error; i++) {
		ids.size = writer->events[i].id_count * sizeof(uint64_t);
		error = put(writer, &writer->events[i].attr,
			    sizeof(writer->events[i].attr));
		if (!error)
			error = put(writer, &ids, sizeof(ids));
		ids.offset += ids.size;
	}
	writer->header.attrs.offset = ids.offset;
	writer->header.attrs.size = writer->event_count *
				    writer->header.attr_size;
	writer->header.data.offset = ids.offset + writer->header.attrs.size;
	return error;
}

/*
 * Writes the header. Like perf's, it has no data size until the file is
 * finished.
 */
static int put_header(struct writer *writer, uint64_t data_size)
{
	struct perfdata_header header = writer->header;

	header.data.size = data_size;
	if (fseeko(writer->out, 0, SEEK_SET))
		return fail(writer, -errno, "cannot seek");
	return put(writer, &header, sizeof(header));
}

static int begin(struct writer *writer)
{
	int error = put_header(writer, 0);

	if (!error)
		error = put_events(writer);
	/* The offsets of the events are known only now. */
	if (!error)
		error = put_header(writer, 0);
	if (!error && fseeko(writer->out, 0, SEEK_END))
		error = fail(writer, -errno, "cannot seek");
	return error;
}

int writer_open(struct writer **result, const char *path,
		const struct writer_event *events, size_t count)
{
	struct writer *writer = calloc(1, sizeof(*writer));

	*result = writer;
	if (!writer)
		return -ENOMEM;
	*writer = (struct writer){
		.name = strdup(path),
		.events = events,
		.event_count = count,
		.header.magic = PERFDATA_MAGIC,
		.header.size = sizeof(writer->header),
		.header.attr_size = sizeof(struct perf_event_attr) +
				    sizeof(struct perfdata_section),
	};
	if (!writer->name) {
		free(writer);
		*result = NULL;
		return -ENOMEM;
	}
	writer->out = fopen(path, "w+e");
	if (!writer->out)
		return fail(writer, -errno, "cannot open for writing");
	return begin(writer);
}

int writer_add(struct writer *writer, const void *bytes, size_t size)
{
	int error = put(writer, bytes, size);

	if (!error)
		writer->header.data.size += size;
	return error;
}

int writer_add_lost(struct writer *writer, uint64_t id, uint64_t lost,
		    uint64_t time)
{
	const struct {
		struct perf_event_header header;
		uint64_t lost;
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t id;
	} record = {
		.header.type = PERF_RECORD_LOST_SAMPLES,
		.header.size = sizeof(record),
		.lost = lost, .time = time, .id = id,
	};

	return writer_add(writer, &record, sizeof(record));
}

/* Results of reading the written data. */
struct survey {
	struct hwprof_file *file;
	struct writer_summary *summary;
	struct section_facts facts;
	struct file_build_id *build_ids;
	void *names;			/* tree of names that were looked at */
	struct known_files *files;	/* known build ids */
	uint32_t last_session;
	uint32_t *sessions;
};

static int note_session(struct survey *survey, uint32_t session)
{
	uint64_t count = survey->summary->sessions, i;
	uint32_t *all;

	if (count && session == survey->last_session)
		return 0;
	survey->last_session = session;
	for (i = 0; i < count; i++)
		if (survey->sessions[i] == session)
			return 0;
	all = reallocarray(survey->sessions, count + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	survey->sessions = all;
	all[survey->summary->sessions++] = session;
	return 0;
}

/* Marks the label of a process that has rows. */
static void note_label(struct survey *survey, uint32_t pid)
{
	struct label_table *labels = survey->facts.facts->labels;
	struct label *label = labels ? labels_find(labels, pid) : NULL;

	if (label)
		label->used = true;
}

static int survey_sample(struct survey *survey, const struct record *record)
{
	struct hwprof_sample sample;
	int found = rows_decode(survey->file, record, &sample);

	if (found <= 0)
		return found;
	survey->summary->samples++;
	if (sample.time < survey->facts.first_time)
		survey->facts.first_time = sample.time;
	if (sample.time > survey->facts.last_time)
		survey->facts.last_time = sample.time;
	if (!sample.row)
		return 0;
	note_label(survey, sample.row->pid);
	return note_session(survey, sample.row->session);
}

/* A name of a mapped file. */
struct seen_name {
	char *name;
};

static int compare_names(const void *a, const void *b)
{
	const struct seen_name *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void free_name(void *node)
{
	struct seen_name *seen = node;

	free(seen->name);
	free(seen);
}

/* Returns 1 for a name that comes first, 0 for others, or -ENOMEM. */
static int see_name(struct survey *survey, const char *name)
{
	const struct seen_name key = { .name = (char *)name };
	struct seen_name *seen;
	bool is_new;

	seen = tree_get(&survey->names, &key, sizeof(key), compare_names,
			&is_new);
	if (!seen)
		return -ENOMEM;
	if (!is_new)
		return 0;
	seen->name = strdup(name);
	return seen->name ? 1 : -ENOMEM;
}

/* A file in a record that has no build id, which would take its place. */
struct plain_file {
	uint32_t major, minor;
	uint64_t inode, generation;
};

/*
 * Sets @id to the build id of a mapped file, from the record or else from the
 * file, if that is still the one that was mapped; of size 0 if there is none.
 * Returns 0 or -ENOMEM.
 */
static int find_id(struct survey *survey, const struct record *record,
		   const struct perfdata_mmap2_build_id *map, const char *name,
		   struct build_id *id)
{
	struct mapped_file file = { .size = 0 };
	const struct build_id *known;
	struct plain_file plain;

	if (record->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		id->size = map->id_size <= BUILD_ID_MAX ? map->id_size : 0;
		memcpy(id->bytes, map->id, BUILD_ID_MAX);
		return 0;
	}
	memcpy(&plain, (const char *)map + offsetof(typeof(*map), id_size),
	       sizeof(plain));
	file.major = plain.major;
	file.minor = plain.minor;
	file.inode = plain.inode;
	known = known_files_id(survey->files, &file, map->pid, name);
	if (known)
		*id = *known;
	return known ? 0 : -ENOMEM;
}

/* Notes the build id of a mapped file. */
static int survey_mapping(struct survey *survey, const struct record *record)
{
	struct perfdata_mmap2_build_id map;
	struct build_id id = { .size = 0 };
	uint16_t misc = PERF_RECORD_MISC_USER;
	struct byte_reader at = record->body;
	static const char kernel[] = "[kernel.kallsyms]";
	const char *name;
	int is_new, error;

	/* The replayed file has the ids: files here may be others. */
	if (survey->facts.facts->of)
		return 0;
	if (!reader_copy(&at, &map, sizeof(map)) ||
	    !(name = reader_string(&at)))
		return 0;
	if (!strncmp(name, kernel, strlen(kernel))) {
		/* A symbol's name follows. */
		name = kernel;
		misc = PERF_RECORD_MISC_KERNEL;
	}
	if (*name != '/' && name != kernel)
		return 0;
	is_new = see_name(survey, name);
	if (is_new <= 0)
		return is_new;
	error = find_id(survey, record, &map, name, &id);
	return error || !id.size ? error :
	       build_ids_add(&survey->build_ids, &survey->facts.build_id_count,
			     name, &id, misc);
}

static int survey_record(void *context, const struct record *record)
{
	struct survey *survey = context;

	if (record->type == PERF_RECORD_SAMPLE)
		return survey_sample(survey, record);
	if (record->type == PERF_RECORD_MMAP2)
		return survey_mapping(survey, record);
	return 0;
}

static int read_back(struct writer *writer, struct survey *survey,
		     uint32_t pmu_type)
{
	char path[64];
	int error;

	/* A new descriptor has its own offset. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fileno(writer->out));
	error = hwprof_file_open(&survey->file, path);
	if (!error) {
		survey->file->pmus_known = survey->file->pmu_found = true;
		survey->file->pmu_type = pmu_type;
		error = records_read(survey->file, survey_record, survey);
	}
	if (error) {
		snprintf(writer->message, sizeof(writer->message),
			 "%s: cannot be read back: %.400s", writer->name,
			 hwprof_file_error(survey->file));
		return error;
	}
	survey->summary->lost = file_lost(survey->file);
	return 0;
}

/* Writes the table of sections behind the data, followed by the sections. */
static int put_sections(struct writer *writer,
			const struct section_facts *facts)
{
	struct perfdata_section table[PERFDATA_FEATURES];
	uint64_t start = writer_bytes(writer), at;
	const enum perfdata_feature *feature;
	size_t count = 0, size, i;
	int error = 0;
	char *body[PERFDATA_FEATURES];

	for (feature = sections_written; *feature && !error; feature++) {
		error = section_make(*feature, facts, &body[count], &size);
		if (!error) {
			writer->header.features[*feature / 64] |=
				1ULL << *feature % 64;
			table[count++].size = size;
		}
		if (error == -ENOENT)
			error = 0;
	}
	at = start + count * sizeof(table[0]);
	for (i = 0; i < count; i++) {
		table[i].offset = at;
		at += table[i].size;
	}
	if (!error && fseeko(writer->out, start, SEEK_SET))
		error = -errno;
	if (error)
		error = fail(writer, error, "cannot write its sections");
	else
		error = put(writer, table, count * sizeof(table[0]));
	for (i = 0; i < count; i++) {
		if (!error)
			error = put(writer, body[i], table[i].size);
		free(body[i]);
	}
	return error;
}

/* Writes an empty round: a file without data would look unfinished. */
static int put_filler(struct writer *writer)
{
	struct perf_event_header header = {
		.type = PERFDATA_FINISHED_ROUND, .size = sizeof(header),
	};

	return writer_add(writer, &header, sizeof(header));
}

/* Returns true if the file can be read. A device such as /dev/null cannot. */
static bool keeps(const struct writer *writer)
{
	struct stat status;

	return !fstat(fileno(writer->out), &status) && S_ISREG(status.st_mode);
}

static int finish(struct writer *writer, struct survey *survey)
{
	const struct writer_facts *facts = survey->facts.facts;
	int error;

	error = writer->header.data.size ? 0 : put_filler(writer);
	if (error)
		return error;
	/* The reader needs a header, which has no sections yet. */
	error = put_header(writer, writer->header.data.size);
	if (!error && fflush(writer->out))
		error = fail(writer, -errno, "cannot write");
	if (!error && !keeps(writer))
		return 0;
	if (!error)
		error = read_back(writer, survey, facts->pmu_type);
	if (error)
		return error;
	survey->facts.build_ids = survey->build_ids;
	if (facts->of) {
		survey->facts.build_ids = facts->of->build_ids;
		survey->facts.build_id_count = facts->of->build_id_count;
	}
	error = put_sections(writer, &survey->facts);
	if (error)
		return error;
	survey->summary->bytes = ftello(writer->out);
	error = put_header(writer, writer->header.data.size);
	if (!error && fflush(writer->out))
		error = fail(writer, -errno, "cannot write");
	return error;
}

int writer_finish(struct writer *writer, const struct writer_facts *facts,
		  struct writer_summary *summary)
{
	struct known_files none = { .count = 0 };
	struct survey survey = {
		.summary = summary,
		.files = facts->files ? facts->files : &none,
		.facts.facts = facts,
		.facts.events = writer->events,
		.facts.event_count = writer->event_count,
		.facts.first_time = UINT64_MAX,
	};
	int error;
	size_t i;

	*summary = (struct writer_summary){ .samples = 0 };
	survey.files->round++;
	error = finish(writer, &survey);
	/* The ids of a replayed file belong to it. */
	for (i = 0; !facts->of && i < survey.facts.build_id_count; i++)
		free(survey.build_ids[i].name);
	free(survey.build_ids);
	tdestroy(survey.names, free_name);
	free(survey.sessions);
	known_files_free(&none);
	hwprof_file_close(survey.file);
	return error;
}

void writer_close(struct writer *writer)
{
	if (!writer)
		return;
	if (writer->out)
		fclose(writer->out);
	free(writer->name);
	free(writer);
}
