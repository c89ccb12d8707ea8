/* SPDX-License-Identifier: GPL-2.0-only */
/* What `hwprof doctor` looks at: doctor_checks.c looks, doctor.c tells. */
#ifndef HWPROF_DOCTOR_H
#define HWPROF_DOCTOR_H

#include <stdbool.h>

enum finding_state {
	FINDING_OK,
	FINDING_WARN,		/* works, but less well or not for all */
	FINDING_MISSING,
};

struct finding {
	enum finding_state state;
	char text[512];		/* what was found */
	char advice[512];	/* what to do; empty: nothing */
};

struct check {
	const char *name;
	bool needed;		/* its lack alone leaves hwprof without use */
	void (*look)(struct finding *finding);
};

extern const struct check doctor_checks[];
extern const unsigned int doctor_check_count;

#endif /* HWPROF_DOCTOR_H */
