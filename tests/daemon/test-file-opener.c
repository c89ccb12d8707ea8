// SPDX-License-Identifier: GPL-2.0-only
/* Files that another process finds and opens, and file systems that hang. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "check.h"
#include "code_reader.h"
#include "live/known_files.h"
#include "mount_of.h"
#include "file_opener.h"

enum {
	SHORT_MS = 50,			/* for what never comes */
	LONG_MS = 60000,		/* for what comes */
};

static char program[4096];		/* this one */
static struct wanted_file own;

static int start(void **state)
{
	struct stat status;
	ssize_t length = readlink("/proc/self/exe", program,
				  sizeof(program) - 1);

	if (length < 0 || stat(program, &status))
		return -1;
	own = (struct wanted_file){
		.pid = getpid(), .name = program,
		.major = major(status.st_dev), .minor = minor(status.st_dev),
		.inode = status.st_ino,
	};
	return 0;
}

static void begin(struct file_opener *opener, file_opener_fn find)
{
	file_opener_init(opener);
	opener->find = find;
	opener->wait_ms = LONG_MS;
}

static void end(struct file_opener *opener)
{
	file_opener_stop(opener);
	assert_int_equal(opener->socket, -1);
}

/* Finds files whose names begin with "good". "bad": never; "end": it ends. */
static int find_some(const struct wanted_file *wanted, bool open,
		     struct found_file *found)
{
	if (!strncmp(wanted->name, "end", 3))
		_exit(1);
	while (!strncmp(wanted->name, "bad", 3))
		pause();
	*found = (struct found_file){ .size = wanted->inode, .root = true };
	return open ? memfd_create("good", MFD_CLOEXEC) : 0;
}

static int ask(struct file_opener *opener, const char *name, uint64_t inode,
	       bool open)
{
	const struct wanted_file wanted = {
		.pid = getpid(), .name = name, .major = 7, .minor = 1,
		.inode = inode,
	};
	struct found_file found;

	return file_opener_find(opener, &wanted, open, &found);
}

/* The answer is the one that finding in this process gives. */
static void test_finds(void **state)
{
	struct wanted_file other = own;
	struct found_file found;
	struct file_opener opener;
	struct stat status, opened;
	int fd;

	begin(&opener, file_opener_find_here);
	assert_int_equal(stat(program, &status), 0);
	assert_int_equal(file_opener_find(&opener, &own, false, &found), 0);
	assert_int_equal(found.size, status.st_size);
	assert_int_equal(found.root, !status.st_uid);
	fd = file_opener_find(&opener, &own, true, &found);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	assert_int_equal(fstat(fd, &opened), 0);
	assert_int_equal(opened.st_ino, status.st_ino);
	close(fd);
	other.inode++;
	assert_int_equal(file_opener_find(&opener, &other, true, &found),
			 -ENOENT);
	assert_int_equal(opener.counts.hung + opener.counts.skipped, 0);
	assert_true(file_opener_cpu_ns(&opener));
	end(&opener);
}

/* A collector reads a file through it. */
static void test_reader(void **state)
{
	struct confined_reader reader;
	struct known_files files = { .reader = &reader.reader };
	struct known_files here = { .count = 0 };
	const struct mapped_file file = {
		.major = own.major, .minor = own.minor, .inode = own.inode,
	};
	const struct build_id *id, *other;

	code_reader_init(&reader);
	reader.opener.wait_ms = LONG_MS;
	id = known_files_id(&files, &file, getpid(), program);
	other = known_files_id(&here, &file, getpid(), program);
	assert_true(id->size);
	assert_int_equal(id->size, other->size);
	assert_memory_equal(id->bytes, other->bytes, id->size);
	files.round++;
	assert_ptr_equal(known_files_id(&files, &file, getpid(), program), id);
	assert_int_equal(reader.counts.read, 1);
	known_files_free(&files);
	known_files_free(&here);
	code_reader_stop(&reader);
}

/* It is given up; what it waited for is not asked for again, others are. */
static void test_hangs(void **state)
{
	struct file_opener opener;
	pid_t first;
	int fd;

	begin(&opener, find_some);
	assert_int_equal(ask(&opener, "good", 1, false), 0);
	first = opener.process.pid;
	opener.wait_ms = SHORT_MS;
	assert_int_equal(ask(&opener, "bad", 2, true), -ETIMEDOUT);
	assert_int_equal(opener.socket, -1);
	opener.wait_ms = LONG_MS;
	assert_int_equal(ask(&opener, "bad", 2, true), -EBUSY);
	assert_int_equal(opener.socket, -1);
	assert_int_equal(opener.counts.hung, 1);
	assert_int_equal(opener.counts.skipped, 1);
	fd = ask(&opener, "good", 3, true);
	assert_true(fd >= 0);
	close(fd);
	assert_true(opener.process.pid != first);
	assert_true(file_opener_works(&opener));
	end(&opener);
	/* It can be killed, so that nothing is left of it. */
	while (opener.left_count)
		file_opener_forget(&opener);
	assert_int_equal(kill(first, 0), -1);
}

/* After so many no file is opened any more, until all is forgotten. */
static void test_too_many(void **state)
{
	struct file_opener opener;
	unsigned int i;

	begin(&opener, find_some);
	opener.wait_ms = SHORT_MS;
	for (i = 0; i < OPENERS_MAX; i++) {
		assert_true(file_opener_works(&opener));
		assert_int_equal(ask(&opener, "bad", 1 + i, true), -ETIMEDOUT);
	}
	assert_false(file_opener_works(&opener));
	opener.wait_ms = LONG_MS;
	assert_int_equal(ask(&opener, "good", 100, false), -EBUSY);
	assert_int_equal(opener.socket, -1);
	assert_int_equal(opener.counts.hung, OPENERS_MAX);
	assert_int_equal(opener.counts.skipped, 1);
	while (!file_opener_works(&opener))
		file_opener_forget(&opener);
	assert_int_equal(ask(&opener, "good", 100, false), 0);
	end(&opener);
}

/* Another process takes its place. */
static void test_ends(void **state)
{
	struct file_opener opener;
	unsigned int i;

	begin(&opener, find_some);
	for (i = 0; i < 2; i++) {
		assert_int_equal(ask(&opener, "end", 1, true), -EPIPE);
		assert_int_equal(ask(&opener, "good", 1, false), 0);
	}
	assert_int_equal(opener.counts.hung + opener.counts.skipped, 0);
	end(&opener);
}

static void test_long_name(void **state)
{
	struct file_opener opener;
	char name[4097];

	begin(&opener, find_some);
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	assert_int_equal(ask(&opener, name, 1, true), -ENAMETOOLONG);
	name[sizeof(name) - 2] = 0;
	assert_int_equal(ask(&opener, name, 1, false), 0);
	end(&opener);
}

/* --- mounts --------------------------------------------------------------- */

static const char mounts[] =
	"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	"nonsense\n"
	"30 22 0:31 / /home rw shared:2 - nfs4 server:/home rw\n"
	"31 22 0:32 / /a\\040b rw - fuse.sshfs host:/ rw\n"
	"32 22 0:33 / /top rw - tmpfs tmpfs rw\n"
	"33 32 0:34 / /top rw - fuse x rw\n"
	"34 22 0:35 / /over rw - overlay overlay rw\n";

static void expect_mount(const char *path, unsigned int minor, bool remote)
{
	FILE *file = fmemopen((char *)mounts, sizeof(mounts) - 1, "r");
	struct mount mount;

	assert_non_null(file);
	assert_true(mount_find(file, path, &mount));
	fclose(file);
	assert_int_equal(mount.minor, minor);
	assert_int_equal(mount.major, minor == 1 ? 8 : 0);
	assert_int_equal(mount.remote, remote);
}

static void test_mounts(void **state)
{
	char nothing[] = "\n";
	FILE *file = fmemopen(nothing, 1, "r");
	struct mount mount;

	expect_mount("/bin/sh", 1, false);
	expect_mount("/home", 31, true);
	expect_mount("/home/u/prog", 31, true);
	expect_mount("/homes/prog", 1, false);
	expect_mount("/a b/prog", 32, true);
	expect_mount("/top/prog", 34, true);
	expect_mount("/over/prog", 35, false);
	assert_non_null(file);
	assert_false(mount_find(file, "/", &mount));
	fclose(file);
	assert_true(mount_of(getpid(), "/proc/self", &mount));
	assert_false(mount.remote);
	assert_false(mount_of(0, "/", &mount));
}

/* --- a file system that nobody serves ------------------------------------- */

/* Returns what makes the test impossible, or NULL. */
static const char *mount_fuse(const char *folder, int *device)
{
	char options[128];

	*device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (*device < 0)
		return "/dev/fuse cannot be opened";
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 *device);
	if (unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("hwprof-test", folder, "fuse", 0, options))
		return "nothing can be mounted";
	return NULL;
}

static void expect_hang(const char *folder)
{
	struct wanted_file gone = { .inode = 3 };
	struct file_opener opener;
	struct found_file found;
	char name[128];

	begin(&opener, file_opener_find_here);
	opener.wait_ms = 500;
	snprintf(name, sizeof(name), "%s/prog", folder);
	assert_int_equal(ask(&opener, name, 1, true), -ETIMEDOUT);
	/* Another file of that file system, with any number. */
	snprintf(name, sizeof(name), "%s/bin/other", folder);
	assert_int_equal(ask(&opener, name, 2, false), -EBUSY);
	/* Also if the process is gone, and its tree with it. */
	gone.name = name;
	assert_int_equal(file_opener_find(&opener, &gone, false, &found),
			 -EBUSY);
	opener.wait_ms = LONG_MS;
	assert_int_equal(ask(&opener, "/no/such/file", 1, true), -ENOENT);
	end(&opener);
}

static void test_fuse(void **state)
{
	char folder[] = "/tmp/hwprof-test-XXXXXX";
	const char *why;
	int device;

	assert_non_null(mkdtemp(folder));
	why = mount_fuse(folder, &device);
	if (!why)
		expect_hang(folder);
	if (device >= 0)
		close(device);
	umount2(folder, MNT_DETACH);
	rmdir(folder);
	if (why) {
		print_message("# %s: no file system hangs here\n", why);
		skip();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds),
		cmocka_unit_test(test_reader),
		cmocka_unit_test(test_hangs),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_fuse),
	};

	return cmocka_run_group_tests(tests, start, NULL);
}
