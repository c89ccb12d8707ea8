// SPDX-License-Identifier: GPL-2.0-only
#include "assembled.h"
#include "edge_rows.h"

uint64_t edge_at(const char *symbol)
{
	return symbol ? EDGE_BASE + assembled_at(symbol) : 0;
}

struct hwprof_row_edge edge_row(uint64_t from, uint64_t to, uint64_t end,
				uint64_t count, unsigned int kind)
{
	return (struct hwprof_row_edge){
		.row.type = HWPROF_ROW_EDGE,
		.row.size = sizeof(struct hwprof_row_edge),
		.row.session = 1, .row.space = 100, .row.pid = 100,
		.from = from, .to = to, .end = end, .count = count,
		.kind = kind, .basis = HWPROF_BASIS_EXACT,
	};
}

void edge_put(struct fixture *fixture, const struct hwprof_row_edge *row)
{
	fixture_row(fixture, 10, row->from ? row->from : row->end, row->to,
		    row->end ? row->count : 0, &row->row);
}

void edge_add(struct fixture *fixture, const char *from, const char *to,
	      const char *end, uint64_t count, unsigned int kind)
{
	const struct hwprof_row_edge row = edge_row(edge_at(from), edge_at(to),
						    edge_at(end), count, kind);

	edge_put(fixture, &row);
}
