/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Known chains of calls (chains.h): recursion, calls through pointers and a
 * stub, a long jump, an exception, signals, a fork and a thread. It has no
 * library.
 */
#include "../chains.h"

#define SIGUSR1		10
#define SA_RESTORER	0x04000000
/* CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM */
#define CLONE_FLAGS	0x50f00

	.macro	procedure number
	.org	\number * CHAINS_PROCEDURE
	.endm

	.text
	.globl	_start
_start:
	mov	$CHAINS_SELF_DEPTH, %ecx
	call	self
	mov	$CHAINS_CYCLES, %ecx
	call	a

	mov	$(2 * CHAINS_INDIRECT), %ebx
	mov	$leaf, %r12
	mov	$other_leaf, %r13
1:	call	*%r12
	xchg	%r12, %r13
	dec	%ebx
	jnz	1b

	mov	$CHAINS_STUBS, %ebx
1:	call	stub
	dec	%ebx
	jnz	1b

	mov	$CHAINS_THROWS, %ebx
1:	call	outer
	dec	%ebx
	jnz	1b

	mov	$CHAINS_FLIGHTS, %ebx
1:	call	landing
	dec	%ebx
	jnz	1b

	mov	$13, %eax		/* rt_sigaction */
	mov	$SIGUSR1, %edi
	mov	$action, %esi
	xor	%edx, %edx
	mov	$8, %r10d
	syscall
	mov	$39, %eax		/* getpid */
	syscall
	mov	%eax, %ebp
	mov	$CHAINS_SIGNALS, %ebx
1:	mov	$62, %eax		/* kill */
	mov	%ebp, %edi
	mov	$SIGUSR1, %esi
	syscall
	nop
	dec	%ebx
	jnz	1b
	jmp	forks

	procedure 1
forks:
	mov	$57, %eax		/* fork */
	syscall
	test	%eax, %eax
	jnz	2f
	mov	$CHAINS_CHILDS, %ebx
1:	call	other_leaf
	dec	%ebx
	jnz	1b
	jmp	exit
2:	mov	$61, %eax		/* wait4 */
	mov	$-1, %rdi
	xor	%esi, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	syscall

	mov	$56, %eax		/* clone */
	mov	$CLONE_FLAGS, %edi
	mov	$stack_end, %esi
	xor	%edx, %edx
	xor	%r10d, %r10d
	xor	%r8d, %r8d
	syscall
	test	%eax, %eax
	jnz	2f
	mov	$CHAINS_THREADS, %ebx
1:	call	other_leaf
	dec	%ebx
	jnz	1b
	movl	$1, done
	mov	$60, %eax		/* exit, of the thread */
	xor	%edi, %edi
	syscall
2:	mov	$24, %eax		/* sched_yield */
	syscall
	cmpl	$0, done
	je	2b
exit:
	mov	$231, %eax		/* exit_group */
	xor	%edi, %edi
	syscall

	procedure CHAINS_SELF
self:
	dec	%ecx
	js	1f
	call	self
1:	ret

	procedure CHAINS_A
a:
	call	b
	ret

	procedure CHAINS_B
b:
	dec	%ecx
	jz	1f
	call	a
1:	ret

	procedure CHAINS_LEAF
leaf:
	ret

	procedure CHAINS_OTHER_LEAF
other_leaf:
	ret

	procedure CHAINS_STUB
stub:
	jmp	*pointer

	procedure CHAINS_OUTER
outer:
	mov	%rsp, %r14
	mov	$landed, %r15
	call	middle
	ud2
	.skip	32			/* code behind no call */
landed:
	ret

	procedure CHAINS_MIDDLE
middle:
	call	thrower
	ud2

	procedure CHAINS_THROWER
thrower:
	.skip	8, 0x90			/* no stub begins like this */
	mov	%r14, %rsp
	jmp	*%r15

	procedure CHAINS_HANDLER
handler:
	call	leaf
	ret

	procedure CHAINS_LANDING
landing:
	mov	%rsp, %r14
	call	flyer
	ud2
	.skip	32
1:	call	other_leaf		/* the stack pointer tells who calls
					 * it */
	ret

	procedure CHAINS_FLYER
flyer:
	mov	%r14, %rsp
	push	$1b
	ret

	procedure CHAINS_END
restorer:
	mov	$15, %eax		/* rt_sigreturn */
	syscall

	.data
	.balign	8
pointer:
	.quad	leaf
action:
	.quad	handler, SA_RESTORER, restorer, 0
done:
	.long	0
	.bss
	.balign	16
	.skip	4096
stack_end:
	.section .note.GNU-stack, "", @progbits
