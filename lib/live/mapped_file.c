// SPDX-License-Identifier: LGPL-2.1-or-later
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/row_origin.h"
#include "mapped_file.h"

enum { PATH_SIZE = 4096 + 32 };

int mapped_file_compare(const void *a, const void *b)
{
	const struct mapped_file *x = a, *y = b;
	int order = compare_u64(x->inode, y->inode);

	order = order ? order : compare_u64(x->major, y->major);
	return order ? order : compare_u64(x->minor, y->minor);
}

static bool is_file(const struct mapped_file *file, const char *path,
		    struct stat *status)
{
	return !stat(path, status) && S_ISREG(status->st_mode) &&
	       status->st_ino == file->inode;
}

/*
 * Finds a path by which the file can be opened. The name is one in the
 * process's own tree of files, except where it has changed its root.
 */
static bool find_path(const struct mapped_file *file, uint32_t pid,
		      const char *name, char path[PATH_SIZE],
		      struct stat *status)
{
	snprintf(path, PATH_SIZE, "/proc/%" PRIu32 "/root%s", pid, name);
	if (is_file(file, path, status))
		return true;
	snprintf(path, PATH_SIZE, "%s", name);
	return is_file(file, path, status);
}

static int64_t changed_ns(const struct stat *status)
{
	return status->st_mtim.tv_sec * 1000000000LL + status->st_mtim.tv_nsec;
}

int mapped_file_open(struct mapped_file *file, uint32_t pid, const char *name)
{
	char path[PATH_SIZE];
	struct stat status;
	int fd;

	if (!find_path(file, pid, name, path, &status))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	/* It may have been replaced in this moment. */
	if (fstat(fd, &status) || !S_ISREG(status.st_mode) ||
	    status.st_ino != file->inode) {
		close(fd);
		return -1;
	}
	file->size = status.st_size;
	file->changed_ns = changed_ns(&status);
	return fd;
}

bool mapped_file_changed(const struct mapped_file *file, uint32_t pid,
			 const char *name)
{
	char path[PATH_SIZE];
	struct stat status;

	return find_path(file, pid, name, path, &status) &&
	       ((uint64_t)status.st_size != file->size ||
		changed_ns(&status) != file->changed_ns);
}

/* Files of size 0 have no code. */
void mapped_file_forget(struct mapped_file *file)
{
	file->size = 0;
}
