// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Names loops by what their code does. An edit elsewhere moves code to other
 * lines and addresses, but does not change these names.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "code/decode.h"
#include "profile/diff.h"
#include "profile/diff_paths.h"
#include "loops.h"

enum {
	CODE_MAX	= 64 << 10,	/* bytes of a loop to look at */
	CALLEES_MAX	= 64,
};

/* The functions that a loop calls, sorted by name. */
struct callees {
	const char *names[CALLEES_MAX];
	size_t count;
};

static void add_callee(struct callees *callees, const char *name)
{
	size_t i = 0, j;

	while (i < callees->count && strcmp(callees->names[i], name) < 0)
		i++;
	if (callees->count == CALLEES_MAX ||
	    (i < callees->count && !strcmp(callees->names[i], name)))
		return;
	for (j = callees->count++; j > i; j--)
		callees->names[j] = callees->names[j - 1];
	callees->names[i] = name;
}

/* Returns the number of loops around it in the same function. */
static unsigned int depth_of(const struct hwprof_loop *loop)
{
	const struct hwprof_loop *around = loop->parent;
	unsigned int depth = 0;

	for (; around && around->function &&
	       !strcmp(around->function, loop->function);
	     around = around->parent)
		depth++;
	return depth;
}

/* Returns true for instructions that linkers and compilers add as padding. */
static bool is_padding(const char *mnemonic)
{
	return !strcmp(mnemonic, "nop") || !strcmp(mnemonic, "endbr64");
}

static void note(const struct instruction *instruction, struct object *object,
		 enum diff_name sort, struct callees *callees, FILE *out)
{
	const char *callee = NULL;
	uint64_t offset;

	if (instruction->ending == ENDING_CALL && instruction->target)
		callee = object_symbol(object, instruction->target, &offset);
	if (callee && sort == DIFF_CALLS)
		add_callee(callees, callee);
	else if (sort == DIFF_CODE && !is_padding(instruction->mnemonic))
		fprintf(out, "%s %s;", instruction->mnemonic,
			callee ? callee : "");
}

/* Names all code of the loop, from the head to the branch back. */
static bool walk(const struct loop_entry *entry, struct decoder *decoder,
		 enum diff_name sort, struct callees *callees, FILE *out)
{
	const struct hwprof_loop *loop = &entry->loop;
	struct instruction instruction;
	struct code code;

	if (loop->tail - loop->head > CODE_MAX ||
	    code_begin(&code, decoder, entry->object, loop->head))
		return false;
	do {
		if (!code_next(&code, &instruction))
			return false;
		note(&instruction, entry->object, sort, callees, out);
	} while (instruction.address < loop->tail);
	return true;
}

bool loop_code_name(const void *profile, size_t index, enum diff_name sort,
		    FILE *out)
{
	const struct hwprof_loops *loops = profile;
	const struct loop_entry *entry = loops->order[index];
	struct callees callees = { .count = 0 };
	struct decoder *decoder;
	bool read;
	size_t i;

	if (!entry->loop.function)
		return false;
	diff_put_path(out, entry->loop.object);
	fprintf(out, "|%s|%u|", entry->loop.function, depth_of(&entry->loop));
	if (sort == DIFF_NESTING || !entry->object)
		return sort == DIFF_NESTING;
	decoder = decoder_new();
	if (!decoder)
		return false;
	read = walk(entry, decoder, sort, &callees, out);
	for (i = 0; i < callees.count; i++)
		fprintf(out, "%s;", callees.names[i]);
	decoder_free(decoder);
	return read && (sort == DIFF_CODE || callees.count);
}
