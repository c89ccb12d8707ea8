// SPDX-License-Identifier: GPL-2.0-only
/*
 * range_curves code < EVENTS range_curves data < LOADS
 *
 * Measures how many ranges a profile takes, as figures 2, 3, 8, 9 and 11 of the
 * paper do (Mysore et al.). `code` counts the targets of branches from trace.c,
 * `data` the values of loads from loads.c. Lines of output:
 *
 * nodes STREAM PPM MOST MEAN LAST REFUSED
 *	Ranges of the engine, by epsilon: the most, the mean, and those at the
 *	end. Then the splits that were refused because memory was short.
 *
 * paper STREAM PPM WAYS MOST MEAN DEPTH
 *	The same of the paper's own tree. It divides a range into WAYS, and
 *	merges each time the stream has become twice as long. There are DEPTH
 *	ranges on the way to one value.
 *
 * growth STREAM EVENTS ENGINE PAPER
 *	Ranges after so many events. Epsilon is 10 %.
 *
 * width LOADS BITS SHARE
 *	Hot ranges of at most 2^BITS values have SHARE percent of LOADS, which
 *	are all, those that miss a first cache, or those that miss two.
 *
 * Exit status 1: there was nothing to count.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hot_ranges.h"
#include "loads.h"
#include "tests/oracle/array.h"

#define HOT	0.1

enum {
	BLOCKS	= 1 << 13,	/* some 800 KiB */
	/* Bytes of a block; two are for the owners of roots. */
	EACH	= sizeof(struct range_block) + sizeof(struct range_told) + 2,
	TOP	= 1 << 10,	/* events, before which nothing is told */
};

static const u32 errors[] = { 100000, 50000, 20000, 10000, 5000, 1000 };

/* --- the engine's tree ---------------------------------------------------- */

struct sum {
	size_t most;
	double all;
};

static void add(struct sum *sum, size_t nodes)
{
	sum->most = max(sum->most, nodes);
	sum->all += nodes;
}

static size_t engine_nodes(const struct range_tree *tree)
{
	return 1 + (size_t)RANGE_SIBLINGS * (tree->block_count -
					     tree->root_blocks - tree->room);
}

static void engine_make(struct range_tree *tree, void *memory, u32 epsilon_ppm)
{
	range_tree_init(tree, memory, BLOCKS * EACH, epsilon_ppm, false);
}

static void *engine_memory(void)
{
	void *memory = calloc(BLOCKS, EACH);

	if (!memory)
		abort();
	return memory;
}

static void print_engine(const char *stream, const struct keys *keys,
			 u32 epsilon_ppm)
{
	static struct range_tree tree;
	void *memory = engine_memory();
	struct sum sum = { 0 };
	size_t i;
	u32 root;

	engine_make(&tree, memory, epsilon_ppm);
	root = range_root(&tree, 0);
	for (i = 0; i < keys->count; i++) {
		range_count(&tree, root, keys->items[i].value, 1);
		add(&sum, engine_nodes(&tree));
	}
	printf("nodes %s %u %zu %.0f %zu %llu\n", stream, epsilon_ppm, sum.most,
	       sum.all / keys->count, engine_nodes(&tree),
	       (unsigned long long)tree.refused);
	free(memory);
}

/* --- the paper's tree ----------------------------------------------------- */

struct node {
	u64 count;
	struct node *parts;	/* NULL: not divided */
};

struct paper {
	struct node root;
	u32 bits;		/* log2 of the parts of a range */
	double epsilon;
	u64 n, merge_at;
	double threshold;
	size_t nodes;
	u64 depth;		/* sum of all events' */
};

static void divide(struct paper *paper, struct node *node)
{
	node->parts = calloc(1 << paper->bits, sizeof(*node));
	if (!node->parts)
		abort();
	paper->nodes += 1 << paper->bits;
}

/* Merges, from below, what together stays under the threshold. */
static void merge(struct paper *paper, struct node *node)
{
	u64 sum = node->count;
	bool leaves = true;
	u32 i;

	if (!node->parts)
		return;
	for (i = 0; i < 1U << paper->bits; i++) {
		merge(paper, &node->parts[i]);
		leaves &= !node->parts[i].parts;
		sum += node->parts[i].count;
	}
	if (!leaves || sum >= paper->threshold)
		return;
	free(node->parts);
	node->parts = NULL;
	node->count = sum;
	paper->nodes -= 1 << paper->bits;
}

static void paper_count(struct paper *paper, u64 value)
{
	struct node *node = &paper->root;
	u32 left = 64;

	paper->n++;
	paper->threshold = paper->epsilon * paper->n * paper->bits / 64;
	while (node->parts) {
		left -= paper->bits;
		node = &node->parts[value >> left & ((1U << paper->bits) - 1)];
		paper->depth++;
	}
	node->count++;
	if (node->count > paper->threshold && left)
		divide(paper, node);
	if (paper->n < paper->merge_at)
		return;
	merge(paper, &paper->root);
	paper->merge_at *= 2;
}

static struct paper paper_make(u32 bits, u32 epsilon_ppm)
{
	return (struct paper){
		.bits = bits, .epsilon = epsilon_ppm / 1e6, .merge_at = TOP,
		.nodes = 1,
	};
}

static void paper_free(struct paper *paper)
{
	paper->threshold = (double)paper->n + 1;
	merge(paper, &paper->root);
}

static void print_paper(const char *stream, const struct keys *keys,
			u32 epsilon_ppm, u32 bits)
{
	struct paper paper = paper_make(bits, epsilon_ppm);
	struct sum sum = { 0 };
	size_t i;

	for (i = 0; i < keys->count; i++) {
		paper_count(&paper, keys->items[i].value);
		add(&sum, paper.nodes);
	}
	printf("paper %s %u %u %zu %.0f %.1f\n", stream, epsilon_ppm,
	       1U << bits, sum.most, sum.all / keys->count,
	       (double)paper.depth / keys->count);
	paper_free(&paper);
}

static void print_growth(const char *stream, const struct keys *keys)
{
	struct paper paper = paper_make(RANGE_BRANCH, errors[0]);
	static struct range_tree tree;
	void *memory = engine_memory();
	size_t i, next = TOP;
	u32 root;

	engine_make(&tree, memory, errors[0]);
	root = range_root(&tree, 0);
	for (i = 0; i < keys->count; i++) {
		range_count(&tree, root, keys->items[i].value, 1);
		paper_count(&paper, keys->items[i].value);
		if (i + 1 < next)
			continue;
		printf("growth %s %zu %zu %zu\n", stream, i + 1,
		       engine_nodes(&tree), paper.nodes);
		next *= 2;
	}
	paper_free(&paper);
	free(memory);
}

static bool print_all(const char *stream, const struct keys *keys)
{
	size_t i;
	u32 bits;

	for (i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		print_engine(stream, keys, errors[i]);
	for (bits = 1; bits <= 4; bits *= 2) {
		print_paper(stream, keys, 100000, bits);
		print_paper(stream, keys, 10000, bits);
	}
	print_growth(stream, keys);
	return keys->count;
}

/* --- caches --------------------------------------------------------------- */

enum { WAYS = 8, LINE = 64, SETS_MOST = 512 };

/* A cache that replaces the least recently used line. */
struct cache {
	u32 sets;
	u64 lines[SETS_MOST][WAYS];	/* the newest first; 0: none */
};

/* Returns true if the line is not there, and takes it in. */
static bool misses(struct cache *cache, u64 address)
{
	u64 line = address / LINE + 1, *set = cache->lines[line % cache->sets];
	u32 way = 0;

	while (way < WAYS - 1 && set[way] != line)
		way++;
	if (set[way] == line) {
		memmove(set + 1, set, way * sizeof(*set));
		*set = line;
		return false;
	}
	memmove(set + 1, set, (WAYS - 1) * sizeof(*set));
	*set = line;
	return true;
}

static void print_widths(const char *loads, const struct keys *keys)
{
	struct range_set set;
	u64 refused, sum;
	u32 bits;
	size_t i;

	if (!keys->count)
		return;
	set = counted_set(keys, false, BLOCKS, 10000, HOT * keys->count,
			  &refused);
	for (bits = 0; bits <= 64; bits += 8) {
		for (sum = 0, i = 0; i < set.count; i++)
			if (set.nodes[i].hot && set.nodes[i].bits <= bits)
				sum += set.nodes[i].rest;
		printf("width %s %u %.1f\n", loads, bits,
		       100.0 * sum / keys->count);
	}
	range_set_free(&set);
}

/* --- what is read --------------------------------------------------------- */

static bool code(void)
{
	const struct keys targets = read_targets();

	return print_all("code", &targets);
}

static bool data(void)
{
	static struct cache first = { .sets = 64 }, second = { .sets = 512 };
	static struct load buffer[8192];
	struct keys all = { 0 }, missing[2] = { 0 };
	size_t got, i;

	while ((got = fread(buffer, sizeof(*buffer), 8192, stdin)))
		for (i = 0; i < got; i++) {
			struct range_key key = { .value = buffer[i].value };

			if (buffer[i].width > sizeof(key.value))
				continue;
			*array_push(&all) = key;
			if (!misses(&first, buffer[i].address))
				continue;
			*array_push(&missing[0]) = key;
			if (misses(&second, buffer[i].address))
				*array_push(&missing[1]) = key;
		}
	print_widths("all", &all);
	print_widths("first", &missing[0]);
	print_widths("second", &missing[1]);
	return print_all("values", &all);
}

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "code"))
		return !code();
	if (argc == 2 && !strcmp(argv[1], "data"))
		return !data();
	fprintf(stderr, "usage: range_curves code|data\n");
	return 2;
}
