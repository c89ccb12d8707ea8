/* SPDX-License-Identifier: GPL-2.0-only */
/* BPF objects of `hwprof bpf`, and what is in their maps. */
#ifndef HWPROF_BPF_H
#define HWPROF_BPF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct bpf_map;
struct bpf_object;
struct btf;
struct json;

/* A number in a key or a value. */
struct bpf_leaf {
	char name[64];
	size_t offset, size;	/* in bytes */
	bool address;		/* for printing in hexadecimal */
	bool has_sign;
};

enum { BPF_LEAVES_MAX = 32 };

/* The numbers of a type. */
struct bpf_layout {
	struct bpf_leaf leaves[BPF_LEAVES_MAX];
	size_t count;
};

/* The content of a map. */
struct bpf_content {
	struct bpf_layout key, value;
	uint64_t *numbers;	/* rows of all leaves, keys first */
	size_t rows;
};

/*
 * Finds the numbers of type @id, named @name if they have no names of their
 * own. Without a type (0), or one of anything but numbers, the @size bytes are
 * words.
 */
void bpf_layout_of(struct bpf_layout *layout, const struct btf *btf, int id,
		   size_t size, const char *name);

/*
 * Returns true if the content of such a map can be printed, and its name does
 * not say that it is for the program alone.
 */
bool bpf_is_printed(const struct bpf_map *map);

/*
 * Reads a map. Values of a map for each CPU are added up, and rows with zeros
 * alone are left out of arrays. The greatest first number of the value comes
 * first. Returns 0 or a negative errno.
 */
int bpf_read(struct bpf_content *content, const struct bpf_map *map,
	     const struct btf *btf);
void bpf_free(struct bpf_content *content);

/* Prints a table with up to @limit rows; 0: all. */
void bpf_print(const struct bpf_content *content, size_t limit, FILE *out);
void bpf_print_json(const struct bpf_content *content, size_t limit,
		    struct json *json);

/*
 * Sets a constant of an object that is not loaded yet, by "NAME=VALUE". Returns
 * NULL, or what is wrong with it.
 */
const char *bpf_set(struct bpf_object *object, const char *text);

/* Sets @number to a constant of an object. Returns false if it has none. */
bool bpf_get(const struct bpf_object *object, const char *name,
	     uint64_t *number);

#endif /* HWPROF_BPF_H */
