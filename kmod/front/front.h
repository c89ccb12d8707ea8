/* SPDX-License-Identifier: GPL-2.0-only */
/* The ways into the module: what main.c and the fronts know of each other. */
#ifndef HWPROF_FRONT_H
#define HWPROF_FRONT_H

#include <linux/types.h>

struct attribute_group;
struct device;
struct config_request;
struct perf_event_attr;
struct session_config;
struct task_struct;

/* --- config.c: the checks return 0 or a negative errno ------------------ */

/* Decode what an event, or the device, was given. */
void config_of_attr(struct session_config *config,
		    const struct perf_event_attr *attr);
void config_of_request(struct session_config *config,
		       const struct config_request *request);

/* Check what makes a new session, by config_check(), on this machine. */
int config_check_session(const struct session_config *config);

/* Check what no event can have, whatever its session is. */
int config_check_event(const struct session_config *config,
		       const struct perf_event_attr *attr);

/* Check that @target (NULL: all that runs on a CPU) may be stepped. */
int config_check_target(const struct session_config *config,
			struct task_struct *target);

/* pmu.c */
int pmu_init(void);
void pmu_exit(void);

/* chardev.c */
int chardev_init(void);
void chardev_publish(void);	/* nobody can open it before */
void chardev_exit(void);

/* class.c: limits, and sessions */
extern const struct attribute_group *hwprof_class_groups[];
extern const struct session_folders class_folders;
int class_init(struct device *device);
void class_exit(void);

/* sysfs.c: format, events and caps of the PMU */
extern const struct attribute_group *hwprof_pmu_groups[];

#endif /* HWPROF_FRONT_H */
