// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/edges.h"
#include "export.h"
#include "samples.h"
#include "base/text.h"

/* --- formats ------------------------------------------------------------ */

#define OF(kind)	(1U << HWPROF_KIND_##kind)

static int json_write(struct hwprof_export *export, struct part *part,
		      FILE *out)
{
	return hwprof_profile_json(export->profile, NULL, out);
}

static const struct format formats[] = {
	{
		.about = { "bolt", ".bolt", "perf2bolt -pa, llvm-bolt -pa",
			   OF(EDGES), true },
		.write = bolt_write, .check = bolt_check,
	}, {
		.about = { "fdata", ".fdata", "llvm-bolt --data", OF(EDGES),
			   true },
		.write = fdata_write, .check = fdata_check,
	}, {
		.about = { "autofdo-text", ".afdo.txt",
			   "create_llvm_prof --profiler=text", OF(EDGES), true,
			   "0.19 0.20" },
		.write = autofdo_write, .check = autofdo_check,
	}, {
		.about = { "llvm-profgen", ".unsymbolized",
			   "llvm-profgen --unsymbolized-profile", OF(EDGES),
			   true },
		.write = profgen_write, .check = profgen_check,
	}, {
		.about = { "llvm-perfscript", ".perfscript",
			   "llvm-profgen --perfscript", OF(EDGES), true },
		.write = perfscript_write, .check = profgen_check,
	}, {
		.about = { "pprof", ".pb.gz", "go tool pprof", SAMPLES_KINDS },
		.write = pprof_write,
	}, {
		.about = { "folded", ".folded", "flamegraph.pl",
			   SAMPLES_KINDS },
		.write = folded_write,
	}, {
		.about = { "speedscope", ".speedscope.json", "speedscope",
			   SAMPLES_KINDS },
		.write = speedscope_write,
	}, {
		.about = { "firefox", ".firefox.json", "profiler.firefox.com",
			   SAMPLES_KINDS },
		.write = firefox_write,
	}, {
		.about = { "callgrind", ".callgrind",
			   "KCachegrind, callgrind_annotate", SAMPLES_KINDS },
		.write = callgrind_write,
	}, {
		.about = { "otlp", ".otlp.pb", "OpenTelemetry collectors",
			   SAMPLES_KINDS, false, "1.10 1.9" },
		.write = otlp_write,
	}, {
		.about = { "json", ".json", "jq and the like",
			   (1U << HWPROF_KINDS) - 1 },
		.write = json_write,
	},
};

enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

const struct hwprof_format *hwprof_format_get(size_t index)
{
	return index < FORMATS ? &formats[index].about : NULL;
}

static const struct format *find_format(const char *name)
{
	size_t i;

	for (i = 0; i < FORMATS; i++)
		if (!strcmp(formats[i].about.name, name))
			return &formats[i];
	return NULL;
}

const struct hwprof_format *hwprof_format_of(const char *name)
{
	const struct format *format = find_format(name);

	return format ? &format->about : NULL;
}

/* --- objects ------------------------------------------------------------ */

static struct part *find_part(struct hwprof_export *export,
			      const struct object *object)
{
	size_t i;

	for (i = 0; i < export->part_count; i++)
		if (export->parts[i].object == object)
			return &export->parts[i];
	return NULL;
}

static struct part *add_part(struct hwprof_export *export,
			     struct object *object)
{
	struct part *more = reallocarray(export->parts, export->part_count + 1,
					 sizeof(*more));

	if (!more)
		return NULL;
	export->parts = more;
	more += export->part_count++;
	*more = (struct part){ .object = object, .binary.fd = -1 };
	return more;
}

/* Counts a line's branch where the line ends, and else where it began. */
static int count_edge(struct hwprof_export *export,
		      const struct edge_entry *edge, struct part **last)
{
	struct object *object = edge->to.object ? edge->to.object :
						  edge->from.object;

	if (!object || !object_is_file(object))
		return 0;
	if (!*last || (*last)->object != object)
		*last = find_part(export, object);
	if (!*last)
		*last = add_part(export, object);
	if (!*last)
		return -ENOMEM;
	(*last)->about.count += edge->count;
	return 0;
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return compare_u64(y->about.count, x->about.count);
}

static int name_part(struct hwprof_export *export, struct part *part)
{
	const char *name =
		hwprof_kind_name(hwprof_profile_kind(export->profile));

	if (part->object) {
		part->about.object = object_name(part->object);
		part->about.build_id = object_build_id(part->object);
		name = part->about.build_id ? part->about.build_id :
		       path_file_name(part->about.object);
	}
	if (asprintf(&part->name, "%s%s", name,
		     export->format->about.suffix) < 0) {
		part->name = NULL;
		return -ENOMEM;
	}
	part->about.name = part->name;
	return 0;
}

static int find_objects(struct hwprof_export *export)
{
	const struct hwprof_edges *edges = (const void *)export->profile;
	struct part *last = NULL;
	size_t i;
	int error = 0;

	for (i = 0; !error && i < edges->edge_count; i++)
		error = count_edge(export, &edges->edges[i], &last);
	if (export->part_count)
		qsort(export->parts, export->part_count,
		      sizeof(*export->parts), compare_parts);
	for (i = 0; !error && i < export->part_count; i++)
		error = name_part(export, &export->parts[i]);
	return error;
}

static void free_part(struct part *part)
{
	binary_close(&part->binary);
	free(part->name);
}

/* Leaves only the object with the number @index. */
static void keep_part(struct hwprof_export *export, size_t index)
{
	struct part kept = export->parts[index];
	size_t i;

	for (i = 0; i < export->part_count; i++)
		if (i != index)
			free_part(&export->parts[i]);
	export->parts[0] = kept;
	export->part_count = 1;
}

/* --- the object that was chosen ----------------------------------------- */

static int choose_build_id(struct hwprof_export *export, const char *id)
{
	size_t length = strlen(id), found = 0, count = 0, i;

	for (i = 0; i < export->part_count; i++) {
		const char *own = export->parts[i].about.build_id;

		if (!length || !own || strncasecmp(own, id, length))
			continue;
		found = i;
		count++;
	}
	if (count > 1)
		return export_fail(export, -EINVAL,
				   "build id '%s': %zu objects begin with it; give more of it",
				   id, count);
	if (!count)
		return export_fail(export, -ENOENT,
				   "build id '%s': no object with branches has it%s%s",
				   id, export->part_count ? "; the one with most branches has " : "",
				   export->part_count &&
				   export->parts[0].about.build_id ?
				   export->parts[0].about.build_id : "");
	keep_part(export, found);
	return 0;
}

/* Finds an object without a build id by its file's name. */
static int choose_name(struct hwprof_export *export, const char *path)
{
	size_t i;

	for (i = 0; i < export->part_count; i++) {
		struct part *part = &export->parts[i];

		if (strcmp(path_file_name(part->about.object),
			   path_file_name(path)))
			continue;
		if (part->about.build_id)
			return export_fail(export, -ENOENT,
					   "%s: it has no build id, and the recorded %s has %s",
					   path, part->about.object,
					   part->about.build_id);
		keep_part(export, i);
		return warnings_add(&export->warnings,
				    "%s has no build id: whether it is the build that ran is not known",
				    path);
	}
	return export_fail(export, -ENOENT,
			   "%s: it has no build id, and no object of this name has branches",
			   path);
}

/* The recorded build of a program of that name has another id. */
static int other_build(struct hwprof_export *export, const char *path,
		       const char *id)
{
	size_t i;

	for (i = 0; i < export->part_count; i++) {
		const struct hwprof_export_part *about =
			&export->parts[i].about;

		if (!strcmp(path_file_name(about->object),
			    path_file_name(path)))
			return export_fail(export, -ENOENT,
					   "%s: its build id is %s, but %s was recorded with %s: give the build that ran",
					   path, id, about->object,
					   about->build_id ? about->build_id :
					   "none");
	}
	return export_fail(export, -ENOENT,
			   "%s: no branch of its build id, %s, was recorded",
			   path, id);
}

static int choose_binary(struct hwprof_export *export, const char *path)
{
	char text[BUILD_ID_TEXT];
	const char *why;
	struct binary binary;
	struct build_id id;
	size_t i;

	why = binary_open(&binary, path, NULL);
	if (why)
		return export_fail(export, -ENOEXEC, "%s: %s", path, why);
	binary_close(&binary);
	if (!object_read_build_id(path, &id))
		return choose_name(export, path);
	build_id_print(&id, text);
	for (i = 0; i < export->part_count; i++) {
		const char *own = export->parts[i].about.build_id;

		/* Recorders may have padded it. */
		if (own && !strncmp(own, text, strlen(text)))
			break;
	}
	if (i == export->part_count)
		return other_build(export, path, text);
	keep_part(export, i);
	return 0;
}

int export_open_binary(struct hwprof_export *export, struct part *part)
{
	const char *path = export->binary, *why;
	Elf *elf = object_elf(part->object);

	if (!path && !elf)
		return export_fail(export, -ENOENT,
				   "%s: the build that ran cannot be read; give it with --binary, or its folder with --symfs",
				   part->about.object);
	why = binary_open(&part->binary, path, path ? NULL : elf);
	if (why)
		return export_fail(export, -ENOEXEC, "%s: %s",
				   path ? path : part->about.object, why);
	part->opened = true;
	return export->format->check ? export->format->check(export, part) : 0;
}

static void drop_part(struct hwprof_export *export, size_t index)
{
	free_part(&export->parts[index]);
	memmove(&export->parts[index], &export->parts[index + 1],
		(--export->part_count - index) * sizeof(*export->parts));
}

/*
 * Opens all objects. One that was chosen must be usable; of several, those that
 * are not are left out with a warning.
 */
static int open_binaries(struct hwprof_export *export, bool chosen)
{
	size_t i = 0;
	int error;

	while (i < export->part_count) {
		error = export_open_binary(export, &export->parts[i]);
		if (!error) {
			i++;
			continue;
		}
		if (chosen || error == -ENOMEM || export->part_count == 1)
			return error;
		if (warnings_add(&export->warnings, "left out: %s",
				 export->message))
			return -ENOMEM;
		drop_part(export, i);
	}
	return 0;
}

static int prepare_objects(struct hwprof_export *export,
			   const struct hwprof_export_options *options)
{
	bool chosen = options->binary || options->build_id;
	int error = find_objects(export);

	if (!error && !export->part_count)
		error = export_fail(export, -ENODATA,
				    "no branch of a program or library was recorded");
	if (!error && options->build_id)
		error = choose_build_id(export, options->build_id);
	if (!error && options->binary)
		error = choose_binary(export, options->binary);
	return error ? error : open_binaries(export, chosen);
}

/* --- the whole profile -------------------------------------------------- */

static int prepare_whole(struct hwprof_export *export)
{
	struct part *part = add_part(export, NULL);

	return part ? name_part(export, part) : -ENOMEM;
}

/* --- all of it ---------------------------------------------------------- */

static int set_version(struct hwprof_export *export, const char *version)
{
	const char *versions = export->format->about.versions;
	static const char blanks[] = " ";
	char *copy, *word, *rest;

	if (version && !versions)
		return export_fail(export, -EINVAL,
				   "%s has no versions to choose from",
				   export->format->about.name);
	copy = strdup(versions ? versions : "");
	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, blanks, &rest); word;
	     word = strtok_r(NULL, blanks, &rest))
		if (!version || !strcmp(word, version))
			break;
	export->version = word ? strdup(word) : NULL;
	free(copy);
	if (word)
		return export->version ? 0 : -ENOMEM;
	return version ? export_fail(export, -EINVAL,
				     "version '%s': those of %s are: %s",
				     version, export->format->about.name,
				     versions) : 0;
}

static int check_kind(struct hwprof_export *export)
{
	enum hwprof_kind kind = hwprof_profile_kind(export->profile);

	if (export->format->about.kinds >> kind & 1)
		return 0;
	return export_fail(export, -EOPNOTSUPP, "%s cannot have %s",
			   export->format->about.name, hwprof_kind_name(kind));
}

static int prepare(struct hwprof_export *export, const char *format,
		   const struct hwprof_export_options *options)
{
	int error;

	export->format = find_format(format);
	if (!export->format)
		return export_fail(export, -EINVAL, "unknown format '%s'",
				   format);
	if (!export->format->about.per_object &&
	    (options->binary || options->build_id))
		return export_fail(export, -EINVAL,
				   "%s has the whole profile: no object of it can be chosen",
				   format);
	error = check_kind(export);
	if (!error)
		error = set_version(export, options->version);
	if (error)
		return error;
	if (options->binary) {
		export->binary = strdup(options->binary);
		if (!export->binary)
			return -ENOMEM;
	}
	return export->format->about.per_object ?
	       prepare_objects(export, options) : prepare_whole(export);
}

int hwprof_export_open(struct hwprof_export **export,
		       const struct hwprof_profile *profile, const char *format,
		       const struct hwprof_export_options *options)
{
	static const struct hwprof_export_options defaults;
	int error;

	*export = calloc(1, sizeof(**export));
	if (!*export)
		return -ENOMEM;
	(*export)->profile = profile;
	error = prepare(*export, format, options ? options : &defaults);
	if (error == -ENOMEM) {
		hwprof_export_close(*export);
		*export = NULL;
	}
	return error;
}

void hwprof_export_close(struct hwprof_export *export)
{
	size_t i;

	if (!export)
		return;
	for (i = 0; i < export->part_count; i++)
		free_part(&export->parts[i]);
	free(export->parts);
	free(export->binary);
	free(export->version);
	warnings_free(&export->warnings);
	free(export);
}

const char *hwprof_export_error(const struct hwprof_export *export)
{
	return export ? export->message : "out of memory";
}

const char *hwprof_export_warning(const struct hwprof_export *export,
				  size_t index)
{
	return warnings_get(&export->warnings, index);
}

const struct hwprof_export_part *
hwprof_export_part(const struct hwprof_export *export, size_t index)
{
	return index < export->part_count ? &export->parts[index].about : NULL;
}

int hwprof_export_write(struct hwprof_export *export, size_t index, FILE *out)
{
	int error = export->format->write(export, &export->parts[index], out);

	if (error == -ENOMEM)
		export_fail(export, error, "out of memory");
	if (!error && (fflush(out) || ferror(out)))
		error = export_fail(export, -EIO, "cannot write: %s",
				    strerror(errno));
	return error;
}
