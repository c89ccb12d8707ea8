/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The maps of each process over time. Rows come far out of time order, also
 * after their process has exited. All changes are therefore kept to the end of
 * the data, and then sorted. Memory grows with the number of maps, forks and
 * execs, not of samples.
 */
#ifndef HWPROF_PROCESSES_H
#define HWPROF_PROCESSES_H

#include "perfdata/file.h"
#include "objects.h"

struct mapping {
	uint64_t time;		/* of its beginning */
	uint64_t start, size;
	uint64_t offset;	/* of @start, in the file */
	const char *name;
	bool code;		/* it may be executed */
	bool anonymous;		/* it has no file, and is not the kernel's */
	bool copy;		/* a program's copy of its text, in huge
				 * pages */
	struct build_id build_id;
};

enum process_change_kind {
	CHANGE_MAP,
	CHANGE_COMM,
	CHANGE_EXEC,
	CHANGE_FORK,
	CHANGE_EXIT,
};

/* A record about a process. */
struct process_change {
	uint64_t time;		/* from which it holds */
	size_t order;		/* in the file, for equal times */
	enum process_change_kind kind;
	uint32_t pid;
	uint32_t parent;	/* fork */
	char *name;		/* map: the file; comm, exec: the process */
	struct mapping mapping;	/* map; its name is @name */
};

/*
 * A virtual machine in a process is a process of its own. Its number is that of
 * the process with this bit, which the kernel never sets.
 */
#define PROCESS_GUEST	(1U << 31)

struct processes;

struct processes *processes_new(void);
void processes_free(struct processes *processes);
/*
 * Adds an owner, which calls processes_free() from any thread: names that were
 * returned stay valid for it.
 */
struct processes *processes_share(struct processes *processes);

/*
 * Notes the record if it is about maps. Returns 0, -ENOMEM, or as
 * file_damaged().
 */
int processes_note(struct processes *processes, struct hwprof_file *file,
		   const struct record *record);

/*
 * Sorts everything up to @time, which must have been noted. May be called again
 * with a later time; UINT64_MAX means everything. Returns 0 or -ENOMEM.
 */
int processes_settle(struct processes *processes, uint64_t time);

/*
 * Calls @fn for all records that were settled, by time. A result of @fn other
 * than 0 ends it, and is returned.
 */
int processes_list(const struct processes *processes,
		   int (*fn)(void *context,
			     const struct process_change *change),
		   void *context);

/* Returns the map of @pid at @address at @time; NULL if unknown. */
const struct mapping *processes_find(const struct processes *processes,
				     uint32_t pid, uint64_t time,
				     uint64_t address);

/*
 * Returns true if @mapping, memory without a file, is the heap that the program
 * got by brk(). Linux 6.12 names it [heap] only once it has grown.
 */
bool processes_is_heap(const struct processes *processes, uint32_t pid,
		       uint64_t time, const struct mapping *mapping);

/*
 * Returns the number of the program that @pid runs at @time. Numbers begin at
 * 1, and each fork and exec begins a new one. Returns 0 if out of memory.
 */
uint32_t processes_program(struct processes *processes, uint32_t pid,
			   uint64_t time);

/*
 * Returns how many programs @pid is known to have run. 0 means all processes,
 * without those that have no known maps: they share nothing with others.
 */
uint32_t processes_programs(const struct processes *processes, uint32_t pid);

/* Returns the name of @pid at @time; NULL if unknown. */
const char *processes_comm(const struct processes *processes, uint32_t pid,
			   uint64_t time);

/*
 * Returns true if a process may have made code there at run time. @mapping is
 * NULL if nothing is known to be mapped.
 */
bool processes_may_be_made(const struct mapping *mapping);

/*
 * Returns the kernel object of the recording @file, and converts *@address from
 * the recorded kernel to the object's kallsyms or vmlinux, if they are known.
 * Without @moved, it returns an object without names where it would have to
 * convert. Returns NULL if out of memory.
 */
struct object *processes_kernel(const struct processes *processes,
				struct objects *objects,
				const struct hwprof_file *file,
				uint64_t *address, bool moved);

/*
 * Returns the build id of what @mapping in the recording @file maps, from the
 * map or from the file's section; of size 0 if it is unknown.
 */
struct build_id processes_build_id(const struct hwprof_file *file,
				   const struct mapping *mapping);

/*
 * Returns the object of @mapping in the recording @file. It is found by name,
 * and by the build id of the map or of the file's section. Returns NULL if out
 * of memory.
 */
struct object *processes_object(struct objects *objects,
				const struct hwprof_file *file,
				const struct mapping *mapping);

#endif /* HWPROF_PROCESSES_H */
