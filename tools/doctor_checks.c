// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "command.h"
#include "doctor.h"
#include "hwprof.h"
#include "live/permission.h"

#define PMUS		"/sys/bus/event_source/devices/"
#define TEXT(finding, ...) \
	snprintf((finding)->text, sizeof((finding)->text), __VA_ARGS__)
#define ADVICE(finding, ...) \
	snprintf((finding)->advice, sizeof((finding)->advice), __VA_ARGS__)

enum {
	CAP_SYS_ADMIN_BIT = 21, CAP_PERFMON_BIT = 38,
};

static bool is_before(unsigned int major, unsigned int minor,
		      unsigned int other_major, unsigned int other_minor)
{
	return major < other_major ||
	       (major == other_major && minor < other_minor);
}

static void look_at_kernel(struct finding *finding)
{
	unsigned int major = 0, minor = 0;
	struct utsname system;

	uname(&system);
	sscanf(system.release, "%u.%u", &major, &minor);
	TEXT(finding, "Linux %s, %s", system.release, system.machine);
	if (is_before(major, minor, OLDEST_MAJOR, OLDEST_MINOR)) {
		finding->state = FINDING_WARN;
		ADVICE(finding, "the oldest kernel that is tested is %d.%d",
		       OLDEST_MAJOR, OLDEST_MINOR);
	} else if (is_before(NEWEST_MAJOR, NEWEST_MINOR, major, minor)) {
		finding->state = FINDING_WARN;
		ADVICE(finding,
		       "not tried: the newest kernel that is tested is %d.%d",
		       NEWEST_MAJOR, NEWEST_MINOR);
	}
}

/* Finds the line of modules.dep with hwprof.ko, which may be compressed. */
static bool find_installed(const char *release, char *path, size_t size)
{
	char dep[256], line[4096];
	bool found = false;
	FILE *file;

	snprintf(dep, sizeof(dep), "/lib/modules/%s/modules.dep", release);
	file = fopen(dep, "re");
	while (file && !found && fgets(line, sizeof(line), file)) {
		char *base;

		line[strcspn(line, ":\n")] = 0;
		base = strrchr(line, '/');
		base = base ? base + 1 : line;
		found = !strncmp(base, "hwprof.ko", strlen("hwprof.ko"));
	}
	if (file)
		fclose(file);
	if (found)
		snprintf(path, size, "/lib/modules/%s/%.250s", release, line);
	return found;
}

static void look_at_module(struct finding *finding)
{
	struct utsname system;
	char path[400];
	int64_t type;

	if (read_number(HWPROF_SYSFS "/type", &type)) {
		TEXT(finding, "loaded; PMU type %" PRId64, type);
		return;
	}
	finding->state = FINDING_MISSING;
	uname(&system);
	if (find_installed(system.release, path, sizeof(path))) {
		TEXT(finding, "not loaded; installed as %s", path);
		ADVICE(finding, "modprobe hwprof");
	} else if (!access("/proc/modules", F_OK)) {
		TEXT(finding, "not installed for this kernel");
		ADVICE(finding,
		       "make && make install, with the headers of Linux %s installed; then modprobe hwprof",
		       system.release);
	} else {
		TEXT(finding, "this kernel can load no modules");
		ADVICE(finding, "boot one that can, or profile in the embedded machine: make demo");
	}
}

static void append(struct finding *finding, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void append(struct finding *finding, const char *format, ...)
{
	size_t used = strlen(finding->text);
	va_list args;

	va_start(args, format);
	vsnprintf(finding->text + used, sizeof(finding->text) - used, format,
		  args);
	va_end(args);
}

static void append_cap(struct finding *finding, const char *name)
{
	char value[128];

	if (read_cap(name, value, sizeof(value)))
		append(finding, "%s%s=%s", *finding->text ? " " : "", name,
		       value);
}

static int not_hidden(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void look_at_caps(struct finding *finding)
{
	struct dirent **entries;
	int count = scandir(HWPROF_SYSFS "/caps", &entries, not_hidden,
			    alphasort);
	int i;

	for (i = 0; i < count; i++) {
		append_cap(finding, entries[i]->d_name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	if (count <= 0) {
		finding->state = FINDING_MISSING;
		TEXT(finding, "not known before the module is loaded");
	}
}

/* Opens such an event: that is the only reliable test. */
static void look_at_step(struct finding *finding)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .disabled = 1, .exclude_kernel = 1,
		.exclude_hv = 1, .sample_period = 1,
	};
	struct hwprof_event event;
	char message[256], reason[128];
	int64_t type;
	long fd;

	if (!read_number(HWPROF_SYSFS "/type", &type)) {
		finding->state = FINDING_MISSING;
		TEXT(finding, "needs the module");
		return;
	}
	hwprof_event_parse(&event, "loops,step,rows", message, sizeof(message));
	attr.type = type;
	attr.config = event.config[0];
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
		     PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0) {
		close(fd);
		TEXT(finding, "single stepping can be used");
		return;
	}
	finding->state = FINDING_MISSING;
	if (errno == EOPNOTSUPP && read_cap("step", reason, sizeof(reason)) &&
	    strcmp(reason, "yes")) {
		TEXT(finding, "single stepping cannot be used: %s", reason);
		return;
	}
	TEXT(finding, "single stepping cannot be used: %s", strerror(errno));
	if (errno == EACCES || errno == EPERM)
		ADVICE(finding, "run as root, or see perf_event_paranoid");
	else
		ADVICE(finding, "see the kernel's messages (dmesg)");
}

/* Finds the value of @key in the first entry of /proc/cpuinfo. */
static bool read_cpuinfo(const char *key, char *value, size_t size)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	bool found = false;
	char line[8192];

	while (file && !found && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');

		if (strncmp(line, key, strlen(key)) || !colon)
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(value, size, "%s", colon + 1 +
			 strspn(colon + 1, " "));
		found = true;
	}
	if (file)
		fclose(file);
	return found;
}

static bool is_virtual(void)
{
	char flags[8192];

	return read_cpuinfo("flags", flags, sizeof(flags)) &&
	       strstr(flags, " hypervisor");
}

static void look_at_cpu(struct finding *finding)
{
	char vendor[64] = "unknown vendor", model[128] = "unknown model";

	if (read_cpuinfo("CPU implementer", vendor, sizeof(vendor)) &&
	    read_cpuinfo("CPU part", model, sizeof(model))) {
		TEXT(finding, "Arm, implementer %s, part %s", vendor, model);
		return;
	}
	read_cpuinfo("vendor_id", vendor, sizeof(vendor));
	read_cpuinfo("model name", model, sizeof(model));
	TEXT(finding, "%s, %s%s", vendor, model,
	     is_virtual() ? ", virtual" : "");
}

static bool has_capability(unsigned int bit)
{
	uint64_t effective = 0;
	FILE *file = fopen("/proc/self/status", "re");
	char line[256];

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "CapEff: %" SCNx64, &effective) == 1)
			break;
	if (file)
		fclose(file);
	return effective >> bit & 1;
}

static void look_at_permission(struct finding *finding)
{
	int64_t level = 0;

	if (!read_number("/proc/sys/kernel/perf_event_paranoid", &level)) {
		finding->state = FINDING_MISSING;
		TEXT(finding, "this kernel has no perf events");
		return;
	}
	if (has_capability(CAP_PERFMON_BIT) ||
	    has_capability(CAP_SYS_ADMIN_BIT)) {
		TEXT(finding,
		     "%" PRId64
		     "; you have the capability to profile everything",
		     level);
		return;
	}
	if (level <= 0)
		TEXT(finding, "%" PRId64 "; you may profile all programs (-a)",
		     level);
	else
		TEXT(finding,
		     "%" PRId64 "; you may profile your own programs%s", level,
		     level >= 2 ? ", in user mode" : "");
	if (level < 3)
		return;
	finding->state = FINDING_MISSING;
	TEXT(finding, "%" PRId64 "; you may profile nothing", level);
	ADVICE(finding, "run as root, or: sysctl kernel.perf_event_paranoid=2");
}

/* Stepping requires the right to attach to a program as a debugger. */
static void look_at_ptrace(struct finding *finding)
{
	static const char *const who[] = {
		"users may step their own programs",
		"users may step the programs that they start",
		"only root may step programs",
		"nobody may step programs until the machine is booted again",
	};
	char label[PERMISSION_LABEL], confined[192] = "";
	int64_t scope = 0;

	if (permission_label(label)) {
		finding->state = FINDING_WARN;
		snprintf(confined, sizeof(confined),
			 "; the security label '%s' may forbid it", label);
	}
	if (!read_number("/proc/sys/kernel/yama/ptrace_scope", &scope)) {
		TEXT(finding, "this kernel has no Yama: %s%s", who[0],
		     confined);
		return;
	}
	scope = scope < 0 ? 0 : scope > 3 ? 3 : scope;
	TEXT(finding, "%" PRId64 "; %s%s", scope, who[scope], confined);
	if (scope < 2)
		return;
	finding->state = FINDING_WARN;
	ADVICE(finding,
	       scope == 2 ? "run as root, or: sysctl kernel.yama.ptrace_scope=1"
			  : "samples and branch records work all the same");
}

static void look_at_mlock(struct finding *finding)
{
	int64_t kib = 0;

	read_number("/proc/sys/kernel/perf_event_mlock_kb", &kib);
	TEXT(finding, "%" PRId64 " KiB of rings for each CPU without privilege",
	     kib);
	if (kib >= 516)
		return;
	finding->state = FINDING_WARN;
	ADVICE(finding,
	       "less than the default; sysctl kernel.perf_event_mlock_kb=516");
}

/* hwprof does not need tracefs, but perf does for tracepoints. */
static void look_at_tracefs(struct finding *finding)
{
	if (!access("/sys/kernel/tracing/events", F_OK)) {
		TEXT(finding, "mounted at /sys/kernel/tracing");
		return;
	}
	finding->state = FINDING_WARN;
	TEXT(finding, "cannot be seen: perf can record no tracepoints beside hwprof's events");
	if (errno == EACCES)
		ADVICE(finding, "run as root");
	else
		ADVICE(finding,
		       "as root: mount -t tracefs none /sys/kernel/tracing");
}

/*
 * Returns true for the PMU of the CPUs: "cpu", "cpu_core", "armv8_pmuv3_0" and
 * so on.
 */
static int is_cpu_pmu(const struct dirent *entry)
{
	return !strcmp(entry->d_name, "cpu") ||
	       !strcmp(entry->d_name, "cpu_core") ||
	       !strncmp(entry->d_name, "armv8_", 6);
}

static bool find_cpu_pmu(char *name, size_t size)
{
	struct dirent **entries;
	int count = scandir(PMUS, &entries, is_cpu_pmu, alphasort);
	int i;

	if (count < 0)
		return false;
	if (count)
		snprintf(name, size, "%s", entries[0]->d_name);
	for (i = 0; i < count; i++)
		free(entries[i]);
	free(entries);
	return count;
}

/*
 * Reads a number from caps in the PMU's folder. Returns false if there is none.
 */
static bool read_pmu_cap(const char *pmu, const char *cap, int64_t *value)
{
	char path[512];

	snprintf(path, sizeof(path), PMUS "%s/caps/%s", pmu, cap);
	return read_number(path, value);
}

static void look_at_overflow(struct finding *finding)
{
	char overflow[128];

	if (!read_cap("overflow", overflow, sizeof(overflow)))
		return;
	if (!strcmp(overflow, "NMI")) {
		append(finding, "; their overflow is an NMI");
		return;
	}
	finding->state = FINDING_WARN;
	if (strcmp(overflow, "interrupt")) {
		append(finding, "; their overflow does not come: %s", overflow);
		ADVICE(finding, "see the kernel's messages (dmesg)");
		return;
	}
	append(finding,
	       "; their overflow is an ordinary interrupt: what the kernel does with interrupts off is seen where it turns them on");
	ADVICE(finding, "boot with irqchip.gicv3_pseudo_nmi=1, if the kernel has CONFIG_ARM64_PSEUDO_NMI");
}

static void look_at_pmu(struct finding *finding)
{
	char name[256], count[32];

	if (find_cpu_pmu(name, sizeof(name))) {
		TEXT(finding, "the kernel has the PMU '%s'", name);
		if (read_cap("counters", count, sizeof(count)) && atoi(count))
			append(finding, " with %s counters for any event",
			       count);
		look_at_overflow(finding);
		doctor_add_counters(finding, counters_look());
		return;
	}
	finding->state = FINDING_WARN;
	if (is_virtual()) {
		TEXT(finding, "no hardware counters: the hypervisor gives this machine none");
		ADVICE(finding,
		       "hwprof works by software then; for counters, give the machine a virtual PMU (QEMU: -cpu host,pmu=on) or take one without a hypervisor");
	} else {
		TEXT(finding, "no hardware counters: the kernel does not know those of this CPU");
		ADVICE(finding, "hwprof works by software then; for counters, boot a newer kernel");
	}
}

static bool has_depth(const char *pmu, int64_t *depth)
{
	return read_pmu_cap(pmu, "branches", depth) && *depth > 0;
}

/*
 * Checks branch records. perf knows their depth; only the module knows whether
 * they can be used.
 */
static void look_at_lbr(struct finding *finding)
{
	char name[256], usable[128];
	int64_t depth;

	finding->state = FINDING_WARN;
	ADVICE(finding, "take windows by stepping in bursts, where there is stepping: -e loops,burst=200");
	if (!find_cpu_pmu(name, sizeof(name))) {
		TEXT(finding,
		     "no branch records: there are no hardware counters");
		return;
	}
	if (!has_depth(name, &depth)) {
		TEXT(finding,
		     "no branch records: the PMU '%s' has none that the kernel knows",
		     name);
		if (read_cap("lbr", usable, sizeof(usable)))
			append(finding, " (%s)", usable);
		return;
	}
	TEXT(finding, "%" PRId64 " entries deep", depth);
	if (read_cap("lbr", usable, sizeof(usable)) && strcmp(usable, "yes")) {
		append(finding, ", but they cannot be used: %s", usable);
		if (strstr(usable, "in use"))
			ADVICE(finding,
			       "they are tried when the module is loaded: end what uses the counters, then rmmod hwprof; modprobe hwprof");
		return;
	}
	finding->state = FINDING_OK;
	*finding->advice = 0;
}

static void look_at_precise(struct finding *finding)
{
	int64_t precise;
	char name[256];

	if (!find_cpu_pmu(name, sizeof(name))) {
		finding->state = FINDING_WARN;
		TEXT(finding,
		     "no precise events: there are no hardware counters");
		return;
	}
	if (read_pmu_cap(name, "max_precise", &precise) && precise > 0) {
		TEXT(finding,
		     "the PMU '%s' has precise events, up to precise_ip=%" PRId64,
		     name, precise);
		return;
	}
	finding->state = FINDING_WARN;
	TEXT(finding,
	     "the PMU '%s' has no precise events: samples are late by some instructions",
	     name);
	ADVICE(finding, "take samples for functions and ranges, not for single instructions");
}

const struct check doctor_checks[] = {
	{ "kernel", false, look_at_kernel },
	{ "module", true, look_at_module },
	{ "caps", false, look_at_caps },
	{ "step", false, look_at_step },
	{ "permission", false, look_at_permission },
	{ "ptrace", false, look_at_ptrace },
	{ "mlock", false, look_at_mlock },
	{ "tracefs", false, look_at_tracefs },
	{ "cpu", false, look_at_cpu },
	{ "pmu", false, look_at_pmu },
	{ "lbr", false, look_at_lbr },
	{ "precise", false, look_at_precise },
};

const unsigned int doctor_check_count =
	sizeof(doctor_checks) / sizeof(doctor_checks[0]);
