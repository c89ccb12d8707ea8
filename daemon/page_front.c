// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "page.h"

/* Made from tools/html/ and daemon/html/ at build. */
extern const char front_script[], front_style[];

static void put_front(FILE *out)
{
	fprintf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
		"<meta charset=\"utf-8\">\n"
		"<meta name=\"viewport\" content=\"width=device-width\">\n"
		"<meta name=\"referrer\" content=\"no-referrer\">\n"
		"<meta name=\"color-scheme\" content=\"light dark\">\n"
		"<title>hwprofd</title>\n<style>%s</style>\n</head>\n<body>\n"
		"<noscript><p>This page needs JavaScript, which is switched "
		"off. /api/v1/windows and /api/v1/builds have what it shows."
		"</p></noscript>\n<div id=\"page\"></div>\n"
		"<script>%s</script>\n</body>\n</html>\n", front_style,
		front_script);
}

/* Scripts may ask this server alone, and frames show its pages alone. */
static void put_policy(FILE *out)
{
	fputs("default-src 'none'; base-uri 'none'; form-action 'none'; "
	      "frame-ancestors 'none'; connect-src 'self'; frame-src 'self'; "
	      "style-src", out);
	html_policy_source(front_style, out);
	fputs("; script-src", out);
	html_policy_source(front_script, out);
}

/* Returns what @put writes; NULL: out of memory. */
static char *text_of(void (*put)(FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put(out);
	if (!fclose(out))
		return text;
	free(text);
	return NULL;
}

int page_front_new(struct page_front *front)
{
	front->text = text_of(put_front);
	front->policy = text_of(put_policy);
	return front->text && front->policy ? 0 : -ENOMEM;
}

void page_front_free(struct page_front *front)
{
	free(front->text);
	free(front->policy);
}

char *page_policy(const struct html_page *page)
{
	char *own = html_page_policy(page), *policy;

	if (!own || asprintf(&policy, "%s; frame-ancestors 'self'", own) < 0)
		policy = NULL;
	free(own);
	return policy;
}
