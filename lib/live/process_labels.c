// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>

#include "process_labels.h"

enum {
	PROC_PATH = 64,
	LINE_SIZE = 4096 + 64,		/* the kernel's longest path */
};

/*
 * Returns the path in a line of /proc/PID/cgroup that is about the hierarchy of
 * version 2, or about that of systemd; or NULL.
 */
static char *path_of(char *line)
{
	static const char unified[] = "0::", systemd[] = ":name=systemd:";
	/* Behind the number, as a path may have the same text. */
	char *found = strchr(line, ':');

	line[strcspn(line, "\n")] = 0;
	if (!strncmp(line, unified, strlen(unified)))
		return line + strlen(unified);
	return found && !strncmp(found, systemd, strlen(systemd)) ?
	       found + strlen(systemd) : NULL;
}

/* With both hierarchies, the one in which processes are in groups counts. */
static void read_cgroup(uint32_t pid, char cgroup[LABEL_PATH])
{
	char path[PROC_PATH], line[LINE_SIZE], *found;
	FILE *file;

	*cgroup = 0;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/cgroup", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		size_t length;

		found = path_of(line);
		if (!found || (*cgroup && !strcmp(found, "/")))
			continue;
		length = strlen(found);
		if (length >= LABEL_PATH)
			found += length - LABEL_PATH + 1;
		strcpy(cgroup, found);
	}
	if (file)
		fclose(file);
}

/* Returns the owner of the folder in /proc, which the kernel chooses. */
static uint32_t owner_of(uint32_t pid)
{
	char path[PROC_PATH];
	struct stat status;

	snprintf(path, sizeof(path), "/proc/%" PRIu32, pid);
	return stat(path, &status) ? LABEL_NO_UID : status.st_uid;
}

int process_labels_look(struct label_table *labels, uint32_t pid)
{
	struct label *known = labels_find(labels, pid);
	uint32_t uid = owner_of(pid);
	char cgroup[LABEL_PATH];
	struct label label;

	if (uid == LABEL_NO_UID) {
		if (known)
			known->seen = false;
		return 0;
	}
	read_cgroup(pid, cgroup);
	label = (struct label){
		.pid = pid, .uid = uid, .cgroup = cgroup,
		/* This user must not see what it did as another one. */
		.seen = !known || (known->seen && known->uid == uid),
	};
	return labels_set(labels, &label);
}

/*
 * The child has all that its parent has. If it is known, it was looked at
 * before, or another process had its number: records of several CPUs have no
 * order.
 */
static int inherit(struct label_table *labels, uint32_t pid, uint32_t parent)
{
	const struct label *of = labels_find(labels, parent);
	struct label label;

	if (!of || labels_find(labels, pid))
		return process_labels_look(labels, pid);
	label = *of;
	label.pid = pid;
	label.used = false;
	return labels_set(labels, &label);
}

int process_labels_take(struct label_table *labels,
			const struct perf_event_header *header,
			const void *body, size_t size)
{
	uint32_t words[2];

	if (size < sizeof(words))
		return 0;
	memcpy(words, body, sizeof(words));
	if (header->type == PERF_RECORD_FORK && words[0] != words[1])
		return inherit(labels, words[0], words[1]);
	if (header->type == PERF_RECORD_COMM &&
	    header->misc & PERF_RECORD_MISC_COMM_EXEC)
		return process_labels_look(labels, words[0]);
	return 0;
}
