/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program `nests`: many ways to run through the heads of many loops, all of
 * which each of them enters. To find that out takes long.
 */
#ifndef NESTS_H
#define NESTS_H

#define NESTS_LOOPS		300	/* each goes round twice */
#define NESTS_WAYS		4000
#define NESTS_TEXT		0x10000000
#define NESTS_OUTER_HEAD	(NESTS_TEXT + 9)	/* of a loop around all ways */
#define NESTS_HEAD(loop)	(NESTS_TEXT + 10 + (loop))

#endif /* NESTS_H */
