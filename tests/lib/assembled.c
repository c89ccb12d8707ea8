// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "assembled.h"
#include "check.h"
#include "fixture.h"

static char folder[] = "/tmp/hwprof-test-XXXXXX";
char assembled[64];
static char symbols[8192];	/* as nm prints them */

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
	/* One call of nm for all tests: it loads plugins that are dear. */
	return fixture_shell(output, sizeof(output),
			     "gcc -g -nostdlib -static-pie %s -o %s %s",
			     options, assembled, path) ||
	       fixture_shell(symbols, sizeof(symbols), "nm %s", assembled);
}

int assembled_remove(void **state)
{
	char output[16];

	return fixture_shell(output, sizeof(output), "rm -r %s", folder);
}

uint64_t assembled_at(const char *symbol)
{
	char name[64];
	const char *line;

	snprintf(name, sizeof(name), " %s\n", symbol);
	line = strstr(symbols, name);
	assert_non_null(line);
	while (line > symbols && line[-1] != '\n')
		line--;
	return strtoull(line, NULL, 16);
}
