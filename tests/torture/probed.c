// SPDX-License-Identifier: GPL-2.0-only
/* uprobes and uretprobes on a stepped program: each must be hit. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "child.h"
#include "outside.h"
#include "tap.h"

enum { CALLS = 50 };

static const char tracing[] = "/sys/kernel/tracing";

static bool put(const char *name, const char *text)
{
	ssize_t length = strlen(text);
	char path[256];
	bool good;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", tracing, name);
	fd = open(path, O_WRONLY | O_APPEND);
	good = fd >= 0 && write(fd, text, length) == length;
	close(fd);
	return good;
}

static unsigned long hits(const char *probe)
{
	char path[256], line[512], name[128];
	unsigned long count = 0, found;
	FILE *file;

	snprintf(path, sizeof(path), "%s/uprobe_profile", tracing);
	file = fopen(path, "r");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%*s %127s %lu", name, &found) == 2 &&
		    !strcmp(name, probe))
			count = found;
	if (file)
		fclose(file);
	return count;
}

/* Returns the offset of the function in the file; 0 if it is not there. */
static unsigned long place_of(const char *path, const char *function)
{
	int fd = open(path, O_RDONLY), i, j;
	const Elf64_Ehdr *file;
	const Elf64_Shdr *sections;
	unsigned long place = 0;
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat))
		return 0;
	file = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	sections = (const void *)file + file->e_shoff;
	for (i = 0; i < file->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)file +
					   sections[i].sh_offset;
		const char *names = (const char *)file +
				    sections[sections[i].sh_link].sh_offset;

		if (sections[i].sh_type != SHT_SYMTAB)
			continue;
		for (j = 0; j < (int)(sections[i].sh_size / sizeof(*symbols));
		     j++)
			if (!strcmp(names + symbols[j].st_name, function)) {
				const Elf64_Shdr *code =
					&sections[symbols[j].st_shndx];

				place = symbols[j].st_value - code->sh_addr +
					code->sh_offset;
			}
	}
	close(fd);
	return place;
}

/* Where the probes are in the subject's file. */
struct places {
	unsigned long function, nop5, nop10;
};

static struct places find_places(const char *subject)
{
	struct places places = {
		.function = place_of(subject, "subject_probed"),
		.nop5 = place_of(subject, "subject_probed_nop5"),
		.nop10 = place_of(subject, "subject_probed_nop10"),
	};

	if (!places.function || !places.nop5 || !places.nop10)
		tap_bail("%s has no function to probe", subject);
	return places;
}

static void begin(const char *subject, const struct places *places)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "p:torture/first %s:0x%lx\n"
		 "r:torture/back %s:0x%lx\n"
		 "p:torture/nop5 %s:0x%lx\n"
		 "p:torture/nop10 %s:0x%lx\n",
		 subject, places->function, subject, places->function, subject,
		 places->nop5, subject, places->nop10);
	if (!put("uprobe_events", text))
		tap_bail("cannot make uprobes: %s", strerror(errno));
	put("events/torture/enable", "1");
}

static void end(void)
{
	put("events/torture/enable", "0");
	put("uprobe_events",
	    "-:torture/first\n-:torture/back\n"
	    "-:torture/nop5\n-:torture/nop10\n");
}

/* Tells whether this kernel replaces a nop that has a probe by a call. */
static bool kernel_calls(void)
{
	unsigned int version, patch;
	struct utsname name;

	return !uname(&name) &&
	       sscanf(name.release, "%u.%u", &version, &patch) == 2 &&
	       (version > 6 || (version == 6 && patch >= 18));
}

/*
 * The program natively, with the probes. It prints the first byte of each nop.
 * This is cc, the trap, where the probe is not a call. Calls begin with e8 in a
 * nop of five bytes, and with 48, which moves the stack, in one of ten. Kernels
 * that do not replace the latter refuse to probe it, as its prefix names a
 * segment.
 */
static void test_natively(const char *subject, struct ending *native)
{
	child_run(subject, "called", NULL, native);
	if (kernel_calls())
		tap_test(strstr(native->output, "nop5 e8, nop10 66") ||
			 strstr(native->output, "nop5 cc, nop10 48"),
			 "probed: natively, a nop is a call");
	else
		tap_test(strstr(native->output, "nop5 cc, nop10 66"),
			 "probed: natively, the nop is a trap");
	tap_note("%.100s", native->output);
}

static void test_hits(const struct profile_mode *mode,
		      const struct ending *native)
{
	static const char *const probes[] = {"first", "back", "nop5", "nop10"};
	bool refused = strstr(native->output, "nop10 66"), good = true;
	unsigned long found[4];
	int i;

	for (i = 0; i < 4; i++) {
		found[i] = hits(probes[i]);
		good = good && found[i] == (i == 3 && refused ? 0 : CALLS);
	}
	tap_test(good, "probed: %s, each probe is hit", mode->name);
	tap_note("hits %lu, %lu, %lu, %lu", found[0], found[1], found[2],
		 found[3]);
}

void test_probes(const char *subject)
{
	struct ending native, watched;
	struct places places;
	unsigned int turn;

	if (access("/sys/kernel/tracing/uprobe_events", W_OK)) {
		tap_skip("the kernel has no uprobes", "probes");
		return;
	}
	places = find_places(subject);
	begin(subject, &places);
	test_natively(subject, &native);
	end();
	for (turn = 0; turn < profile_each; turn++) {
		const struct profile_mode *mode = profile_next();

		begin(subject, &places);
		child_run(subject, "called", mode, &watched);
		child_same(&native, &watched, "probed", mode->name);
		test_hits(mode, &native);
		end();
	}
}
