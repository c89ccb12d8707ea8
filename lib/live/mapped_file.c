// SPDX-License-Identifier: LGPL-2.1-or-later
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/row_origin.h"
#include "mapped_file.h"

#define BCACHEFS_MAGIC	0xca451a4e	/* newer headers have it */

enum { PATH_SIZE = 4096 + 32 };

int mapped_file_compare(const void *a, const void *b)
{
	const struct mapped_file *x = a, *y = b;
	int order = compare_u64(x->inode, y->inode);

	order = order ? order : compare_u64(x->major, y->major);
	return order ? order : compare_u64(x->minor, y->minor);
}

/*
 * Returns true if a file with the right number is on the right device. A user
 * can mount a file system of his own, with any numbers in it, where the file of
 * another user was. Btrfs and Bcachefs have a device for each subvolume, but no
 * ordinary user can mount them. Maps of an overlay may name the device below
 * it, but in an ordinary user's overlay no file is root's.
 */
static bool is_on_device(const struct mapped_file *file, int fd,
			 const struct stat *status)
{
	struct statfs system;

	if (major(status->st_dev) == file->major &&
	    minor(status->st_dev) == file->minor)
		return true;
	if (fstatfs(fd, &system))
		return false;
	switch ((uint32_t)system.f_type) {
	case BTRFS_SUPER_MAGIC:
	case BCACHEFS_MAGIC:
		return true;
	case OVERLAYFS_SUPER_MAGIC:
		return !status->st_uid;
	}
	return false;
}

/*
 * Returns a descriptor of the regular file at @path if it has the number, and
 * -1 otherwise. The file itself is not opened, which could be a device by now.
 */
static int find_at(const struct mapped_file *file, const char *path,
		   struct stat *status)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd >= 0 && !fstat(fd, status) && S_ISREG(status->st_mode) &&
	    status->st_ino == file->inode && is_on_device(file, fd, status))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/*
 * Finds the file. Its name is one in the process's own tree of files, except
 * where it has changed its root.
 */
static int find_file(const struct mapped_file *file, uint32_t pid,
		     const char *name, struct stat *status)
{
	char path[PATH_SIZE];
	int fd;

	snprintf(path, PATH_SIZE, "/proc/%" PRIu32 "/root%s", pid, name);
	fd = find_at(file, path, status);
	return fd >= 0 ? fd : find_at(file, name, status);
}

static int64_t changed_ns(const struct stat *status)
{
	return status->st_mtim.tv_sec * 1000000000LL + status->st_mtim.tv_nsec;
}

/* Remembers a name, if it is not too long. */
static void set_name(struct mapped_file *file, const char *name)
{
	size_t length = strlen(name);

	*file->name = 0;
	if (length < sizeof(file->name))
		memcpy(file->name, name, length + 1);
}

/* The kernel marks names of files that are gone. */
static bool has_name(const struct mapped_file *file, const char *name)
{
	size_t length = strlen(file->name);

	return length && !strncmp(name, file->name, length) &&
	       (!name[length] || !strcmp(name + length, " (deleted)"));
}

int mapped_file_open(struct mapped_file *file, uint32_t pid, const char *name)
{
	char path[sizeof("/proc/self/fd/") + 16];
	struct stat status;
	int found = find_file(file, pid, name, &status), fd;

	file->size = file->changed_ns = 0;
	*file->name = 0;
	if (found < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	close(found);
	if (fd < 0)
		return -1;
	file->size = status.st_size;
	file->changed_ns = changed_ns(&status);
	file->root = !status.st_uid;
	set_name(file, name);
	return fd;
}

bool mapped_file_changed(const struct mapped_file *file, uint32_t pid,
			 const char *name)
{
	struct stat status;
	int fd = find_file(file, pid, name, &status);

	/* Its number may belong to another file by now. */
	if (fd < 0)
		return !has_name(file, name);
	close(fd);
	return (uint64_t)status.st_size != file->size ||
	       changed_ns(&status) != file->changed_ns;
}

/* Files of size 0 have no code. */
void mapped_file_forget(struct mapped_file *file)
{
	file->size = 0;
}
