/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Tables that number things: texts, and rows of numbers. */
#ifndef HWPROF_NUMBERS_H
#define HWPROF_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { NUMBERED_WORDS = 5 };

/* An entry: a text, or words of which further ones are 0. */
struct numbered {
	char *text;			/* NULL: words */
	uint64_t words[NUMBERED_WORDS];
	size_t number;			/* from 0, in the order of their
					 * arrival */
	uint64_t value;			/* the caller's, 0 at first */
};

struct numbers {
	void *tree;			/* of struct numbered */
	struct numbered **list;		/* by number */
	size_t count, room;
};

/*
 * Return the entry of a text, NULL being "", or of words. @is_new tells whether
 * it was added. Return NULL if out of memory.
 */
struct numbered *numbers_text(struct numbers *numbers, const char *text,
			      bool *is_new);
struct numbered *numbers_words(struct numbers *numbers,
			       const uint64_t words[NUMBERED_WORDS],
			       bool *is_new);
/* Adds all texts of @from. Returns 0 or -ENOMEM. */
int numbers_add_texts(struct numbers *numbers, const struct numbers *from);
/*
 * Return the number of a text, or the number of words plus 1, and add what is
 * not there. Set *@failed and return 0 if out of memory.
 */
uint64_t number_of_text(struct numbers *numbers, const char *text,
			bool *failed);
uint64_t number_of_words(struct numbers *numbers,
			 const uint64_t words[NUMBERED_WORDS], bool *failed);
void numbers_free(struct numbers *numbers);

#endif /* HWPROF_NUMBERS_H */
