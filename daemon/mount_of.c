// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mount_of.h"

/* Undoes the kernel's "\040" for a blank, in place. */
static void unescape(char *text)
{
	char *to = text;

	while (*text) {
		if (text[0] == '\\' && strspn(text + 1, "01234567") >= 3) {
			*to++ = (text[1] - '0') << 6 | (text[2] - '0') << 3 |
				(text[3] - '0');
			text += 4;
		} else {
			*to++ = *text++;
		}
	}
	*to = 0;
}

/* Returns the length of the mount's path if it is around @path, or 0. */
static size_t length_around(const char *point, const char *path)
{
	size_t length = strlen(point);

	if (!strcmp(point, "/"))
		return 1;
	return !strncmp(point, path, length) &&
	       (path[length] == '/' || !path[length]) ? length : 0;
}

static bool is_remote(const char *type)
{
	static const char *const types[] = {
		"fuse", "fuseblk", "nfs", "nfs4", "cifs", "smb3", "9p", "ceph",
		"afs", "autofs", "virtiofs", "gfs2", "ocfs2", "coda",
		"orangefs",
	};
	size_t i;

	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (!strcmp(type, types[i]))
			return true;
	return !strncmp(type, "fuse.", 5);
}

/* Parses "36 35 98:0 /root /point options... - type source options". */
static bool parse_line(char *line, char **point, struct mount *mount)
{
	char *type = strstr(line, " - ");
	int begin = 0, end = 0;

	if (!type || sscanf(line, "%*d %*d %u:%u %*s %n%*s%n", &mount->major,
			    &mount->minor, &begin, &end) < 2 || !end)
		return false;
	line[end] = 0;
	*point = line + begin;
	unescape(*point);
	type += 3;
	type[strcspn(type, " \n")] = 0;
	mount->remote = is_remote(type);
	return true;
}

bool mount_find(FILE *mounts, const char *path, struct mount *mount)
{
	size_t longest = 0, room = 0;
	char *line = NULL, *point;
	struct mount next;

	while (getline(&line, &room, mounts) > 0) {
		size_t length = parse_line(line, &point, &next) ?
				length_around(point, path) : 0;

		/* A later mount lies over an earlier one. */
		if (!length || length < longest)
			continue;
		longest = length;
		*mount = next;
	}
	free(line);
	return longest;
}

bool mount_of(uint32_t pid, const char *path, struct mount *mount)
{
	char name[32];
	FILE *mounts;
	bool found;

	snprintf(name, sizeof(name), "/proc/%" PRIu32 "/mountinfo", pid);
	mounts = fopen(name, "re");
	if (!mounts)
		return false;
	found = mount_find(mounts, path, mount);
	fclose(mounts);
	return found;
}
