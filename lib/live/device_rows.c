// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device_rows.h"

enum {
	BUFFER_SIZE = 1 << 18,
};

struct device_rows {
	int fd;
	struct hwprof_config config;
	struct perf_event_attr attr;
	void *buffer;
};

/* Events of a recording leave out the hypervisor and guests. */
static struct hwprof_config config_of(const struct perf_event_attr *attr)
{
	struct hwprof_config config = {
		.size = sizeof(config),
		.flags = HWPROF_CONFIG_EXCLUDE_HV | HWPROF_CONFIG_EXCLUDE_GUEST,
		.config = attr->config,
		.config1 = attr->config1,
		.config2 = attr->config2,
		.period = attr->sample_period,
	};

	if (attr->exclude_user)
		config.flags |= HWPROF_CONFIG_EXCLUDE_USER;
	if (attr->exclude_kernel)
		config.flags |= HWPROF_CONFIG_EXCLUDE_KERNEL;
	if (attr->freq)
		config.flags |= HWPROF_CONFIG_FREQ;
	return config;
}

int device_rows_open(struct device_rows **result,
		     const struct perf_event_attr *attr)
{
	struct device_rows *rows = calloc(1, sizeof(*rows));
	int error = 0;

	*result = NULL;
	if (!rows)
		return -ENOMEM;
	rows->config = config_of(attr);
	rows->attr = *attr;
	rows->buffer = malloc(BUFFER_SIZE);
	rows->fd = open(HWPROF_DEVICE, O_RDWR | O_CLOEXEC);
	if (!rows->buffer)
		error = -ENOMEM;
	else if (rows->fd < 0 ||
		 ioctl(rows->fd, HWPROF_IOC_CONFIG, &rows->config))
		error = -errno;
	if (error)
		device_rows_close(rows);
	else
		*result = rows;
	return error;
}

void device_rows_close(struct device_rows *rows)
{
	if (!rows)
		return;
	if (rows->fd >= 0)
		close(rows->fd);
	free(rows->buffer);
	free(rows);
}

struct perf_event_attr device_rows_feeder(const struct device_rows *rows)
{
	struct perf_event_attr attr = rows->attr;

	attr.config = attr.config1 = 0;
	attr.config2 = (uint64_t)rows->config.session << 32;
	return attr;
}

int device_rows_fd(const struct device_rows *rows)
{
	return rows->fd;
}

int device_rows_program(const struct device_rows *rows, int fd,
			unsigned int kinds, unsigned int limit_us)
{
	struct hwprof_program request = {
		.size = sizeof(request), .fd = fd, .kinds = kinds,
		.limit_us = limit_us,
	};

	return ioctl(rows->fd, HWPROF_IOC_PROGRAM, &request) ? -errno : 0;
}

int device_rows_account(const struct device_rows *rows,
			enum hwprof_program_kind kind,
			struct hwprof_program_account *account)
{
	*account = (struct hwprof_program_account){
		.size = sizeof(*account), .kind = kind,
	};
	return ioctl(rows->fd, HWPROF_IOC_PROGRAM_ACCOUNT, account) ? -errno :
								       0;
}

/* The buffer's records are whole, as the module promises. */
static int take(const struct device_rows *rows, size_t size, device_rows_fn fn,
		void *context)
{
	const uint8_t *at = rows->buffer, *end = at + size;
	int error = 0;

	while (at < end && !error) {
		const struct hwprof_record *record = (const void *)at;
		size_t left = end - at;

		if (left < sizeof(*record) ||
		    record->row.size < sizeof(record->row) ||
		    record->row.size >
			    left - offsetof(struct hwprof_record, row))
			return -EBADMSG;
		error = fn(context, &record->row, record->time);
		at += offsetof(struct hwprof_record, row) + record->row.size;
	}
	return error;
}

int device_rows_fetch(struct device_rows *rows, device_rows_fn fn,
		      void *context)
{
	struct hwprof_snapshot snapshot = {
		.size = sizeof(snapshot), .buffer = (uintptr_t)rows->buffer,
		.buffer_size = BUFFER_SIZE,
	};
	bool more = true;
	int error = 0;

	while (more && !error) {
		if (!ioctl(rows->fd, HWPROF_IOC_SNAPSHOT, &snapshot)) {
			error = take(rows, snapshot.filled, fn, context);
			more = snapshot.more;
		} else if (errno != EINTR) {
			error = -errno;
		}
	}
	return error;
}
