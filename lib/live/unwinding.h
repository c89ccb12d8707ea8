/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Tables for unwinding for a running session: those of the objects that
 * profiled processes have mapped, each made once. If one cannot be made (the
 * file is gone, memory is out, the module is older), frame pointers are used
 * instead.
 */
#ifndef HWPROF_UNWINDING_H
#define HWPROF_UNWINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_reader;
struct synthesis;
struct unwinding;

/* Returns true if an event with this @config takes call stacks of samples. */
bool unwinding_wanted(const uint64_t words[3]);

/*
 * @device is an open /dev/hwprof. @reader reads files; NULL: this process does.
 * Both must live as long as the result, which is NULL if out of memory.
 */
struct unwinding *unwinding_new(int device, const struct code_reader *reader);
void unwinding_free(struct unwinding *unwinding);

/*
 * Returns true for a perf record of a code mapping. Its first word is the pid.
 */
bool unwinding_is_map(uint32_t type, uint16_t misc);

/* Notes that @pid has mapped something. @unwinding may be NULL. */
void unwinding_note(struct unwinding *unwinding, uint32_t pid);

/* Gives the module the maps of all noted processes. @unwinding may be NULL. */
void unwinding_update(struct unwinding *unwinding);

/*
 * Gives the module the maps of the processes of @synthesis before their events
 * begin, because making tables takes time. @unwinding may be NULL.
 */
void unwinding_begin(struct unwinding *unwinding,
		     const struct synthesis *synthesis);

/*
 * Gives sessions that were made since then what the module has already. Each
 * file is looked at once again, whether it is still the same. @unwinding may be
 * NULL.
 */
void unwinding_continue(struct unwinding *unwinding);

/* Returns the number of files that were looked at. */
size_t unwinding_files(const struct unwinding *unwinding);

/*
 * Returns the number of tables that the module has taken. It keeps those of
 * files that have gone, too.
 */
unsigned int unwinding_tables(const struct unwinding *unwinding);

/*
 * Returns for how many objects, or maps of processes, the module had no room.
 */
unsigned int unwinding_refused(const struct unwinding *unwinding);

#endif /* HWPROF_UNWINDING_H */
