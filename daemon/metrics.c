// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "metrics.h"

struct text {
	FILE *out;
};

static void put(struct text *text, const char *name, const char *type,
		const char *help, uint64_t value)
{
	fprintf(text->out, "# HELP %s %s\n# TYPE %s %s\n%s %" PRIu64 "\n",
		name, help, name, type, name, value);
}

static void put_seconds(struct text *text, const char *name, const char *help,
			uint64_t ns)
{
	fprintf(text->out, "# HELP %s %s\n# TYPE %s counter\n%s %.6f\n",
		name, help, name, name, ns / 1e9);
}

/* A part of a counter. */
struct share {
	const char *value;
	uint64_t count;
};

/* Puts a counter whose parts differ in the value of @label. */
static void put_shares(struct text *text, const char *name, const char *help,
		       const char *label, const struct share *shares, int count)
{
	int i;

	fprintf(text->out, "# HELP %s %s\n# TYPE %s counter\n", name, help,
		name);
	for (i = 0; i < count; i++)
		fprintf(text->out, "%s{%s=\"%s\"} %" PRIu64 "\n", name, label,
			shares[i].value, shares[i].count);
}

static void put_units(struct text *text, const struct part_totals *totals)
{
	const struct share fates[] = {
		{ "delivered", totals->delivered }, { "lost", totals->lost },
		{ "evicted", totals->evicted }, { "pending", totals->pending },
	};

	put_shares(text, "hwprofd_units_total",
		   "Units (back edges, calls and so on) that the module's sessions produced, by what became of them.",
		   "fate", fates, sizeof(fates) / sizeof(fates[0]));
}

static void put_files(struct text *text, const struct metrics *metrics)
{
	const struct share results[] = {
		{ "read", metrics->files_read },
		{ "failed", metrics->files_failed },
		{ "late", metrics->files_late },
		{ "hung", metrics->files_hung },
		{ "skipped", metrics->files_skipped },
	};

	put_shares(text, "hwprofd_collector_files_total",
		   "Files of programs that the collector had read since it started: late ones are tried again; file systems of hung ones did not answer, and skipped ones lie there, too.",
		   "result", results, sizeof(results) / sizeof(results[0]));
}

static void put_collection(struct text *text, const struct metrics *metrics)
{
	const struct timeline_counts *counts = &metrics->timeline;

	put(text, "hwprofd_collector_connected", "gauge",
	    "1 if the collector is connected.", metrics->collector);
	put(text, "hwprofd_windows_received_total", "counter",
	    "Windows of time that were collected.", counts->received);
	put_units(text, &counts->totals);
	put(text, "hwprofd_units_folded_total", "counter",
	    "Units whose program, user and cgroup were not kept, because there were too many of these.",
	    counts->totals.folded);
	put(text, "hwprofd_branch_windows_total", "counter",
	    "Looks that the module took: windows of branches, bursts or samples.",
	    counts->totals.windows);
	put(text, "hwprofd_lost_records_total", "counter",
	    "Records that did not fit into the kernel's buffers.",
	    counts->totals.lost_records);
	put_seconds(text, "hwprofd_module_seconds_total",
		    "Time that the module's looks took.",
		    counts->totals.cost_ns);
	put_seconds(text, "hwprofd_profiled_seconds_total",
		    "Time that programs ran while they were profiled.",
		    counts->totals.task_ns);
	put_seconds(text, "hwprofd_rested_seconds_total",
		    "Time without windows, since the budget had no room for one.",
		    metrics->rested_ns);
	put_seconds(text, "hwprofd_collector_cpu_seconds_total",
		    "CPU time of the collector since it started.",
		    metrics->collector_cpu_ns);
	put_files(text, metrics);
	put(text, "hwprofd_collector_opens_files", "gauge",
	    "1 if the collector opens files of programs; 0 if it does not any more, since too many file systems did not answer.",
	    metrics->opens_files);
	put(text, "hwprofd_messages_malformed_total", "counter",
	    "Messages of the collector that were refused.",
	    metrics->malformed);
	put(text, "hwprofd_recordings_unreadable_total", "counter",
	    "Windows that were lost because they could not be read.",
	    metrics->unreadable);
	put(text, "hwprofd_recordings_overrun_total", "counter",
	    "Windows that were lost because they came too fast.",
	    metrics->overrun);
	put(text, "hwprofd_records_dropped_total", "counter",
	    "Records that had no room in a window.",
	    metrics->records_dropped);
	put(text, "hwprofd_unwind_tables_refused", "gauge",
	    "Files and processes for whose unwinding tables the module has no room.",
	    metrics->tables_refused);
}

static void put_store(struct text *text, const struct metrics *metrics)
{
	const struct timeline_counts *counts = &metrics->timeline;

	put(text, "hwprofd_memory_windows", "gauge",
	    "Windows in memory.", counts->memory_windows);
	put(text, "hwprofd_memory_bytes", "gauge",
	    "Bytes of windows in memory.", counts->memory_bytes);
	put(text, "hwprofd_windows_dropped_total", "counter",
	    "Windows that were given up before they were stored.",
	    counts->dropped);
	put(text, "hwprofd_windows_merged_total", "counter",
	    "Windows that were made of shorter ones.", counts->merges);
	put(text, "hwprofd_store_windows", "gauge",
	    "Windows in the store.", metrics->store.windows);
	put(text, "hwprofd_store_bytes", "gauge",
	    "Bytes of the store in use.", metrics->store.bytes);
	put(text, "hwprofd_store_evicted_total", "counter",
	    "Windows that the store gave up for lack of room, the oldest first.",
	    metrics->store.evicted);
	put(text, "hwprofd_store_failures_total", "counter",
	    "Writes to the store that failed.", metrics->store.failures);
	put(text, "hwprofd_symbols_builds", "gauge",
	    "Builds whose files are kept.", metrics->symbols.builds);
	put(text, "hwprofd_symbols_bytes", "gauge",
	    "Bytes of the files of builds.", metrics->symbols.bytes);
	put(text, "hwprofd_symbols_evicted_total", "counter",
	    "Files of builds that were removed for lack of room.",
	    metrics->symbols.evicted);
	put(text, "hwprofd_symbols_failures_total", "counter",
	    "Files of builds that could not be read whole or written.",
	    metrics->symbols.failures);
	put(text, "hwprofd_symbols_disputed_total", "counter",
	    "Builds of which no file is kept, since files of users claim their build id and differ.",
	    metrics->symbols.disputed);
}

/* Writes a count of each receiver, which is at @offset in its counts. */
static void put_push(struct text *text, const struct metrics *metrics,
		     const char *name, const char *type, const char *help,
		     size_t offset)
{
	int to;

	fprintf(text->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name,
		type);
	for (to = 0; to < PUSH_TARGETS; to++) {
		const char *counts = (const char *)&metrics->push[to];

		fprintf(text->out, "%s{to=\"%s\"} %" PRIu64 "\n", name,
			push_name(to), *(const uint64_t *)(counts + offset));
	}
}

static void put_pushes(struct text *text, const struct metrics *metrics)
{
	put_push(text, metrics, "hwprofd_push_sent_total", "counter",
		 "Profiles that a receiver has taken.",
		 offsetof(struct push_counts, sent));
	put_push(text, metrics, "hwprofd_push_failures_total", "counter",
		 "Tries to send a profile that failed, and are repeated.",
		 offsetof(struct push_counts, failed));
	put_push(text, metrics, "hwprofd_push_rejected_total", "counter",
		 "Profiles that a receiver does not want.",
		 offsetof(struct push_counts, rejected));
	put_push(text, metrics, "hwprofd_push_dropped_total", "counter",
		 "Profiles that were given up before they could be sent.",
		 offsetof(struct push_counts, dropped));
	put_push(text, metrics, "hwprofd_push_waiting", "gauge",
		 "Profiles that wait to be sent.",
		 offsetof(struct push_counts, waiting));
	put_push(text, metrics, "hwprofd_push_waiting_bytes", "gauge",
		 "Bytes of the profiles that wait to be sent.",
		 offsetof(struct push_counts, waiting_bytes));
}

static void put_server(struct text *text, const struct metrics *metrics)
{
	put(text, "hwprofd_http_requests_total", "counter",
	    "Requests.", metrics->http.requests);
	put(text, "hwprofd_http_refused_total", "counter",
	    "Requests that were refused: rights, Host, method.",
	    metrics->http.refused);
	put(text, "hwprofd_http_cut_total", "counter",
	    "Connections that were cut because they took too long, or were too many of one user.",
	    metrics->http.cut);
	put(text, "hwprofd_http_connections", "gauge",
	    "Connections.", metrics->http.connections);
	put(text, "hwprofd_queries_total", "counter",
	    "Questions of profiles.", metrics->queries);
	put(text, "hwprofd_query_failures_total", "counter",
	    "Questions of profiles without an answer.",
	    metrics->query_failures);
	put_seconds(text, "hwprofd_cpu_seconds_total",
		    "CPU time of hwprofd and its workers.",
		    metrics->own_cpu_ns);
	put(text, "hwprofd_resident_bytes", "gauge",
	    "Resident memory of hwprofd.", metrics->resident_bytes);
}

char *metrics_text(const struct metrics *metrics)
{
	char *bytes = NULL;
	size_t size;
	struct text text = { .out = open_memstream(&bytes, &size) };

	if (!text.out)
		return NULL;
	put_collection(&text, metrics);
	put_store(&text, metrics);
	put_pushes(&text, metrics);
	put_server(&text, metrics);
	if (!fclose(text.out))
		return bytes;
	free(bytes);
	return NULL;
}
