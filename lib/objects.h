/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs, libraries and all else that has code: from an offset in the file
 * to the address in the object, its symbol and its line of source, by
 * elfutils. An object that cannot be read keeps its name.
 */
#ifndef HWPROF_OBJECTS_H
#define HWPROF_OBJECTS_H

#include <elfutils/libdw.h>

#include "perfdata.h"
#include "unwind_rows.h"
#include "warnings.h"

struct objects;
struct object;

/* @closed: no object is opened; their names are all that is known. */
struct objects *objects_new(bool closed);

/*
 * Where objects are looked for besides: under @symfs as under /, and by build id
 * in @debuginfo, which also has what debuggers need. Each may be NULL. -ENOMEM.
 */
int objects_look_in(struct objects *objects, const char *symfs,
		    const char *debuginfo);
void objects_free(struct objects *objects);

/* All their warnings, each once. -ENOMEM. */
int objects_warn(const struct objects *objects, struct warnings *warnings);

/*
 * The object @name with build id @id (size 0: not known). Objects with one
 * build id are one, whatever their names. NULL: out of memory.
 */
struct object *objects_get(struct objects *objects, const char *name,
			   const struct build_id *id);

/* Where a recording says that the kernel's code was. */
struct kernel_text {
	char symbol[32];	/* "_text"; "": not known */
	uint64_t symbol_at;	/* its address */
	uint64_t begin, size;	/* of the code, without modules */
	struct build_id id;	/* size 0: not known */
};

/*
 * How far addresses of the kernel @object, as its kallsyms or vmlinux have
 * them, are above those of the recording, which are of @text. 0: not at all,
 * or there are no names.
 */
uint64_t object_kernel_distance(struct object *object,
				const struct kernel_text *text);

/* Marks a part of a kernel whose names are of another boot: it has none. */
void object_is_elsewhere(struct object *object);

/*
 * The object of code that process @pid made at run time, whose names are in
 * /tmp/perf-PID.map; its addresses are the process's. NULL: out of memory.
 */
struct object *objects_get_made(struct objects *objects, uint32_t pid);

bool object_is_made(const struct object *object);

/* Are names known of it, other than an ELF file's? */
bool object_has_names(struct object *object);

/* Is it a file's name, as perf has those of mappings? */
bool names_file(const char *name);

const char *object_name(const struct object *object);
/* Hexadecimal; NULL: not known. */
const char *object_build_id(const struct object *object);
/* Why symbols are missing although the object is a file; NULL: they are not. */
const char *object_warning(const struct object *object);
/* In a file; else code made at run time, or unknown: [vdso], //anon, ... */
bool object_is_file(const struct object *object);

/*
 * Copies up to @size bytes of x86 code at @offset in the file, and returns how
 * many; 0: it cannot be read, or is another machine's. @is64: 64-bit code.
 */
size_t object_x86_code(struct object *object, uint64_t offset, uint8_t *bytes,
		       size_t size, bool *is64);

/*
 * The code at @address in the object, as its file has it, up to the end of its
 * segment: *@size bytes, that live as long as the object; *@machine is ELF's
 * number of what they are for. NULL: it has none there, or cannot be read.
 */
const uint8_t *object_code(struct object *object, uint64_t address,
			   size_t *size, unsigned int *machine);

/* Turns an offset in the file into the object's address, as objdump has it. */
uint64_t object_address(struct object *object, uint64_t offset);

/*
 * Bytes from @address to the end of the segment that it is in, also where that
 * has nothing in the file. 0: it is in none.
 */
uint64_t object_left(struct object *object, uint64_t address);

/*
 * The symbol that contains @address, and how far in it is; "free@plt" of an entry
 * of the procedure linkage table. NULL: none.
 */
const char *object_symbol(struct object *object, uint64_t address,
			  uint64_t *offset);

/* From where to where that symbol is. False: there is none, or none of a size. */
bool object_bounds(struct object *object, uint64_t address, uint64_t *begin,
		   uint64_t *end);

/*
 * Where the procedure begins that @address is in, by symbols and by what the
 * object has for unwinding. False: neither knows.
 */
bool object_procedure(struct object *object, uint64_t address, uint64_t *begin);

/* Its rows for unwinding (x86-64), and the rules that these are from. NULL: none. */
const struct unwind_rows *object_unwind_rows(struct object *object);
Dwarf_CFI *object_cfi(struct object *object);

/* The file of source of @address, and its line. NULL: not known. */
const char *object_line(struct object *object, uint64_t address,
			unsigned int *line);

/* The build id in the ELF file at @path. False: it has none, or no file. */
bool object_read_build_id(const char *path, struct build_id *id);

#endif /* HWPROF_OBJECTS_H */
