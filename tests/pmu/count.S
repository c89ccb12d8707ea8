/* SPDX-License-Identifier: GPL-2.0-only */
/* So many instructions and branches, exactly: run has their numbers. */
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

	mov	$100000, %ecx		/* one also with faults in it: a page each */
	lea	buffer(%rip), %rdi
	rep stosb

	mov	$100, %ebx
1:	mov	$20, %eax		/* getpid() */
	int	$0x80			/* a branch, but no near one */
	dec	%ebx
	jnz	1b			/* 99 */

	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall				/* as int is */

	.bss
buffer:	.space	100000
