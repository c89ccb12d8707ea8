/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A program or library as compilers' tools see it: its segments and symbols. */
#ifndef HWPROF_BINARY_H
#define HWPROF_BINARY_H

#include <gelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function's symbol, by BOLT's name: local ones are numbered ("sort/1"). */
struct binary_symbol {
	uint64_t address, size;
	const char *name;	/* of the ELF file */
	unsigned int number;	/* of a local symbol; 0: a global one */
};

struct binary {
	int fd;			/* -1: the ELF file is another's */
	Elf *elf;
	bool position_independent;
	unsigned int machine;
	uint64_t first;		/* address of the first segment */
	uint64_t code;		/* page of the first executable segment, */
	uint64_t code_size;	/* its size from there, */
	uint64_t code_offset;	/* and its page in the file */
	struct binary_symbol *symbols;	/* by address; NULL: not read yet */
	size_t symbol_count;
};

/*
 * Opens the file at @path, or takes @elf if @path is NULL. Returns NULL, or why
 * it is no program or library, as "it is ...".
 */
const char *binary_open(struct binary *binary, const char *path, Elf *elf);
void binary_close(struct binary *binary);

/* Returns the address of an offset in the file; UINT64_MAX: none. */
uint64_t binary_address(const struct binary *binary, uint64_t offset);
/* Returns the offset in the file of an address of code; UINT64_MAX: none. */
uint64_t binary_offset(const struct binary *binary, uint64_t address);

/* Returns true if the file has a section whose name begins with @name. */
bool binary_has_section(const struct binary *binary, const char *name);

/*
 * Returns the code at @address up to the end of its section, with its size;
 * NULL: there is none.
 */
const uint8_t *binary_code(const struct binary *binary, uint64_t address,
			   size_t *size);

/* Reads the functions of the symbol table. Returns 0 or -ENOMEM. */
int binary_read_symbols(struct binary *binary);
/* Returns the function that contains @address; NULL: none. */
const struct binary_symbol *binary_symbol(const struct binary *binary,
					  uint64_t address);

#endif /* HWPROF_BINARY_H */
