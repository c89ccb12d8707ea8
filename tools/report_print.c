// SPDX-License-Identifier: GPL-2.0-only
/* Printing that reports share. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "command.h"
#include "report.h"
#include "profile/event_kinds.h"

/* --- cells ---------------------------------------------------------------- */

const char *shown_path(const char *path, bool full)
{
	/* //anon is no file. */
	const char *slash = full || *path == '[' || path[1] == '/' ? NULL :
			    strrchr(path, '/');

	return clean(slash && slash[1] ? slash + 1 : path);
}

void add_code(struct table *table, const char *function, uint64_t offset,
	      uint64_t address)
{
	if (function)
		table_add(table, "%s+0x%" PRIx64, function, offset);
	else
		table_add(table, "0x%" PRIx64, address);
}

void add_source(struct table *table, const char *file, unsigned int line,
		bool full)
{
	if (file)
		table_add(table, "%s:%u", shown_path(file, full), line);
	else
		table_add(table, "-");
}

void add_process(struct table *table, uint32_t pid, const char *comm)
{
	if (pid)
		table_add(table, "%u %s", pid, comm ? comm : "?");
	else
		table_add(table, "%s", "");
}

/* --- tables --------------------------------------------------------------- */

size_t shown_of(const struct report *report, size_t count)
{
	return report->limit && report->limit < count ? report->limit : count;
}

static size_t terminal_width(void)
{
	struct winsize size;

	if (!isatty(STDOUT_FILENO) ||
	    ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_col)
		return 0;
	return size.ws_col;
}

int finish_table(struct table *table, size_t left_out, const char *option)
{
	char text[GROUPED_SIZE];

	if (!table->failed)
		table_print(table, terminal_width(), stdout);
	table_free(table);
	if (table->failed)
		return failed("out of memory");
	if (left_out)
		printf("... and %s more: see %s\n", grouped(left_out, text),
		       option);
	return STATUS_OK;
}

void print_files(const struct report *report)
{
	if (report->file_count > 1)
		printf("%zu recordings: ", report->file_count);
	else
		printf("%s: ", strcmp(report->file, "-") ?
			       clean(report->file) : "standard input");
}

static void print_sessions(const struct hwprof_totals *totals)
{
	const char *between = " from ";
	char text[GROUPED_SIZE];
	unsigned int source;

	printf("%s session%s", grouped(totals->sessions, text),
	       totals->sessions == 1 ? "" : "s");
	for (source = 0; source < 32; source++) {
		if (!(totals->sources >> source & 1))
			continue;
		printf("%s%s", between, hwprof_source_name(source));
		between = ", ";
	}
	if (totals->windows)
		printf(", %s windows", grouped(totals->windows, text));
	if (totals->windows && totals->task_ns)
		printf(" (%.3g a second)",
		       totals->windows / (totals->task_ns / 1e9));
	printf("\n");
}

/* Prints the cost of windows and samples, if known. */
static void print_overhead(const struct hwprof_totals *totals)
{
	double share = hwprof_overhead(totals);

	if (share < 0)
		return;
	printf("overhead: %.2f %% of %.3g s", 100 * share,
	       (totals->task_ns - totals->cost_ns) / 1e9);
	if (totals->budget_permille)
		printf(", asked %.3g %%", totals->budget_permille / 10.);
	printf("\n");
}

static void print_distance(const struct hwprof_distances *distances,
			   double value)
{
	char text[GROUPED_SIZE];

	if (!strcmp(distances->unit, "budget"))
		printf("%.3g %%", 100 * value);
	else
		printf("%s%s", grouped(value, text),
		       !strcmp(distances->unit, "frequency") ? " Hz" : "");
}

static void print_times(const char *verb, uint64_t times)
{
	char text[GROUPED_SIZE];

	if (times == 1)
		printf(", %s once", verb);
	else if (times)
		printf(", %s %s times", verb, grouped(times, text));
}

/* Prints how distances changed, if they did. */
static void print_distances(const struct hwprof_profile *profile)
{
	const struct hwprof_distances *distances =
		hwprof_profile_distances(profile);

	if (!distances)
		return;
	printf("distances: %s from ", distances->unit);
	print_distance(distances, distances->asked);
	printf(" to ");
	print_distance(distances, distances->longest);
	print_times("lengthened", distances->lengthened);
	print_times("shortened", distances->shortened);
	printf("%s\n", distances->weighed ?
	       "; counts are weighed by them" : "");
}

void print_totals(const struct hwprof_profile *profile, const char *units)
{
	const struct hwprof_totals *totals = hwprof_profile_totals(profile);
	char text[5][GROUPED_SIZE], sum[EVENT_KINDS_TEXT];

	/* Samples have no totals. */
	if (!totals->produced && !totals->events && !totals->lost_events)
		return;
	printf("\n%s events, ", grouped(totals->events, text[0]));
	if (totals->lost_events)
		printf("%s lost, ", grouped(totals->lost_events, text[0]));
	printf("%s gaps, ", grouped(totals->gaps, text[0]));
	print_sessions(totals);
	print_overhead(totals);
	print_distances(profile);
	printf("%s %s = %s delivered + %s lost + %s evicted + %s pending\n",
	       grouped(totals->produced, text[0]),
	       event_kinds_units(totals->kinds, units, sum),
	       grouped(totals->delivered, text[1]),
	       grouped(totals->lost, text[2]),
	       grouped(totals->evicted, text[3]),
	       grouped(totals->pending, text[4]));
}

void print_warnings(const struct hwprof_profile *profile, const char *name)
{
	const char *sentence;
	size_t i;

	for (i = 0; (sentence = hwprof_profile_warning(profile, i)); i++)
		warning("%s%s%s", name, *name ? ": " : "", sentence);
}

/* Prints which events were left out. */
static void print_masks(const struct hwprof_profile *profile)
{
	const char *mask;
	size_t i;

	for (i = 0; (mask = hwprof_profile_mask(profile, i)); i++)
		printf("events were left out by the mask %s\n", clean(mask));
}

/* A reader that exits early (head, less) is no error. */
int check_output(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	if (errno == EPIPE)
		return STATUS_OK;
	return failed("cannot write: %s", strerror(errno));
}

/* Writes JSON or folded chains. */
static int write_out(const struct report *report,
		     const struct hwprof_profile *profile)
{
	const struct hwprof_json_options options = {
		.limit = report->limit,
		.min_share = report->min_share < 0 ? 0 : report->min_share,
	};

	return report->folded ? hwprof_contexts_folded(profile, stdout) :
				hwprof_profile_json(profile, &options, stdout);
}

static int print_kind(const struct report *report,
		      const struct report_kind *kind,
		      struct hwprof_profile *profile)
{
	int status = kind->print(report, profile);

	if (status == STATUS_OK)
		print_masks(profile);
	return status;
}

int report_print(const struct report *report, const struct report_kind *kind,
		 struct hwprof_profile *profile)
{
	int status = STATUS_OK;

	if (report->sort && hwprof_loops_sort(profile, report->sort))
		return usage_error("%s", hwprof_profile_error(profile));
	if (!report->json && !report->folded)
		status = print_kind(report, kind, profile);
	else if (write_out(report, profile) == -ENOMEM)
		status = failed("out of memory");
	status = check_output(status);
	/* JSON contains the warnings. */
	if (!report->json)
		print_warnings(profile, "");
	return status;
}
