/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `forks`: starts three children that execute ./known. It has no back edge
 * itself.
 */
	.macro	child
	mov	x8, 220			/* clone, as fork does */
	mov	x0, 17			/* SIGCHLD */
	mov	x1, 0
	mov	x2, 0
	mov	x3, 0
	mov	x4, 0
	svc	0
	cbz	x0, become
	.endm

	.text
	.globl	_start
_start:
	child
	child
	child
	.rept	3
	mov	x8, 260			/* wait4 */
	mov	x0, -1
	mov	x1, 0
	mov	x2, 0
	mov	x3, 0
	svc	0
	.endr
	mov	x8, 93			/* exit */
	mov	x0, 0
	svc	0
become:
	mov	x8, 221			/* execve */
	ldr	x0, =program
	ldr	x1, =arguments
	mov	x2, 0
	svc	0
	udf	0

	.section .rodata
program:
	.asciz	"./known"
	.section .data.rel.ro, "aw"
	.balign	8
arguments:
	.quad	program, 0
	.section .note.GNU-stack, "", %progbits
