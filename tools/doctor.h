/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Checks of `hwprof doctor`: doctor_checks.c has them, doctor.c prints the
 * findings.
 */
#ifndef HWPROF_DOCTOR_H
#define HWPROF_DOCTOR_H

#include <stdbool.h>

#include "counters.h"

enum finding_state {
	FINDING_OK,
	FINDING_WARN,		/* works with limits */
	FINDING_MISSING,
};

struct finding {
	enum finding_state state;
	char text[512];		/* the finding */
	char advice[512];	/* what to do about it; empty: nothing */
};

struct check {
	const char *name;
	bool needed;		/* hwprof is useless without it */
	void (*look)(struct finding *finding);
};

/* Adds to what was found of the PMU who has its counters, if that matters. */
void doctor_add_counters(struct finding *finding, enum counters counters);

extern const struct check doctor_checks[];
extern const unsigned int doctor_check_count;

#endif /* HWPROF_DOCTOR_H */
