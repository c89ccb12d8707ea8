// SPDX-License-Identifier: GPL-2.0-only
/* In place of production_run.c, if hwprof is built with BPF=no. */
#include "command.h"
#include "production_run.h"

int production_run_open(struct production_run **run,
			const struct productions *productions,
			struct production_mode mode, const char *program)
{
	*run = NULL;
	return failed("--when: this hwprof was built without BPF programs (make BPF=no)");
}

/* Nobody gets a run, so the rest is not called. */
void production_run_close(struct production_run *run)
{
}

int production_run_watch(struct production_run *run, struct device_rows *rows)
{
	return STATUS_FAILED;
}

int production_run_gate(struct production_run *run,
			const struct device_rows *rows, bool accesses)
{
	return STATUS_FAILED;
}

void production_run_find(struct production_run *run, pid_t pid)
{
}

int production_run_fd(const struct production_run *run)
{
	return -1;
}

void production_run_ask(struct production_run *run, bool *snapshot, bool *stop)
{
	*snapshot = *stop = false;
}

int production_run_print(const struct production_run *run, bool json, FILE *out)
{
	return STATUS_FAILED;
}

void production_run_warn(const struct production_run *run)
{
}
