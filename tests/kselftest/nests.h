/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program `nests`: loops that all lie around the same code, which is many short
 * lines. What enters them is looked for at each line, and takes long to find.
 */
#ifndef NESTS_H
#define NESTS_H

#define NESTS_LOOPS		300	/* each goes round twice */
#define NESTS_LINES		24000	/* within all of them */
#define NESTS_HEAD(loop)	(0x10000002 + (loop))

#endif /* NESTS_H */
