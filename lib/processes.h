/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What was mapped where in which process, and when: rows come far out of time
 * order, also after their process has gone. So what happened to maps is kept
 * until the end of the data, and then put in order. Memory grows with the
 * number of maps, forks and execs, never with that of samples.
 */
#ifndef HWPROF_PROCESSES_H
#define HWPROF_PROCESSES_H

#include "file.h"
#include "objects.h"

struct mapping {
	uint64_t time;		/* since when */
	uint64_t start, size;
	uint64_t offset;	/* of start in the file */
	const char *name;
	bool code;		/* it may be executed */
	bool anonymous;		/* it is of no file, nor the kernel's */
	bool copy;		/* memory that programs copy their text to, to
				 * have it in huge pages */
	struct build_id build_id;
};

/*
 * A virtual machine that runs in a process is a process of its own: it has the
 * other one's number and this bit, which the kernel gives to none.
 */
#define PROCESS_GUEST	(1U << 31)

struct processes;

struct processes *processes_new(void);
void processes_free(struct processes *processes);
/* One more who frees them, in any thread: to keep the names they gave out. */
struct processes *processes_share(struct processes *processes);

/* Notes the record, if it is about maps. -ENOMEM, or a file_damaged(). */
int processes_note(struct processes *processes, struct hwprof_file *file,
		   const struct record *record);

/*
 * All that happened up to @time was noted: puts it in order. May be called
 * again with a later one. UINT64_MAX: all there is. -ENOMEM.
 */
int processes_settle(struct processes *processes, uint64_t time);

/* What @pid has at @address at @time; NULL: nothing that is known. */
const struct mapping *processes_find(const struct processes *processes,
				     uint32_t pid, uint64_t time,
				     uint64_t address);

/*
 * Is the memory without a file at @mapping, which @pid has at @time, what its
 * program has got by brk()? Linux 6.12 names it [heap] only once it has grown.
 */
bool processes_is_heap(const struct processes *processes, uint32_t pid,
		       uint64_t time, const struct mapping *mapping);

/*
 * The number of the program that @pid runs at @time: from 1 on, another one
 * after each fork and exec. 0: out of memory.
 */
uint32_t processes_program(struct processes *processes, uint32_t pid,
			   uint64_t time);

/*
 * How many programs @pid has run, as far as is known; 0: all processes have,
 * without those of which no maps are known: they have nothing in common with
 * others.
 */
uint32_t processes_programs(const struct processes *processes, uint32_t pid);

/* The name @pid has at @time; NULL: not known. */
const char *processes_comm(const struct processes *processes, uint32_t pid,
			   uint64_t time);

/*
 * May a process have made code there at run time? @mapping NULL: nothing is
 * known to be mapped there.
 */
bool processes_may_be_made(const struct mapping *mapping);

/*
 * Returns the object of the kernel that the recording @file is of. *@address,
 * in the recorded kernel, becomes one in the object's kallsyms or vmlinux,
 * where these are known. If it is not to be @moved, an object without names is
 * returned where it would be. NULL if memory is out.
 */
struct object *processes_kernel(const struct processes *processes,
				struct objects *objects,
				const struct hwprof_file *file,
				uint64_t *address, bool moved);

/*
 * Returns the object that @mapping, of the recording @file, is of: by its name, and
 * by its build id or what the file says of that name. NULL if memory is out.
 */
struct object *processes_object(struct objects *objects,
				const struct hwprof_file *file,
				const struct mapping *mapping);

#endif /* HWPROF_PROCESSES_H */
