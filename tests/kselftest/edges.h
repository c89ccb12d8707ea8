/* SPDX-License-Identifier: GPL-2.0-only */
/* Branches of x86/edges.S, with counts that test_edges.c knows. */
#ifndef EDGES_H
#define EDGES_H

#define EDGES_ROUNDS	2000	/* a multiple of 4 */

#endif /* EDGES_H */
