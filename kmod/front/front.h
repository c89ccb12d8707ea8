/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways into the module: what main.c and the fronts know of each other. */
#ifndef HWPROF_FRONT_H
#define HWPROF_FRONT_H

struct attribute_group;

/* pmu.c */
int pmu_init(void);
void pmu_exit(void);

/* sysfs.c: format, events and caps of the PMU */
extern const struct attribute_group *hwprof_pmu_groups[];

#endif /* HWPROF_FRONT_H */
