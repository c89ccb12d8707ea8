/* SPDX-License-Identifier: GPL-2.0-only */
/* Executes an exact number of instructions and branches, which `run` knows. */
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
	rep stosb			/* one instruction, no branch */
	mov	$0, %ecx
	rep stosb			/* also one */
	dec	%edx
	jnz	1b			/* 99 */

	mov	$100000, %ecx		/* one, though each page faults */
	lea	buffer(%rip), %rdi
	rep stosb

	mov	$100, %ebx
1:	mov	$20, %eax		/* getpid() */
	int	$0x80			/* a far branch */
	dec	%ebx
	jnz	1b			/* 99 */

	mov	$60, %eax		/* exit(0) */
	xor	%edi, %edi
	syscall				/* a far branch, too */

	.bss
buffer:	.space	100000
