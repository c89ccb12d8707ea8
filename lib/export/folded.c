// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A line for each stack: its functions from the outermost on, separated by
 * ';', and a count. Contexts have the names of their processes in front.
 */
#include <errno.h>
#include <inttypes.h>

#include "export.h"
#include "samples.h"

struct folding {
	FILE *out;
	size_t main;		/* the value that is written */
};

/* Semicolons and ends of lines would be taken for those of the format. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		putc(*name == ';' || *name == '\n' ? '_' : *name, out);
}

static int put_stack(void *context, const struct stack_sample *sample)
{
	const struct folding *folding = context;
	uint64_t value = sample->values[folding->main];
	char text[FRAME_TEXT];
	size_t i;

	if (!value)
		return 0;
	for (i = sample->frame_count; i--;) {
		put_name(folding->out,
			 sample_frame_name(&sample->frames[i], text));
		putc(i ? ';' : ' ', folding->out);
	}
	fprintf(folding->out, "%" PRIu64 "\n", value);
	return 0;
}

int folded_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct folding folding = { .out = out };
	struct samples_types types;

	if (hwprof_profile_kind(export->profile) == HWPROF_KIND_CCT)
		return hwprof_contexts_folded(export->profile, out);
	samples_types(export->profile, &types);
	folding.main = types.main;
	return samples_each(export->profile, NULL, put_stack, &folding);
}
