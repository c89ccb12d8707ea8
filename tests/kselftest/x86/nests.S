/* SPDX-License-Identifier: GPL-2.0-only */
/* See nests.h. */
#include "../nests.h"

#define WAY_BYTES		8

	.text
	.globl	_start
_start:
	xor	%ebx, %ebx		/* the loop that iterates next */
	mov	$ways, %eax
	/* Code before the first branch may not be seen. */
	jmp	outer
outer:
	nop

	/*
	 * Each byte is a head: with fewer prefixes, it is the same instruction.
	 */
heads:
	.rept	NESTS_LOOPS / 15
	.fill	14, 1, 0x66
	nop
	.endr

	cmp	$NESTS_LOOPS, %ebx
	je	on
	.set	loop, 0
	.rept	NESTS_LOOPS
	cmp	$loop, %ebx
	jne	1f
	inc	%ebx
	jmp	heads + loop
1:
	.set	loop, loop + 1
	.endr

on:
	jmp	*%rax
ways:
	.rept	NESTS_WAYS
	add	$WAY_BYTES, %eax
	.byte	0xe9			/* jmp, of 5 bytes */
	.long	outer - (. + 4)
	.endr

	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
