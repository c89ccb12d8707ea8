/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops with known numbers of back edges: a function, and the program `known`.
 */
#ifndef KNOWN_H
#define KNOWN_H

#define KNOWN_OUTER		200	/* iterations of the outer loop */
#define KNOWN_INNER		50	/* iterations of the inner loop, each
					 * time */

#define KNOWN_OUTER_BACK	(KNOWN_OUTER - 1)
#define KNOWN_INNER_BACK	(KNOWN_OUTER * (KNOWN_INNER - 1))
#define KNOWN_BACK		(KNOWN_OUTER_BACK + KNOWN_INNER_BACK)
#define KNOWN_BRANCHES		(KNOWN_BACK + 2)	/* call and return */

/* The program is linked at this address. Each loop's head follows a mov. */
#define KNOWN_TEXT		0x10000000
#ifdef __aarch64__
#define KNOWN_MOV		4	/* bytes */
#else
#define KNOWN_MOV		5
#endif
#define KNOWN_OUTER_HEAD	(KNOWN_TEXT + KNOWN_MOV)
#define KNOWN_INNER_HEAD	(KNOWN_TEXT + 2 * KNOWN_MOV)

#ifndef __ASSEMBLER__
void known_run(void);
extern const char known_outer[], known_inner[];
#endif

#endif /* KNOWN_H */
