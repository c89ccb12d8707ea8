// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>

#include "assembled.h"
#include "check.h"
#include "fixture.h"

static char folder[] = "/tmp/hwprof-test-XXXXXX";
char assembled[64];

int assembled_make(const char *source, const char *options)
{
	char path[64], output[256];
	FILE *file;

	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/known.S", folder);
	snprintf(assembled, sizeof(assembled), "%s/known", folder);
	file = fopen(path, "w");
	fputs(source, file);
	fclose(file);
	return fixture_shell(output, sizeof(output),
			     "gcc -g -nostdlib -static-pie %s -o %s %s",
			     options, assembled, path);
}

int assembled_remove(void **state)
{
	char output[16];

	return fixture_shell(output, sizeof(output), "rm -r %s", folder);
}

uint64_t assembled_at(const char *symbol)
{
	char output[64];

	fixture_shell(output, sizeof(output),
		      "nm %s | awk '$3 == \"%s\" { print $1 }'", assembled,
		      symbol);
	return strtoull(output, NULL, 16);
}
