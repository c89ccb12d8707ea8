// SPDX-License-Identifier: GPL-2.0-only
/* hwprof report --phases: when a program changed, and what each phase did. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "command.h"
#include "reports/phase_profile.h"
#include "remote.h"
#include "report_phases.h"
#include "table.h"

/* Consecutive intervals of one phase. */
struct stay {
	size_t first, last;		/* intervals */
};

int report_check_phases(const struct report *report, unsigned int kinds)
{
	if (report->phase_distance && !report->phases)
		return usage_error("--phase-distance is of --phases");
	if (!report->phases)
		return -1;
	if (report->diff || report->html || report->folded || report->contexts)
		return usage_error("--phases prints the profile of each phase, without --diff, --html, --folded and --contexts");
	if (report->file_count != 1 || !strcmp(report->file, "-"))
		return usage_error("--phases is of one recording, which is read several times: a file");
	if (kinds & (kinds - 1))
		return usage_error("the recording has several profiles: say of which the phases are, as in 'hwprof report %s --phases'",
				   hwprof_kind_name(__builtin_ctz(kinds)));
	return -1;
}

static double seconds_of(const struct phases *phases, uint64_t time)
{
	return (time - phases->intervals[0].begin) / 1e9;
}

/*
 * The first interval has no beginning: it gets one as far from its end as the
 * second one is long, or none if there is no second one.
 */
static void set_beginning(struct phases *phases)
{
	struct phase_interval *first = phases->intervals;
	uint64_t length = phases->interval_count > 1 ?
			  first[1].end - first[1].begin : 0;

	first->begin = first->end > length ? first->end - length : 0;
}

/* Returns the stay that begins with interval @first. */
static struct stay stay_at(const struct phases *phases, size_t first)
{
	struct stay stay = { first, first };

	while (stay.last + 1 < phases->interval_count &&
	       phases->intervals[stay.last + 1].phase ==
		       phases->intervals[first].phase)
		stay.last++;
	return stay;
}

/* --- text ----------------------------------------------------------------- */

static const struct table_column columns[] = {
	{ .title = "from s", .right = true },
	{ .title = "to s", .right = true },
	{ .title = "phase", .right = true },
	{ .title = "distance", .right = true },
};

enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void add_stay(struct table *table, const struct phases *phases,
		     struct stay stay)
{
	const struct phase_interval *first = &phases->intervals[stay.first];

	table_add(table, "%.3f", seconds_of(phases, first->begin));
	table_add(table, "%.3f",
		  seconds_of(phases, phases->intervals[stay.last].end));
	table_add(table, "%zu", first->phase + 1);
	if (stay.first)
		table_add(table, "%.2f", first->distance);
	else
		table_add(table, "%s", "");
}

static int print_stays(const struct phases *phases)
{
	struct table table = { .columns = columns, .column_count = COLUMNS };
	size_t first = 0;

	while (first < phases->interval_count) {
		struct stay stay = stay_at(phases, first);

		add_stay(&table, phases, stay);
		first = stay.last + 1;
	}
	return finish_table(&table, 0, "");
}

static void add_up(const struct phases *phases, size_t phase, uint64_t *time,
		   size_t *intervals)
{
	size_t i;

	*time = *intervals = 0;
	for (i = 0; i < phases->interval_count; i++) {
		const struct phase_interval *interval = &phases->intervals[i];

		if (interval->phase != phase)
			continue;
		*time += interval->end - interval->begin;
		++*intervals;
	}
}

/* --- JSON ----------------------------------------------------------------- */

static void put_interval(struct json *json, const struct phases *phases,
			 const struct phase_interval *interval)
{
	json_open(json, NULL, '{');
	json_number(json, "from_s", seconds_of(phases, interval->begin));
	json_number(json, "to_s", seconds_of(phases, interval->end));
	json_unsigned(json, "phase", interval->phase + 1);
	json_number(json, "distance", interval->distance);
	json_unsigned(json, "units", interval->count);
	json_close(json, '}');
}

static void put_intervals(struct json *json, const struct phases *phases)
{
	size_t i;

	json_unsigned(json, "changes", phases->change_count);
	json_open(json, "intervals", '[');
	for (i = 0; i < phases->interval_count; i++)
		put_interval(json, phases, &phases->intervals[i]);
	json_close(json, ']');
}

/* --- profiles ------------------------------------------------------------- */

static int read_phase(const struct report *report,
		      const struct report_kind *kind,
		      const struct phases *phases, size_t phase,
		      struct hwprof_profile **profile)
{
	const struct hwprof_options options = {
		.flags = report->flags | report->of, .hot = report->hot,
		.symfs = report->symfs, .debuginfo = report->debuginfo,
		.function = report->function,
	};
	struct hwprof_file *file;
	int error = remote_file_open(&file, report->file);

	*profile = NULL;
	if (!error)
		error = phase_profile_read(profile, kind->kind, file, &options,
					   phases, phase);
	if (error)
		failed("%s", hwprof_file_error(file));
	hwprof_file_close(file);
	return error ? STATUS_FAILED : STATUS_OK;
}

static int print_phase(const struct report *report,
		       const struct report_kind *kind,
		       const struct phases *phases, size_t phase)
{
	struct hwprof_profile *profile;
	int status = read_phase(report, kind, phases, phase, &profile);
	size_t intervals;
	uint64_t time;

	if (status)
		return status;
	add_up(phases, phase, &time, &intervals);
	printf("\nphase %zu: %.3f s in %zu interval%s\n", phase + 1, time / 1e9,
	       intervals, intervals == 1 ? "" : "s");
	status = report_print(report, kind, profile);
	hwprof_profile_free(profile);
	return status;
}

static int print_all(const struct report *report,
		     const struct report_kind *kind,
		     const struct phases *phases)
{
	int status;
	size_t i;

	printf("%zu phase%s of %s in %zu intervals, %zu change%s\n\n",
	       phases->phase_count, phases->phase_count == 1 ? "" : "s",
	       kind->things, phases->interval_count, phases->change_count,
	       phases->change_count == 1 ? "" : "s");
	status = print_stays(phases);
	for (i = 0; i < phases->phase_count && !status; i++)
		status = print_phase(report, kind, phases, i);
	return status;
}

/* Writes the profile of a phase as the value of the member "profile". */
static int put_phase(const struct report *report,
		     const struct report_kind *kind,
		     const struct phases *phases, size_t phase)
{
	struct hwprof_profile *profile;
	const struct hwprof_json_options options = {
		.limit = report->limit,
		.min_share = report->min_share < 0 ? 0 : report->min_share,
	};
	int status = read_phase(report, kind, phases, phase, &profile);
	size_t intervals;
	uint64_t time;

	if (status)
		return status;
	add_up(phases, phase, &time, &intervals);
	printf("%s{ \"phase\": %zu, \"seconds\": %.9g, \"intervals\": %zu, \"profile\":\n",
	       phase ? ",\n" : "", phase + 1, time / 1e9, intervals);
	if (hwprof_profile_json(profile, &options, stdout) == -ENOMEM)
		status = failed("out of memory");
	printf("}");
	hwprof_profile_free(profile);
	return status;
}

static int put_all(const struct report *report, const struct report_kind *kind,
		   const struct phases *phases)
{
	struct json json = { .out = stdout };
	int status = STATUS_OK;
	size_t i;

	printf("{ \"timeline\":\n");
	json_open(&json, NULL, '{');
	put_intervals(&json, phases);
	json_close(&json, '}');
	printf(",\n\"phases\": [\n");
	for (i = 0; i < phases->phase_count && !status; i++)
		status = put_phase(report, kind, phases, i);
	printf("]\n}\n");
	return check_output(status);
}

int report_phases(const struct report *report, const struct report_kind *kind)
{
	double distance = report->phase_distance ? report->phase_distance :
						   REPORT_PHASE_DISTANCE;
	struct phases phases;
	struct hwprof_file *file;
	int status = STATUS_OK, error = remote_file_open(&file, report->file);

	if (!error)
		error = phases_read(&phases, kind->kind, file, distance);
	if (error)
		failed("%s", hwprof_file_error(file));
	hwprof_file_close(file);
	if (error)
		return STATUS_FAILED;
	set_beginning(&phases);
	status = report->json ? put_all(report, kind, &phases) :
				print_all(report, kind, &phases);
	phases_free(&phases);
	return status;
}
