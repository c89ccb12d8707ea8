// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sends recordings to hwprofd, as hwprofd-collect does.
 *
 * usage: send SOCKET SECONDS FILE...
 *        send SOCKET hostile FILE
 *        send SOCKET rest SECONDS
 *
 * The FILEs are a window that ended SECONDS ago, and lasted 5 s. Hostile
 * messages are to be refused; each has a connection of its own. A rest is a
 * plan of so many seconds; the CPU time that hwprofd answers is printed, in ns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "wire.h"

static void die(const char *what, int error)
{
	fprintf(stderr, "%s: %s\n", what, strerror(-error));
	exit(1);
}

static int copy_of(const char *path)
{
	int fd = wire_memfd(), from = open(path, O_RDONLY | O_CLOEXEC);
	char bytes[65536];
	ssize_t got;

	if (fd < 0 || from < 0)
		die(path, -errno);
	while ((got = read(from, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, got) != got)
			die(path, -errno);
	close(from);
	return fd;
}

static int connected(const char *path)
{
	int fd = wire_connect(path);

	if (fd < 0)
		die(path, fd);
	return fd;
}

static struct wire_head head_of(uint64_t seconds)
{
	uint64_t end = wire_now() - seconds * 1000000000ULL;

	return (struct wire_head){
		.type = WIRE_RECORDING, .cpu_ns = 7000000000ULL,
		.begin_ns = end - 5000000000ULL, .end_ns = end,
	};
}

/* Waits until the receiver hangs up, whatever it answers before. */
static void wait_for_end(int socket)
{
	char byte;

	while (read(socket, &byte, 1) > 0)
		;
}

static int send_files(const char *path, uint64_t seconds, char **files)
{
	int socket = connected(path), error = 0;
	/* All files are of one window, however long it takes to send them. */
	struct wire_head head = head_of(seconds);

	for (; *files && !error; files++) {
		int fd = copy_of(*files);

		error = wire_seal(fd);
		if (!error)
			error = wire_send(socket, &head, fd);
		close(fd);
	}
	if (error)
		die(path, error);
	/* The receiver drops what it has not read when the sender is gone. */
	shutdown(socket, SHUT_WR);
	wait_for_end(socket);
	close(socket);
	return 0;
}

/* Sends raw bytes, and waits until the receiver hangs up. */
static void send_raw(const char *path, const void *bytes, size_t size)
{
	int socket = connected(path);

	if (send(socket, bytes, size, MSG_NOSIGNAL) != (ssize_t)size)
		die(path, -errno);
	wait_for_end(socket);
	close(socket);
}

static void send_one(const char *path, struct wire_head *head, int fd)
{
	int socket = connected(path), error = wire_send(socket, head, fd);

	if (error)
		die(path, error);
	wait_for_end(socket);
	close(socket);
}

static struct wire_head plan_of(uint64_t seconds)
{
	uint64_t now = wire_now();

	return (struct wire_head){
		.type = WIRE_PLAN, .rests = 1, .begin_ns = now,
		.end_ns = now + seconds * 1000000000ULL,
	};
}

static int send_hostile(const char *path, const char *file)
{
	struct wire_head head = head_of(1);
	int fd = copy_of(file);
	char zeros[4096] = "";

	send_raw(path, zeros, sizeof(head));
	send_raw(path, zeros, sizeof(zeros));
	send_raw(path, "x", 1);
	send_one(path, &head, -1);	/* without a file */
	send_one(path, &head, fd);	/* not sealed */
	if (wire_seal(fd))
		die("seal", -errno);
	head.begin_ns = head.end_ns + 1;
	send_one(path, &head, fd);
	head = head_of(1);
	head.type = 99;
	send_one(path, &head, fd);
	head = head_of(1);
	memset(head.text, 'x', sizeof(head.text));
	send_one(path, &head, fd);
	close(fd);
	head = plan_of(WIRE_PLAN_SECONDS + 1);
	send_one(path, &head, -1);
	return 0;
}

static int send_rest(const char *path, uint64_t seconds)
{
	struct wire_head head = plan_of(seconds);
	struct wire_spent first, second;
	int socket = connected(path), error;

	/* The first answer greets who connects. */
	if (recv(socket, &first, sizeof(first), 0) != sizeof(first))
		die(path, -EPROTO);
	error = wire_send(socket, &head, -1);
	if (error)
		die(path, error);
	if (recv(socket, &second, sizeof(second), 0) != sizeof(second) ||
	    second.magic != WIRE_MAGIC || second.cpu_ns < first.cpu_ns)
		die(path, -EPROTO);
	printf("%llu\n", (unsigned long long)second.cpu_ns);
	close(socket);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[2], "hostile"))
		return send_hostile(argv[1], argv[3]);
	if (argc == 4 && !strcmp(argv[2], "rest"))
		return send_rest(argv[1], strtoull(argv[3], NULL, 10));
	if (argc >= 4)
		return send_files(argv[1], strtoull(argv[2], NULL, 10),
				  argv + 3);
	fprintf(stderr, "usage: send SOCKET SECONDS|hostile|rest FILE...|SECONDS\n");
	return 2;
}
