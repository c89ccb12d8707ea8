// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "wire.h"

enum {
	SEALS = F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE,
	FDS_MAX = 8,			/* that a hostile sender may add */
	ANSWERS_MAX = 1000,		/* that are read at once */
};

static const uint64_t plan_most_ns = WIRE_PLAN_SECONDS * 1000000000ULL;

uint64_t wire_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return now.tv_sec * 1000000000ULL + now.tv_nsec;
}

uint64_t wire_cpu_ns(int who)
{
	struct rusage usage;

	if (getrusage(who, &usage))
		return 0;
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ULL +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ULL;
}

static int make_socket(const char *path, struct sockaddr_un *address)
{
	int fd;

	*address = (struct sockaddr_un){ .sun_family = AF_UNIX };
	if (strlen(path) >= sizeof(address->sun_path))
		return -ENAMETOOLONG;
	strcpy(address->sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	return fd < 0 ? -errno : fd;
}

int wire_connect(const char *path)
{
	struct sockaddr_un address;
	int fd = make_socket(path, &address), error;

	if (fd < 0)
		return fd;
	if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

int wire_remove_socket(const char *path)
{
	struct stat status;

	if (lstat(path, &status))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(status.st_mode))
		return -EEXIST;
	return unlink(path) ? -errno : 0;
}

int wire_listen(const char *path)
{
	struct sockaddr_un address;
	int fd = make_socket(path, &address), error;
	mode_t mask;

	if (fd < 0)
		return fd;
	mask = umask(0177);
	error = wire_remove_socket(path);
	if (!error && (bind(fd, (const struct sockaddr *)&address,
			    sizeof(address)) ||
		       listen(fd, 4) || fcntl(fd, F_SETFL, O_NONBLOCK)))
		error = -errno;
	umask(mask);
	if (!error)
		return fd;
	close(fd);
	return error;
}

int wire_memfd(void)
{
	int fd = memfd_create("hwprof recording", MFD_CLOEXEC |
						  MFD_ALLOW_SEALING);

	return fd < 0 ? -errno : fd;
}

int wire_seal(int fd)
{
	return fcntl(fd, F_ADD_SEALS, SEALS) ? -errno : 0;
}

int wire_send(int socket, struct wire_head *head, int fd)
{
	struct iovec bytes = { head, sizeof(*head) };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(fd))] = "";
	struct msghdr message = { .msg_iov = &bytes, .msg_iovlen = 1 };
	struct stat status = { .st_size = 0 };
	struct cmsghdr *item;

	if (fd >= 0) {
		if (fstat(fd, &status))
			return -errno;
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		item = CMSG_FIRSTHDR(&message);
		*item = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(fd)),
			.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		};
		memcpy(CMSG_DATA(item), &fd, sizeof(fd));
	}
	head->magic = WIRE_MAGIC;
	head->version = WIRE_VERSION;
	head->size = status.st_size;
	if (sendmsg(socket, &message, MSG_NOSIGNAL) == (ssize_t)sizeof(*head))
		return 0;
	return errno ? -errno : -EIO;
}

/* Takes the first descriptor of the message, and closes all others. */
static int take_fd(struct msghdr *message)
{
	struct cmsghdr *item;
	int taken = -1;

	for (item = CMSG_FIRSTHDR(message); item;
	     item = CMSG_NXTHDR(message, item)) {
		size_t count = (item->cmsg_len - CMSG_LEN(0)) / sizeof(int), i;

		if (item->cmsg_level != SOL_SOCKET ||
		    item->cmsg_type != SCM_RIGHTS)
			continue;
		for (i = 0; i < count; i++) {
			int fd;

			memcpy(&fd, CMSG_DATA(item) + i * sizeof(fd),
			       sizeof(fd));
			if (taken < 0)
				taken = fd;
			else
				close(fd);
		}
	}
	return taken;
}

static const char *wrong_head(const struct wire_head *head, ssize_t length)
{
	if (length != (ssize_t)sizeof(*head))
		return "a message has the wrong length";
	if (head->magic != WIRE_MAGIC || head->version != WIRE_VERSION)
		return "a message is of another program or version";
	if (!memchr(head->text, 0, sizeof(head->text)))
		return "a message's text has no end";
	if (head->type != WIRE_RECORDING && head->type != WIRE_TROUBLE &&
	    head->type != WIRE_PLAN)
		return "a message is of no known type";
	if (head->type == WIRE_RECORDING && head->begin_ns >= head->end_ns)
		return "a recording ends before it begins";
	if (head->type == WIRE_PLAN &&
	    (head->begin_ns >= head->end_ns ||
	     head->end_ns - head->begin_ns > plan_most_ns))
		return "a plan is of no possible time";
	return NULL;
}

/* A file that the sender can still change could deceive the reader. */
static const char *wrong_file(const struct wire_head *head, int fd)
{
	struct stat status;
	int seals;

	if (head->type != WIRE_RECORDING)
		return fd >= 0 ? "a message has a file that it needs not" :
				 NULL;
	if (fd < 0)
		return "a recording has no file";
	if (head->size > WIRE_SIZE_MAX)
		return "a recording is too large";
	seals = fcntl(fd, F_GET_SEALS);
	if (seals < 0 || (seals & SEALS) != SEALS)
		return "a recording's file is not sealed";
	if (fstat(fd, &status) || (uint64_t)status.st_size != head->size)
		return "a recording's file has another size";
	return NULL;
}

int wire_receive(int socket, struct wire_head *head, int *fd, char *text,
		 size_t size)
{
	struct iovec bytes = { head, sizeof(*head) };
	_Alignas(struct cmsghdr) char control[CMSG_SPACE(FDS_MAX *
							 sizeof(int))];
	struct msghdr message = {
		.msg_iov = &bytes, .msg_iovlen = 1,
		.msg_control = control, .msg_controllen = sizeof(control),
	};
	ssize_t length = recvmsg(socket, &message, MSG_CMSG_CLOEXEC |
				 MSG_DONTWAIT | MSG_TRUNC);
	const char *wrong;

	*fd = -1;
	if (length < 0)
		return errno == EWOULDBLOCK || errno == EINTR ? -EAGAIN :
								-errno;
	*fd = take_fd(&message);
	if (*fd < 0 && message.msg_flags & MSG_CTRUNC)
		return -EMFILE;
	wrong = length ? wrong_head(head, length) : "";
	if (!wrong)
		wrong = wrong_file(head, *fd);
	if (!wrong)
		return 0;
	snprintf(text, size, "%s", wrong);
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return length ? -EBADMSG : -ENODATA;
}

void wire_answer(int socket, struct wire_spent *spent)
{
	spent->magic = WIRE_MAGIC;
	spent->version = WIRE_VERSION;
	send(socket, spent, sizeof(*spent), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool wire_answered(int socket, struct wire_spent *spent)
{
	struct wire_spent next;
	bool found = false;
	int left;

	for (left = ANSWERS_MAX; left; left--) {
		ssize_t length = recv(socket, &next, sizeof(next),
				      MSG_DONTWAIT | MSG_TRUNC);

		if (length <= 0)
			break;
		if (length != (ssize_t)sizeof(next) ||
		    next.magic != WIRE_MAGIC || next.version != WIRE_VERSION)
			continue;
		*spent = next;
		found = true;
	}
	return found;
}
