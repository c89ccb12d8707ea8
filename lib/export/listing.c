// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/row_origin.h"
#include "code/decode.h"
#include "listing.h"
#include "reports/paths.h"
#include "base/text.h"
#include "base/array.h"

enum {
	INSTRUCTIONS_MAX = 1 << 18,	/* of a listing */
	SOURCE_MAX = 16 << 20,		/* bytes of a file of source */
	TEXT_MAX = 400,			/* bytes of a line that are shown */
};

struct code_span {
	struct object *object;
	uint64_t first, last;		/* addresses of instructions */
};

struct source_line {
	const char *file;		/* belongs to an object */
	unsigned int line;
};

struct listing {
	struct decoder *decoder;
	struct code_span *spans;
	size_t span_count, span_room;
	struct source_line *lines;
	size_t line_count, line_room;
	size_t instructions;		/* written so far */
};

struct listing *listing_new(void)
{
	struct listing *listing = calloc(1, sizeof(*listing));

	if (!listing)
		return NULL;
	listing->decoder = decoder_new();
	if (!listing->decoder) {
		free(listing);
		return NULL;
	}
	return listing;
}

void listing_free(struct listing *listing)
{
	if (!listing)
		return;
	decoder_free(listing->decoder);
	free(listing->spans);
	free(listing->lines);
	free(listing);
}

int listing_add(struct listing *listing, struct object *object, uint64_t first,
		uint64_t last)
{
	struct code_span *spans = array_grow(listing->spans,
					     &listing->span_room,
					     listing->span_count + 1,
					     sizeof(*spans));

	if (!spans)
		return -ENOMEM;
	listing->spans = spans;
	spans[listing->span_count++] =
		(struct code_span){ object, first, last };
	return 0;
}

int listing_add_paths(struct listing *listing,
		      const struct hwprof_profile *profile, size_t limit)
{
	const struct hwprof_paths *paths = (const void *)profile;
	size_t i;
	uint32_t j;
	int error = 0;

	for (i = 0; i < paths->count && i < limit; i++) {
		const struct path_entry *entry = paths->entries[i];

		for (j = 0; !error && j < path_lines(entry); j++) {
			const struct line *line = entry->lines[j];

			if (!line->undecoded)
				error = listing_add(listing, line->object,
						    line->first, line->last);
		}
	}
	return error;
}

/* --- instructions -------------------------------------------------------- */

static int compare_spans(const void *a, const void *b)
{
	const struct code_span *x = a, *y = b;
	int order = object_compare(x->object, y->object);

	if (!order)
		order = compare_u64(x->first, y->first);
	return order ? order : compare_u64(x->last, y->last);
}

/* Notes a line of source, for put_source(). Returns 0 or -ENOMEM. */
static int note_line(struct listing *listing, const char *file,
		     unsigned int line)
{
	struct source_line *lines = array_grow(listing->lines,
					       &listing->line_room,
					       listing->line_count + 1,
					       sizeof(*lines));

	if (!lines)
		return -ENOMEM;
	listing->lines = lines;
	lines[listing->line_count++] = (struct source_line){ file, line };
	return 0;
}

/* Writes the symbol of a call's or jump's target; null within @function. */
static void put_callee(struct json *json, struct object *object,
		       const struct instruction *instruction,
		       const char *function)
{
	const char *callee = NULL;
	uint64_t offset;

	if (instruction->target)
		callee = object_symbol(object, instruction->target, &offset);
	if (callee && function && !strcmp(callee, function) &&
	    instruction->ending != ENDING_CALL)
		callee = NULL;
	json_string(json, "callee", callee);
}

static int put_instruction(struct listing *listing, struct json *json,
			   struct object *object, const struct code *code,
			   const struct instruction *instruction)
{
	const char *operands = code_operands(code), *function, *file;
	char text[MNEMONIC_SIZE + 192];
	unsigned int line;
	uint64_t offset;

	snprintf(text, sizeof(text), "%s%s%s", instruction->mnemonic,
		 *operands ? " " : "", operands);
	function = object_symbol(object, instruction->address, &offset);
	file = object_line(object, instruction->address, &line);
	json_open(json, NULL, '{');
	json_string(json, "object", object_name(object));
	json_hex(json, "address", instruction->address);
	json_string(json, "text", text);
	if (instruction->target)
		json_hex(json, "target", instruction->target);
	else
		json_null(json, "target");
	put_callee(json, object, instruction, function);
	json_string(json, "file", file);
	if (file)
		json_unsigned(json, "line", line);
	else
		json_null(json, "line");
	json_close(json, '}');
	listing->instructions++;
	return file ? note_line(listing, file, line) : 0;
}

/*
 * Writes a span without what stands before @from, where an earlier span ended.
 * Sets *@from to its own end.
 */
static int put_span(struct listing *listing, struct json *json,
		    const struct code_span *span, uint64_t *from)
{
	struct instruction instruction;
	struct code code;
	int error = 0;

	if (code_begin(&code, listing->decoder, span->object, span->first))
		return 0;
	while (!error && listing->instructions < INSTRUCTIONS_MAX &&
	       code_next(&code, &instruction) &&
	       instruction.address <= span->last) {
		if (instruction.address < *from)
			continue;
		error = put_instruction(listing, json, span->object, &code,
					&instruction);
		*from = instruction.address + 1;
	}
	return error;
}

static int put_code(struct listing *listing, struct json *json)
{
	const struct object *object = NULL;
	uint64_t from = 0;
	size_t i;
	int error = 0;

	if (listing->span_count)
		qsort(listing->spans, listing->span_count,
		      sizeof(*listing->spans), compare_spans);
	json_open(json, "code", '[');
	for (i = 0; !error && i < listing->span_count; i++) {
		const struct code_span *span = &listing->spans[i];

		if (span->object != object)
			from = 0;
		object = span->object;
		if (span->last >= from)
			error = put_span(listing, json, span, &from);
	}
	json_close(json, ']');
	return error;
}

/* --- source -------------------------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
	const struct source_line *x = a, *y = b;
	int order = strcmp(x->file, y->file);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

/*
 * Returns true if @path ends as a program's source does. Debug information is
 * as trustworthy as the recording, and must not draw other files into a page
 * that is handed on.
 */
static bool is_source(const char *path)
{
	static const char *const endings[] = {
		".c", ".h", ".cc", ".hh", ".cpp", ".hpp", ".cxx", ".hxx", ".C",
		".c++", ".h++", ".ipp", ".tcc", ".inc", ".inl", ".def", ".s",
		".S", ".asm", ".rs", ".go", ".zig", ".d", ".m", ".mm", ".swift",
		".f", ".f90", ".F90", ".f95", ".f03", ".f08", ".adb", ".ads",
		".pas", ".nim", ".cu", ".y", ".l", ".ml", ".hs", ".pyx",
	};
	const char *dot = strrchr(path_file_name(path), '.');
	size_t i;

	for (i = 0; dot && i < sizeof(endings) / sizeof(endings[0]); i++)
		if (!strcmp(dot, endings[i]))
			return true;
	return false;
}

/*
 * Opens what @path leads to, which must be named as source is, too. Opening a
 * pipe must not wait for its writer. Returns the descriptor, or -1.
 */
static int open_target(const char *path)
{
	char *target = *path == '/' && is_source(path) ?
		       realpath(path, NULL) : NULL;
	int fd = -1;

	if (target && is_source(target))
		fd = open(target, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY |
				  O_NOFOLLOW);
	free(target);
	return fd;
}

/* Returns the file, or NULL if it cannot be read or is no source. */
static FILE *open_source(const char *path)
{
	struct stat status;
	FILE *file = NULL;
	int fd = open_target(path);

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) &&
	    status.st_size <= SOURCE_MAX)
		file = fdopen(fd, "r");
	if (!file)
		close(fd);
	return file;
}

static void put_text(struct json *json, unsigned int line, char *text,
		     ssize_t length)
{
	while (length && (text[length - 1] == '\n' || text[length - 1] == '\r'))
		length--;
	text[length < TEXT_MAX ? length : TEXT_MAX] = 0;
	json_open(json, NULL, '{');
	json_unsigned(json, "line", line);
	json_string(json, "text", text);
	json_close(json, '}');
}

/* Writes the text of @lines, which are in one file and sorted. */
static void put_lines(struct json *json, FILE *file,
		      const struct source_line *lines, size_t count)
{
	unsigned int number = 0;
	char *text = NULL;
	size_t size = 0, i = 0;
	ssize_t length;

	while (i < count && (length = getline(&text, &size, file)) >= 0) {
		number++;
		while (i < count && lines[i].line < number)
			i++;
		if (i < count && lines[i].line == number)
			put_text(json, number, text, length);
	}
	free(text);
}

static void put_source(struct listing *listing, struct json *json)
{
	const struct source_line *lines = listing->lines;
	size_t i, next;

	if (listing->line_count)
		qsort(listing->lines, listing->line_count, sizeof(*lines),
		      compare_lines);
	json_open(json, "source", '[');
	for (i = 0; i < listing->line_count; i = next) {
		FILE *file = open_source(lines[i].file);

		for (next = i; next < listing->line_count &&
			       !strcmp(lines[next].file, lines[i].file);)
			next++;
		if (!file)
			continue;
		json_open(json, NULL, '{');
		json_string(json, "file", lines[i].file);
		json_open(json, "lines", '[');
		put_lines(json, file, &lines[i], next - i);
		json_close(json, ']');
		json_close(json, '}');
		fclose(file);
	}
	json_close(json, ']');
}

int listing_put(struct listing *listing, struct json *json, bool source)
{
	int error = put_code(listing, json);

	if (!error && source)
		put_source(listing, json);
	return error;
}
