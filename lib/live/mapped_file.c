// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
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
static bool is_on_device(const struct wanted_file *file, int fd,
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
static int find_at(const struct wanted_file *file, const char *path,
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

static int64_t changed_ns(const struct stat *status)
{
	return status->st_mtim.tv_sec * 1000000000LL + status->st_mtim.tv_nsec;
}

/*
 * The name is one in the process's own tree of files, except where it has
 * changed its root.
 */
int mapped_file_find(const struct wanted_file *wanted, struct found_file *found)
{
	char path[PATH_SIZE];
	struct stat status;
	int fd;

	snprintf(path, PATH_SIZE, "/proc/%" PRIu32 "/root%s", wanted->pid,
		 wanted->name);
	fd = find_at(wanted, path, &status);
	if (fd < 0)
		fd = find_at(wanted, wanted->name, &status);
	if (fd < 0)
		return -ENOENT;
	*found = (struct found_file){
		.size = status.st_size, .changed_ns = changed_ns(&status),
		.root = !status.st_uid,
	};
	return fd;
}

int mapped_file_open_found(int found)
{
	char path[sizeof("/proc/self/fd/") + 16];
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		fd = -errno;
	close(found);
	return fd;
}

static int find_here(const struct wanted_file *wanted, bool open,
		     struct found_file *found)
{
	int fd = mapped_file_find(wanted, found);

	if (fd < 0 || open)
		return fd < 0 ? fd : mapped_file_open_found(fd);
	close(fd);
	return 0;
}

/* Returns as code_reader's find does. */
static int find(const struct mapped_file *file,
		const struct code_reader *reader, uint32_t pid,
		const char *name, bool open, struct found_file *found)
{
	const struct wanted_file wanted = {
		.pid = pid, .name = name, .major = file->major,
		.minor = file->minor, .inode = file->inode,
	};

	return reader ? reader->find(reader->context, &wanted, open, found) :
			find_here(&wanted, open, found);
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

int mapped_file_open(struct mapped_file *file, const struct code_reader *reader,
		     uint32_t pid, const char *name)
{
	struct found_file found;
	int fd = find(file, reader, pid, name, true, &found);

	file->size = file->changed_ns = 0;
	*file->name = 0;
	if (fd < 0)
		return -1;
	file->size = found.size;
	file->changed_ns = found.changed_ns;
	file->root = found.root;
	set_name(file, name);
	return fd;
}

bool mapped_file_changed(const struct mapped_file *file,
			 const struct code_reader *reader, uint32_t pid,
			 const char *name)
{
	struct found_file found;

	/* Its number may belong to another file by now. */
	if (find(file, reader, pid, name, false, &found) < 0)
		return !has_name(file, name);
	return found.size != file->size || found.changed_ns != file->changed_ns;
}

/* Files of size 0 have no code. */
void mapped_file_forget(struct mapped_file *file)
{
	file->size = 0;
}
