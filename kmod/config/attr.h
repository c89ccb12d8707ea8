/* SPDX-License-Identifier: GPL-2.0-only */
/* How perf says what an event leaves out. */
#ifndef HWPROF_CONFIG_ATTR_H
#define HWPROF_CONFIG_ATTR_H

#include <linux/perf_event.h>

#include "config_rules.h"

/* Return bits of enum config_exclude. */
static inline u64 attr_exclude(const struct perf_event_attr *attr)
{
	return (attr->exclude_user ? EXCLUDE_USER : 0) |
	       (attr->exclude_kernel ? EXCLUDE_KERNEL : 0) |
	       (attr->exclude_hv ? EXCLUDE_HV : 0) |
	       (attr->exclude_idle ? EXCLUDE_IDLE : 0) |
	       (attr->exclude_host ? EXCLUDE_HOST : 0) |
	       (attr->exclude_guest ? EXCLUDE_GUEST : 0);
}

#endif /* HWPROF_CONFIG_ATTR_H */
