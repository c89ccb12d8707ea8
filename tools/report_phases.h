/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HWPROF_REPORT_PHASES_H
#define HWPROF_REPORT_PHASES_H

#include "report.h"

/* The distance from which on a program is in another phase, by default. */
#define REPORT_PHASE_DISTANCE	0.5

/*
 * Checks the options of phases against the @kinds of the file. Returns -1, or
 * the exit status.
 */
int report_check_phases(const struct report *report, unsigned int kinds);

/* Prints the phases of the report's file, and the profile of each. */
int report_phases(const struct report *report, const struct report_kind *kind);

#endif /* HWPROF_REPORT_PHASES_H */
