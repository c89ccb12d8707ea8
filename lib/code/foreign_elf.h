/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ELF files of others, who may have made them to do harm, and may change or
 * shorten them while they are read. They are not mapped, since a shorter file
 * would then be a SIGBUS.
 */
#ifndef HWPROF_FOREIGN_ELF_H
#define HWPROF_FOREIGN_ELF_H

#include <libelf.h>
#include <stdbool.h>

/*
 * Opens the program or library at @fd, which must stay open as long as the
 * result. Its parts are read when they are asked for. Returns NULL for other
 * files, and for more sections than a header's own count can say: libelf would
 * take memory for as many as the file says.
 */
Elf *foreign_elf_begin(int fd);

/* Returns false if the notes, of which one is the build id, are not short. */
bool foreign_elf_has_short_notes(Elf *elf);

#endif /* HWPROF_FOREIGN_ELF_H */
