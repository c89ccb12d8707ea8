/* SPDX-License-Identifier: GPL-2.0-only */
/* Tell whether a virtual machine has the hardware counters. */
#ifndef HWPROF_COUNTERS_H
#define HWPROF_COUNTERS_H

enum counters {
	COUNTERS_OURS,		/* or they are refused for another reason */
	COUNTERS_OF_GUESTS,
};

/**
 * counters_judge() - tell who has the counters from how two events opened.
 * @error: errno of an event that counts in guests, too; 0: it opened.
 * @error_without_guests: the same of an event that excludes them.
 *
 * Since Linux 7.0 a virtual machine can have the counters to itself while it
 * runs (a mediated vPMU). Then perf refuses, with EOPNOTSUPP, what counts in
 * guests.
 *
 * Return: %COUNTERS_OF_GUESTS if a virtual machine has them.
 */
enum counters counters_judge(int error, int error_without_guests);

/* Opens two such events, and tells. */
enum counters counters_look(void);

#endif /* HWPROF_COUNTERS_H */
