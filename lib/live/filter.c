// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "filter.h"

struct range {
	uint64_t offset, size;		/* in the file */
};

struct filter {
	char *words;			/* what is written so far */
	size_t used, size;
	size_t count;			/* ranges in it */
	char *message;
	size_t message_size;
};

/* The ranges of a function. */
struct found {
	struct range ranges[FILTER_RANGES_MAX];
	size_t count;
	bool more;			/* than there is room for */
	bool sizeless;			/* the symbol has no size */
	bool whole;			/* the next three are known */
	uint64_t offset, address;	/* of the symbol with this very name */
	bool fixed;			/* the file is loaded where it says */
};

static int fail(struct filter *filter, int error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct filter *filter, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(filter->message, filter->message_size, format, args);
	va_end(args);
	return error;
}

/* --- symbols -------------------------------------------------------------- */

/* Sets the offset of @address in the file. Returns false if it has none. */
static bool find_offset(Elf *elf, uint64_t address, uint64_t *offset)
{
	size_t count, i;
	GElf_Phdr header;

	if (elf_getphdrnum(elf, &count))
		return false;
	for (i = 0; i < count; i++) {
		if (!gelf_getphdr(elf, i, &header) ||
		    header.p_type != PT_LOAD ||
		    address - header.p_vaddr >= header.p_filesz)
			continue;
		*offset = address - header.p_vaddr + header.p_offset;
		return true;
	}
	return false;
}

/* Returns true if @name is @function or a part of it, as compilers name it. */
static bool is_part(const char *name, const char *function)
{
	size_t length = strlen(function);

	return name && !strncmp(name, function, length) &&
	       (!name[length] || name[length] == '.');
}

static void add_symbol(struct found *found, Elf *elf, const GElf_Sym *symbol)
{
	struct range range = { .size = symbol->st_size };
	size_t i;

	if (!find_offset(elf, symbol->st_value, &range.offset))
		return;
	for (i = 0; i < found->count; i++)
		if (found->ranges[i].offset == range.offset)
			return;
	if (!range.size)
		found->sizeless = true;
	else if (found->count == FILTER_RANGES_MAX)
		found->more = true;
	else
		found->ranges[found->count++] = range;
}

/* Notes where the function begins, if this is its own symbol. */
static void note_start(struct found *found, Elf *elf, const GElf_Sym *symbol,
		       bool whole)
{
	if (!whole || found->whole ||
	    !find_offset(elf, symbol->st_value, &found->offset))
		return;
	found->whole = true;
	found->address = symbol->st_value;
}

static void search_section(struct found *found, Elf *elf, Elf_Scn *section,
			   const char *function)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Shdr header;
	GElf_Sym symbol;
	int i;

	if (!data || !gelf_getshdr(section, &header))
		return;
	for (i = 0; gelf_getsym(data, i, &symbol); i++) {
		const char *name = elf_strptr(elf, header.sh_link,
					      symbol.st_name);

		if (GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    symbol.st_shndx == SHN_UNDEF || !is_part(name, function))
			continue;
		add_symbol(found, elf, &symbol);
		note_start(found, elf, &symbol, !strcmp(name, function));
	}
}

static void search_elf(struct found *found, Elf *elf, const char *function)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Ehdr file;

	found->fixed = gelf_getehdr(elf, &file) && file.e_type == ET_EXEC;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) &&
		    (header.sh_type == SHT_SYMTAB ||
		     header.sh_type == SHT_DYNSYM))
			search_section(found, elf, section, function);
}

static int search(struct filter *filter, struct found *found,
		  const char *function, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int error = fd < 0 ? -errno : 0;
	Elf *elf;

	if (fd < 0)
		return fail(filter, error, "filter: %s: %s", path,
			    strerror(-error));
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf_kind(elf) == ELF_K_ELF)
		search_elf(found, elf, function);
	else
		error = fail(filter, -EINVAL,
			     "filter: %s is no program or library", path);
	elf_end(elf);
	close(fd);
	return error;
}

static int find_function(struct filter *filter, struct found *found,
			 const char *function, const char *path)
{
	int error = search(filter, found, function, path);

	if (error)
		return error;
	if (found->more)
		return fail(filter, -E2BIG,
			    "filter: '%s' has more than %d ranges in %s",
			    function, FILTER_RANGES_MAX, path);
	if (found->count)
		return 0;
	if (found->sizeless)
		return fail(filter, -EINVAL,
			    "filter: function '%s' has no size in %s: give OFFSET/SIZE@%s",
			    function, path, path);
	return fail(filter, -ENOENT,
		    "filter: %s has no function '%s': give its name as 'nm' has it, or OFFSET/SIZE@%s",
		    path, function, path);
}

/* --- files ---------------------------------------------------------------- */

/* Looks for a program in the folders of PATH. */
static bool find_program(const char *file, char *path)
{
	const char *at = getenv("PATH");
	char name[PATH_MAX];

	while (at && *at) {
		size_t length = strcspn(at, ":");

		if (length && (size_t)snprintf(name, sizeof(name), "%.*s/%s",
					       (int)length, at, file) <
			      sizeof(name) &&
		    !access(name, X_OK) && realpath(name, path))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

static int find_file(struct filter *filter, const char *file, char *path)
{
	if (strchr(file, '/') ? !realpath(file, path) :
				!find_program(file, path))
		return fail(filter, -ENOENT,
			    "filter: no file '%s': give the path of a program or library",
			    file);
	if (strpbrk(path, " ,\n"))
		return fail(filter, -EINVAL,
			    "filter: '%s': the kernel takes no path with spaces or commas",
			    path);
	return 0;
}

/* --- parts ---------------------------------------------------------------- */

static int add_range(struct filter *filter, const struct range *range,
		     const char *path)
{
	char *at = filter->words + filter->used;
	size_t left = filter->size - filter->used;
	int length;

	if (filter->count == FILTER_RANGES_MAX)
		return fail(filter, -E2BIG, "filter: more than %d ranges",
			    FILTER_RANGES_MAX);
	length = snprintf(at, left, "%sfilter 0x%" PRIx64 "/0x%" PRIx64 "@%s",
			  filter->count ? "," : "", range->offset, range->size,
			  path);
	if ((size_t)length >= left)
		return fail(filter, -E2BIG, "filter: it is too long");
	filter->used += length;
	filter->count++;
	return 0;
}

/* Parses "OFFSET/SIZE". Returns false if it is something else. */
static bool parse_range(const char *text, struct range *range)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	range->offset = strtoull(text, &end, 0);
	if (*end != '/' || end[1] < '0' || end[1] > '9')
		return false;
	range->size = strtoull(end + 1, &end, 0);
	return !*end && range->size;
}

static int add_part(struct filter *filter, char *part)
{
	char *file = strrchr(part, '@'), path[PATH_MAX];
	struct found found = { .count = 0 };
	int error;
	size_t i;

	if (!file || file == part || !file[1])
		return fail(filter, -EINVAL,
			    "filter '%s': allowed are FUNCTION@FILE and OFFSET/SIZE@FILE",
			    part);
	*file++ = 0;
	error = find_file(filter, file, path);
	if (error)
		return error;
	if (parse_range(part, &found.ranges[0]))
		found.count = 1;
	else
		error = find_function(filter, &found, part, path);
	for (i = 0; i < found.count && !error; i++)
		error = add_range(filter, &found.ranges[i], path);
	return error;
}

int filter_resolve(const char *text, char *words, size_t size, char *message,
		   size_t message_size)
{
	struct filter filter = {
		.words = words, .size = size,
		.message = message, .message_size = message_size,
	};
	char *copy = strdup(text), *rest = copy, *part;
	int error = 0;

	if (!copy)
		return fail(&filter, -ENOMEM, "out of memory");
	*words = 0;
	while (!error && (part = strsep(&rest, ",")))
		error = add_part(&filter, part);
	free(copy);
	return error;
}

int filter_find_function(struct filter_function *result, const char *function,
			 const char *file, char *message, size_t message_size)
{
	struct filter filter = {
		.message = message, .message_size = message_size,
	};
	struct found found = { .count = 0 };
	int error = find_file(&filter, file, result->path);

	if (!error)
		error = search(&filter, &found, function, result->path);
	if (error)
		return error;
	if (!found.whole)
		return fail(&filter, -ENOENT,
			    "%s has no function '%s': give its name as 'nm' has it",
			    result->path, function);
	result->offset = found.offset;
	result->address = found.fixed ? found.address : 0;
	return 0;
}
