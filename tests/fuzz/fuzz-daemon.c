// SPDX-License-Identifier: GPL-2.0-only
/*
 * Any bytes as what hwprofd gets from others: by the first byte a
 * configuration, a request's path with its parameters, a header Host, or a
 * stream of parts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "config.h"
#include "http.h"
#include "parts.h"
#include "query.h"

static void try_config(char *text, size_t size)
{
	FILE *in = fmemopen(text, size, "r");
	struct config config;
	char message[512];

	if (!in)
		return;
	config_default(&config);
	config_read(&config, in, "input", message, sizeof(message));
	fclose(in);
}

/* PATH?NAME=VALUE&NAME=VALUE */
static void try_query(char *text)
{
	struct query_argument arguments[8];
	char *path = strsep(&text, "?"), *item;
	char message[QUERY_MESSAGE];
	struct query query;
	size_t count = 0;

	while (count < 8 && (item = strsep(&text, "&"))) {
		const char *name = strsep(&item, "=");

		arguments[count++] = (struct query_argument){
			name, item ? item : "",
		};
	}
	if (!query_parse(&query, path, arguments, count, 1000000, message) &&
	    (query.from < 0 || query.from >= query.to ||
	     (query.diff && query.before_from >= query.before_to) ||
	     query.kind >= HWPROF_KINDS))
		abort();
}

static void try_parts(const char *bytes, size_t size)
{
	struct parts parts = { .count = 0 };
	int fd = memfd_create("parts", MFD_CLOEXEC);
	size_t i;

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		abort();
	parts_read(&parts, fd, size);
	for (i = 0; i < parts.count; i++)
		if (!part_head_is_valid(&parts.all[i].head))
			abort();
	parts_free(&parts);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *text;

	if (!size)
		return 0;
	text = calloc(1, size);		/* ends with a 0 */
	if (!text)
		abort();
	memcpy(text, bytes + 1, size - 1);
	switch (bytes[0] % 4) {
	case 0:
		try_config(text, size - 1);
		break;
	case 1:
		try_query(text);
		break;
	case 2:
		http_host_is_own(text, "a.example b.example");
		break;
	case 3:
		try_parts(text, size - 1);
		break;
	}
	free(text);
	return 0;
}
