// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "perfdata/file.h"
#include "remote.h"

#define UNIX	"unix:"
#define HTTP	"http://"
#define PATH	"/api/v1/recording"

enum {
	WAIT_SECONDS = 120,	/* for the next bytes */
	HEADERS_MAX = 16384,
	CHUNK = 65536,
	SENTENCE = 400,		/* of an error */
};

#define BODY_MAX	(512ULL << 20)

struct remote {
	char *name;		/* a copy that is taken apart */
	const char *socket;	/* path; NULL: TCP */
	const char *host, *port;
	char *prefix;		/* of the path; NULL: none */
	const char *parameters;	/* "" without any */
	int fd;			/* -1: not connected */
	int out;		/* memfd of the body; -1: none */
	char headers[HEADERS_MAX + 1];
	char message[SENTENCE + 64];
};

static int fail(struct remote *remote, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct remote *remote, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(remote->message, sizeof(remote->message), format, args);
	va_end(args);
	return error;
}

bool remote_is_named(const char *name)
{
	return !strncmp(name, UNIX, strlen(UNIX)) ||
	       !strncmp(name, HTTP, strlen(HTTP));
}

/* --- where --------------------------------------------------------------- */

static void cut_slashes(char *text)
{
	size_t length = strlen(text);

	while (length && text[length - 1] == '/')
		text[--length] = 0;
}

/* "HOST[:PORT][/PREFIX]"; an IPv6 address stands in brackets. */
static int parse_http(struct remote *remote, char *at)
{
	char *slash = strchr(at, '/'), *colon;

	/* The prefix keeps its slash; the host ends before it. */
	if (slash) {
		remote->prefix = strdup(slash);
		*slash = 0;
		if (!remote->prefix)
			return fail(remote, -ENOMEM, "out of memory");
		cut_slashes(remote->prefix);
	}
	remote->host = at;
	remote->port = "80";
	colon = strrchr(at, ':');
	if (*at == '[' && strchr(at, ']')) {
		colon = strchr(at, ']');
		*colon++ = 0;
		remote->host = at + 1;
		colon = *colon == ':' ? colon : NULL;
	}
	if (colon) {
		*colon = 0;
		remote->port = colon + 1;
	}
	return *remote->host ? 0 : fail(remote, -EINVAL, "names no host");
}

static int parse(struct remote *remote)
{
	char *question = strchr(remote->name, '?'), *at;

	for (at = remote->name; *at; at++)
		if ((unsigned char)*at <= ' ' || *at == 0x7f)
			return fail(remote, -EINVAL,
				    "has blanks or control characters");
	remote->parameters = "";
	if (question) {
		*question = 0;
		remote->parameters = question + 1;
	}
	if (strncmp(remote->name, UNIX, strlen(UNIX)))
		return parse_http(remote, remote->name + strlen(HTTP));
	remote->socket = remote->name + strlen(UNIX);
	remote->host = "localhost";
	return 0;
}

static int connect_unix(struct remote *remote)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (!*remote->socket ||
	    strlen(remote->socket) >= sizeof(address.sun_path))
		return fail(remote, -EINVAL, "has no path that a socket can have");
	strcpy(address.sun_path, remote->socket);
	remote->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (remote->fd >= 0 &&
	    !connect(remote->fd, (const struct sockaddr *)&address,
		     sizeof(address)))
		return 0;
	return fail(remote, -errno, "cannot connect: %s", strerror(errno));
}

static int connect_tcp(struct remote *remote)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *all, *at;
	int error = getaddrinfo(remote->host, remote->port, &hints, &all);

	if (error)
		return fail(remote, -EHOSTUNREACH, "%s", gai_strerror(error));
	error = ENOENT;
	for (at = all; at; at = at->ai_next) {
		remote->fd = socket(at->ai_family, at->ai_socktype |
				    SOCK_CLOEXEC, at->ai_protocol);
		if (remote->fd >= 0 &&
		    !connect(remote->fd, at->ai_addr, at->ai_addrlen))
			break;
		error = errno;
		if (remote->fd >= 0)
			close(remote->fd);
		remote->fd = -1;
	}
	freeaddrinfo(all);
	return remote->fd >= 0 ? 0 : fail(remote, -error, "cannot connect: %s",
					  strerror(error));
}

/* --- the request ---------------------------------------------------------- */

static int send_request(struct remote *remote)
{
	const struct timeval wait = { .tv_sec = WAIT_SECONDS };
	char *text;
	int length = asprintf(&text,
			      "GET %s" PATH "?%s HTTP/1.0\r\nHost: %s\r\n\r\n",
			      remote->prefix ? remote->prefix : "",
			      remote->parameters, remote->host);
	ssize_t sent;

	if (length < 0)
		return fail(remote, -ENOMEM, "out of memory");
	setsockopt(remote->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
	setsockopt(remote->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	sent = send(remote->fd, text, length, MSG_NOSIGNAL);
	free(text);
	return sent == length ? 0 : fail(remote, -EIO, "cannot ask: %s",
					 strerror(errno));
}

/* Reads until the empty line. Sets *@rest to the bytes behind it. */
static int read_headers(struct remote *remote, char **rest, size_t *size)
{
	size_t got = 0;
	char *end;

	do {
		ssize_t more = got < HEADERS_MAX ?
			       recv(remote->fd, remote->headers + got,
				    HEADERS_MAX - got, 0) : 0;

		if (more <= 0)
			return fail(remote, -EPROTO, "gives no answer of HTTP");
		got += more;
		remote->headers[got] = 0;
		end = strstr(remote->headers, "\r\n\r\n");
	} while (!end);
	*end = 0;
	*rest = end + 4;
	*size = remote->headers + got - *rest;
	return 0;
}

/* Returns the body's length as the headers have it; -1: unknown. */
static long long content_length(const struct remote *remote)
{
	static const char name[] = "\r\ncontent-length:";
	const char *at = strcasestr(remote->headers, name);

	return at ? strtoll(at + strlen(name), NULL, 10) : -1;
}

static int put(struct remote *remote, const char *bytes, size_t size)
{
	if (write(remote->out, bytes, size) == (ssize_t)size)
		return 0;
	return fail(remote, -EIO, "cannot keep the answer: %s",
		    strerror(errno));
}

static int read_body(struct remote *remote, const char *rest, size_t size)
{
	long long length = content_length(remote);
	unsigned long long got = size;
	char bytes[CHUNK];
	ssize_t more = 1;
	int error = put(remote, rest, size);

	while (!error && more > 0 && got < BODY_MAX) {
		more = recv(remote->fd, bytes, sizeof(bytes), 0);
		if (more < 0)
			error = fail(remote, -errno, "breaks off: %s",
				     strerror(errno));
		else
			error = put(remote, bytes, more);
		got += more > 0 ? more : 0;
	}
	if (!error && length >= 0 && got != (unsigned long long)length)
		error = fail(remote, -EPROTO, "breaks off after %llu bytes",
			     got);
	return error;
}

/* An error is a sentence in the body. */
static int check_status(struct remote *remote)
{
	char sentence[SENTENCE] = "";
	int status = 0;

	if (sscanf(remote->headers, "HTTP/1.%*d %d", &status) != 1)
		return fail(remote, -EPROTO, "gives no answer of HTTP");
	if (status == 200)
		return 0;
	if (pread(remote->out, sentence, sizeof(sentence) - 1, 0) < 0)
		*sentence = 0;
	sentence[strcspn(sentence, "\r\n")] = 0;
	return fail(remote, status == 404 ? -ENODATA : -EPROTO,
		    "%s (status %d)", sentence, status);
}

static int fetch(struct remote *remote)
{
	size_t size = 0;
	char *rest = NULL;
	int error = parse(remote);

	if (!error)
		error = remote->socket ? connect_unix(remote) :
					 connect_tcp(remote);
	if (!error)
		error = send_request(remote);
	if (!error)
		error = read_headers(remote, &rest, &size);
	if (error)
		return error;
	remote->out = memfd_create("hwprof", MFD_CLOEXEC);
	if (remote->out < 0)
		return fail(remote, -errno, "cannot keep the answer: %s",
			    strerror(errno));
	error = read_body(remote, rest, size);
	if (!error)
		error = check_status(remote);
	if (!error && lseek(remote->out, 0, SEEK_SET))
		error = -errno;
	return error;
}

/* Makes a file that has nothing but the message. */
static int failed_file(struct hwprof_file **file, const char *name, int error,
		       const char *message)
{
	*file = file_new(-1, name);
	if (!*file)
		return -ENOMEM;
	return file_fail(*file, error, "%s", message);
}

static int open_remote(struct remote *remote, struct hwprof_file **file,
		       const char *name)
{
	int error = fetch(remote);

	if (!error) {
		error = hwprof_file_open_fd(file, remote->out, name);
		remote->out = -1;
	} else {
		error = failed_file(file, name, error, remote->message);
	}
	if (remote->fd >= 0)
		close(remote->fd);
	if (remote->out >= 0)
		close(remote->out);
	free(remote->prefix);
	return error;
}

int remote_file_open(struct hwprof_file **file, const char *name)
{
	struct remote *remote;
	int error;

	if (!remote_is_named(name))
		return hwprof_file_open(file, name);
	*file = NULL;
	remote = calloc(1, sizeof(*remote));
	if (!remote)
		return -ENOMEM;
	remote->fd = remote->out = -1;
	remote->name = strdup(name);
	error = remote->name ? open_remote(remote, file, name) : -ENOMEM;
	free(remote->name);
	free(remote);
	return error;
}
