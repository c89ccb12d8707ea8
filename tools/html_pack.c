// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "html_pack.h"

enum {
	SHAPE_KEYS = 64,	/* most keys of an object */
};

/* A piece of the text; strings are with their quotes. */
struct slice {
	const char *text;
	size_t length;
};

struct shape {
	struct slice keys[SHAPE_KEYS];
	size_t count;
};

struct pack {
	const char *at;		/* the rest of the text */
	FILE *out;
	struct slice *strings;	/* in the order of their numbers */
	size_t string_count, string_room;
	size_t *slots;		/* hash table of number + 1 */
	size_t slot_count;	/* a power of two */
	struct shape *shapes;
	size_t shape_count;
	size_t last_shape;	/* the one that was used last */
	int error;
};

static bool same(const struct slice *a, const struct slice *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/* Writes a string with its quotes, and without '<'. */
static void put_slice(const struct slice *slice, FILE *out)
{
	size_t i;

	for (i = 0; i < slice->length; i++)
		if (slice->text[i] == '<')
			fputs("\\u003c", out);
		else
			putc(slice->text[i], out);
}

/* --- numbers of strings -------------------------------------------------- */

static size_t hash_of(const struct slice *slice)
{
	uint64_t hash = 0xcbf29ce484222325ULL;
	size_t i;

	for (i = 0; i < slice->length; i++)
		hash = (hash ^ (unsigned char)slice->text[i]) *
		       0x100000001b3ULL;
	return hash ^ hash >> 32;
}

/* Returns the slot that has the string, or the empty one where it belongs. */
static size_t *find_slot(const struct pack *pack, const struct slice *slice)
{
	size_t at = hash_of(slice) & (pack->slot_count - 1);

	while (pack->slots[at] &&
	       !same(&pack->strings[pack->slots[at] - 1], slice))
		at = (at + 1) & (pack->slot_count - 1);
	return &pack->slots[at];
}

/* Doubles the room for strings, and the table. Returns 0 or -ENOMEM. */
static int grow(struct pack *pack)
{
	size_t room = pack->string_room ? 2 * pack->string_room : 1024, i;
	struct slice *strings = reallocarray(pack->strings, room,
					     sizeof(*strings));

	if (!strings)
		return -ENOMEM;
	pack->strings = strings;
	pack->string_room = room;
	free(pack->slots);
	pack->slot_count = 2 * room;
	pack->slots = calloc(pack->slot_count, sizeof(*pack->slots));
	if (!pack->slots)
		return -ENOMEM;
	for (i = 0; i < pack->string_count; i++)
		*find_slot(pack, &pack->strings[i]) = i + 1;
	return 0;
}

static size_t number_of(struct pack *pack, const struct slice *slice)
{
	size_t *slot;

	if (pack->string_count == pack->string_room && grow(pack)) {
		pack->error = -ENOMEM;
		return 0;
	}
	slot = find_slot(pack, slice);
	if (!*slot) {
		pack->strings[pack->string_count++] = *slice;
		*slot = pack->string_count;
	}
	return *slot - 1;
}

static void put_base36(size_t number, FILE *out)
{
	static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
	char text[16];
	size_t at = sizeof(text);

	text[--at] = 0;
	do {
		text[--at] = digits[number % 36];
		number /= 36;
	} while (number);
	fputs(text + at, out);
}

/* --- shapes -------------------------------------------------------------- */

static bool same_shape(const struct shape *a, const struct shape *b)
{
	size_t i;

	if (a->count != b->count)
		return false;
	for (i = 0; i < a->count; i++)
		if (!same(&a->keys[i], &b->keys[i]))
			return false;
	return true;
}

static size_t add_shape(struct pack *pack, const struct shape *shape)
{
	struct shape *more = reallocarray(pack->shapes, pack->shape_count + 1,
					  sizeof(*more));

	if (!more) {
		pack->error = -ENOMEM;
		return 0;
	}
	pack->shapes = more;
	more[pack->shape_count] = *shape;
	return pack->shape_count++;
}

static size_t shape_of(struct pack *pack, const struct shape *shape)
{
	size_t i = pack->last_shape;

	if (i >= pack->shape_count || !same_shape(&pack->shapes[i], shape))
		for (i = 0; i < pack->shape_count; i++)
			if (same_shape(&pack->shapes[i], shape))
				break;
	pack->last_shape = i < pack->shape_count ? i : add_shape(pack, shape);
	return pack->last_shape;
}

/* --- values -------------------------------------------------------------- */

static void put_value(struct pack *pack);

static char next(struct pack *pack)
{
	pack->at += strspn(pack->at, " \t\r\n");
	return *pack->at;
}

static struct slice take_string(struct pack *pack)
{
	struct slice slice = { .text = pack->at++ };

	while (*pack->at && *pack->at != '"')
		pack->at += *pack->at == '\\' ? 2 : 1;
	pack->at++;
	slice.length = pack->at - slice.text;
	return slice;
}

static void put_string(struct pack *pack)
{
	const struct slice slice = take_string(pack);

	putc('"', pack->out);
	put_base36(number_of(pack, &slice), pack->out);
	putc('"', pack->out);
}

static void put_array(struct pack *pack)
{
	pack->at++;
	putc('[', pack->out);
	while (!pack->error && next(pack) != ']') {
		put_value(pack);
		putc(',', pack->out);
		pack->at += next(pack) == ',';
	}
	pack->at++;
	fputs("-1]", pack->out);
}

static void put_object(struct pack *pack)
{
	struct shape shape = { .count = 0 };

	pack->at++;
	putc('[', pack->out);
	while (!pack->error && next(pack) != '}') {
		if (shape.count == SHAPE_KEYS) {
			pack->error = -EOVERFLOW;
			return;
		}
		shape.keys[shape.count++] = take_string(pack);
		next(pack);
		pack->at++;		/* the colon */
		put_value(pack);
		putc(',', pack->out);
		pack->at += next(pack) == ',';
	}
	pack->at++;
	fprintf(pack->out, "%zu]", shape_of(pack, &shape));
}

static void put_word(struct pack *pack)
{
	size_t length = strcspn(pack->at, ",]} \t\r\n");

	fwrite(pack->at, 1, length, pack->out);
	pack->at += length;
}

static void put_value(struct pack *pack)
{
	switch (next(pack)) {
	case 0:
		pack->error = -EINVAL;
		break;
	case '{':
		put_object(pack);
		break;
	case '[':
		put_array(pack);
		break;
	case '"':
		put_string(pack);
		break;
	default:
		put_word(pack);
	}
}

/* --- tables -------------------------------------------------------------- */

static void put_slices(const struct slice *slices, size_t count, FILE *out)
{
	size_t i;

	putc('[', out);
	for (i = 0; i < count; i++) {
		if (i)
			putc(',', out);
		put_slice(&slices[i], out);
	}
	putc(']', out);
}

static void put_shapes(const struct pack *pack)
{
	size_t i;

	putc('[', pack->out);
	for (i = 0; i < pack->shape_count; i++) {
		if (i)
			putc(',', pack->out);
		put_slices(pack->shapes[i].keys, pack->shapes[i].count,
			   pack->out);
	}
	putc(']', pack->out);
}

int html_pack(const char *json, FILE *out)
{
	struct pack pack = { .at = json, .out = out };

	fputs("{\"tree\":", out);
	put_value(&pack);
	fputs(",\n\"shapes\":", out);
	put_shapes(&pack);
	fputs(",\n\"strings\":", out);
	put_slices(pack.strings, pack.string_count, out);
	fputs("}\n", out);
	free(pack.strings);
	free(pack.slots);
	free(pack.shapes);
	return pack.error;
}
