// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

#include "base/array.h"
#include "base/read_whole.h"
#include "base/write_whole.h"
#include "parts.h"

enum { RAW_MAX = 256 << 20 };	/* bytes of a part, unpacked */

int parts_add(struct parts *parts, const struct part_head *head, void *bytes)
{
	struct part *all = array_grow(parts->all, &parts->room,
				      parts->count + 1, sizeof(*all));

	if (!all) {
		free(bytes);
		return -ENOMEM;
	}
	parts->all = all;
	all[parts->count++] = (struct part){
		.head = *head, .bytes = bytes,
	};
	parts->bytes += head->size;
	return 0;
}

void part_totals_add(struct part_totals *to, const struct part_totals *from)
{
	to->produced += from->produced;
	to->delivered += from->delivered;
	to->lost += from->lost;
	to->evicted += from->evicted;
	to->pending += from->pending;
	to->windows += from->windows;
	to->events += from->events;
	to->cost_ns += from->cost_ns;
	to->task_ns += from->task_ns;
	to->lost_records += from->lost_records;
	to->folded += from->folded;
}

void parts_free(struct parts *parts)
{
	size_t i;

	for (i = 0; i < parts->count; i++)
		free(parts->all[i].bytes);
	free(parts->all);
	*parts = (struct parts){ .count = 0 };
}

size_t parts_bytes(const struct parts *parts)
{
	return parts->bytes + parts->room * sizeof(*parts->all);
}

int part_unpack(const struct part *part)
{
	unsigned long long size = ZSTD_getFrameContentSize(part->bytes,
							   part->head.size);
	void *bytes;
	int fd, error;
	size_t got;

	if (size > RAW_MAX)		/* also an error, or unknown */
		return -EBADMSG;
	bytes = malloc(size + 1);
	if (!bytes)
		return -ENOMEM;
	got = ZSTD_decompress(bytes, size, part->bytes, part->head.size);
	fd = memfd_create("hwprofd part", MFD_CLOEXEC);
	error = fd < 0 ? -errno : ZSTD_isError(got) || got != size ? -EBADMSG :
		write_whole(fd, bytes, size);
	free(bytes);
	if (!error && lseek(fd, 0, SEEK_SET))
		error = -errno;
	if (error && fd >= 0)
		close(fd);
	return error ? error : fd;
}

bool part_head_is_valid(const struct part_head *head)
{
	size_t length = strnlen(head->build_id, sizeof(head->build_id));

	return head->kind <= PART_ACCOUNT && head->size &&
	       head->size <= PART_SIZE_MAX && length < sizeof(head->build_id) &&
	       strspn(head->build_id, "0123456789abcdef") == length &&
	       memchr(head->object, 0, sizeof(head->object));
}

bool part_is_wanted(const struct part_head *head, int kind,
		    const char *build_id)
{
	if (head->kind == PART_ACCOUNT)
		return !*build_id;
	/* Whole recordings are of any build. */
	if (part_kind_is_whole(head->kind))
		return kind == PARTS_ALL || head->kind == (uint32_t)kind;
	return (kind < 0 || head->kind == (uint32_t)kind) &&
	       !strncmp(head->build_id, build_id, strlen(build_id));
}

int parts_copy(struct parts *to, const struct parts *from, int kind,
	       const char *build_id)
{
	int error = 0;
	size_t i;

	for (i = 0; i < from->count && !error; i++) {
		const struct part_head *head = &from->all[i].head;
		void *bytes;

		if (!part_is_wanted(head, kind, build_id))
			continue;
		bytes = malloc(head->size);
		if (!bytes)
			return -ENOMEM;
		memcpy(bytes, from->all[i].bytes, head->size);
		error = parts_add(to, head, bytes);
	}
	return error;
}

static int read_part(struct parts *parts, int fd, uint64_t *at, uint64_t size)
{
	struct part_head head;
	void *bytes;
	int error;

	if (size - *at < sizeof(head) || parts->count == PARTS_MAX)
		return -EBADMSG;
	error = read_whole(fd, &head, sizeof(head), *at);
	if (error)
		return error;
	*at += sizeof(head);
	if (!part_head_is_valid(&head) || head.size > size - *at)
		return -EBADMSG;
	bytes = malloc(head.size);
	if (!bytes)
		return -ENOMEM;
	error = read_whole(fd, bytes, head.size, *at);
	*at += head.size;
	if (error) {
		free(bytes);
		return error;
	}
	return parts_add(parts, &head, bytes);
}

int parts_read(struct parts *parts, int fd, uint64_t size)
{
	uint64_t at = 0;
	int error = 0;

	while (at < size && !error)
		error = read_part(parts, fd, &at, size);
	if (error)
		parts_free(parts);
	return error;
}
