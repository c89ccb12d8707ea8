// SPDX-License-Identifier: GPL-2.0-only
/* A core dump must not show the trap flag in any thread. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/procfs.h>
#include <sys/stat.h>
#include <sys/user.h>
#include <unistd.h>

#include "child.h"
#include "outside.h"
#include "tap.h"

static const char core[] = "/tmp/torture.core";

struct threads {
	unsigned int count;
	unsigned int with_flag;
};

static void read_notes(const char *note, const char *end,
		       struct threads *threads)
{
	while (note + sizeof(Elf64_Nhdr) < end) {
		const Elf64_Nhdr *header = (const void *)note;
		const char *content = note + sizeof(*header) +
				      ((header->n_namesz + 3) & ~3U);

		if (header->n_type == NT_PRSTATUS) {
			const struct elf_prstatus *status =
				(const void *)content;
			const struct user_regs_struct *regs =
				(const void *)&status->pr_reg;

			threads->count++;
			threads->with_flag += !!(regs->eflags & 0x100);
			threads->with_flag += !!(regs->rcx == regs->rip &&
						 regs->r11 & 0x100);
		}
		note = content + ((header->n_descsz + 3) & ~3U);
	}
}

static struct threads read_core(void)
{
	struct threads threads = {};
	int fd = open(core, O_RDONLY), i;
	const Elf64_Ehdr *file;
	const Elf64_Phdr *part;
	struct stat stat;

	if (fd < 0 || fstat(fd, &stat) || !stat.st_size)
		return threads;
	file = mmap(NULL, stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	part = (const void *)file + file->e_phoff;
	for (i = 0; i < file->e_phnum; i++, part++)
		if (part->p_type == PT_NOTE)
			read_notes((const char *)file + part->p_offset,
				   (const char *)file + part->p_offset +
				   part->p_filesz, &threads);
	close(fd);
	return threads;
}

void test_core(const char *subject)
{
	struct ending native, watched;
	struct threads before, after;
	FILE *pattern = fopen("/proc/sys/kernel/core_pattern", "w");

	if (!pattern || fputs(core, pattern) < 0 || fclose(pattern))
		tap_bail("cannot set the name of core dumps");
	child_run(subject, "crash", NULL, &native);
	before = read_core();
	unlink(core);
	child_run(subject, "crash", &count_branches, &watched);
	after = read_core();
	child_same(&native, &watched, "a crash", "ends as natively");
	tap_test(before.count == 3 && after.count == 3,
		 "a core dump: has three threads");
	tap_test(!after.with_flag, "a core dump: no thread has the flag");
	unlink(core);
}
