// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "live/mapped_file.h"
#include "log.h"
#include "mount_of.h"
#include "notify.h"
#include "file_opener.h"
#include "wire.h"

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC	0x65735546
#endif

enum {
	SOCKET = 3,			/* descriptor of the process */
	NAME_SIZE = 4096,
	NAME_LOGGED = 256,
};

struct question {
	struct file_opener_place file;
	uint32_t pid;
	bool open;
	char name[NAME_SIZE];		/* the last member */
};

struct reply {
	int result;			/* 0 or a negative errno */
	uint64_t cpu_ns;		/* of the process, so far */
	struct found_file found;
};

/* --- the process ---------------------------------------------------------- */

/*
 * These ask a server when a descriptor is closed, and wait. The collector must
 * not have one.
 */
static bool closing_may_hang(int fd)
{
	struct statfs system;

	return fstatfs(fd, &system) ||
	       (uint32_t)system.f_type == FUSE_SUPER_MAGIC ||
	       (uint32_t)system.f_type == V9FS_MAGIC;
}

int file_opener_find_here(const struct wanted_file *wanted, bool open,
			  struct found_file *found)
{
	int fd = mapped_file_find(wanted, found);

	if (fd >= 0 && open && !closing_may_hang(fd))
		return mapped_file_open_found(fd);
	if (fd < 0)
		return fd;
	close(fd);
	return open ? -EOPNOTSUPP : 0;
}

/* A message with at most one descriptor. */
union control {
	struct cmsghdr head;
	char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_reply(int socket, const struct reply *reply, int fd)
{
	union control control = { .bytes = "" };
	struct iovec body = { (void *)reply, sizeof(*reply) };
	struct msghdr message = { .msg_iov = &body, .msg_iovlen = 1 };

	if (fd >= 0) {
		control.head = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(fd)),
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control.bytes);
	}
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(*reply);
}

/* Answers one question. Returns false at the end. */
static bool serve(file_opener_fn find)
{
	struct question question;
	ssize_t size = recv(SOCKET, &question, sizeof(question), 0);
	struct reply reply;
	bool sent;
	int fd;

	if (size <= (ssize_t)offsetof(struct question, name))
		return false;
	question.name[sizeof(question.name) - 1] = 0;
	memset(&reply, 0, sizeof(reply));
	fd = find(&(struct wanted_file){
		.pid = question.pid, .name = question.name,
		.major = question.file.major, .minor = question.file.minor,
		.inode = question.file.inode,
	}, question.open, &reply.found);
	reply.result = fd < 0 ? fd : 0;
	reply.cpu_ns = wire_cpu_ns(RUSAGE_SELF);
	if (!question.open)
		fd = -1;
	sent = send_reply(SOCKET, &reply, fd);
	if (fd >= 0)
		close(fd);
	return sent;
}

/* Keeps what finding and opening files takes. */
static void drop_capabilities(void)
{
	const uint32_t kept = 1U << CAP_DAC_READ_SEARCH | 1U << CAP_SYS_PTRACE;
	struct __user_cap_header_struct head = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, sets))
		_exit(1);
	sets[0].effective &= kept;
	sets[0].permitted &= kept;
	sets[0].inheritable = sets[1].inheritable = 0;
	sets[1].effective = sets[1].permitted = 0;
	if (syscall(SYS_capset, &head, sets))
		_exit(1);
}

static void __attribute__((noreturn))
run_process(file_opener_fn find, int socket)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || dup2(socket, SOCKET) < 0 ||
	    syscall(SYS_close_range, SOCKET + 1, ~0U, 0))
		_exit(1);
	drop_capabilities();
	while (serve(find))
		;
	_exit(0);
}

/* --- starting and ending -------------------------------------------------- */

void file_opener_init(struct file_opener *opener)
{
	*opener = (struct file_opener){
		.find = file_opener_find_here, .wait_ms = OPENER_WAIT_MS,
		.socket = -1,
	};
}

int file_opener_start(struct file_opener *opener)
{
	int sockets[2];
	pid_t pid;

	if (opener->socket >= 0)
		return 0;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets))
		return -errno;
	pid = fork();
	if (!pid) {
		close(sockets[0]);
		run_process(opener->find, sockets[1]);
	}
	close(sockets[1]);
	if (pid < 0) {
		close(sockets[0]);
		return -EAGAIN;
	}
	opener->socket = sockets[0];
	opener->process = (struct file_opener_process){ .pid = pid };
	return 0;
}

/* Forgets processes that have ended. */
static void reap(struct file_opener *opener)
{
	unsigned int kept = 0, i;

	for (i = 0; i < opener->left_count; i++)
		if (!waitpid(opener->left[i].pid, NULL, WNOHANG))
			opener->left[kept++] = opener->left[i];
	opener->left_count = kept;
}

/* Kills the process. It stays for a time, if it waits in the kernel. */
static void abandon(struct file_opener *opener)
{
	kill(opener->process.pid, SIGKILL);
	close(opener->socket);
	opener->socket = -1;
	opener->left[opener->left_count++] = opener->process;
	opener->process = (struct file_opener_process){ .pid = 0 };
	reap(opener);
}

void file_opener_stop(struct file_opener *opener)
{
	if (opener->socket >= 0)
		abandon(opener);
}

uint64_t file_opener_cpu_ns(const struct file_opener *opener)
{
	uint64_t sum = opener->process.cpu_ns;
	unsigned int i;

	for (i = 0; i < opener->left_count; i++)
		sum += opener->left[i].cpu_ns;
	return sum;
}

/* --- places --------------------------------------------------------------- */

/*
 * Finds a mount that can hang and that the name leads to, in the tree of the
 * process or in our own: both are looked in.
 */
static bool find_remote(const struct wanted_file *wanted, struct mount *mount)
{
	return (mount_of(wanted->pid, wanted->name, mount) && mount->remote) ||
	       (mount_of(getpid(), wanted->name, mount) && mount->remote);
}

/*
 * The file's own device says nothing: another file system may lie over the
 * path by now. Only a mount that can hang is left out as a whole, since who
 * made a path hang could have unmounted it meanwhile.
 */
static struct file_opener_place place_of(const struct wanted_file *wanted)
{
	struct file_opener_place place = {
		wanted->major, wanted->minor, wanted->inode,
	};
	struct mount mount;

	if (find_remote(wanted, &mount))
		place = (struct file_opener_place){
			mount.major, mount.minor, 0,
		};
	return place;
}

static bool is_at(const struct file_opener_place *place,
		  unsigned int major, unsigned int minor, uint64_t inode)
{
	return place->major == major && place->minor == minor &&
	       (!place->inode || place->inode == inode);
}

static bool is_known(const struct file_opener *opener,
		     const struct wanted_file *wanted)
{
	struct mount mount;
	bool remote;
	unsigned int i;

	if (!opener->place_count)
		return false;
	remote = find_remote(wanted, &mount);
	for (i = 0; i < opener->place_count; i++) {
		const struct file_opener_place *place = &opener->places[i];

		if (is_at(place, wanted->major, wanted->minor,
			  wanted->inode) ||
		    (remote && is_at(place, mount.major, mount.minor, 0)))
			return true;
	}
	return false;
}

bool file_opener_works(const struct file_opener *opener)
{
	return opener->place_count < OPENERS_MAX &&
	       opener->left_count < OPENERS_MAX;
}

void file_opener_forget(struct file_opener *opener)
{
	opener->place_count = 0;
	reap(opener);
}

static void give_up(struct file_opener *opener,
		    const struct wanted_file *wanted)
{
	opener->counts.hung++;
	opener->places[opener->place_count++] = place_of(wanted);
	abandon(opener);
	log_warning("%.*s cannot be opened: its file system does not answer; what is there is left out until the configuration is read again",
		    NAME_LOGGED, wanted->name);
	if (!file_opener_works(opener))
		log_warning("no file of a program is opened any more, since %u file systems did not answer",
			    OPENERS_MAX);
	notify("WATCHDOG=1");
}

/* --- questions ------------------------------------------------------------ */

static bool ask(struct file_opener *opener, const struct wanted_file *wanted,
		bool open)
{
	size_t length = strlen(wanted->name) + 1;
	size_t size = offsetof(struct question, name) + length;
	struct question question;

	memset(&question, 0, offsetof(struct question, name));
	question.file = (struct file_opener_place){
		wanted->major, wanted->minor, wanted->inode,
	};
	question.pid = wanted->pid;
	question.open = open;
	memcpy(question.name, wanted->name, length);
	return send(opener->socket, &question, size,
		    MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)size;
}

/* Waits for a reply. Returns false when the time is over. */
static bool wait_for_reply(const struct file_opener *opener)
{
	uint64_t end = wire_now() + opener->wait_ms * 1000000ULL;
	struct pollfd polled = { .fd = opener->socket, .events = POLLIN };
	uint64_t now;

	while ((now = wire_now()) < end) {
		int ready = poll(&polled, 1, (end - now) / 1000000 + 1);

		if (ready > 0)
			return true;
		if (ready < 0 && errno != EINTR)
			return false;
	}
	return false;
}

/* Returns what the process says; -EPIPE if it is gone. Sets *@fd, or -1. */
static int take_reply(const struct file_opener *opener, struct reply *reply,
		      int *fd)
{
	union control control = { .bytes = "" };
	struct iovec body = { reply, sizeof(*reply) };
	struct msghdr message = {
		.msg_iov = &body, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *first;

	*fd = -1;
	if (recvmsg(opener->socket, &message, MSG_CMSG_CLOEXEC) !=
	    sizeof(*reply))
		return -EPIPE;
	first = CMSG_FIRSTHDR(&message);
	if (first && first->cmsg_level == SOL_SOCKET &&
	    first->cmsg_type == SCM_RIGHTS)
		memcpy(fd, CMSG_DATA(first), sizeof(*fd));
	return reply->result;
}

/* Starts another process at the next question. */
static int lose(struct file_opener *opener)
{
	abandon(opener);
	if (!opener->said)
		log_warning("the process that opens files of programs has ended");
	opener->said = true;
	return -EPIPE;
}

static int take_file(struct file_opener *opener, bool open,
		     struct found_file *found)
{
	struct reply reply;
	int fd, error = take_reply(opener, &reply, &fd);

	if (error == -EPIPE)
		return lose(opener);
	opener->said = false;
	opener->process.cpu_ns = reply.cpu_ns;
	/* A reply without the descriptor: ours had no room for one. */
	if (!error && open && fd < 0)
		error = -EMFILE;
	*found = reply.found;
	return error ? error : open ? fd : 0;
}

int file_opener_find(struct file_opener *opener,
		     const struct wanted_file *wanted, bool open,
		     struct found_file *found)
{
	int error;

	if (strlen(wanted->name) >= NAME_SIZE)
		return -ENAMETOOLONG;
	reap(opener);
	if (!file_opener_works(opener) || is_known(opener, wanted)) {
		opener->counts.skipped++;
		return -EBUSY;
	}
	error = file_opener_start(opener);
	if (error)
		return error;
	if (!ask(opener, wanted, open))
		return lose(opener);
	if (wait_for_reply(opener))
		return take_file(opener, open, found);
	give_up(opener, wanted);
	return -ETIMEDOUT;
}
