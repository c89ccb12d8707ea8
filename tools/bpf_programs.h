/* SPDX-License-Identifier: GPL-2.0-only */
/* The BPF programs that `hwprof bpf` has: those of tools/programs. */
#ifndef HWPROF_BPF_PROGRAMS_H
#define HWPROF_BPF_PROGRAMS_H

#include <stddef.h>

#define BPF_PROGRAM_NAMES						\
	"edges, depend, cache, stride, streams, triphist"

#define BPF_PROGRAMS_USAGE						\
"  edges               how often each branch led from where to where\n"	\
"  depend              which loads depend on which stores\n"		\
"  cache               misses in a simulated cache\n"			\
"  stride              how far apart accesses of an instruction are\n"	\
"  streams             sequences of accesses that come again and again\n" \
"  triphist            how often loops had which trip count\n"

struct bpf_shipped {
	const char *name;
	const void *(*bytes)(size_t *size);	/* the object file */
};

/* Returns the program of this name, or NULL. */
const struct bpf_shipped *bpf_shipped(const char *name);

#endif /* HWPROF_BPF_PROGRAMS_H */
