// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/kselftest/bpf.h"
#include "tests/kselftest/device.h"
#include "tests/irqsoff/feeder.h"
#include "tests/irqsoff/must.h"
#include "tests/irqsoff/phase.h"
#include "tests/irqsoff/rows.h"
#include "tests/irqsoff/sites.h"

#include "scenario.h"

enum { SAMPLES = 20 };

static void tune(int fd)
{
	struct hwprof_tuning tuning = {
		.size = sizeof(tuning), .flags = HWPROF_TUNE_BUDGET,
		.budget_permille = 100,
	};

	phase("HWPROF_IOC_TUNE");
	must(ioctl(fd, HWPROF_IOC_TUNE, &tuning), "HWPROF_IOC_TUNE");
	phase("with another budget");
	run_sites(SITES / 8);
	end_phase();
}

static void mask(int fd)
{
	struct hwprof_mask mask = {
		.size = sizeof(mask), .flags = HWPROF_MASK_SET, .ip_mask = 1,
	};

	phase("HWPROF_IOC_MASK");
	must(ioctl(fd, HWPROF_IOC_MASK, &mask), "HWPROF_IOC_MASK");
	phase("branches with a mask");
	run_sites(SITES / 8);
	end_phase();
}

/* Load a program that lets everything pass. */
static int load_program(enum bpf_prog_type type, int verdict)
{
	struct bpf_code code;
	int fd;

	bpf_begin(&code);
	bpf_return(&code, verdict);
	fd = bpf_load(&code, type);
	must(fd, "loading a program");
	return fd;
}

static void give_program(int fd)
{
	int program = load_program(BPF_PROG_TYPE_RAW_TRACEPOINT, 0);

	phase("HWPROF_IOC_PROGRAM");
	must(bpf_give(fd, program, 1 << HWPROF_PROGRAM_BRANCH),
	     "HWPROF_IOC_PROGRAM");
	phase("branches with a program");
	run_sites(SITES / 8);
	phase("HWPROF_IOC_PROGRAM_ACCOUNT");
	errno = ENODATA;
	if (bpf_account(fd, HWPROF_PROGRAM_BRANCH).runs < SITES / 8)
		die("the program did not run for each branch");
	phase("HWPROF_IOC_PROGRAM, none");
	must(bpf_give(fd, -1, 1 << HWPROF_PROGRAM_BRANCH),
	     "taking a program away");
	end_phase();
	close(program);
}

/* Change a session of the device that has a profile and a ring. */
static void change_device(uint64_t config1, unsigned int period,
			  void (*change)(int fd))
{
	struct hwprof_config config =
		device_config(EVENT_CALLS | EVENT_STEP | EVENT_MEMORY(4));
	int fd, event;

	config.config1 = config1;
	config.period = period;
	fd = device_open(&config);
	must(fd, "HWPROF_IOC_CONFIG");
	must(device_ring(fd, 4 * MIB, 0), "HWPROF_IOC_RING");
	event = feed(&config, 4);
	change(fd);
	close(event);
	close(fd);
	usleep(100000);
}

/* Limit the number of samples of an event, and give them to a program. */
static void change_event(int verdict)
{
	struct perf_event_attr attr =
		event_attr_sampling(EVENT_CALLS | EVENT_STEP, 100);
	int program = load_program(BPF_PROG_TYPE_PERF_EVENT, verdict), fd;
	struct ring ring;

	attr.inherit = 0;
	fd = own_event(attr);
	ring = map_ring(fd, PAGES_MOST);
	phase("PERF_EVENT_IOC_SET_BPF");
	must(ioctl(fd, PERF_EVENT_IOC_SET_BPF, program),
	     "PERF_EVENT_IOC_SET_BPF");
	phase("PERF_EVENT_IOC_REFRESH");
	must(ioctl(fd, PERF_EVENT_IOC_REFRESH, SAMPLES),
	     "PERF_EVENT_IOC_REFRESH");
	phase("the last samples, which a program %s", verdict ? "passes" :
	      "drops");
	run_sites(SITES / 2);
	end_phase();
	must_have_samples(&ring, verdict ? SAMPLES : 0);
	unmap_ring(&ring);
	close(fd);
	close(program);
}

void changes(void)
{
	change_device(0, 0, give_program);
	change_device(0, 0, mask);
	change_device(200 | EVENT_BUDGET(50), 1, tune);
	change_event(1);
	change_event(0);
}
