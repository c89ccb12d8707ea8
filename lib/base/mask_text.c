// SPDX-License-Identifier: LGPL-2.1-or-later
/* Masks from text, such as "kind=load,width=8,value=0/0xff", and as text. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hwprof.h"

enum {
	LIST_SIZE = 256, /* for all names, with commas */
	DIGITS_MAX = 24,
	/* How much of it a message repeats, so that it has room to say why. */
	SHOWN_TEXT = 200,
	SHOWN_WORD = 40,
};

struct parse {
	struct hwprof_mask *mask;
	const char *text, *at;
	char *message;
	size_t size;
};

struct name {
	const char *name;
	uint32_t bits;
};

static const struct name kinds[] = {
	{"branch", HWPROF_MASK_BRANCHES},
	{"cond", 1U << HWPROF_BRANCH_COND},
	{"jump", 1U << HWPROF_BRANCH_JUMP},
	{"indirect", 1U << HWPROF_BRANCH_INDIRECT},
	{"call", 1U << HWPROF_BRANCH_CALL},
	{"ret", 1U << HWPROF_BRANCH_RET},
	{"syscall", 1U << HWPROF_BRANCH_SYSCALL},
	{"signal", 1U << HWPROF_BRANCH_SIGNAL},
	{"sigreturn", 1U << HWPROF_BRANCH_SIGRETURN},
	{"load", 1U << HWPROF_KIND_LOAD},
	{"store", 1U << HWPROF_KIND_STORE},
	{NULL, 0},
};

static const struct name classes[] = {
#define X(constant, number, name, what) {name, 1U << (number)},
	HWPROF_OPCODE_CLASSES(X)
#undef X
		{NULL, 0},
};

static const struct name widths[] = {
	{"1", 1},   {"2", 2},	{"4", 4},   {"8", 8},
	{"16", 16}, {"32", 32}, {"64", 64}, {NULL, 0},
};

/* Writes a sentence about the place @at of the text. */
static int fail(struct parse *parse, const char *at, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int fail(struct parse *parse, const char *at, const char *format, ...)
{
	int used = snprintf(parse->message, parse->size,
			    "mask '%.*s', character %zu: ", SHOWN_TEXT,
			    parse->text, (size_t)(at - parse->text) + 1);
	va_list args;

	va_start(args, format);
	if (used >= 0 && (size_t)used < parse->size)
		vsnprintf(parse->message + used, parse->size - used, format,
			  args);
	va_end(args);
	return -EINVAL;
}

/* --- sets of names -------------------------------------------------------- */

static const char *list_names(char *text, const struct name *names)
{
	size_t used = 0;

	for (; names->name && used < LIST_SIZE; names++)
		used += snprintf(text + used, LIST_SIZE - used, "%s%s",
				 used ? ", " : "", names->name);
	return text;
}

/* Returns how much of a word messages show. */
static int shown(size_t length)
{
	return length < SHOWN_WORD ? length : SHOWN_WORD;
}

/* Returns the length of a word, which one of "+,/" or the end ends. */
static size_t word_length(const char *text)
{
	return strcspn(text, "+,/");
}

static uint32_t find_name(const struct name *names, const char *word,
			  size_t length)
{
	for (; names->name; names++)
		if (strlen(names->name) == length &&
		    !strncmp(names->name, word, length))
			return names->bits;
	return 0;
}

/* Takes "NAME+NAME...". */
static int take_names(struct parse *parse, const char *what,
		      const struct name *names, uint32_t *set)
{
	char list[LIST_SIZE];

	for (;; parse->at++) {
		size_t length = word_length(parse->at);
		uint32_t bits = find_name(names, parse->at, length);

		if (!bits)
			return fail(parse, parse->at,
				    "'%.*s' is no %s; there are %s",
				    shown(length), parse->at, what,
				    list_names(list, names));
		*set |= bits;
		parse->at += length;
		if (*parse->at != '+')
			return 0;
	}
}

static int take_kinds(struct parse *parse)
{
	return take_names(parse, "kind", kinds, &parse->mask->kinds);
}

static int take_classes(struct parse *parse)
{
	return take_names(parse, "class", classes, &parse->mask->classes);
}

static int take_widths(struct parse *parse)
{
	return take_names(parse, "width", widths, &parse->mask->widths);
}

/* --- numbers -------------------------------------------------------------- */

static int take_number(struct parse *parse, __u64 *number)
{
	size_t length = word_length(parse->at);
	char digits[DIGITS_MAX], *end;
	bool hex;

	*digits = 0;
	if (length < sizeof(digits) && isdigit((unsigned char)*parse->at)) {
		memcpy(digits, parse->at, length);
		digits[length] = 0;
	}
	hex = *digits == '0' && (digits[1] | 32) == 'x';
	errno = 0;
	*number = strtoull(digits, &end, hex ? 16 : 10);
	if (!*digits || *end || errno)
		return fail(
			parse, parse->at,
			"'%.*s' is no number of up to 64 bits; 0x begins a hexadecimal one",
			shown(length), parse->at);
	parse->at += length;
	return 0;
}

/* Takes "MATCH/MASK", or "MATCH" for all bits. */
static int take_match(struct parse *parse, __u64 *mask, __u64 *match)
{
	const char *begin = parse->at;
	int error = take_number(parse, match);

	*mask = UINT64_MAX;
	if (error || *parse->at != '/')
		return error;
	parse->at++;
	error = take_number(parse, mask);
	if (error)
		return error;
	if (!*mask)
		return fail(parse, begin,
			    "the mask 0 looks at nothing: leave it out");
	if (*match & ~*mask)
		return fail(
			parse, begin,
			"0x%llx has bits that the mask 0x%llx has not: nothing could pass",
			*match, *mask);
	return 0;
}

static int take_value(struct parse *parse)
{
	struct hwprof_mask *mask = parse->mask;

	return take_match(parse, &mask->value_mask, &mask->value_match);
}

static int take_address(struct parse *parse)
{
	struct hwprof_mask *mask = parse->mask;

	return take_match(parse, &mask->address_mask, &mask->address_match);
}

static int take_ip(struct parse *parse)
{
	struct hwprof_mask *mask = parse->mask;

	return take_match(parse, &mask->ip_mask, &mask->ip_match);
}

/* Takes "K/N": part K, from 0 on, of N parts of a program. */
static int take_part(struct parse *parse)
{
	const char *begin = parse->at;
	__u64 part, count;
	int error = take_number(parse, &part);

	if (error)
		return error;
	if (*parse->at != '/')
		return fail(
			parse, begin,
			"a part is K/N, for example 0/4 for the first of four");
	parse->at++;
	error = take_number(parse, &count);
	if (error)
		return error;
	if (count < 2 || count & (count - 1))
		return fail(parse, begin,
			    "a program has 2, 4, 8, ... parts, and not %llu",
			    count);
	if (part >= count)
		return fail(parse, begin, "the %llu parts are 0 to %llu", count,
			    count - 1);
	parse->mask->flags |= HWPROF_MASK_HASH;
	parse->mask->ip_mask = count - 1;
	parse->mask->ip_match = part;
	return 0;
}

/* --- the whole ------------------------------------------------------------ */

/* A text has one of the keys with the same bit in @once, and once. */
static const struct key {
	const char *name;
	unsigned int once;
	int (*take)(struct parse *parse);
} keys[] = {
	{"kind", 0, take_kinds},      {"class", 0, take_classes},
	{"width", 0, take_widths},    {"value", 1, take_value},
	{"address", 2, take_address}, {"ip", 4, take_ip},
	{"part", 4, take_part},
};

enum { KEYS = sizeof(keys) / sizeof(keys[0]) };

static const struct key *find_key(const char *word, size_t length)
{
	size_t i;

	for (i = 0; i < KEYS; i++)
		if (strlen(keys[i].name) == length &&
		    !strncmp(keys[i].name, word, length))
			return &keys[i];
	return NULL;
}

/* Takes "KEY=...". */
static int take_item(struct parse *parse, unsigned int *seen)
{
	const char *begin = parse->at;
	size_t length = strcspn(begin, "=,");
	const struct key *key = find_key(begin, length);
	int error;

	if (!key || begin[length] != '=')
		return fail(
			parse, begin,
			"'%.*s' is no test; there are kind=, class=, width=, value=, address=, ip= and part=",
			shown(length), begin);
	if (*seen & key->once)
		return fail(parse, begin, "there can be one %s",
			    key->once == 4 ? "ip or part" : key->name);
	*seen |= key->once;
	parse->at += length + 1;
	error = key->take(parse);
	if (error || !*parse->at || *parse->at == ',')
		return error;
	return fail(
		parse, parse->at,
		"'%c' does not belong there: a comma is before the next test",
		*parse->at);
}

int hwprof_mask_parse(struct hwprof_mask *mask, const char *text, char *message,
		      size_t size)
{
	struct parse parse = {
		.mask = mask,
		.text = text,
		.at = text,
		.message = message,
		.size = size,
	};
	unsigned int seen = 0;
	int error;

	*mask = (struct hwprof_mask){
		.size = sizeof(*mask),
		.flags = HWPROF_MASK_SET,
	};
	if (size)
		*message = 0;
	if (!strcmp(text, "all"))
		return 0;
	for (;; parse.at++) {
		error = take_item(&parse, &seen);
		if (error || !*parse.at)
			return error;
	}
}

/* --- as text -------------------------------------------------------------- */

struct print {
	char *text;
	size_t size, used;
};

static void put(struct print *print, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Text that has no room is cut off. */
static void put(struct print *print, const char *format, ...)
{
	size_t room = print->used < print->size ? print->size - print->used : 0;
	va_list args;

	va_start(args, format);
	print->used += vsnprintf(room ? print->text + print->used : NULL, room,
				 format, args);
	va_end(args);
}

static void put_key(struct print *print, const char *key)
{
	put(print, "%s%s=", print->used ? "," : "", key);
}

/* The first name may stand for several of the others. */
static void put_names(struct print *print, const char *key,
		      const struct name *names, uint32_t set)
{
	const char *between = "";

	if (!set)
		return;
	put_key(print, key);
	for (; names->name; names++) {
		if (names->bits & ~set)
			continue;
		put(print, "%s%s", between, names->name);
		between = "+";
		set &= ~names->bits;
	}
}

static void put_match(struct print *print, const char *key, __u64 mask,
		      __u64 match)
{
	if (!mask)
		return;
	put_key(print, key);
	put(print, "0x%llx", match);
	if (mask != UINT64_MAX)
		put(print, "/0x%llx", mask);
}

static void put_ip(struct print *print, const struct hwprof_mask *mask)
{
	bool hash = mask->flags & HWPROF_MASK_HASH;
	__u64 parts = mask->ip_mask + 1;

	if (hash && parts > 1 && !(parts & (parts - 1))) {
		put_key(print, "part");
		put(print, "%llu/%llu", mask->ip_match, parts);
	} else {
		put_match(print, hash ? "hash" : "ip", mask->ip_mask,
			  mask->ip_match);
	}
}

void hwprof_mask_print(const struct hwprof_mask *mask, char *text, size_t size)
{
	struct print print = {.text = text, .size = size};

	put_names(&print, "kind", kinds, mask->kinds);
	put_names(&print, "class", classes, mask->classes);
	put_names(&print, "width", widths, mask->widths);
	put_match(&print, "value", mask->value_mask, mask->value_match);
	put_match(&print, "address", mask->address_mask, mask->address_match);
	put_ip(&print, mask);
	if (!print.used)
		put(&print, "all");
}
