// SPDX-License-Identifier: GPL-2.0-only
/*
 * sorter [ROUNDS]: the program that tests of exports profile. It has what
 * layout and inlining depend on: cold paths in hot functions, a switch,
 * function pointers, recursion, and calls of another object.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ITEMS = 64 };

struct item {
	uint32_t key;
	uint32_t kind;
	char text[16];
};

static uint32_t state = 12345;
static uint64_t checked;

static uint32_t next(void)
{
	state = state * 1664525 + 1013904223;
	return state >> 8;
}

/* Never called with what it refuses: all of it is cold. */
__attribute__((noinline)) void complain(const char *what, uint32_t value)
{
	fprintf(stderr, "sorter: %s: %u\n", what, value);
	if (value % 3 == 0)
		fprintf(stderr, "sorter: a multiple of three\n");
	exit(1);
}

__attribute__((noinline)) int by_key(const struct item *a,
				     const struct item *b)
{
	if (a->kind > 7)
		complain("kind", a->kind);
	if (b->kind > 7)
		complain("kind", b->kind);
	return a->key < b->key ? -1 : a->key > b->key;
}

__attribute__((noinline)) int by_text(const struct item *a,
				      const struct item *b)
{
	return strcmp(a->text, b->text);
}

typedef int (*compare)(const struct item *a, const struct item *b);

/* Recursive, with a call through a pointer in its inner loop. */
__attribute__((noinline)) void sort(struct item *items, int count,
				    compare less)
{
	struct item pivot, swap;
	int low = 0, high = count - 1;

	if (count < 2)
		return;
	pivot = items[count / 2];
	while (low <= high) {
		while (less(&items[low], &pivot) < 0)
			low++;
		while (less(&pivot, &items[high]) < 0)
			high--;
		if (low > high)
			break;
		swap = items[low];
		items[low++] = items[high];
		items[high--] = swap;
	}
	sort(items, high + 1, less);
	sort(items + low, count - low, less);
}

__attribute__((noinline)) uint32_t weigh(const struct item *item)
{
	switch (item->kind) {
	case 0:
		return item->key;
	case 1:
		return item->key ^ 0x55;
	case 2:
		return item->key * 3 + 1;
	case 3:
		return item->key >> 3;
	case 4:
		return strlen(item->text);
	case 5:
		return item->key % 97;
	case 6:
		return ~item->key;
	case 7:
		return item->key << 2;
	}
	complain("kind", item->kind);
	return 0;
}

__attribute__((noinline)) void fill(struct item *items)
{
	int i;

	for (i = 0; i < ITEMS; i++) {
		items[i].key = next() % 1000;
		items[i].kind = next() % 16 ? next() % 3 : next() % 8;
		snprintf(items[i].text, sizeof(items[i].text), "%u",
			 items[i].key);
		if (items[i].key >= 1000)
			complain("key", items[i].key);
	}
}

int main(int argc, char **argv)
{
	static const compare orders[] = { by_key, by_text };
	int rounds = argc > 1 ? atoi(argv[1]) : 10, i, j;
	static struct item items[ITEMS];

	for (i = 0; i < rounds; i++) {
		fill(items);
		sort(items, ITEMS, orders[i % 4 == 3]);
		for (j = 0; j < ITEMS; j++)
			checked += weigh(&items[j]);
	}
	printf("%llu\n", (unsigned long long)checked);
	return 0;
}
