/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two loops with known counts (known.h), and a program that runs only them,
 * without a library.
 */
#include "../known.h"

	.text
	.globl	known_run, known_outer, known_inner
known_run:
	mov	$KNOWN_OUTER, %edx
known_outer:
	mov	$KNOWN_INNER, %ecx
known_inner:
	dec	%ecx
	jnz	known_inner
	dec	%edx
	jnz	known_outer
	ret

#ifdef KNOWN_PROGRAM
	.globl	_start
_start:
	call	known_run
	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
#endif

	.section .note.GNU-stack, "", @progbits
