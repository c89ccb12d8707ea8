// SPDX-License-Identifier: GPL-2.0-only
/* /sys/bus/event_source/devices/hwprof: format, events and caps. */
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include "arch.h"
#include "../field.h"
#include "../session.h"
#include "../source/counter.h"
#include "../source/source.h"
#include "../symbol.h"
#include "front.h"

/* One format file for each of HWPROF_FIELDS: "config1:0-15". */
static ssize_t format_show(struct device *device,
			   struct device_attribute *attribute, char *page)
{
	struct dev_ext_attribute *format =
		container_of(attribute, struct dev_ext_attribute, attr);
	const struct field_place *place = format->var;
	static const char * const words[] = { "config", "config1", "config2" };

	if (place->low == place->high)
		return sysfs_emit(page, "%s:%u\n", words[place->word],
				  place->low);
	return sysfs_emit(page, "%s:%u-%u\n", words[place->word], place->low,
			  place->high);
}

#define X(name, word, low, high, text)					       \
	static struct dev_ext_attribute format_##name = {		       \
		.attr = __ATTR(name, 0444, format_show, NULL),		       \
		.var = (void *)&field_places[FIELD_##name],		       \
	};
HWPROF_FIELDS(X)
#undef X

static struct attribute *format_attributes[] = {
#define X(name, word, low, high, text)	&format_##name.attr.attr,
	HWPROF_FIELDS(X)
#undef X
	NULL
};

static const struct attribute_group format_group = {
	.name	= "format",
	.attrs	= format_attributes,
};

PMU_EVENT_ATTR_STRING(loops, event_loops, "loops=1");
PMU_EVENT_ATTR_STRING(branches, event_branches, "branches=1");
PMU_EVENT_ATTR_STRING(ranges, event_ranges, "ranges=1");
PMU_EVENT_ATTR_STRING(calls, event_calls, "calls=1");
PMU_EVENT_ATTR_STRING(edges, event_edges, "edges=1");
PMU_EVENT_ATTR_STRING(cct, event_cct, "cct=1");
PMU_EVENT_ATTR_STRING(paths, event_paths, "paths=1");
PMU_EVENT_ATTR_STRING(values, event_values, "values=1");

static struct attribute *event_attributes[] = {
	&event_loops.attr.attr,
	&event_branches.attr.attr,
	&event_ranges.attr.attr,
	&event_calls.attr.attr,
	&event_edges.attr.attr,
	&event_cct.attr.attr,
	&event_paths.attr.attr,
	&event_values.attr.attr,
	NULL
};

static const struct attribute_group events_group = {
	.name	= "events",
	.attrs	= event_attributes,
};

static ssize_t abi_show(struct device *device,
			struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%u\n", HWPROF_ABI_VERSION);
}
static DEVICE_ATTR_RO(abi);

/* "yes", or why not. */
static ssize_t step_show(struct device *device,
			 struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%s\n", step_source.missing() ?: "yes");
}
static DEVICE_ATTR_RO(step);

static ssize_t lbr_show(struct device *device,
			struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%s\n", lbr_source.missing() ?: "yes");
}
static DEVICE_ATTR_RO(lbr);

static ssize_t sample_show(struct device *device,
			   struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%s\n", sample_source.missing() ?: "yes");
}
static DEVICE_ATTR_RO(sample);

/* This version does not have it. */
static ssize_t mem_show(struct device *device,
			struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "not in this version\n");
}
static DEVICE_ATTR_RO(mem);

static ssize_t counters_show(struct device *device,
			     struct device_attribute *attribute, char *page)
{
	unsigned int count = arch_counter_count();

	if (!count)
		return sysfs_emit(page, "unknown\n");
	return sysfs_emit(page, "%u\n", count);
}
static DEVICE_ATTR_RO(counters);

static ssize_t overflow_show(struct device *device,
			     struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%s\n", counters_overflow());
}
static DEVICE_ATTR_RO(overflow);

static ssize_t symbols_file_show(struct device *device,
				 struct device_attribute *attribute, char *page)
{
	return symbols_show(page);
}

static struct device_attribute dev_attr_symbols =
	__ATTR(symbols, 0444, symbols_file_show, NULL);

static ssize_t sessions_show(struct device *device,
			     struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%u\n", session_count());
}
static DEVICE_ATTR_RO(sessions);

static struct attribute *caps_attributes[] = {
	&dev_attr_abi.attr,
	&dev_attr_step.attr,
	&dev_attr_lbr.attr,
	&dev_attr_sample.attr,
	&dev_attr_mem.attr,
	&dev_attr_counters.attr,
	&dev_attr_overflow.attr,
	&dev_attr_symbols.attr,
	&dev_attr_sessions.attr,
	NULL
};

static const struct attribute_group caps_group = {
	.name	= "caps",
	.attrs	= caps_attributes,
};

const struct attribute_group *hwprof_pmu_groups[] = {
	&format_group,
	&events_group,
	&caps_group,
	NULL
};
