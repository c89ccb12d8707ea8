/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways into the module: what main.c and the fronts know of each other. */
#ifndef HWPROF_FRONT_H
#define HWPROF_FRONT_H

#include <linux/types.h>

struct attribute_group;
struct device;
struct perf_event_attr;

/* attr.c: 0, or an errno */
int attr_check_session(const struct perf_event_attr *attr);
int attr_check_feeder(const struct perf_event_attr *attr,
		      const struct perf_event_attr *session);
int attr_check_event(const struct perf_event_attr *attr);
int attr_check_target(const struct perf_event_attr *attr,
		      struct task_struct *target);

/* pmu.c */
int pmu_init(void);
void pmu_exit(void);

/* chardev.c */
int chardev_init(void);
void chardev_publish(void);	/* before that, nobody can open it */
void chardev_exit(void);

/* class.c: limits, and sessions */
extern const struct attribute_group *hwprof_class_groups[];
int class_init(struct device *device);
void class_exit(void);

/* sysfs.c: format, events and caps of the PMU */
extern const struct attribute_group *hwprof_pmu_groups[];

#endif /* HWPROF_FRONT_H */
