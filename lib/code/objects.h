/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Programs, libraries and other objects with code. Translates an offset in a
 * file to the object's address, its symbol and its source line, by elfutils. An
 * object that cannot be read keeps its name.
 */
#ifndef HWPROF_OBJECTS_H
#define HWPROF_OBJECTS_H

#include <elfutils/libdw.h>

#include "perfdata/perfdata.h"
#include "cfi_table.h"
#include "base/warnings.h"

struct objects;
struct object;

/* With @closed no object is opened, and only names are known. */
struct objects *objects_new(bool closed);

/*
 * Sets further places to look for objects: under @symfs as under /, and by
 * build id in @debuginfo, which also has debug information. Each may be NULL.
 * Returns 0 or -ENOMEM.
 */
int objects_look_in(struct objects *objects, const char *symfs,
		    const char *debuginfo);
/*
 * Looks for objects in the debuginfo first, and opens only root's files
 * elsewhere if they have a build id, which anybody can write.
 */
void objects_trust_copies(struct objects *objects);
void objects_free(struct objects *objects);

/* Adds each warning of all objects once. Returns 0 or -ENOMEM. */
int objects_warn(const struct objects *objects, struct warnings *warnings);

/*
 * Calls @fn for each file that could not be read. A result of @fn other than 0
 * ends it, and is returned.
 */
int objects_list_missing(const struct objects *objects,
			 int (*fn)(void *context, const char *name,
				   const struct build_id *id),
			 void *context);

/*
 * Finds or makes the object @name with build id @id (size 0: unknown). Objects
 * with one build id are one object, whatever their names. Returns NULL if out
 * of memory.
 */
struct object *objects_get(struct objects *objects, const char *name,
			   const struct build_id *id);

/* A recording's statement of where the kernel's code was. */
struct kernel_text {
	char symbol[32];	/* "_text"; "": unknown */
	uint64_t symbol_at;	/* its address */
	uint64_t begin, size;	/* of the code, without modules */
	struct build_id id;	/* size 0: not known */
};

/*
 * Returns how far the addresses in the kallsyms or vmlinux of kernel @object
 * are above those of the recording, which @text describes. Returns 0 if they
 * are the same, or if there are no names.
 */
uint64_t object_kernel_distance(struct object *object,
				const struct kernel_text *text);

/* Marks a kernel object whose names are those of another boot: it gets none. */
void object_is_elsewhere(struct object *object);

/*
 * Returns the object of code that process @pid made at run time.
 * /tmp/perf-PID.map names it, and its addresses are the process's. Returns NULL
 * if out of memory.
 */
struct object *objects_get_made(struct objects *objects, uint32_t pid);

/*
 * Compares two objects of one struct objects, in an order that is the same in
 * each run. NULL comes first.
 */
int object_compare(const struct object *a, const struct object *b);

bool object_is_made(const struct object *object);

/* Returns true if the object has names that are not from an ELF file. */
bool object_has_names(struct object *object);

/* Returns true if @name, from a record of a mapping, is that of a file. */
bool names_file(const char *name);

const char *object_name(const struct object *object);
/* Returns hexadecimal digits; NULL if unknown. */
const char *object_build_id(const struct object *object);
/*
 * Returns why symbols are missing although the object is a file; NULL if they
 * are not.
 */
const char *object_warning(const struct object *object);
/*
 * Returns true if the object is a file. Others are made at run time or unknown:
 * [vdso], //anon and so on.
 */
bool object_is_file(const struct object *object);

/*
 * Copies up to @size bytes of x86 code at @offset in the file. Sets @is64 for
 * 64-bit code. Returns the number of bytes; 0 if it cannot be read, or is for
 * another machine.
 */
size_t object_x86_code(struct object *object, uint64_t offset, uint8_t *bytes,
		       size_t size, bool *is64);

/*
 * Returns the code at @address in the object, up to the end of its segment in
 * the file. It has *@size bytes, and lives as long as the object. *@machine is
 * ELF's number of the machine. Returns NULL if there is none, or it cannot be
 * read.
 */
const uint8_t *object_code(struct object *object, uint64_t address,
			   size_t *size, unsigned int *machine);

/*
 * Returns the object's ELF file, which belongs to the object; NULL if none was
 * opened. The file may have debug information alone.
 */
Elf *object_elf(struct object *object);

/* Converts an offset in the file to an address as objdump shows it. */
uint64_t object_address(struct object *object, uint64_t offset);

/*
 * Returns the number of bytes from @address to the end of its segment, also
 * where the segment is not in the file; 0 if it is in no segment.
 */
uint64_t object_left(struct object *object, uint64_t address);

/*
 * Returns the symbol that contains @address, and the offset in it. Entries of a
 * procedure linkage table are called "free@plt" and so on. Returns NULL if
 * there is none.
 */
const char *object_symbol(struct object *object, uint64_t address,
			  uint64_t *offset);

/* Sets the ends of that symbol. Returns false if there is none with a size. */
bool object_bounds(struct object *object, uint64_t address, uint64_t *begin,
		   uint64_t *end);

/*
 * Sets the beginning of the procedure that contains @address, from symbols and
 * tables for unwinding. Returns false if neither knows it.
 */
bool object_procedure(struct object *object, uint64_t address, uint64_t *begin);

/*
 * Return the object's rows for unwinding (x86-64), and the rules that they were
 * made from. NULL: none.
 */
const struct cfi_table *object_cfi_table(struct object *object);
Dwarf_CFI *object_cfi(struct object *object);

/* Returns the source file of @address, and the line; NULL if unknown. */
const char *object_line(struct object *object, uint64_t address,
			unsigned int *line);

/*
 * Reads the build id of the ELF file at @path. Returns false if it has none, or
 * there is no file.
 */
bool object_read_build_id(const char *path, struct build_id *id);
/* The same, of an open file. */
bool object_build_id_of(int fd, struct build_id *id);
/*
 * Returns true if nobody but root can have written the file. In a FUSE file
 * system anybody can say that a file is root's.
 */
bool object_is_roots(int fd);

/* Writes the build id in hexadecimal; an unknown one is empty. */
void build_id_print(const struct build_id *id, char text[BUILD_ID_TEXT]);

#endif /* HWPROF_OBJECTS_H */
