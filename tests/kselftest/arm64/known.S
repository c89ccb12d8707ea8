/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two loops with known counts (known.h), and a program that runs only them,
 * without a library.
 */
#include "../known.h"

	.text
	.globl	known_run, known_outer, known_inner
known_run:
	mov	w1, KNOWN_OUTER
known_outer:
	mov	w0, KNOWN_INNER
known_inner:
	subs	w0, w0, 1
	b.ne	known_inner
	subs	w1, w1, 1
	b.ne	known_outer
	ret

#ifdef KNOWN_PROGRAM
	.globl	_start
_start:
	bl	known_run
	mov	x8, 93			/* exit */
	mov	x0, 0
	svc	0
#endif

	.section .note.GNU-stack, "", %progbits
