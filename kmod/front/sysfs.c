// SPDX-License-Identifier: GPL-2.0-only
/* /sys/bus/event_source/devices/hwprof: format, events and caps. */
#include <linux/device.h>
#include <linux/perf_event.h>
#include <linux/sysfs.h>

#include "arch.h"
#include "../config/config_rules.h"
#include "../session.h"
#include "../source/counter.h"
#include "../source/source.h"
#include "../symbol.h"
#include "front.h"

/* Show a field of HWPROF_FIELDS as in "config1:0-15". */
static ssize_t sysfs_format_show(struct device *device,
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

/*
 * The field's name in format/, and @tail. perf 6.12 reads "branches" as the
 * number of a hardware event. It takes a PMU's own event of that name, but only
 * if no field has the name, too.
 */
#define FORMAT_NAME(field, tail)					       \
	(FIELD_##field == FIELD_branches ? "all_branches" tail : #field tail)

#define X(field, word, low, high, text)					       \
	static struct dev_ext_attribute format_##field = {		       \
		.attr = {						       \
			.attr = {					       \
				.name = FORMAT_NAME(field, ""),		       \
				.mode = 0444,				       \
			},						       \
			.show = sysfs_format_show,			       \
		},							       \
		.var = (void *)&field_places[FIELD_##field],		       \
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

/* One event for each of HWPROF_ENGINES: "loops=1". */
#define X(name, engine, caps)						       \
	PMU_EVENT_ATTR_STRING(name, event_##name, FORMAT_NAME(name, "=1"));
HWPROF_ENGINES(X)
#undef X

static struct attribute *event_attributes[] = {
#define X(name, engine, caps)	&event_##name.attr.attr,
	HWPROF_ENGINES(X)
#undef X
	NULL
};

static const struct attribute_group events_group = {
	.name	= "events",
	.attrs	= event_attributes,
};

/* A file of caps/ that sysfs_NAME_show() fills. */
#define CAP_ATTR(name)							       \
	struct device_attribute dev_attr_##name =			       \
		__ATTR(name, 0444, sysfs_##name##_show, NULL)

static ssize_t sysfs_abi_show(struct device *device,
			      struct device_attribute *attribute, char *page)
{
	return sysfs_emit(page, "%u\n", HWPROF_ABI_VERSION);
}
static CAP_ATTR(abi);

/* "yes", or why the source does not work. */
static ssize_t sysfs_source_show(struct device *device,
				 struct device_attribute *attribute, char *page)
{
	const struct dev_ext_attribute *cap =
		container_of(attribute, struct dev_ext_attribute, attr);
	const struct source_ops *source =
		*(const struct source_ops *const *)cap->var;

	if (!source)
		return sysfs_emit(page, "not in this version\n");
	return sysfs_emit(page, "%s\n", *source->why_not ?: "yes");
}

#define X(name, constant, caps)						       \
	static struct dev_ext_attribute cap_##name = {			       \
		.attr = __ATTR(name, 0444, sysfs_source_show, NULL),	       \
		.var = (void *)&sources[SOURCE_##name],			       \
	};
HWPROF_SOURCES(X)
#undef X

static ssize_t sysfs_counters_show(struct device *device,
				   struct device_attribute *attribute,
				   char *page)
{
	unsigned int count = arch_counter_count();

	if (!count)
		return sysfs_emit(page, "unknown\n");
	return sysfs_emit(page, "%u\n", count);
}
static CAP_ATTR(counters);

static ssize_t sysfs_overflow_show(struct device *device,
				   struct device_attribute *attribute,
				   char *page)
{
	return sysfs_emit(page, "%s\n", counters_overflow());
}
static CAP_ATTR(overflow);

static ssize_t sysfs_symbols_show(struct device *device,
				  struct device_attribute *attribute,
				  char *page)
{
	return symbols_show(page);
}
static CAP_ATTR(symbols);

static ssize_t sysfs_sessions_show(struct device *device,
				   struct device_attribute *attribute,
				   char *page)
{
	return sysfs_emit(page, "%u\n", session_count());
}
static CAP_ATTR(sessions);

static struct attribute *caps_attributes[] = {
	&dev_attr_abi.attr,
#define X(name, constant, caps)	&cap_##name.attr.attr,
	HWPROF_SOURCES(X)
#undef X
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
