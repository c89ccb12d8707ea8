/* SPDX-License-Identifier: GPL-2.0-only */
/* Definitions for programs without a library. */
#ifndef BARE_H
#define BARE_H

static inline __attribute__((noreturn)) void bare_exit(void)
{
#if defined(__x86_64__)
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
#elif defined(__aarch64__)
	register long number __asm__("x8") = 93, status __asm__("x0") = 0;

	__asm__ volatile("svc 0" : : "r"(number), "r"(status));
#endif
	__builtin_unreachable();
}

#endif /* BARE_H */
