/* SPDX-License-Identifier: GPL-2.0-only */
/* The text of /metrics, in the format of Prometheus. */
#ifndef HWPROFD_METRICS_H
#define HWPROFD_METRICS_H

#include "http.h"
#include "push.h"
#include "symbols.h"
#include "timeline.h"

struct metrics {
	struct timeline_counts timeline;
	struct store_counts store;	/* all 0 without a store */
	struct http_counts http;
	struct push_counts push[PUSH_TARGETS];
	struct symbols_counts symbols;
	uint64_t malformed;		/* messages of the collector */
	uint64_t unreadable;		/* recordings that were no good */
	uint64_t overrun;		/* recordings that came too fast */
	uint64_t records_dropped;	/* that had no room in windows */
	uint64_t tables_refused;	/* for unwinding, in the last window */
	uint64_t queries, query_failures;
	uint64_t rested_ns;		/* time without windows, to save */
	uint64_t collector_cpu_ns;
	uint64_t files_read, files_failed, files_late;	/* by the collector */
	uint64_t files_hung, files_skipped, opens_files;
	uint64_t own_cpu_ns;		/* with that of the workers */
	uint64_t resident_bytes;
	bool collector;			/* is connected */
};

/* Returns the text, which the caller frees; NULL without memory. */
char *metrics_text(const struct metrics *metrics);

#endif /* HWPROFD_METRICS_H */
