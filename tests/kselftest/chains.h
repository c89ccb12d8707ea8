/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The program `chains`: places of its procedures, and numbers of their calls.
 */
#ifndef CHAINS_H
#define CHAINS_H

#define CHAINS_TEXT		0x10000000
#define CHAINS_PROCEDURE	0x100		/* bytes of each */
#define CHAINS_AT(number)	(CHAINS_TEXT + (number) * CHAINS_PROCEDURE)

/* Numbers of procedures; 0 and 1: the program's start. */
#define CHAINS_SELF		2	/* calls itself */
#define CHAINS_A		3	/* calls B, which calls A */
#define CHAINS_B		4
#define CHAINS_LEAF		5
#define CHAINS_OTHER_LEAF	6
#define CHAINS_STUB		7	/* jumps to LEAF, like a PLT */
#define CHAINS_OUTER		8	/* calls MIDDLE, which calls THROWER */
#define CHAINS_MIDDLE		9
#define CHAINS_THROWER		10	/* jumps back into OUTER */
#define CHAINS_HANDLER		11
#define CHAINS_LANDING		12	/* calls FLYER; it "returns" here */
#define CHAINS_FLYER		13
#define CHAINS_END		14

#define CHAINS_SELF_DEPTH	300	/* calls of SELF by itself */
#define CHAINS_CYCLES		4	/* activations of A; each calls B */
#define CHAINS_INDIRECT		10	/* calls of each leaf from one site */
#define CHAINS_STUBS		4
#define CHAINS_THROWS		3
#define CHAINS_SIGNALS		3
#define CHAINS_FLIGHTS		2
#define CHAINS_CHILDS		5	/* calls in the fork */
#define CHAINS_THREADS		6	/* calls in the thread */

#endif /* CHAINS_H */
