/* SPDX-License-Identifier: GPL-2.0-only */
/* The mounts of a process. */
#ifndef HWPROFD_MOUNT_OF_H
#define HWPROFD_MOUNT_OF_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct mount - A mount
 * @major: of its device.
 * @minor: of its device.
 * @remote: it is of a type that asks a server or another process.
 */
struct mount {
	unsigned int major, minor;
	bool remote;
};

/*
 * Finds the mount that @path leads to in the tree of process @pid, without
 * asking its file system. Returns false if it is not known.
 */
bool mount_of(uint32_t pid, const char *path, struct mount *mount);

/* Does so in @mounts, which is as /proc/PID/mountinfo. */
bool mount_find(FILE *mounts, const char *path, struct mount *mount);

#endif /* HWPROFD_MOUNT_OF_H */
