/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rows of edges of an assembled program (assembled.h), which process 100 has at
 * EDGE_BASE.
 */
#ifndef HWPROF_TEST_EDGE_ROWS_H
#define HWPROF_TEST_EDGE_ROWS_H

#include "fixture.h"

enum { EDGE_BASE = 0x400000 };

/* Returns a symbol's address in the process; NULL: 0. */
uint64_t edge_at(const char *symbol);

/* Returns an exact row. */
struct hwprof_row_edge edge_row(uint64_t from, uint64_t to, uint64_t end,
				uint64_t count, unsigned int kind);
void edge_put(struct fixture *fixture, const struct hwprof_row_edge *row);
/* Adds the exact row of an edge between symbols. */
void edge_add(struct fixture *fixture, const char *from, const char *to,
	      const char *end, uint64_t count, unsigned int kind);

#endif /* HWPROF_TEST_EDGE_ROWS_H */
