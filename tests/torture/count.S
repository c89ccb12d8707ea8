/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Executes known numbers of taken branches and of back edges. Each piece adds
 * its own to the two sums. The program writes the sums to standard output as
 * two 64-bit numbers. It uses no library, so nothing else is executed.
 */
	.set branches, 0
	.set back_edges, 0

	.macro add_up taken, back
	.set branches, branches + \taken
	.set back_edges, back_edges + \back
	.endm

	/* ten rounds; the jump back is taken nine times */
	.macro loop_by jump, first, step, last
	mov $\first, %ecx
1:	add $\step, %ecx
	cmp $\last, %ecx
	\jump 1b
	add_up 9, 9
	.endm

	.text
	.globl _start
_start:
	/* each kind of condition */
	loop_by jne, 0, 1, 10
	loop_by jb, 0, 1, 10
	loop_by jl, 0, 1, 10
	loop_by jbe, 1, 1, 10
	loop_by jle, 1, 1, 10
	loop_by ja, 20, -1, 10
	loop_by jg, 20, -1, 10
	loop_by jae, 19, -1, 10
	loop_by jge, 19, -1, 10

	mov $10, %ecx			/* sign, and a long jump */
2:	dec %ecx
	.byte 0x0f, 0x89		/* jns rel32 */
	.long 2b - . - 4
	add_up 10, 10

	mov $10, %ecx			/* parity: of 9, 6, 5, 3, 0 even */
	xor %edx, %edx
3:	dec %ecx
	jp 4f
	inc %edx
4:	test %ecx, %ecx
	jnz 3b
	add_up 5+9, 9

	mov $10, %ecx			/* carry and overflow */
5:	dec %ecx
	stc
	jnc 6f
	jc 6f
	nop
6:	jno 7f
	nop
7:	cmp $0, %ecx
	je 8f
	jmp 5b
8:	add_up 10+10+1+9, 9

	mov $10, %ecx			/* loop, and jrcxz */
9:	loop 9b
	add_up 9, 9
	jrcxz 1f
	ud2
1:	mov $3, %ecx
	jrcxz 1b
	jecxz 1b
	add_up 1, 0
	mov $5, %ecx
2:	cmp %ecx, %ecx
	loope 2b
	add_up 4, 4
	mov $5, %ecx
3:	test %ecx, %ecx
	loopne 3b
	add_up 4, 4

	/* string instructions are not branches */
	cld
	lea buffer(%rip), %rdi
	lea buffer(%rip), %rsi
	mov $100, %ecx
	rep movsb
	lea buffer(%rip), %rdi
	mov $50, %ecx
	rep stosq
	xor %ecx, %ecx
	rep stosq

	/* calls, returns, jumps through registers and memory */
	mov $10, %ebx
4:	call callee
	lea callee(%rip), %rax
	call *%rax
	call *pointer(%rip)
	lea 5f(%rip), %rax
	jmp *%rax
	ud2
5:	dec %ebx
	jnz 4b
	add_up 10*(2+2+2+1)+9, 9

	lea 7f(%rip), %rdx		/* a back edge through a register */
	mov $10, %ecx
7:	dec %ecx
	jz 8f
	jmp *%rdx
8:	add_up 1+9, 9

	mov $4, %ebx			/* bnd and rex before a branch, ret n */
9:	push %rax
	call callee_pops
	bnd jmp 1f
1:	.byte 0x2e, 0x48		/* notrack, rex.w */
	jmp 2f
2:	dec %ebx
	.byte 0x3e			/* a hint that it is taken */
	jnz 9b
	add_up 4*4+3, 3

	/* system calls with a branch as the next instruction */
	mov $10, %ebx
3:	mov $110, %eax			/* getppid */
	syscall
	jmp 4f
4:	mov $110, %eax
	syscall
	call callee
	dec %ebx
	mov $110, %eax
	syscall
	test %ebx, %ebx
	jne 3b
	add_up 10*(1+2)+9, 9

	mov $10, %ebx			/* jnz directly after the call */
5:	mov $110, %eax
	dec %ebx
	syscall				/* keeps the flags */
	jnz 5b
	add_up 9, 9

	mov $5, %ebx			/* the other entry */
6:	mov $64, %eax			/* getppid of i386 */
	dec %ebx
	int $0x80
	jnz 6b
	add_up 4, 4

	/* branches at the end of a page and across it */
	mov $10, %ecx
	jmp at_end
	add_up 1, 0
	.p2align 12
	.skip 4096 - 4
at_end:	dec %ecx
	jnz at_start			/* the last two bytes of a page */
	ud2
at_start:
	dec %ecx
	jnz at_end
	add_up 5+4, 4
	jmp across
	add_up 1, 0
	.p2align 12
	.skip 4096 - 3
across:	.byte 0xe9			/* jmp rel32 in two pages */
	.long 9f - . - 4
	ud2
9:	add_up 1, 0

	mov $1, %eax			/* write(1, sums, 16) */
	mov $1, %edi
	lea sums(%rip), %rsi
	mov $16, %edx
	syscall
	mov $60, %eax			/* exit(0) */
	xor %edi, %edi
	syscall

callee:	ret
callee_pops:
	ret $8

	.section .rodata
sums:	.quad branches, back_edges

	.data
pointer: .quad callee

	.bss
buffer:	.skip 1024

	.section .note.GNU-stack, "", @progbits
