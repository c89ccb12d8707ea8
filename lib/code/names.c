// SPDX-License-Identifier: LGPL-2.1-or-later
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "names.h"
#include "base/row_origin.h"
#include "base/array.h"

enum { PAGE = 4096 };

/* A line of the text. */
struct entry {
	uint64_t begin, end;
	const char *name;
	const char *module;		/* NULL: none, or the kernel itself */
	char type;			/* of kallsyms */
};

struct names {
	char *text;			/* contains the names */
	struct entry *entries;
	size_t count, room;
	uint64_t *bounds;		/* where entries begin or end */
	uint32_t *owners;		/* owner of the part from a bound to the
					 * next: an entry's number + 1, or 0 */
	size_t bound_count;
};

void names_free(struct names *names)
{
	if (!names)
		return;
	free(names->text);
	free(names->entries);
	free(names->bounds);
	free(names->owners);
	free(names);
}

/* --- text --------------------------------------------------------------- */

/*
 * Reads up to NAMES_TEXT_MAX bytes and appends a 0. Returns 0 or a negative
 * errno.
 */
static int read_text(int fd, char **text, size_t *size)
{
	size_t room = 1 << 16;
	ssize_t got = 1;
	char *bytes;

	*size = 0;
	*text = malloc(room);
	while (*text && got > 0 && *size < NAMES_TEXT_MAX) {
		got = read(fd, *text + *size, room - 1 - *size);
		if (got < 0 && errno != EINTR)
			return -errno;
		*size += got > 0 ? got : 0;
		got = got < 0 ? 1 : got;
		if (room - 1 > *size)
			continue;
		bytes = realloc(*text, 2 * room);
		if (!bytes)
			return -ENOMEM;
		*text = bytes;
		room *= 2;
	}
	if (!*text)
		return -ENOMEM;
	(*text)[*size] = 0;
	return got > 0 ? -EFBIG : 0;
}

/*
 * Replaces the end of the line by 0. Returns the next line, or NULL behind the
 * last.
 */
static char *end_line(char *at, const char *end)
{
	char *newline = memchr(at, '\n', end - at);

	if (!newline)
		return NULL;
	*newline = 0;
	return newline + 1 < end ? newline + 1 : NULL;
}

static bool take_number(char **at, uint64_t *number)
{
	char *from = *at + strspn(*at, " \t");

	if (*from == '-' || *from == '+')
		return false;
	errno = 0;
	*number = strtoull(from, at, 16);
	return *at != from && !errno;
}

static int add(struct names *names, const struct entry *entry)
{
	struct entry *all = array_grow(names->entries, &names->room,
				       names->count + 1, sizeof(*all));

	if (!all)
		return -ENOMEM;
	names->entries = all;
	all[names->count++] = *entry;
	return 0;
}

/* --- who has which addresses -------------------------------------------- */

static int compare_bounds(const void *a, const void *b)
{
	return compare_u64(*(const uint64_t *)a, *(const uint64_t *)b);
}

/*
 * Returns the index of the last bound that is not above @address, which must
 * exist.
 */
static size_t bound_below(const struct names *names, uint64_t address)
{
	size_t low = 0, high = names->bound_count;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (names->bounds[middle] <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void make_bounds(struct names *names)
{
	size_t count = 0, i;

	for (i = 0; i < names->count; i++) {
		names->bounds[2 * i] = names->entries[i].begin;
		names->bounds[2 * i + 1] = names->entries[i].end;
	}
	qsort(names->bounds, 2 * names->count, sizeof(*names->bounds),
	      compare_bounds);
	for (i = 0; i < 2 * names->count; i++)
		if (!count || names->bounds[i] != names->bounds[count - 1])
			names->bounds[count++] = names->bounds[i];
	names->bound_count = count;
}

/*
 * Returns the first part from @at on that has no owner, and shortens the chain
 * to it.
 */
static size_t next_free(uint32_t *next, size_t at)
{
	size_t found = at;

	while (next[found] != found)
		found = next[found];
	while (next[at] != found) {
		size_t after = next[at];

		next[at] = found;
		at = after;
	}
	return found;
}

/* Gives each part to the last line that contains it, by going backwards. */
static int settle(struct names *names)
{
	size_t count = 2 * names->count, i;
	uint32_t *next;

	names->bounds = calloc(count + 1, sizeof(*names->bounds));
	names->owners = calloc(count + 1, sizeof(*names->owners));
	next = calloc(count + 1, sizeof(*next));
	if (!names->bounds || !names->owners || !next) {
		free(next);
		return -ENOMEM;
	}
	make_bounds(names);
	for (i = 0; i <= names->bound_count; i++)
		next[i] = i;
	for (i = names->count; i--;) {
		const struct entry *entry = &names->entries[i];
		size_t at = next_free(next, bound_below(names, entry->begin));

		while (at < names->bound_count &&
		       names->bounds[at] < entry->end) {
			names->owners[at] = i + 1;
			next[at] = at + 1;
			at = next_free(next, at);
		}
	}
	free(next);
	return 0;
}

bool names_find(const struct names *names, uint64_t address,
		struct named_code *code)
{
	const struct entry *entry;
	uint32_t owner;

	if (!names || !names->bound_count || address < names->bounds[0])
		return false;
	owner = names->owners[bound_below(names, address)];
	if (!owner)
		return false;
	entry = &names->entries[owner - 1];
	*code = (struct named_code){ entry->begin, entry->end, entry->name };
	return true;
}

/* --- maps of perf-PID.map ------------------------------------------------- */

static int add_map_line(struct names *names, char *line)
{
	struct entry entry = { .module = NULL };
	uint64_t size;

	if (!take_number(&line, &entry.begin) || *line != ' ' ||
	    !take_number(&line, &size) || *line != ' ')
		return 0;
	entry.end = entry.begin + size;
	entry.name = line + strspn(line, " ");
	return *entry.name && entry.end > entry.begin ? add(names, &entry) : 0;
}

/* Reads the text, and sets @line to its first line. Returns as read_text(). */
static int begin(int fd, struct names **names, char **line, size_t *size)
{
	int error;

	*names = calloc(1, sizeof(**names));
	if (!*names)
		return -ENOMEM;
	error = read_text(fd, &(*names)->text, size);
	*line = *size ? (*names)->text : NULL;
	return error;
}

/* Completes the names, unless @error is another than -EFBIG. */
static int finish(int error, struct names **names)
{
	int failed = error && error != -EFBIG ? error : settle(*names);

	if (!failed)
		return error;
	names_free(*names);
	*names = NULL;
	return failed;
}

int names_read_map(int fd, struct names **names)
{
	char *line, *next;
	size_t size;
	int error = begin(fd, names, &line, &size), failed = 0;

	if (!*names || (error && error != -EFBIG))
		return finish(error, names);
	for (; line && !failed; line = next) {
		next = end_line(line, (*names)->text + size);
		failed = add_map_line(*names, line);
	}
	return finish(failed ? failed : error, names);
}

/* --- kallsyms ------------------------------------------------------------- */

/* Splits "ADDRESS TYPE NAME\t[MODULE]". Returns false for another form. */
static bool read_symbol(char *line, struct entry *entry)
{
	char *name, *end, *module;

	if (!take_number(&line, &entry->begin) || *line++ != ' ' || !*line)
		return false;
	entry->type = *line++;
	if (*line++ != ' ')
		return false;
	name = line;
	end = name + strcspn(name, "\t ");
	entry->name = name;
	module = *end ? strchr(end, '[') : NULL;
	entry->module = module;
	*end = 0;
	return *name;
}

static bool is_code(const struct entry *entry)
{
	return entry->begin && strchr("tTwW", entry->type);
}

/* Compares addresses. For one address, the best-known name comes last. */
static int compare_symbols(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = compare_u64(x->begin, y->begin);

	if (!order)
		order = compare_u64(x->type == 'T', y->type == 'T');
	if (!order)
		order = compare_u64(strspn(y->name, "_"), strspn(x->name, "_"));
	return order ? order : strcmp(y->name, x->name);
}

static bool same_module(const struct entry *a, const struct entry *b)
{
	if (!a->module || !b->module)
		return a->module == b->module;
	return !strcmp(a->module, b->module);
}

/*
 * Ends each symbol where the next one begins. The last one of the kernel, or of
 * a module, ends with its page.
 */
static void set_ends(struct names *names)
{
	size_t kept = 0, i;

	if (names->count)
		qsort(names->entries, names->count, sizeof(*names->entries),
		      compare_symbols);
	for (i = 0; i < names->count; i++) {
		if (kept && names->entries[kept - 1].begin ==
			    names->entries[i].begin)
			kept--;
		names->entries[kept++] = names->entries[i];
	}
	names->count = kept;
	for (i = 0; i < kept; i++) {
		struct entry *entry = &names->entries[i];

		entry->end = entry->begin | (PAGE - 1);
		if (i + 1 < kept && same_module(entry, entry + 1))
			entry->end = entry[1].begin;
	}
}

static void leave_out_modules(struct names *names)
{
	size_t kept = 0, i;

	for (i = 0; i < names->count; i++)
		if (!names->entries[i].module)
			names->entries[kept++] = names->entries[i];
	names->count = kept;
}

int names_read_kallsyms(int fd, const char *symbol, uint64_t expected,
			uint64_t *anchor, struct names **names)
{
	char *line, *next;
	size_t size;
	int error = begin(fd, names, &line, &size), failed = 0;

	*anchor = 0;
	if (!*names || (error && error != -EFBIG))
		return finish(error, names);
	for (; line && !failed; line = next) {
		struct entry entry;

		next = end_line(line, (*names)->text + size);
		if (!read_symbol(line, &entry))
			continue;
		if (!entry.module && !strcmp(entry.name, symbol))
			*anchor = entry.begin;
		if (is_code(&entry))
			failed = add(*names, &entry);
	}
	if (*anchor != expected)
		leave_out_modules(*names);
	set_ends(*names);
	return finish(failed ? failed : error, names);
}

/* --- notes ---------------------------------------------------------------- */

bool names_read_notes(const char *path, struct build_id *id)
{
	uint32_t notes[1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t size = fd < 0 ? -1 : read(fd, notes, sizeof(notes));
	size_t at = 0, count;

	if (fd >= 0)
		close(fd);
	count = size > 0 ? size / 4 : 0;
	while (at + 3 <= count) {
		uint32_t name = notes[at], bytes = notes[at + 1];
		size_t body = at + 3 + (name + 3ULL) / 4;

		if (body + (bytes + 3ULL) / 4 > count)
			return false;
		if (notes[at + 2] == NT_GNU_BUILD_ID && name == 4 &&
		    !memcmp(&notes[at + 3], "GNU", 4)) {
			*id = build_id_of((const uint8_t *)&notes[body],
					  bytes < BUILD_ID_MAX ? bytes :
								 BUILD_ID_MAX);
			return id->size;
		}
		at = body + (bytes + 3ULL) / 4;
	}
	return false;
}
