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
 *	(constant, field, stem)
 *
 * HWPROF_KIND_constant is its number. The field is the one with which events
 * ask for it, and the name of its report. The stem begins the names of what the
 * library and the tools have for it: stem_kind and report_stem.
 */
#define HWPROF_KIND_LIST(FIRST, NEXT)					\
	FIRST(LOOPS, loops, loops)					\
	NEXT(RANGES, ranges, ranges)					\
	NEXT(CALLS, calls, calls)					\
	NEXT(CCT, cct, contexts)					\
	NEXT(PATHS, paths, paths)					\
	NEXT(VALUES, values, values)					\
	NEXT(EDGES, edges, edges)

#define HWPROF_KIND_TABLE(X)	HWPROF_KIND_LIST(X, X)

/* String literals of all names: "loops, ranges, ..." and "loops|ranges|...". */
#define KIND_NAME(constant, field, stem)	#field
#define KIND_COMMA(constant, field, stem)	", " #field
#define KIND_BAR(constant, field, stem)		"|" #field
#define KIND_NAMES	HWPROF_KIND_LIST(KIND_NAME, KIND_COMMA)
#define KIND_NAMES_OR	HWPROF_KIND_LIST(KIND_NAME, KIND_BAR)

#endif /* HWPROF_KINDS_H */
