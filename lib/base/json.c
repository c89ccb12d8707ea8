// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <math.h>

#include "json.h"

/*
 * Returns the length of the UTF-8 character at @text; 0 if it is malformed.
 * Paths and symbols may contain any bytes, but JSON may not.
 */
static unsigned int utf8_length(const unsigned char *text)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned int length, i;
	uint32_t code;

	if (*text < 0x80)
		return 1;
	length = *text >= 0xf0 ? 4 : *text >= 0xe0 ? 3 : 2;
	if (*text < 0xc0 || *text > 0xf7)
		return 0;
	code = *text & (0x7f >> length);
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		code = code << 6 | (text[i] & 0x3f);
	}
	if (code < least[length] || code > 0x10ffff ||
	    (code >= 0xd800 && code <= 0xdfff))
		return 0;
	return length;
}

static void put_quoted(FILE *out, const char *value)
{
	const unsigned char *at = (const unsigned char *)value;

	putc('"', out);
	while (*at) {
		unsigned int length = utf8_length(at);

		if (!length) {
			fputs("\\ufffd", out);
			at++;
		} else if (*at == '"' || *at == '\\') {
			fprintf(out, "\\%c", *at++);
		} else if (*at < 0x20 || *at == 0x7f) {
			fprintf(out, "\\u%04x", *at++);
		} else if (*at == 0xc2 && at[1] < 0xa0) {
			fprintf(out, "\\u%04x", at[1]);
			at += length;
		} else {
			fwrite(at, 1, length, out);
			at += length;
		}
	}
	putc('"', out);
}

static void put_name(struct json *json, const char *name)
{
	if (json->started[json->depth])
		fputs(",", json->out);
	json->started[json->depth] = true;
	/* Each thing begins a line, which has all its members. */
	if (!json->line && json->depth <= 2 && json->depth)
		fprintf(json->out, "\n%*s", (int)json->depth, "");
	if (name) {
		put_quoted(json->out, name);
		fputs(": ", json->out);
	}
}

void json_open(struct json *json, const char *name, char bracket)
{
	put_name(json, name);
	putc(bracket, json->out);
	if (json->depth + 1 < JSON_DEPTH)
		json->depth++;
	json->started[json->depth] = false;
}

void json_close(struct json *json, char bracket)
{
	if (!json->line && json->started[json->depth] && json->depth <= 2)
		fputs("\n", json->out);
	json->depth--;
	putc(bracket, json->out);
	if (!json->depth)
		putc('\n', json->out);
}

void json_string(struct json *json, const char *name, const char *value)
{
	if (!value) {
		json_null(json, name);
		return;
	}
	put_name(json, name);
	put_quoted(json->out, value);
}

void json_unsigned(struct json *json, const char *name, uint64_t value)
{
	put_name(json, name);
	fprintf(json->out, "%" PRIu64, value);
}

void json_signed(struct json *json, const char *name, int64_t value)
{
	put_name(json, name);
	fprintf(json->out, "%" PRId64, value);
}

/* 15 digits are exact enough, and print 0.1 as 0.1. */
void json_number(struct json *json, const char *name, double value)
{
	if (!isfinite(value)) {
		json_null(json, name);
		return;
	}
	put_name(json, name);
	fprintf(json->out, "%.15g", value);
}

void json_hex(struct json *json, const char *name, uint64_t value)
{
	put_name(json, name);
	fprintf(json->out, "\"0x%" PRIx64 "\"", value);
}

void json_bool(struct json *json, const char *name, bool value)
{
	put_name(json, name);
	fputs(value ? "true" : "false", json->out);
}

void json_null(struct json *json, const char *name)
{
	put_name(json, name);
	fputs("null", json->out);
}
