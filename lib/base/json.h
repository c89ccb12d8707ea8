/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes JSON. The order of calls decides what is inside what. Each value has a
 * name, which is NULL in arrays and at the top.
 */
#ifndef HWPROF_JSON_H
#define HWPROF_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum {
	JSON_DEPTH = 8,
};

struct json {
	FILE *out;
	bool line;			/* write everything on one line */
	unsigned int depth;
	bool started[JSON_DEPTH];	/* it has members already */
};

void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);
void json_string(struct json *json, const char *name, const char *value);
void json_unsigned(struct json *json, const char *name, uint64_t value);
void json_signed(struct json *json, const char *name, int64_t value);
/* Writes NaN and infinity as null. */
void json_number(struct json *json, const char *name, double value);
void json_hex(struct json *json, const char *name, uint64_t value);
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);

#endif /* HWPROF_JSON_H */
