// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "page.h"

enum {
	DATA_MAX = 64 << 20,		/* bytes of a page's data */
	TITLE = 2 * PAGE_NAME + 32,
};

#define OPENING	"<script type=\"application/octet-stream\" id=\"data-"
#define CLOSING	"</script>\n"

/* Moves *@at behind @text. Returns false if that is not there. */
static bool take(const char **at, const char *text)
{
	size_t length = strlen(text);

	if (strncmp(*at, text, length))
		return false;
	*at += length;
	return true;
}

bool page_data_is_clean(const char *data)
{
	while (*data) {
		if (!take(&data, OPENING))
			return false;
		data += strspn(data, "abcdefghijklmnopqrstuvwxyz-");
		if (!take(&data, "\">"))
			return false;
		data += strspn(data, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				     "abcdefghijklmnopqrstuvwxyz"
				     "0123456789+/=");
		if (!take(&data, CLOSING))
			return false;
	}
	return true;
}

void page_name(char name[PAGE_NAME], int64_t from, int64_t to,
	       const char *build_id)
{
	time_t times[2] = { from, to };
	char first[64] = "?", last[64] = "?";
	struct tm begin, end;

	if (gmtime_r(&times[0], &begin) && gmtime_r(&times[1], &end)) {
		bool same = begin.tm_yday == end.tm_yday &&
			    begin.tm_year == end.tm_year;

		strftime(first, sizeof(first), "%Y-%m-%d %H:%M:%S", &begin);
		strftime(last, sizeof(last), same ? "%H:%M:%S" :
			 "%Y-%m-%d %H:%M:%S", &end);
	}
	snprintf(name, PAGE_NAME, "%s to %s UTC%s%s", first, last,
		 *build_id ? ", build " : "", build_id);
}

/* Returns the text of a file, which the caller frees; NULL with an *@error. */
static char *read_data(int fd, int *error)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *data = NULL;

	*error = size < 0 || size > DATA_MAX ? -EFBIG : -ENOMEM;
	if (*error == -ENOMEM)
		data = malloc(size + 1);
	if (!data)
		return NULL;
	*error = pread(fd, data, size, 0) == size ? 0 : -EIO;
	data[size] = 0;
	if (!*error && (strlen(data) != (size_t)size ||
			!page_data_is_clean(data)))
		*error = -EBADMSG;
	if (!*error)
		return data;
	free(data);
	return NULL;
}

static void make_title(const struct query *query, char title[TITLE])
{
	char before[PAGE_NAME], name[PAGE_NAME];

	page_name(name, query->from, query->to, query->build_id);
	if (query->diff)
		page_name(before, query->before_from, query->before_to,
			  query->before_build_id);
	snprintf(title, TITLE, "hwprof: %s%s%s",
		 query->diff ? before : "", query->diff ? " \u2192 " : "",
		 name);
}

/* Writes the page to a file in memory. Returns its descriptor. */
static int write_page(const struct html_page *page, const struct query *query,
		      const char *data)
{
	int fd = memfd_create("hwprofd page", MFD_CLOEXEC), copy;
	char title[TITLE];
	FILE *out;
	bool bad;

	if (fd < 0)
		return -errno;
	copy = dup(fd);
	out = copy < 0 ? NULL : fdopen(copy, "w");
	if (!out) {
		if (copy >= 0)
			close(copy);
		close(fd);
		return -ENOMEM;
	}
	make_title(query, title);
	html_page_put(page, title, data, out);
	bad = ferror(out);
	bad |= fclose(out);
	if (!bad)
		return fd;
	close(fd);
	return -EIO;
}

int page_around(const struct html_page *page, const struct query *query,
		int data)
{
	int error, fd;
	char *text = read_data(data, &error);

	if (!text)
		return error;
	fd = write_page(page, query, text);
	free(text);
	return fd;
}
