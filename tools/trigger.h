/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef HWPROF_TRIGGER_NAME_H
#define HWPROF_TRIGGER_NAME_H

#include <stdint.h>

struct perf_event_attr;

/*
 * The raw event that @text names: 0x20c4 or r20c4 or cpu/event=0xc4,umask=0x20/
 * as to perf, "clock" (0), a name that the PMU's folder in sysfs has, or one of
 * libpfm4's. It fits a trigger. -1, or the exit status: it has said why.
 */
int trigger_parse(const char *text, uint64_t *event);

/*
 * Any event of perf's by such a name, or perf's own ("page-faults"). Sets type,
 * config, config1 and config2. Returns what trigger_parse() does.
 */
int metric_parse(const char *text, struct perf_event_attr *attr);

#endif /* HWPROF_TRIGGER_NAME_H */
