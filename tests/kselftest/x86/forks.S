/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * `forks`: starts three children that execute ./known. It has no back edge
 * itself.
 */
	.macro	child
	mov	$57, %eax		/* fork */
	syscall
	test	%eax, %eax
	jz	become
	.endm

	.text
	.globl	_start
_start:
	child
	child
	child
	.rept	3
	mov	$61, %eax		/* wait4 */
	mov	$-1, %rdi
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	syscall
	.endr
	mov	$60, %eax		/* exit */
	xor	%edi, %edi
	syscall
become:
	mov	$59, %eax		/* execve */
	lea	program(%rip), %rdi
	lea	arguments(%rip), %rsi
	xor	%edx, %edx
	syscall
	ud2

	.section .rodata
program:
	.asciz	"./known"
	.section .data.rel.ro, "aw"
arguments:
	.quad	program, 0
	.section .note.GNU-stack, "", @progbits
