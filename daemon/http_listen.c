// SPDX-License-Identifier: GPL-2.0-only
#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "http.h"
#include "log.h"
#include "wire.h"

enum { BACKLOG = 64 };

static int begin_listening(int fd, const struct sockaddr *address, size_t size)
{
	int error;

	if (!bind(fd, address, size) && !listen(fd, BACKLOG))
		return fd;
	error = -errno;
	close(fd);
	return error;
}

/* The mode is set before anybody can connect. */
int http_listen_unix(const char *path, gid_t group, bool all)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	mode_t mask;
	int fd, error;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	strcpy(address.sun_path, path);
	error = wire_remove_socket(path);
	if (error)
		return error;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(all ? 0111 : 0117);
	fd = begin_listening(fd, (const struct sockaddr *)&address,
			     sizeof(address));
	umask(mask);
	if (fd >= 0 && group != (gid_t)-1 && chown(path, -1, group))
		log_warning("%s cannot be given to the group: only root and the own user may ask",
			    path);
	return fd;
}

static size_t parse_address(const char *host, uint16_t port,
			    struct sockaddr_storage *storage)
{
	struct sockaddr_in *four = (void *)storage;
	struct sockaddr_in6 *six = (void *)storage;

	memset(storage, 0, sizeof(*storage));
	if (inet_pton(AF_INET, host, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		return sizeof(*four);
	}
	if (inet_pton(AF_INET6, host, &six->sin6_addr) == 1) {
		six->sin6_family = AF_INET6;
		six->sin6_port = htons(port);
		return sizeof(*six);
	}
	return 0;
}

int http_listen_tcp(const char *address)
{
	struct sockaddr_storage storage;
	char host[CONFIG_TEXT];
	const int one = 1;
	uint16_t port;
	size_t size;
	int fd;

	if (!config_split_address(address, host, &port))
		return -EINVAL;
	size = parse_address(host, port, &storage);
	if (!size)
		return -EINVAL;
	fd = socket(storage.ss_family,
		    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	return begin_listening(fd, (const struct sockaddr *)&storage, size);
}

/* Returns the length of the name in "NAME", "NAME:PORT" or "[NAME]:PORT". */
static size_t name_length(const char *host)
{
	size_t length = *host == '[' ? strcspn(host, "]") + 1 :
				       strcspn(host, ":");
	const char *rest = host + length;

	if (length > strlen(host))
		return 0;
	if (*rest == ':')
		rest += 1 + strspn(rest + 1, "0123456789");
	return *rest ? 0 : length;
}

static bool is_word(const char *list, const char *word, size_t length)
{
	while (*list) {
		size_t next = strcspn(list, " ,");

		if (next == length && !strncasecmp(list, word, length))
			return true;
		list += next + strspn(list + next, " ,");
	}
	return false;
}

bool http_host_is_own(const char *host, const char *hosts)
{
	size_t length = host ? name_length(host) : 0;

	return length && (is_word("localhost 127.0.0.1 [::1]", host, length) ||
			  is_word(hosts, host, length));
}
