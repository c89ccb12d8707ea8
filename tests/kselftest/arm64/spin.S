/* SPDX-License-Identifier: GPL-2.0-only */
/* `spin`: runs the known loops for ever. */
	.text
	.globl	_start
_start:
	bl	known_run
	b	_start
	.section .note.GNU-stack, "", %progbits
