// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's end of vm --forward. Connections to a TCP port of the host come
 * through a port of the virtio console, and this program connects them to a TCP
 * port of the guest. rig/forward.py is the other end and describes the frames.
 *
 * usage: relay CONSOLE TCP-PORT
 */
#include <endian.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { LINKS = 64, MOST = 4096 };

enum kind { READY, OPEN, DATA, CLOSE };

struct frame {
	uint8_t link, kind;
	uint16_t size;		/* of @bytes, little-endian */
	char bytes[MOST];
};

#define HEAD	offsetof(struct frame, bytes)

static struct sockaddr_in server = { .sin_family = AF_INET };

/* The console, and a socket for each link; -1: this end is closed. */
static struct pollfd ends[1 + LINKS];
static struct pollfd *const console = ends, *const links = ends + 1;

static bool read_all(int fd, void *to, size_t size)
{
	char *at = to;

	while (size) {
		ssize_t got = read(fd, at, size);

		if (got <= 0)
			return false;
		at += got;
		size -= got;
	}
	return true;
}

static bool write_all(int fd, const void *from, size_t size)
{
	const char *at = from;

	while (size) {
		ssize_t put = write(fd, at, size);

		if (put < 0)
			return false;
		at += put;
		size -= put;
	}
	return true;
}

/* Ends the program if the host is gone. */
static void send_frame(struct frame *frame, int link, enum kind kind,
		       size_t size)
{
	frame->link = link;
	frame->kind = kind;
	frame->size = htole16(size);
	if (!write_all(console->fd, frame, HEAD + size))
		exit(1);
}

/* Closes this end of the link, unless that has been done. */
static void close_link(struct frame *frame, int link)
{
	if (links[link].fd < 0)
		return;
	close(links[link].fd);
	links[link].fd = -1;
	send_frame(frame, link, CLOSE, 0);
}

static void open_link(struct frame *frame, int link)
{
	/* A server that reads nothing for so long holds up the others. */
	static const struct timeval patience = { .tv_sec = 10 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		exit(1);
	links[link].fd = fd;
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	if (connect(fd, (const struct sockaddr *)&server, sizeof(server)))
		close_link(frame, link);
}

static void take_frame(struct frame *frame)
{
	size_t size;

	if (!read_all(console->fd, frame, HEAD))
		exit(1);
	size = le16toh(frame->size);
	if (frame->link >= LINKS || size > MOST ||
	    !read_all(console->fd, frame->bytes, size))
		exit(1);
	if (frame->kind == OPEN)
		open_link(frame, frame->link);
	else if (frame->kind == CLOSE)
		close_link(frame, frame->link);
	else if (links[frame->link].fd >= 0 &&
		 !write_all(links[frame->link].fd, frame->bytes, size))
		close_link(frame, frame->link);
}

static void take_bytes(struct frame *frame, int link)
{
	ssize_t got = read(links[link].fd, frame->bytes, MOST);

	if (got > 0)
		send_frame(frame, link, DATA, got);
	else
		close_link(frame, link);
}

int main(int argc, char **argv)
{
	static struct frame frame;
	int link;

	if (argc != 3)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	server.sin_port = htons(atoi(argv[2]));
	server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	memset(ends, -1, sizeof(ends));
	for (link = -1; link < LINKS; link++)
		links[link].events = POLLIN;
	console->fd = open(argv[1], O_RDWR | O_CLOEXEC);
	if (console->fd < 0)
		return 1;
	/* Reading would fail before the host is there; writing waits for it. */
	send_frame(&frame, 0, READY, 0);
	while (poll(ends, 1 + LINKS, -1) > 0) {
		if (console->revents)
			take_frame(&frame);
		for (link = 0; link < LINKS; link++)
			if (links[link].fd >= 0 && links[link].revents)
				take_bytes(&frame, link);
	}
	return 1;
}
