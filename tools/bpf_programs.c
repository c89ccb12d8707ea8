// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "bpf_programs.h"
#include "cache.skel.h"
#include "depend.skel.h"
#include "edges.skel.h"
#include "streams.skel.h"
#include "stride.skel.h"
#include "triphist.skel.h"

static const struct bpf_shipped all[] = {
	{ "edges", edges_bpf__elf_bytes },
	{ "depend", depend_bpf__elf_bytes },
	{ "cache", cache_bpf__elf_bytes },
	{ "streams", streams_bpf__elf_bytes },
	{ "stride", stride_bpf__elf_bytes },
	{ "triphist", triphist_bpf__elf_bytes },
};

const struct bpf_shipped *bpf_shipped(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}
