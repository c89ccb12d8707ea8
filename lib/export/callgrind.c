// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The format of callgrind's output, which KCachegrind and callgrind_annotate
 * read. Each function has the costs of its own lines, and for each call the
 * costs of what it called. Samples with the same place are summed first.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "export.h"
#include "base/numbers.h"
#include "samples.h"
#include "base/tree.h"
#include "base/text.h"
#include "base/array.h"

/* A function: numbered from 1. Lines of others may be inlined in it. */
struct function {
	const char *object;		/* NULL: unknown */
	const char *file;		/* of the first of its lines; or NULL */
	char *name;
	size_t number;
};

/* Costs of a place, or of the calls of a function from a place. */
struct cost {
	size_t function;
	uint64_t address;
	const char *file;		/* NULL: unknown */
	unsigned int line;
	size_t callee;			/* 0: its own costs */
	uint64_t calls;
	uint64_t values[SAMPLES_TYPES];
};

struct callgrind {
	struct samples_types types;
	bool has_calls;			/* the first value is calls of stacks */
	void *functions;		/* tree of struct function */
	struct numbers frames;		/* value: number of their function */
	size_t function_count;
	void *costs;			/* tree of struct cost */
	size_t *stack;			/* functions of a sample's frames */
	size_t room;
};

/* --- sums ----------------------------------------------------------------- */

static int compare_functions(const void *a, const void *b)
{
	const struct function *x = a, *y = b;
	int order = text_compare(x->object, y->object);

	return order ? order : strcmp(x->name, y->name);
}

static int compare_costs(const void *a, const void *b)
{
	const struct cost *x = a, *y = b;

	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->callee != y->callee)
		return x->callee < y->callee ? -1 : 1;
	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* An address has one file and line, but where processes differ. */
	return (x->line > y->line) - (x->line < y->line);
}

/* Returns the number of the frame's function; 0 if out of memory. */
static uint64_t new_function(void *context, const struct sample_frame *frame)
{
	struct callgrind *all = context;
	char text[FRAME_TEXT];
	const struct function like = {
		.object = frame->object, .file = frame->file,
		.name = (char *)sample_frame_name(frame, text),
	};
	struct function *function;
	bool is_new;

	function = tree_get(&all->functions, &like, sizeof(like),
			    compare_functions, &is_new);
	if (!function || !is_new)
		return function ? function->number : 0;
	function->name = strdup(like.name);
	if (!function->name) {
		function->name = "";
		return 0;
	}
	function->number = ++all->function_count;
	return function->number;
}

static struct cost *cost_of(struct callgrind *all, size_t function,
			    const struct sample_frame *frame, size_t callee)
{
	const struct cost like = {
		.function = function, .callee = callee,
		.address = frame->address, .file = frame->file,
		.line = frame->line,
	};
	bool is_new;

	return tree_get(&all->costs, &like, sizeof(like), compare_costs,
			&is_new);
}

static int add_cost(struct callgrind *all, size_t function,
		    const struct sample_frame *frame, size_t callee,
		    const struct stack_sample *sample)
{
	struct cost *cost = cost_of(all, function, frame, callee);
	size_t i;

	if (!cost)
		return -ENOMEM;
	for (i = 0; i < all->types.count; i++)
		cost->values[i] += sample->values[i];
	return 0;
}

/* Has the stack the same call further in, whose costs include these? */
static bool is_inside(const struct callgrind *all,
		      const struct stack_sample *sample, size_t caller)
{
	const struct sample_frame *frame = &sample->frames[caller];
	size_t i;

	for (i = 1; i < caller; i++)
		if (all->stack[i] == all->stack[caller] &&
		    all->stack[i - 1] == all->stack[caller - 1] &&
		    sample->frames[i].address == frame->address)
			return true;
	return false;
}

static int add_calls(struct callgrind *all, const struct stack_sample *sample)
{
	struct cost *cost;
	int error = 0;
	size_t i;

	for (i = 1; !error && i < sample->frame_count; i++)
		if (!is_inside(all, sample, i))
			error = add_cost(all, all->stack[i],
					 &sample->frames[i],
					 all->stack[i - 1], sample);
	if (error || sample->frame_count < 2)
		return error;
	cost = cost_of(all, all->stack[1], &sample->frames[1], all->stack[0]);
	if (!cost)
		return -ENOMEM;
	cost->calls += all->has_calls ? sample->values[0] : 0;
	return 0;
}

static int add_sample(void *context, const struct stack_sample *sample)
{
	struct callgrind *all = context;
	size_t *stack = array_grow(all->stack, &all->room, sample->frame_count,
				   sizeof(*stack));
	size_t i;
	int error;

	if (!stack)
		return -ENOMEM;
	all->stack = stack;
	for (i = 0; i < sample->frame_count; i++) {
		all->stack[i] = sample_frame_number(&all->frames,
						    &sample->frames[i],
						    new_function, all);
		if (!all->stack[i])
			return -ENOMEM;
	}
	error = add_cost(all, all->stack[0], sample->frames, 0, sample);
	return error ? error : add_calls(all, sample);
}

/* --- output --------------------------------------------------------------- */

/* Names of events are words. */
static void put_event(FILE *out, const char *name)
{
	for (; *name; name++)
		putc(strchr(" \t,:=-", *name) ? '_' : *name, out);
}

static void put_text(FILE *out, const char *key, const char *text)
{
	fprintf(out, "%s=", key);
	for (text = text ? text : "???"; *text; text++)
		putc(*text == '\n' ? '_' : *text, out);
	putc('\n', out);
}

static void put_header(const struct callgrind *all, FILE *out)
{
	size_t i;

	fputs("# callgrind format\nversion: 1\ncreator: hwprof "
	      HWPROF_VERSION "\npositions: instr line\nevents:", out);
	for (i = 0; i < all->types.count; i++) {
		putc(' ', out);
		put_event(out, all->types.all[i].type);
	}
	putc('\n', out);
}

static void put_values(const struct callgrind *all, const struct cost *cost,
		       FILE *out)
{
	size_t i;

	fprintf(out, "0x%" PRIx64 " %u", cost->address, cost->line);
	for (i = 0; i < all->types.count; i++)
		fprintf(out, " %" PRIu64, cost->values[i]);
	putc('\n', out);
}

static void put_function(const struct function *function, FILE *out)
{
	putc('\n', out);
	put_text(out, "ob", function->object);
	put_text(out, "fl", function->file);
	put_text(out, "fn", function->name);
}

static void put_call(const struct function *callee, const struct cost *cost,
		     FILE *out)
{
	put_text(out, "cob", callee->object);
	put_text(out, "cfi", callee->file);
	put_text(out, "cfn", callee->name);
	/* Where the callee begins is not known. */
	fprintf(out, "calls=%" PRIu64 " 0x0 0\n", cost->calls);
}

static void put_costs(const struct callgrind *all,
		      struct function *const *functions,
		      struct cost *const *costs, size_t count, FILE *out)
{
	const char *file = NULL;
	size_t last = 0, i;

	for (i = 0; i < count; i++) {
		const struct cost *cost = costs[i];

		if (cost->function != last) {
			put_function(functions[cost->function], out);
			file = functions[cost->function]->file;
		}
		last = cost->function;
		if (text_compare(file, cost->file))
			put_text(out, "fi", cost->file);
		file = cost->file;
		if (cost->callee)
			put_call(functions[cost->callee], cost, out);
		put_values(all, cost, out);
	}
}

static void put_totals(const struct callgrind *all, struct cost *const *costs,
		       size_t count, FILE *out)
{
	uint64_t sums[SAMPLES_TYPES] = { 0 };
	size_t i, j;

	for (i = 0; i < count; i++)
		for (j = 0; !costs[i]->callee && j < all->types.count; j++)
			sums[j] += costs[i]->values[j];
	fputs("\ntotals:", out);
	for (j = 0; j < all->types.count; j++)
		fprintf(out, " %" PRIu64, sums[j]);
	putc('\n', out);
}

/* Returns the functions by their number, from 1; NULL if out of memory. */
static struct function **by_number(const struct callgrind *all)
{
	struct function **result, **list;
	size_t count, i;

	list = tree_list(all->functions, &count);
	result = list ? calloc(all->function_count + 1, sizeof(*result)) : NULL;
	for (i = 0; result && i < count; i++)
		result[list[i]->number] = list[i];
	free(list);
	return result;
}

static int put_all(const struct callgrind *all, FILE *out)
{
	struct function **functions = by_number(all);
	struct cost **costs;
	size_t count;

	costs = tree_list(all->costs, &count);
	if (functions && costs) {
		put_header(all, out);
		put_costs(all, functions, costs, count, out);
		put_totals(all, costs, count, out);
	}
	free(functions);
	free(costs);
	return functions && costs ? 0 : -ENOMEM;
}

static void free_function(void *node)
{
	struct function *function = node;

	if (*function->name)
		free(function->name);
	free(function);
}

int callgrind_write(struct hwprof_export *export, struct part *part, FILE *out)
{
	struct callgrind all = { .functions = NULL };
	int error;

	samples_types(export->profile, &all.types);
	all.has_calls = !strcmp(all.types.all[0].type, "calls");
	error = samples_each(export->profile, NULL, add_sample, &all);
	if (!error)
		error = put_all(&all, out);
	tdestroy(all.functions, free_function);
	tdestroy(all.costs, free);
	numbers_free(&all.frames);
	free(all.stack);
	return error;
}
