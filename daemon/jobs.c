// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "base/write_whole.h"
#include "jobs.h"
#include "log.h"
#include "merge/merge.h"
#include "perfdata/file.h"
#include "wholes.h"

enum {
	LEVEL = 3,			/* of compression */
	PATH_SIZE = 64,
};

/* --- reading -------------------------------------------------------------- */

/* Takes @fd over. The message says what is wrong with the recording. */
static int add_recording(struct merge *merge, int fd, char message[JOB_MESSAGE])
{
	struct hwprof_file *file;
	int error = hwprof_file_open_fd(&file, fd, "the recording");

	if (!error)
		error = merge_add(merge, file);
	if (error)
		snprintf(message, JOB_MESSAGE, "%s", hwprof_file_error(file));
	hwprof_file_close(file);
	return error;
}

static int add_part(struct merge *merge, const struct part *part,
		    char message[JOB_MESSAGE])
{
	int fd = part_unpack(part);

	if (fd >= 0)
		return add_recording(merge, fd, message);
	snprintf(message, JOB_MESSAGE, "a part cannot be unpacked: %s",
		 strerror(-fd));
	return fd;
}

/*
 * A part that is damaged is left out: the others are of use. So is one that
 * cannot be read for another reason, unless the result takes the place of the
 * parts.
 */
static int add_parts(struct merge *merge, const struct parts *parts,
		     bool replaces, char message[JOB_MESSAGE])
{
	size_t failed = 0, tried = 0, i;
	int error = 0, last = 0;

	for (i = 0; i < parts->count; i++) {
		if (part_kind_is_whole(parts->all[i].head.kind))
			continue;
		tried++;
		error = add_part(merge, &parts->all[i], message);
		if (error == -ENOMEM ||
		    (error && error != -EBADMSG && replaces))
			return error;
		failed += !!error;
		last = error ? error : last;
	}
	if (failed && failed == tried)
		return last;
	if (failed)
		log_warning("%zu of %zu parts are left out: %s", failed,
			    tried, message);
	*message = 0;
	return 0;
}

int job_merged(struct merge **merge, const struct job *job, bool replaces,
	       char message[JOB_MESSAGE])
{
	int fd;

	*merge = merge_new();
	if (!*merge) {
		snprintf(message, JOB_MESSAGE, "out of memory");
		return -ENOMEM;
	}
	merge_choose(*merge, &job->query.filter);
	if (!job->recording)
		return add_parts(*merge, &job->parts, replaces, message);
	/* Files are looked at by all of their names. */
	merge_split(*merge);
	/* The sender's writing has moved the offset. */
	if (lseek(WORKER_KEPT, 0, SEEK_SET))
		return -errno;
	/* The file that is added is closed. */
	fd = dup(WORKER_KEPT);
	return fd < 0 ? -errno : add_recording(*merge, fd, message);
}

/* --- writing -------------------------------------------------------------- */

/* Writes a part of the merge as a recording. Returns a descriptor. */
static int write_recording(struct merge *merge, long part,
			   char message[JOB_MESSAGE])
{
	int fd = memfd_create("hwprofd merge", MFD_CLOEXEC), error;
	char path[PATH_SIZE];

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	error = merge_write(merge, part, path, message, JOB_MESSAGE);
	if (!error)
		return fd;
	close(fd);
	return error;
}

/* The file of an answer, and what packs its parts. */
struct packer {
	int out;
	ZSTD_CCtx *zstd;
};

static int put_packed(const struct packer *packer, struct part_head *head,
		      const void *bytes, size_t size)
{
	size_t room = ZSTD_compressBound(size), packed;
	void *to = malloc(room);
	int out = packer->out, error;

	if (!to)
		return -ENOMEM;
	packed = ZSTD_compressCCtx(packer->zstd, to, room, bytes, size, LEVEL);
	error = ZSTD_isError(packed) || packed > PART_SIZE_MAX ? -EFBIG : 0;
	head->size = packed;
	if (!error)
		error = write_whole(out, head, sizeof(*head));
	if (!error)
		error = write_whole(out, to, packed);
	free(to);
	return error;
}

static int put_part(struct merge *merge, long part, struct part_head *head,
		    const struct packer *packer, char message[JOB_MESSAGE])
{
	int fd = write_recording(merge, part, message), error = 0;
	struct stat status;
	void *bytes;

	if (fd < 0)
		return fd;
	if (fstat(fd, &status))
		error = -errno;
	bytes = error ? MAP_FAILED : mmap(NULL, status.st_size, PROT_READ,
					  MAP_SHARED, fd, 0);
	if (!error && bytes == MAP_FAILED)
		error = -errno;
	if (!error)
		error = put_packed(packer, head, bytes, status.st_size);
	if (bytes != MAP_FAILED)
		munmap(bytes, status.st_size);
	close(fd);
	return error;
}

static int put_account(struct merge *merge, const struct packer *packer,
		       char message[JOB_MESSAGE])
{
	const struct hwprof_row_totals totals = merge_totals(merge, true);
	struct part_head head = {
		.kind = PART_ACCOUNT,
		.totals = {
			.produced = totals.produced,
			.delivered = totals.delivered,
			.lost = totals.lost, .evicted = totals.evicted,
			.pending = totals.pending, .windows = totals.windows,
			.events = totals.events, .cost_ns = totals.cost_ns,
			.task_ns = totals.task_ns,
			.lost_records = merge_lost_records(merge),
			.folded = merge_folded(merge),
		},
	};

	return put_part(merge, MERGE_ACCOUNT, &head, packer, message);
}

/* --- whole recordings ----------------------------------------------------- */

/* Returns the kind of a whole recording; HWPROF_KINDS if it is none. */
static uint32_t whole_kind(int fd)
{
	struct hwprof_file *file;
	unsigned int kinds = 0;
	uint32_t kind;

	fd = dup(fd);
	if (fd < 0 || lseek(fd, 0, SEEK_SET) ||
	    hwprof_file_open_fd(&file, fd, "the recording"))
		return HWPROF_KINDS;
	if (hwprof_file_kinds(file, &kinds))
		kinds = 0;
	hwprof_file_close(file);
	for (kind = 0; kind < HWPROF_KINDS; kind++)
		if (part_kind_is_whole(kind) && kinds >> kind & 1)
			return kind;
	return HWPROF_KINDS;
}

/* Packs the recording that the job was given. */
static int put_whole(uint32_t kind, const struct packer *packer)
{
	struct part_head head = { .kind = kind };
	struct stat status;
	void *bytes;
	int error;

	if (fstat(WORKER_KEPT, &status))
		return -errno;
	bytes = mmap(NULL, status.st_size, PROT_READ, MAP_SHARED, WORKER_KEPT,
		     0);
	if (bytes == MAP_FAILED)
		return -errno;
	error = put_packed(packer, &head, bytes, status.st_size);
	munmap(bytes, status.st_size);
	return error;
}

/* Copies parts that are not merged. */
static int copy_whole(const struct job *job, int out)
{
	int error = 0;
	size_t i;

	for (i = 0; i < job->parts.count && !error; i++) {
		const struct part *part = &job->parts.all[i];

		if (!part_kind_is_whole(part->head.kind))
			continue;
		error = write_whole(out, &part->head, sizeof(part->head));
		if (!error)
			error = write_whole(out, part->bytes, part->head.size);
	}
	return error;
}

/* They are kept as long as windows of a minute are. */
static int put_wholes(const struct job *job, const struct packer *packer)
{
	uint32_t kind;

	if (job->recording) {
		kind = whole_kind(WORKER_KEPT);
		return kind < HWPROF_KINDS ? put_whole(kind, packer) : 0;
	}
	return job->drop_whole ? 0 : copy_whole(job, packer->out);
}

/* --- merging -------------------------------------------------------------- */

static int put_parts(struct merge *merge, const struct packer *packer,
		     char message[JOB_MESSAGE])
{
	const struct merge_part *part;
	int error = put_account(merge, packer, message);
	long i;

	for (i = 0; (part = merge_part(merge, i)) && !error; i++) {
		struct part_head head = {
			.kind = part->kind, .units = part->units,
		};

		strcpy(head.build_id, part->build_id);
		snprintf(head.object, sizeof(head.object), "%s", part->object);
		error = put_part(merge, i, &head, packer, message);
	}
	return error;
}

enum answer job_merge(const void *context, int out)
{
	const struct packer packer = { out, ZSTD_createCCtx() };
	const struct job *job = context;
	char message[JOB_MESSAGE] = "";
	struct merge *merge;
	int error = job_merged(&merge, job, true, message);

	if (!error && !packer.zstd)
		error = -ENOMEM;
	if (!error)
		error = put_parts(merge, &packer, message);
	if (!error)
		error = put_wholes(job, &packer);
	merge_free(merge);
	ZSTD_freeCCtx(packer.zstd);
	if (!error)
		return ANSWER_OK;
	return worker_fail(out, ANSWER_FAILED, "%s",
			   *message ? message : strerror(-error));
}

/* --- answering ------------------------------------------------------------ */

int job_recording(const struct parts *parts, const struct query *query,
		  char message[JOB_MESSAGE])
{
	const struct job job = { .parts = *parts, .query = *query };
	struct merge *merge;
	int fd = job_merged(&merge, &job, false, message);

	if (!fd)
		fd = merge_part(merge, 0) ?
		     write_recording(merge, MERGE_ALL, message) : -ENODATA;
	merge_free(merge);
	if (fd >= 0 && lseek(fd, 0, SEEK_SET)) {
		close(fd);
		fd = -EIO;
	}
	return fd;
}

/* Copies a recording to the answer. */
static enum answer answer_recording(struct merge *merge, int out)
{
	char message[JOB_MESSAGE] = "";
	int fd = write_recording(merge, MERGE_ALL, message);
	char bytes[65536];
	ssize_t got = 0;
	int error = fd < 0 ? fd : 0;

	while (!error && (got = read(fd, bytes, sizeof(bytes))) > 0)
		error = write_whole(out, bytes, got);
	if (got < 0)
		error = -errno;
	if (!error)
		return ANSWER_OK;
	return worker_fail(out, ANSWER_FAILED, "%s",
			   *message ? message : strerror(-error));
}

static enum answer answer_of(int error)
{
	switch (error) {
	case -EINVAL:
	case -EOPNOTSUPP:
		return ANSWER_WRONG;
	case -ENODATA:
	case -ENOENT:
	case -ENOEXEC:
		return ANSWER_NOTHING;
	}
	return ANSWER_FAILED;
}

static enum answer write_export(struct hwprof_export *export,
				const struct query *query, int out)
{
	const struct hwprof_export_part *second;
	FILE *file = fdopen(out, "w");
	int error;

	second = hwprof_export_part(export, 1);
	if (second && hwprof_format_of(query->format)->per_object)
		return worker_fail(out, ANSWER_WRONG,
				   "format %s has one file for each object: give build_id; the objects with most branches are %s (%s) and %s (%s)",
				   query->format,
				   hwprof_export_part(export, 0)->object,
				   hwprof_export_part(export, 0)->build_id ?:
				   "none",
				   second->object, second->build_id ?: "none");
	if (!file)
		return ANSWER_FAILED;
	error = hwprof_export_write(export, 0, file);
	if (!error && fflush(file))
		error = -errno;
	if (!error)
		return ANSWER_OK;
	return worker_fail(out, answer_of(error), "%s",
			   hwprof_export_error(export));
}

static enum answer answer_export(struct hwprof_profile *profile,
				 const struct query *query, int out)
{
	const struct hwprof_format *format = hwprof_format_of(query->format);
	const struct hwprof_export_options options = {
		.version = *query->version ? query->version : NULL,
		.build_id = format->per_object && *query->build_id ?
			    query->build_id : NULL,
	};
	struct hwprof_export *export;
	enum answer answer;
	int error = hwprof_export_open(&export, profile, query->format,
				       &options);

	answer = error ? worker_fail(out, answer_of(error), "%s",
				     hwprof_export_error(export)) :
			 write_export(export, query, out);
	hwprof_export_close(export);
	return answer;
}

static enum answer answer_json(struct hwprof_profile *profile,
			       const struct query *query, int out)
{
	const struct hwprof_json_options options = { .limit = query->limit };
	FILE *file = fdopen(out, "w");
	int error;

	if (!file)
		return ANSWER_FAILED;
	error = hwprof_profile_json(profile, &options, file);
	if (!error && fflush(file))
		error = -errno;
	return error ? worker_fail(out, ANSWER_FAILED, "cannot write JSON: %s",
				   strerror(-error)) : ANSWER_OK;
}

static enum answer answer_push(struct hwprof_profile *profile,
			       const struct label_table *processes,
			       const struct push_body *push, int out)
{
	char message[PUSH_MESSAGE];
	FILE *file = fdopen(out, "w");

	if (!file)
		return ANSWER_FAILED;
	return push_body_write(push, profile, processes, file, message) ?
	       worker_fail(out, ANSWER_FAILED, "%s", message) : ANSWER_OK;
}

static enum answer put_profile(struct hwprof_profile *profile,
			       const struct job *job, int out)
{
	if (job->query.what == QUERY_JSON)
		return answer_json(profile, &job->query, out);
	return answer_export(profile, &job->query, out);
}

static enum answer answer_profile(struct merge *merge, const struct job *job,
				  int out)
{
	const struct hwprof_options options = {
		.flags = HWPROF_TRUSTED_FILES |
			 (job->push && job->push->process_labels ?
			  HWPROF_PER_PROCESS : 0),
		.debuginfo = job->symbols,
	};
	char message[JOB_MESSAGE] = "";
	int fd = write_recording(merge, MERGE_ALL, message);
	struct hwprof_profile *profile = NULL;
	struct hwprof_file *file;
	enum answer answer;
	int error;

	if (fd < 0)
		return worker_fail(out, ANSWER_FAILED, "%s", message);
	lseek(fd, 0, SEEK_SET);
	error = hwprof_file_open_fd(&file, fd, "the store");
	if (!error)
		error = hwprof_profile_read(&profile, job->query.kind, &file, 1,
					    &options);
	if (error)
		answer = worker_fail(out, ANSWER_FAILED, "%s",
				     hwprof_file_error(file));
	else if (job->push)
		answer = answer_push(profile, &file->labels, job->push, out);
	else
		answer = put_profile(profile, job, out);
	hwprof_profile_free(profile);
	hwprof_file_close(file);
	return answer;
}

/* The library adds up what several recordings say. */
static enum answer answer_wholes(const struct job *job, int out)
{
	const struct hwprof_options options = {
		.flags = HWPROF_SAME_PROCESSES | HWPROF_TRUSTED_FILES,
		.debuginfo = job->symbols,
	};
	char message[WORKER_MESSAGE];
	struct wholes wholes;
	enum answer answer = wholes_read(&wholes, job->parts.all,
					 job->parts.count, job->query.kind,
					 &options, message);

	answer = answer == ANSWER_OK ? put_profile(wholes.profile, job, out) :
		 worker_fail(out, answer, "%s", message);
	wholes_free(&wholes);
	return answer;
}

enum answer job_answer(const void *context, int out)
{
	const struct job *job = context;
	char message[JOB_MESSAGE] = "";
	enum answer answer;
	struct merge *merge;
	int error;

	if (job->query.kind >= 0 && part_kind_is_whole(job->query.kind))
		return answer_wholes(job, out);
	error = job_merged(&merge, job, false, message);
	if (error)
		answer = worker_fail(out, ANSWER_FAILED, "%s", message);
	else if (!merge_part(merge, 0))
		answer = worker_fail(out, ANSWER_NOTHING,
				     "nothing was collected of that in this time");
	else if (job->query.what == QUERY_RECORDING)
		answer = answer_recording(merge, out);
	else
		answer = answer_profile(merge, job, out);
	merge_free(merge);
	return answer;
}
