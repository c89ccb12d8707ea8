// SPDX-License-Identifier: GPL-2.0-only
/*
 * A 32-bit program with a session: all structs have the layout of 64-bit
 * programs.
 */
#include <fcntl.h>
#include <linux/hwprof.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static char buffer[HWPROF_SNAPSHOT_MIN] __attribute__((aligned(8)));

static int failed(const char *what)
{
	perror(what);
	return 1;
}

int main(void)
{
	struct hwprof_config config = {
		.size = sizeof(config),
		.flags = HWPROF_CONFIG_EXCLUDE_KERNEL,
		.config = 1 << 1,
	};
	struct hwprof_snapshot snapshot = {
		.size = sizeof(snapshot),
		.buffer = (unsigned long)buffer,
		.buffer_size = sizeof(buffer),
	};
	const struct hwprof_record *record = (const void *)buffer;
	int fd = open(HWPROF_DEVICE, O_RDWR);

	if (fd < 0)
		return failed(HWPROF_DEVICE);
	if (ioctl(fd, HWPROF_IOC_CONFIG, &config) || !config.session)
		return failed("config");
	if (ioctl(fd, HWPROF_IOC_SNAPSHOT, &snapshot) || snapshot.more)
		return failed("snapshot");
	if (snapshot.filled != sizeof(record->time) +
			       sizeof(struct hwprof_row_totals) ||
	    record->row.type != HWPROF_ROW_TOTALS ||
	    record->row.session != config.session)
		return failed("rows");
	if (ioctl(fd, HWPROF_IOC_RESET, 0))
		return failed("reset");
	return 0;
}
