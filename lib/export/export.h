/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Profiles in the formats of other programs. export.c has the table of formats
 * and hwprof_export_...(); each format is written in a file of its own. Formats
 * for compilers are written from struct code (code.h), one output an object;
 * formats for people from samples of stacks (samples.h).
 */
#ifndef HWPROF_EXPORT_H
#define HWPROF_EXPORT_H

#include <elfutils/libdw.h>

#include "binary.h"
#include "hwprof.h"
#include "profile/profile.h"
#include "base/warnings.h"
#include "samples.h"

/* One output. */
struct part {
	struct hwprof_export_part about;
	char *name;			/* about.name */
	struct object *object;		/* NULL: the whole profile */
	struct binary binary;		/* of the object, once it was needed */
	bool opened;			/* opening it was tried */
};

/**
 * struct export_origin - Where a profile comes from, and of which time it is
 * @begin_ns: in ns since 1970; 0 for unknown.
 * @length_ns: of the time.
 * @labels: what describes the program or machine, all of them text.
 * @label_count: of labels.
 * @labeller: labels of each sample; NULL: none but those of the profile.
 *
 * Formats that have no place for it leave it out.
 */
struct export_origin {
	uint64_t begin_ns, length_ns;
	const struct sample_label *labels;
	size_t label_count;
	const struct sample_labeller *labeller;
};

struct hwprof_export {
	const struct hwprof_profile *profile;
	const struct export_origin *origin;	/* NULL: not known */
	const struct format *format;
	char *version;			/* one of the format's, or NULL */
	char *binary;			/* path that was chosen, or NULL */
	struct part *parts;
	size_t part_count;
	struct warnings warnings;
	char message[512];
};

/* A format. @write returns 0 or a negative errno, with a message. */
struct format {
	struct hwprof_format about;
	int (*write)(struct hwprof_export *export, struct part *part,
		     FILE *out);
	/* Adds warnings about the object to be exported; or NULL. */
	int (*check)(struct hwprof_export *export, struct part *part);
};

static inline const struct sample_labeller *
export_labeller(const struct hwprof_export *export)
{
	return export->origin ? export->origin->labeller : NULL;
}

/* Sets the message and returns @error. */
int export_fail(struct hwprof_export *export, int error, const char *format,
		...) __attribute__((format(printf, 3, 4)));

/* Opens the part's binary and refuses one that cannot be profiled. */
int export_open_binary(struct hwprof_export *export, struct part *part);

/* bolt.c, fdata.c, autofdo.c, profgen.c */
int bolt_write(struct hwprof_export *export, struct part *part, FILE *out);
int bolt_check(struct hwprof_export *export, struct part *part);
int fdata_write(struct hwprof_export *export, struct part *part, FILE *out);
int fdata_check(struct hwprof_export *export, struct part *part);
int autofdo_write(struct hwprof_export *export, struct part *part, FILE *out);
int autofdo_check(struct hwprof_export *export, struct part *part);
int profgen_write(struct hwprof_export *export, struct part *part, FILE *out);
int profgen_check(struct hwprof_export *export, struct part *part);
int perfscript_write(struct hwprof_export *export, struct part *part,
		     FILE *out);

/* folded.c, speedscope.c, pprof.c, callgrind.c, firefox.c, otlp.c */
int folded_write(struct hwprof_export *export, struct part *part, FILE *out);
int speedscope_write(struct hwprof_export *export, struct part *part,
		     FILE *out);
int pprof_write(struct hwprof_export *export, struct part *part, FILE *out);
int callgrind_write(struct hwprof_export *export, struct part *part,
		    FILE *out);
int firefox_write(struct hwprof_export *export, struct part *part, FILE *out);
int otlp_write(struct hwprof_export *export, struct part *part, FILE *out);

#endif /* HWPROF_EXPORT_H */
