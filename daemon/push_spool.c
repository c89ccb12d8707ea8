// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/read_whole.h"
#include "hwprof.h"
#include "push_spool.h"

enum {
	MAGIC = 0x73707768,		/* "hwps" */
	VERSION = 1,
	PATH_SIZE = 4096,
};

/* Before each request in the file. */
struct head {
	uint32_t magic;
	uint16_t version;
	uint8_t to, kind;
	int64_t begin, end;
	uint64_t size;
};

/* --- writing -------------------------------------------------------------- */

static int put(FILE *out, enum push_to to, const struct push_waiting *waiting)
{
	const struct head head = {
		.magic = MAGIC, .version = VERSION, .to = to,
		.kind = waiting->kind, .begin = waiting->begin,
		.end = waiting->end, .size = waiting->size,
	};

	return fwrite(&head, sizeof(head), 1, out) == 1 &&
	       fwrite(waiting->bytes, waiting->size, 1, out) == 1 ? 0 : -EIO;
}

static int put_all(FILE *out, struct push_waiting *const first[PUSH_TARGETS])
{
	const struct push_waiting *waiting;
	int error = 0, to;

	for (to = 0; to < PUSH_TARGETS && !error; to++)
		for (waiting = first[to]; waiting && !error;
		     waiting = waiting->next)
			error = put(out, to, waiting);
	if (!error && (fflush(out) || fsync(fileno(out))))
		error = -errno;
	return error;
}

/* The file has another name until it is whole. */
int push_spool_write(const char *path,
		     struct push_waiting *const first[PUSH_TARGETS])
{
	char partial[PATH_SIZE];
	FILE *out;
	int error;

	if (snprintf(partial, sizeof(partial), "%s.partial", path) >= PATH_SIZE)
		return -ENAMETOOLONG;
	out = fopen(partial, "we");
	if (!out)
		return -errno;
	error = put_all(out, first);
	if (fclose(out) && !error)
		error = -errno;
	if (!error && rename(partial, path))
		error = -errno;
	if (error)
		unlink(partial);
	return error;
}

/* --- reading -------------------------------------------------------------- */

static bool head_is_valid(const struct head *head, uint64_t left)
{
	return head->magic == MAGIC && head->version == VERSION &&
	       head->to < PUSH_TARGETS && head->kind < HWPROF_KINDS &&
	       head->begin < head->end && head->size && head->size <= left;
}

static int take(int fd, uint64_t *at, uint64_t size, push_spool_fn fn,
		void *context)
{
	struct push_waiting *waiting;
	struct head head;
	int error;

	if (size - *at < sizeof(head))
		return -EBADMSG;
	error = read_whole(fd, &head, sizeof(head), *at);
	if (error)
		return error;
	*at += sizeof(head);
	if (!head_is_valid(&head, size - *at))
		return -EBADMSG;
	waiting = malloc(sizeof(*waiting) + head.size);
	if (!waiting)
		return -ENOMEM;
	*waiting = (struct push_waiting){
		.kind = head.kind, .begin = head.begin, .end = head.end,
		.size = head.size,
	};
	error = read_whole(fd, waiting->bytes, head.size, *at);
	*at += head.size;
	if (error)
		free(waiting);
	else
		fn(context, head.to, waiting);
	return error;
}

int push_spool_read(const char *path, uint64_t most, push_spool_fn fn,
		    void *context)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat status;
	uint64_t at = 0;
	int error = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		error = -EBADMSG;
	/* The bound may have become smaller since. */
	while (!error && at < (uint64_t)status.st_size && at <= most)
		error = take(fd, &at, status.st_size, fn, context);
	close(fd);
	/* Requests that are sent must not be sent again after a crash. */
	unlink(path);
	return error;
}
