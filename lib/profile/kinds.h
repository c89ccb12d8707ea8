/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The kinds of profiles that there are, in the order of enum hwprof_kind. All
 * lists of them, in the library and in the tools, are made from this table.
 */
#ifndef HWPROF_KINDS_H
#define HWPROF_KINDS_H

/*
 * HWPROF_KIND_LIST(FIRST, NEXT): FIRST() for the first kind and NEXT() for each
 * other one, both of
 *
 *	(constant, field, stem, rows)
 *
 * HWPROF_KIND_constant is its number. The field is the one with which events
 * ask for it, and the name of its report. The stem begins the names of what the
 * library and the tools have for it: stem_kind and report_stem. The rows are
 * the types of rows that are of the kind, as bits.
 */
#define HWPROF_KIND_LIST(FIRST, NEXT)					\
	FIRST(LOOPS, loops, loops,					\
	      1 << HWPROF_ROW_LOOP | 1 << HWPROF_ROW_TIME)		\
	NEXT(RANGES, ranges, ranges,					\
	     1 << HWPROF_ROW_RANGE | 1 << HWPROF_ROW_BOX)		\
	NEXT(CALLS, calls, calls, 1 << HWPROF_ROW_CALL)			\
	NEXT(CCT, cct, contexts, 1 << HWPROF_ROW_CONTEXT)		\
	NEXT(PATHS, paths, paths, 1 << HWPROF_ROW_PATH)			\
	NEXT(VALUES, values, values, 1 << HWPROF_ROW_VALUE)		\
	NEXT(EDGES, edges, edges, 1 << HWPROF_ROW_EDGE)

#define HWPROF_KIND_TABLE(X)	HWPROF_KIND_LIST(X, X)

/* String literals of all names: "loops, ranges, ..." and "loops|ranges|...". */
#define KIND_NAME(constant, field, stem, rows)	#field
#define KIND_COMMA(constant, field, stem, rows)	", " #field
#define KIND_BAR(constant, field, stem, rows)	"|" #field
#define KIND_NAMES	HWPROF_KIND_LIST(KIND_NAME, KIND_COMMA)
#define KIND_NAMES_OR	HWPROF_KIND_LIST(KIND_NAME, KIND_BAR)

#endif /* HWPROF_KINDS_H */
