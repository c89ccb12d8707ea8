/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Known loads and stores: test_accesses.c has the accesses of each label. They
 * use a separate stack, so that its addresses are known, too.
 */
	.text
	.globl	accesses_run, accesses_begin, accesses_end
	.macro	at name
	.globl	access_\name
access_\name:
	.endm

accesses_run:
	push	%rbx
	push	%rbp
	push	%r12
	mov	%rsp, %r12
	lea	access_stack_top(%rip), %rsp
	lea	access_words(%rip), %rbx
accesses_begin:
at load
	mov	(%rbx), %rax
at load_byte
	movzbl	access_words(%rip), %eax
at load_signed
	movsbl	7(%rbx), %eax
at load_indexed
	mov	$3, %ecx
	mov	-8(%rbx,%rcx,8), %eax
at load_zero
	mov	24(%rbx), %rax
at load_vector
	movups	(%rbx), %xmm0
at load_base
	mov	%rbx, %rax
	mov	8(%rax), %rax		/* the base itself */
at load_fs
	mov	%fs:0, %rax
at compare
	cmpl	$5, 16(%rbx)
at store
	movl	$0x5a, 32(%rbx)
at store_vector
	movups	%xmm0, 48(%rbx)
at add
	addq	$1, 40(%rbx)
at lock
	lock incl 32(%rbx)
at exchange
	xchg	%rax, 64(%rbx)
at nothing
	lea	8(%rbx), %rax
	prefetcht0 8(%rbx)
	nopl	8(%rbx)
at push
	push	%rbx
at pop
	pop	%rax
at push_memory
	push	(%rbx)
at pop_memory
	pop	72(%rbx)
at call
	call	access_ret
at leave
	mov	%rsp, %rbp
	push	%rbx
	mov	%rsp, %rbp
	leave
at string
	lea	access_words(%rip), %rsi
	lea	access_copy(%rip), %rdi
	mov	$3, %ecx
	cld
at rep_movs
	rep movsb
at rep_none
	rep movsb			/* ecx is 0 */
at scan
	lea	access_words(%rip), %rdi
	xor	%eax, %eax
	scasb
accesses_end:
	mov	%r12, %rsp
	pop	%r12
	pop	%rbp
	pop	%rbx
	ret

at ret
	ret

/* accesses_loop(times, address): loads each time */
	.globl	accesses_loop
accesses_loop:
at loop
	mov	(%rsi), %eax
	dec	%rdi
	jnz	access_loop
	ret

/* accesses_fault(address): a load that is repeated after a fault */
	.globl	accesses_fault
accesses_fault:
at fault
	mov	(%rdi), %rax
	ret

/* accesses_compare(address): a load whose value is in no register afterwards */
	.globl	accesses_compare
accesses_compare:
at compare_there
	cmpl	$0, (%rdi)
	ret

/* On a separate page, which can be removed. */
	.balign	4096
	.globl	accesses_late
accesses_late:
at late
	mov	(%rdi), %rdi		/* changes its base */
	mov	%rdi, %rax
	ret
	.balign	4096

	.data
	.balign	4096
	.globl	access_words, access_copy, access_slot
access_words:
	.quad	0xf122334455667788, 0x1111111122222222, 5, 0
	.quad	0, 41, 0, 0, 0x99, 0
access_copy:
	.fill	4096, 1, 0
access_slot:
	.quad	0
access_stack_top:
	.section .note.GNU-stack, "", @progbits
