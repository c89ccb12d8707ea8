/* SPDX-License-Identifier: GPL-2.0-only */
/* See nests.h. */
#include "../nests.h"

	.text
	.globl	_start
_start:
	xor	%ebx, %ebx		/* back edges so far */
heads:
	.rept	NESTS_LOOPS
	nop
	.endr

	cmp	$NESTS_LOOPS, %ebx
	jne	tails
	.rept	NESTS_LINES
	jmp	1f
1:
	.endr

tails:
	.set	loop, 0
	.rept	NESTS_LOOPS
	cmp	$loop, %ebx
	jne	1f
	inc	%ebx
	jmp	heads + loop
1:
	.set	loop, loop + 1
	.endr

	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
