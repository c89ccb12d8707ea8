/* SPDX-License-Identifier: GPL-2.0-only */
/* Loads with known values (values.h). */
#include "../values.h"

	.text
	.globl	values_run, value_constant, value_zero, value_stride
	.globl	value_glacial, value_turns
values_run:
	movabs	$VALUES_EARLY, %rax
	mov	%rax, glacial(%rip)
	xor	%esi, %esi
	xor	%ecx, %ecx
again:
	mov	%rcx, stride(%rip)
value_constant:
	mov	constant(%rip), %rax
value_zero:
	movzwl	zero(%rip), %eax
value_stride:
	mov	stride(%rip), %rax
value_glacial:
	mov	glacial(%rip), %rax
	mov	%esi, %eax
	and	$(VALUES_TURNS - 1), %eax
	lea	turns(%rip), %rdx
value_turns:
	mov	(%rdx,%rax,4), %eax
	add	$VALUES_STRIDE, %rcx
	inc	%rsi
	lea	(%rsi,%rsi), %rax
	cmp	%rdi, %rax
	jne	1f
	movq	$VALUES_LATE, glacial(%rip)
1:
	cmp	%rdi, %rsi
	jb	again
	ret

	.data
	.balign	8
constant:
	.quad	VALUES_CONSTANT
zero:
	.quad	0xffff0000		/* two bytes of this are read */
stride:
	.quad	0
glacial:
	.quad	0
turns:
	.long	0x100, 0x101, 0x102, 0x103

	.section .note.GNU-stack, "", @progbits
