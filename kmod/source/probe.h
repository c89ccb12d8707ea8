/* SPDX-License-Identifier: GPL-2.0-only */
/* Functions of ours at the kernel's tracepoints. */
#ifndef HWPROF_PROBE_H
#define HWPROF_PROBE_H

struct tracepoint;

struct probe {
	const char *name;	/* of the tracepoint; NULL: the last one was before */
	void *function;		/* first argument: NULL; the rest: the tracepoint's */
	struct tracepoint *tracepoint;	/* probes_find() finds it */
};

void probes_find(struct probe *probes);

/* All or none. -EOPNOTSUPP: this kernel lacks one of them. Process context. */
int probes_register(struct probe *probes);

/* None of them runs any more. Process context. */
void probes_unregister(struct probe *probes);

#endif /* HWPROF_PROBE_H */
