// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program that the demo profiles counts the words of a text. Each of its
 * loops has another shape, and each is in a function of its own.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256, WORDS = 4096 };

struct word {
	struct word *next;
	const char *text;
	size_t length;
	unsigned int count;
};

static struct word words[WORDS];
static struct word *buckets[BUCKETS];
static size_t word_count;

/* Has as many iterations as the word has letters. */
static __attribute__((noinline)) unsigned int hash_word(const char *text,
							size_t length)
{
	unsigned int hash = 0;

	while (length--)
		hash = 31 * hash + (unsigned char)*text++;
	return hash % BUCKETS;
}

/* Is entered for each word; iterations are few, since chains are short. */
static __attribute__((noinline)) struct word *find_word(const char *text,
							size_t length)
{
	struct word **bucket = &buckets[hash_word(text, length)], *word;

	for (word = *bucket; word; word = word->next)
		if (word->length == length && !memcmp(word->text, text, length))
			return word;
	if (word_count == WORDS)
		return NULL;
	word = &words[word_count++];
	*word = (struct word){ *bucket, text, length, 0 };
	return *bucket = word;
}

/* Is entered once, for the whole text. */
static __attribute__((noinline)) void count_words(const char *text)
{
	while (*text) {
		const char *end = text;
		struct word *word;

		while (isalpha((unsigned char)*end))
			end++;
		word = end > text ? find_word(text, end - text) : NULL;
		if (word)
			word->count++;
		text = end > text ? end : text + 1;
	}
}

/* Two nested loops: insertion sort. */
static __attribute__((noinline)) void sort_words(void)
{
	size_t i, j;

	for (i = 1; i < word_count; i++) {
		struct word word = words[i];

		for (j = i; j && words[j - 1].count < word.count; j--)
			words[j] = words[j - 1];
		words[j] = word;
	}
}

/* words FILE TIMES */
int main(int argc, char **argv)
{
	static char text[1 << 20];
	FILE *file = fopen(argc > 1 ? argv[1] : "/dev/null", "r");
	int times = argc > 2 ? atoi(argv[2]) : 1;
	size_t i;

	if (!file)
		return 1;
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	while (times--) {
		word_count = 0;
		memset(buckets, 0, sizeof(buckets));
		count_words(text);
		sort_words();
	}
	for (i = 0; i < word_count && i < 3; i++)
		printf("%u %.*s\n", words[i].count, (int)words[i].length,
		       words[i].text);
	return 0;
}
