/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A subject is a small program that does one thing which single stepping could
 * disturb. Its output and exit status depend on nothing else, so events must
 * not change them.
 */
#ifndef TORTURE_SUBJECT_H
#define TORTURE_SUBJECT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <ucontext.h>

enum { TF = 0x100 };

#ifdef __x86_64__
#define REG_PC	REG_RIP
#define REG_TOP	REG_RSP
#else
#define REG_PC	REG_EIP
#define REG_TOP	REG_ESP
#endif

/* A condition that holds in every program. If it fails, so does the subject. */
#define expect(condition)						\
	do {								\
		if (!(condition))					\
			subject_fail(__FILE__, __LINE__, #condition);	\
	} while (0)
void subject_fail(const char *file, int line, const char *condition);

/* Executes this program again as the subject @name. */
void subject_become(const char *name);

/* Waits for the child and prints how it ended. */
void subject_wait(pid_t pid, const char *what);

/* Computes for some time, and returns the same number each time. */
uint64_t subject_work(unsigned int rounds);

typedef void subject_handler(int sig, siginfo_t *info, void *context);
void subject_handle(int sig, subject_handler *handler, int flags);

static inline unsigned long context_flags(void *context)
{
	return ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL];
}

static inline unsigned long read_flags(void)
{
	unsigned long flags;

	/* Subjects have no red zone: see build.mk. */
	asm volatile("pushf; pop %0" : "=r" (flags) :: "memory");
	return flags;
}

#endif /* TORTURE_SUBJECT_H */
