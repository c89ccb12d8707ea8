// SPDX-License-Identifier: GPL-2.0-only
#include <linux/errno.h>
#include <linux/string.h>
#include <linux/tracepoint.h>

#include "probe.h"

static void probe_find_one(struct tracepoint *tracepoint, void *data)
{
	struct probe *probe;

	for (probe = data; probe->name; probe++)
		if (!strcmp(tracepoint->name, probe->name))
			probe->tracepoint = tracepoint;
}

const char *probes_find(struct probe *probes)
{
	for_each_kernel_tracepoint(probe_find_one, probes);
	for (; probes->name; probes++)
		if (!probes->tracepoint)
			return probes->absent;
	return NULL;
}

static void probe_unregister(struct probe *probes, struct probe *end)
{
	while (end-- != probes)
		tracepoint_probe_unregister(end->tracepoint, end->function,
					    NULL);
	tracepoint_synchronize_unregister();
}

void probes_unregister(struct probe *probes)
{
	struct probe *end = probes;

	while (end->name)
		end++;
	probe_unregister(probes, end);
}

int probes_register(struct probe *probes)
{
	struct probe *probe;
	int err;

	for (probe = probes; probe->name; probe++) {
		err = probe->tracepoint ?
		      tracepoint_probe_register(probe->tracepoint,
						probe->function, NULL) :
		      -EOPNOTSUPP;
		if (err) {
			probe_unregister(probes, probe);
			return err;
		}
	}
	return 0;
}
