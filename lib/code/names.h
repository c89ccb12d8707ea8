/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of code that is in no ELF file: code that a program made at run time,
 * which /tmp/perf-PID.map names, and the kernel's, which kallsyms names.
 */
#ifndef HWPROF_NAMES_H
#define HWPROF_NAMES_H

#include "perfdata/perfdata.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;

/* Code from @begin up to, but without, @end. */
struct named_code {
	uint64_t begin, end;
	const char *name;
};

/*
 * Reads lines "START SIZE NAME", with hexadecimal numbers, from @fd. Ignores
 * lines of other forms. Where lines overlap, the last one counts. Returns 0,
 * -ENOMEM, -EFBIG for more than NAMES_TEXT_MAX bytes, whose rest is ignored, or
 * the errno of read(). Sets *@names after 0 and -EFBIG. Leaves @fd open.
 */
int names_read_map(int fd, struct names **names);

/*
 * Reads kallsyms likewise: "ADDRESS TYPE NAME", with "[MODULE]" behind names of
 * modules. A symbol's code reaches to the next symbol. Sets *@anchor to the
 * address of @symbol, or 0. If that is not @expected, modules are ignored,
 * because they may be elsewhere too.
 */
int names_read_kallsyms(int fd, const char *symbol, uint64_t expected,
			uint64_t *anchor, struct names **names);

/*
 * Finds the code at @address. Returns false if there is none. @names may be
 * NULL.
 */
bool names_find(const struct names *names, uint64_t address,
		struct named_code *code);

void names_free(struct names *names);

/* Reads the build id in the ELF notes at @path, such as /sys/kernel/notes. */
bool names_read_notes(const char *path, struct build_id *id);

enum { NAMES_TEXT_MAX = 128 << 20 };

#endif /* HWPROF_NAMES_H */
