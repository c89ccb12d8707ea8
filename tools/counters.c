// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"
#include "doctor.h"

enum counters counters_judge(int error, int error_without_guests)
{
	return error == EOPNOTSUPP && !error_without_guests ?
	       COUNTERS_OF_GUESTS : COUNTERS_OURS;
}

static int try_counter(bool exclude_guest)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_CPU_CYCLES, .disabled = 1,
		.exclude_kernel = 1, .exclude_hv = 1,
		.exclude_guest = exclude_guest,
	};
	int fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1,
			 PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

enum counters counters_look(void)
{
	return counters_judge(try_counter(false), try_counter(true));
}

void doctor_add_counters(struct finding *finding, enum counters counters)
{
	size_t used = strlen(finding->text);

	if (counters != COUNTERS_OF_GUESTS)
		return;
	finding->state = FINDING_WARN;
	snprintf(finding->text + used, sizeof(finding->text) - used,
		 "; a virtual machine that runs now has them to itself: events that count in guests, too, are refused");
	snprintf(finding->advice, sizeof(finding->advice),
		 "hwprof's own events leave guests out; with perf, add the modifier H: -e hwprof/loops,lbr/uH");
}
