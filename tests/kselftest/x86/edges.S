/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A loop of EDGES_ROUNDS rounds with a label at each branch. The round's
 * number, in ecx, goes down to 1. A conditional jump is taken in every fourth
 * round, and an indirect call leads to two procedures in turn.
 */
#include "../edges.h"

	.text
	.globl	edges_run
	.macro	at name
	.globl	edge_\name
edge_\name:
	.endm

edges_run:
	mov	$EDGES_ROUNDS, %ecx
at loop
	test	$3, %cl
at cond
	jz	edge_fourth
	nop
at jump
	jmp	edge_join
at fourth
	nop
at join
	mov	%ecx, %eax
	and	$1, %eax
	lea	edges_targets(%rip), %rdx
at call
	call	*(%rdx,%rax,8)
at behind
	dec	%ecx
at back
	jnz	edge_loop
at end
	ret

at even
	nop
at even_ret
	ret
at odd
	nop
at odd_ret
	ret

	.section .data.rel.local, "aw"
	.balign	8
edges_targets:
	.quad	edge_even, edge_odd

	.section .note.GNU-stack, "", @progbits
