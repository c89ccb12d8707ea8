/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF programs that `hwprof bpf` has: those of tools/programs. */
#ifndef HWPROF_BPF_PROGRAMS_H
#define HWPROF_BPF_PROGRAMS_H

#include <stddef.h>

#define BPF_PROGRAM_NAMES	"edges"

#define BPF_PROGRAMS_USAGE						\
"  edges               how often each branch led from where to where\n"

struct bpf_shipped {
	const char *name;
	const void *(*bytes)(size_t *size);	/* the object file */
};

/* Returns the program of this name, or NULL. */
const struct bpf_shipped *bpf_shipped(const char *name);

#endif /* HWPROF_BPF_PROGRAMS_H */
