/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Names of code that is in no ELF file: code that a program made at run time,
 * whose names are in /tmp/perf-PID.map, and the kernel's, which kallsyms has.
 */
#ifndef HWPROF_NAMES_H
#define HWPROF_NAMES_H

#include "perfdata.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct names;

/* Code from @begin to before @end. */
struct named_code {
	uint64_t begin, end;
	const char *name;
};

/*
 * Reads the lines "START SIZE NAME" of @fd, numbers in hexadecimal. Lines of
 * other forms are left out, and where lines overlap the last one counts.
 * Returns 0; -ENOMEM; -EFBIG, if there are more than NAMES_TEXT_MAX bytes, of
 * which the rest is left out; or the errno of read(). *@names is made for 0
 * and -EFBIG. @fd stays open.
 */
int names_read_map(int fd, struct names **names);

/*
 * The same of kallsyms: "ADDRESS TYPE NAME", and "[MODULE]" behind the name of
 * a module's. Code reaches to the next symbol. *@anchor becomes the address of
 * @symbol, or 0. Modules are left out if that is not @expected, because then
 * they may be elsewhere, too.
 */
int names_read_kallsyms(int fd, const char *symbol, uint64_t expected,
			uint64_t *anchor, struct names **names);

/* Finds what has @address. False: nothing. @names may be NULL. */
bool names_find(const struct names *names, uint64_t address,
		struct named_code *code);

void names_free(struct names *names);

/* The build id in the ELF notes at @path, such as /sys/kernel/notes. */
bool names_read_notes(const char *path, struct build_id *id);

enum { NAMES_TEXT_MAX = 128 << 20 };

#endif /* HWPROF_NAMES_H */
