/* SPDX-License-Identifier: GPL-2.0-only */
/* So many instructions and branches, exactly: run.py has their numbers. */
	.globl	_start
_start:
first:	mov	$1000000, %ecx
1:	dec	%ecx
	jnz	1b			/* taken 999,999 times */

second:	mov	$500000, %ecx
1:	dec	%ecx
	jnz	1b			/* 499,999 */

	mov	$100, %edx
1:	lea	buffer(%rip), %rdi
	mov	$1000, %ecx
	rep stosb			/* is one instruction, and no branch */
	mov	$0, %ecx
	rep stosb			/* so is that */
	dec	%edx
	jnz	1b			/* 99 */

	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall				/* a branch, but no near one */

	.bss
buffer:	.space	1000
