// SPDX-License-Identifier: GPL-2.0-only
/*
 * The page: its head, style sheet, scripts and licences. Its policy (CSP) lets
 * no script run but these, and nothing be fetched.
 */
#include <errno.h>
#include <sha2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "html_page.h"
#include "html_text.h"

/* Libraries of JavaScript, in the order in which they need each other. */
static const struct library {
	const char *name;
	const char *package;
} libraries[] = {
	{ "d3-path", "node-d3-path" },
	{ "d3-shape", "node-d3-shape" },
	{ "d3-hierarchy", "node-d3-hierarchy" },
};

enum {
	LIBRARIES = sizeof(libraries) / sizeof(libraries[0]),
	FILE_MAX = 4 << 20,	/* bytes of a library */
};

struct html_page {
	char *scripts[LIBRARIES];
	char *licences[LIBRARIES];
};

/* --- libraries ----------------------------------------------------------- */

static int fail(char *message, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static int fail(char *message, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(message, HTML_MESSAGE, format, args);
	va_end(args);
	return -1;
}

/* Returns the text of a file, which the caller frees; NULL if unreadable. */
static char *read_text(const char *path)
{
	FILE *file = fopen(path, "re");
	char *text = file ? calloc(1, FILE_MAX + 1) : NULL;

	if (text && (!fread(text, 1, FILE_MAX, file) || ferror(file))) {
		free(text);
		text = NULL;
	}
	if (file)
		fclose(file);
	return text;
}

/* Reads @file of the library @name in @folder. Returns as read_text(). */
static char *read_in(const char *folder, const char *name, const char *file)
{
	char *path, *text;

	if (asprintf(&path, "%s/%s/%s", folder, name, file) < 0)
		return NULL;
	text = read_text(path);
	free(path);
	return text;
}

/*
 * Debian has the licences of packages in a folder of their own; npm has them
 * beside the code.
 */
static char *read_licence(const struct library *library, const char *folder)
{
	char *text = read_in(folder, library->name, "LICENSE");

	return text ? text : read_in("/usr/share/doc", library->package,
				     "copyright");
}

static int read_library(struct html_page *page, size_t index,
			const char *folder, char message[HTML_MESSAGE])
{
	const struct library *library = &libraries[index];
	char *name;

	if (asprintf(&name, "dist/%s.min.js", library->name) < 0)
		return fail(message, "out of memory");
	errno = 0;
	page->scripts[index] = read_in(folder, library->name, name);
	free(name);
	if (!page->scripts[index])
		return fail(message, "%s/%s: %s; the page needs d3-hierarchy and d3-shape: install them with 'apt-get install node-d3-hierarchy node-d3-shape', or name the folder that has them in HWPROF_NODE_PATH",
			    folder, library->name,
			    errno ? strerror(errno) : "it is empty");
	page->licences[index] = read_licence(library, folder);
	if (!page->licences[index])
		return fail(message, "%s: its licence is neither in its folder nor in /usr/share/doc/%s, and a page has it",
			    library->name, library->package);
	if (strstr(page->scripts[index], "</script"))
		return fail(message, "%s/%s: it cannot be in a page, since it has '</script'",
			    folder, library->name);
	return 0;
}

static int read_libraries(struct html_page *page, char message[HTML_MESSAGE])
{
	const char *folder = getenv("HWPROF_NODE_PATH");
	int error = 0;
	size_t i;

	if (!folder || !*folder)
		folder = "/usr/share/nodejs";
	for (i = 0; !error && i < LIBRARIES; i++)
		error = read_library(page, i, folder, message);
	return error;
}

/* --- HTML ---------------------------------------------------------------- */

static void put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		unsigned char byte = *text;

		if (byte == '<' || byte == '>' || byte == '&' || byte == '"')
			fprintf(out, "&#%u;", byte);
		else if ((byte < 0x20 && byte != '\n') || byte == 0x7f)
			fputs("\xef\xbf\xbd", out);
		else
			putc(byte, out);
	}
}

void html_policy_source(const char *text, FILE *out)
{
	uint8_t digest[SHA256_DIGEST_LENGTH];
	SHA2_CTX context;

	SHA256Init(&context);
	SHA256Update(&context, (const uint8_t *)text, strlen(text));
	SHA256Final(digest, &context);
	fputs(" 'sha256-", out);
	put_base64(digest, sizeof(digest), out);
	putc('\'', out);
}

static void put_policy(const struct html_page *page, FILE *out)
{
	size_t i;

	fputs("default-src 'none'; base-uri 'none'; form-action 'none'; "
	      "style-src", out);
	html_policy_source(html_style, out);
	fputs("; script-src", out);
	for (i = 0; i < LIBRARIES; i++)
		html_policy_source(page->scripts[i], out);
	html_policy_source(html_script, out);
}

char *html_page_policy(const struct html_page *page)
{
	char *policy = NULL;
	size_t size;
	FILE *out = open_memstream(&policy, &size);

	if (!out)
		return NULL;
	put_policy(page, out);
	if (!fclose(out))
		return policy;
	free(policy);
	return NULL;
}

static void put_head(const struct html_page *page, const char *title, FILE *out)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
	      "<meta charset=\"utf-8\">\n", out);
	fputs("<meta http-equiv=\"Content-Security-Policy\" content=\"", out);
	put_policy(page, out);
	fputs("\">\n<meta name=\"viewport\" content=\"width=device-width\">\n"
	      "<meta name=\"referrer\" content=\"no-referrer\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>",
	      out);
	put_text(title, out);
	fprintf(out, "</title>\n<style>%s</style>\n</head>\n", html_style);
}

static void put_licences(const struct html_page *page, FILE *out)
{
	size_t i;

	fputs("<details class=\"licences\"><summary>Licences of the libraries "
	      "in this page</summary>\n", out);
	for (i = 0; i < LIBRARIES; i++) {
		fprintf(out, "<h2>%s</h2>\n<pre>", libraries[i].name);
		put_text(page->licences[i], out);
		fputs("</pre>\n", out);
	}
	fputs("</details>\n", out);
}

void html_page_put(const struct html_page *page, const char *title,
		   const char *data, FILE *out)
{
	size_t i;

	put_head(page, title, out);
	fputs("<body>\n<noscript><p>This page draws its data with JavaScript, "
	      "which is switched off.</p></noscript>\n"
	      "<div id=\"page\"></div>\n", out);
	put_licences(page, out);
	fputs(data, out);
	for (i = 0; i < LIBRARIES; i++)
		fprintf(out, "<script>%s</script>\n", page->scripts[i]);
	fprintf(out, "<script>%s</script>\n</body>\n</html>\n", html_script);
}

int html_page_new(struct html_page **page, char message[HTML_MESSAGE])
{
	*page = calloc(1, sizeof(**page));
	return *page ? read_libraries(*page, message) :
		       fail(message, "out of memory");
}

void html_page_free(struct html_page *page)
{
	size_t i;

	for (i = 0; page && i < LIBRARIES; i++) {
		free(page->scripts[i]);
		free(page->licences[i]);
	}
	free(page);
}
