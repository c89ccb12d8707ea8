// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "meter.h"

enum {
	LINE_SIZE = 512,
	SECOND = 1000000000,
};

bool meter_read_idle(FILE *in, uint64_t *idle_ns, unsigned int *cpus)
{
	uint64_t idle, waiting, stolen, tick = SECOND / sysconf(_SC_CLK_TCK);
	char line[LINE_SIZE];

	*idle_ns = *cpus = 0;
	while (fgets(line, sizeof(line), in)) {
		/* The first line is the sum, also of CPUs that are offline. */
		if (strncmp(line, "cpu", 3) || !isdigit(line[3]))
			continue;
		/* User, nice and system come first, interrupts between. */
		if (sscanf(line + 3, "%*u %*u %*u %*u %" SCNu64 " %" SCNu64
				     " %*u %*u %" SCNu64, &idle, &waiting,
			   &stolen) != 3)
			continue;
		*idle_ns += (idle + waiting + stolen) * tick;
		++*cpus;
	}
	return *cpus;
}

/* Returns ns without those of a suspended machine, which has no idle time. */
static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * (uint64_t)SECOND + now.tv_nsec;
}

static bool read_machine(uint64_t *idle_ns, unsigned int *cpus)
{
	FILE *in = fopen("/proc/stat", "re");
	bool known = in && meter_read_idle(in, idle_ns, cpus);

	if (in)
		fclose(in);
	return known;
}

/* Sets what hwprofd has said since its first answer. */
static void read_answer(struct meter *meter, int socket, struct spent *spent)
{
	struct wire_spent answer;

	if (socket < 0 || !wire_answered(socket, &answer))
		return;
	if (meter->answered && answer.cpu_ns >= meter->answer.cpu_ns &&
	    answer.looks_ns >= meter->answer.looks_ns) {
		spent->own_ns += answer.cpu_ns - meter->answer.cpu_ns;
		spent->looks_ns = answer.looks_ns - meter->answer.looks_ns;
		spent->has_looks = true;
	}
	meter->answered = true;
	meter->answer = answer;
}

struct spent meter_read(struct meter *meter, uint64_t self_ns,
			uint64_t files_ns, int socket)
{
	struct meter now = *meter;
	uint64_t own_ns = self_ns + files_ns, all, idle;
	struct spent spent = {
		.own_ns = own_ns - meter->own_ns,
		.files_ns = files_ns - meter->files_ns,
	};

	now.begun = true;
	now.now_ns = now_ns();
	now.own_ns = own_ns;
	now.files_ns = files_ns;
	if (!read_machine(&now.idle_ns, &now.cpus))
		now.cpus = 0;
	spent.wall_ns = meter->begun ? now.now_ns - meter->now_ns : 0;
	all = spent.wall_ns * now.cpus;
	idle = now.idle_ns - meter->idle_ns;
	spent.busy_unknown = !meter->begun || !now.cpus ||
			     now.cpus != meter->cpus ||
			     now.idle_ns < meter->idle_ns || idle > all;
	spent.busy_ns = spent.busy_unknown ? 0 : all - idle;
	read_answer(&now, socket, &spent);
	*meter = now;
	return spent;
}

void meter_forget_answer(struct meter *meter)
{
	meter->answered = false;
}
