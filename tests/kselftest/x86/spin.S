/* SPDX-License-Identifier: GPL-2.0-only */
/* `spin`: runs the known loops for ever. */
	.text
	.globl	_start
_start:
	call	known_run
	jmp	_start
	.section .note.GNU-stack, "", @progbits
