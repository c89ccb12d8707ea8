/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Sequitur (Nevill-Manning, Witten): makes a grammar of a sequence. Each rule
 * stands for a part that is there twice or more: no pair of symbols is in the
 * grammar twice, and each rule is used twice at least.
 */
#ifndef HWPROF_SEQUITUR_H
#define HWPROF_SEQUITUR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sequitur;

/* A symbol from here on is a rule: SEQUITUR_RULE | its number. */
#define SEQUITUR_RULE	(1U << 31)

/* Returns NULL without memory. */
struct sequitur *sequitur_new(void);
void sequitur_free(struct sequitur *sequitur);

/*
 * Appends a symbol below 1 << 30. Returns false without memory; the grammar is
 * then of no use.
 */
bool sequitur_append(struct sequitur *sequitur, uint32_t symbol);

/*
 * Returns the number of rules, with those that are no longer used. Rule 0 is
 * the sequence.
 */
uint32_t sequitur_rule_count(const struct sequitur *sequitur);
bool sequitur_rule_is_used(const struct sequitur *sequitur, uint32_t rule);

/*
 * Walks the symbols of a rule: @at is 0 at first. Returns false at the end.
 */
bool sequitur_next(const struct sequitur *sequitur, uint32_t rule, uint32_t *at,
		   uint32_t *symbol);

#endif /* HWPROF_SEQUITUR_H */
