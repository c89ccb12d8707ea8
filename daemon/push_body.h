/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to other programs: a profile as Pyroscope's /ingest, Parca's
 * /profiles/writeraw and OpenTelemetry's /v1development/profiles take it.
 */
#ifndef HWPROFD_PUSH_BODY_H
#define HWPROFD_PUSH_BODY_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "config.h"

struct hwprof_profile;
struct label_table;

enum push_to { PUSH_PYROSCOPE, PUSH_PARCA, PUSH_OTLP, PUSH_TARGETS };

enum {
	PUSH_HOST = 65,
	PUSH_MESSAGE = 256,
};

/**
 * struct push_body - What goes with a profile
 * @to: whose format it is.
 * @begin_ns: when the profile begins, in ns since 1970.
 * @length_ns: how long it is.
 * @host: this machine's name, of the characters that labels may have.
 * @labels: as push_labels in the configuration.
 * @process_labels: samples tell whose they are; the profile is then one with
 *	HWPROF_PER_PROCESS.
 */
struct push_body {
	enum push_to to;
	uint64_t begin_ns, length_ns;
	char host[PUSH_HOST];
	char labels[CONFIG_TEXT];
	bool process_labels;
};

/* Returns the name of a receiver, as metrics have it. */
const char *push_name(enum push_to to);
/* Returns the header Content-Type of its requests. */
const char *push_content_type(enum push_to to);

/*
 * Writes the body of a request. @processes are the labels of the processes in
 * the profile. Returns 0 or a negative errno, with a sentence in @message.
 */
int push_body_write(const struct push_body *body,
		    const struct hwprof_profile *profile,
		    const struct label_table *processes, FILE *out,
		    char message[PUSH_MESSAGE]);

#endif /* HWPROFD_PUSH_BODY_H */
