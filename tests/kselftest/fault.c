// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fault.h"
#include "text.h"

static const char FAIL_NTH[] = "/proc/thread-self/fail-nth";

static void complain(const char *path, int error)
{
	fprintf(stderr, "%s: %s\n", path, strerror(-error));
}

static void write_file(const char *path, const char *text)
{
	int error = text_write(path, text);

	if (error)
		complain(path, error);
}

bool faults_init(void)
{
	if (access(FAIL_NTH, F_OK))
		return false;
	write_file("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/failslab/verbose", "0");
	write_file("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_file("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	write_file("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	write_file("/sys/kernel/debug/fail_usercopy/verbose", "0");
	return true;
}

void fail_nth(int n)
{
	char text[16];
	int error;

	snprintf(text, sizeof(text), "%d", n);
	error = text_write(FAIL_NTH, text);
	/*
	 * This write may be the allocation that fails. Then nothing else does,
	 * and n is 0 again.
	 */
	if (error && n)
		complain(FAIL_NTH, error);
}

bool failed_nth(void)
{
	char text[16];
	int error = text_read(FAIL_NTH, text, sizeof(text));

	fail_nth(0);
	return !error && !strcmp(text, "0");
}
