/* SPDX-License-Identifier: GPL-2.0-only */
/* Tests that act on a subject from outside while it is watched. */
#ifndef TORTURE_OUTSIDE_H
#define TORTURE_OUTSIDE_H

/* counts.c */
void test_counts(const char *program);

/* rights.c */
void test_rights(const char *subject);

/* core.c */
void test_core(const char *subject);

/* debugged.c */
void test_debugged(const char *subject);

/* probed.c */
void test_probes(const char *subject);

/* killed.c */
void test_killed(const char *subject);
void test_stopped(const char *subject);

/* attached.c */
void test_attached(const char *subject);

/* unloaded.c */
void test_unloaded(const char *subject);

#endif /* TORTURE_OUTSIDE_H */
