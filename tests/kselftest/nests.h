/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program `nests`: many ways through the heads of many loops. Each way
 * enters every loop, which takes long to work out.
 */
#ifndef NESTS_H
#define NESTS_H

#define NESTS_LOOPS		300	/* each iterates twice */
#define NESTS_WAYS		4000
#define NESTS_TEXT		0x10000000
#define NESTS_OUTER_HEAD	(NESTS_TEXT + 9)	/* loop of all ways */
#define NESTS_HEAD(loop)	(NESTS_TEXT + 10 + (loop))

#endif /* NESTS_H */
