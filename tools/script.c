// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "base/json.h"
#include "report.h"

const char script_usage[] =
"usage: hwprof script [--json] [FILE]\n"
"\n"
"Prints each row or sample of a recording as it stands there, a line each, or a\n"
"JSON object a line: for programs that do their own sums.\n"
"\n"
"  FILE                recording of hwprof or perf; -: standard input, if it\n"
"                      was recorded to a pipe (default: " DEFAULT_FILE ")\n"
"  -i, --input FILE    the same\n"
"  -j, --json          as JSON\n"
"  -h, --help\n"
"\n"
"exit status: 0 done; 1 the file cannot be read or is damaged; 2 wrong usage.\n";

static const struct option options[] = {
	{ "input", required_argument, NULL, 'i' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

enum form { NUMBER, SIGNED, ADDRESS };

/*
 * Fields that only branches have. Flags say which of the last two a branch has.
 */
enum part { WHOLE, OF_FLAGS, OF_CYCLES, OF_STACK };

struct field {
	const char *name;
	size_t offset, size;
	enum form form;
	enum part part;
};

#define FIELD(type, field, form)					\
	{ #field, offsetof(struct type, field),				\
	  sizeof(((struct type *)0)->field), form, WHOLE }

static const struct field totals_fields[] = {
	FIELD(hwprof_row_totals, produced, NUMBER),
	FIELD(hwprof_row_totals, delivered, NUMBER),
	FIELD(hwprof_row_totals, lost, NUMBER),
	FIELD(hwprof_row_totals, evicted, NUMBER),
	FIELD(hwprof_row_totals, pending, NUMBER),
	FIELD(hwprof_row_totals, events, NUMBER),
	FIELD(hwprof_row_totals, gaps, NUMBER),
	FIELD(hwprof_row_totals, lost_events, NUMBER),
	FIELD(hwprof_row_totals, memory, NUMBER),
	FIELD(hwprof_row_totals, windows, NUMBER),
	FIELD(hwprof_row_totals, basis, NUMBER),
	FIELD(hwprof_row_totals, source, NUMBER),
	FIELD(hwprof_row_totals, cost_ns, NUMBER),
	FIELD(hwprof_row_totals, task_ns, NUMBER),
	FIELD(hwprof_row_totals, budget_permille, NUMBER),
	FIELD(hwprof_row_totals, changes, NUMBER),
	FIELD(hwprof_row_totals, unmeasured, NUMBER),
	{ .name = NULL },
};

static const struct field branches_fields[] = {
	FIELD(hwprof_row_branches, tid, NUMBER),
	FIELD(hwprof_row_branches, count, NUMBER),
	FIELD(hwprof_row_branches, sequence, NUMBER),
	{ .name = NULL },
};

static const struct field loop_fields[] = {
	FIELD(hwprof_row_loop, head, ADDRESS),
	FIELD(hwprof_row_loop, tail, ADDRESS),
	FIELD(hwprof_row_loop, back_edges, NUMBER),
	FIELD(hwprof_row_loop, entries, SIGNED),
	FIELD(hwprof_row_loop, executions, NUMBER),
	FIELD(hwprof_row_loop, unclosed, NUMBER),
	FIELD(hwprof_row_loop, trip_min, NUMBER),
	FIELD(hwprof_row_loop, trip_max, NUMBER),
	FIELD(hwprof_row_loop, trip_recent, NUMBER),
	FIELD(hwprof_row_loop, tails, NUMBER),
	FIELD(hwprof_row_loop, tolerance, NUMBER),
	FIELD(hwprof_row_loop, basis, NUMBER),
	{ .name = NULL },
};

static const struct field range_fields[] = {
	FIELD(hwprof_row_range, low, ADDRESS),
	FIELD(hwprof_row_range, bits, NUMBER),
	FIELD(hwprof_row_range, count, NUMBER),
	FIELD(hwprof_row_range, of, NUMBER),
	FIELD(hwprof_row_range, basis, NUMBER),
	{ .name = NULL },
};

static const struct field box_fields[] = {
	FIELD(hwprof_row_box, code, ADDRESS),
	FIELD(hwprof_row_box, code_bits, NUMBER),
	FIELD(hwprof_row_box, low, ADDRESS),
	FIELD(hwprof_row_box, bits, NUMBER),
	FIELD(hwprof_row_box, count, NUMBER),
	FIELD(hwprof_row_box, of, NUMBER),
	FIELD(hwprof_row_box, basis, NUMBER),
	{ .name = NULL },
};

static const struct field call_fields[] = {
	FIELD(hwprof_row_call, site, ADDRESS),
	FIELD(hwprof_row_call, callee, ADDRESS),
	FIELD(hwprof_row_call, calls, NUMBER),
	FIELD(hwprof_row_call, error, NUMBER),
	FIELD(hwprof_row_call, evicted, NUMBER),
	FIELD(hwprof_row_call, sum_sq, NUMBER),
	FIELD(hwprof_row_call, basis, NUMBER),
	{ .name = NULL },
};

static const struct field edge_fields[] = {
	FIELD(hwprof_row_edge, from, ADDRESS),
	FIELD(hwprof_row_edge, to, ADDRESS),
	FIELD(hwprof_row_edge, end, ADDRESS),
	FIELD(hwprof_row_edge, count, NUMBER),
	FIELD(hwprof_row_edge, mispredicted, NUMBER),
	FIELD(hwprof_row_edge, cycles, NUMBER),
	FIELD(hwprof_row_edge, error, NUMBER),
	FIELD(hwprof_row_edge, evicted, NUMBER),
	FIELD(hwprof_row_edge, sum_sq, NUMBER),
	FIELD(hwprof_row_edge, kind, NUMBER),
	FIELD(hwprof_row_edge, flags, NUMBER),
	FIELD(hwprof_row_edge, basis, NUMBER),
	{ .name = NULL },
};

static const struct field context_fields[] = {
	FIELD(hwprof_row_context, kind, NUMBER),
	FIELD(hwprof_row_context, id, ADDRESS),
	FIELD(hwprof_row_context, parent, ADDRESS),
	FIELD(hwprof_row_context, callee, ADDRESS),
	FIELD(hwprof_row_context, site, ADDRESS),
	FIELD(hwprof_row_context, target, ADDRESS),
	FIELD(hwprof_row_context, calls, NUMBER),
	FIELD(hwprof_row_context, deeper, NUMBER),
	FIELD(hwprof_row_context, branches, NUMBER),
	FIELD(hwprof_row_context, basis, NUMBER),
	{ .name = NULL },
};

static const struct field time_fields[] = {
	FIELD(hwprof_row_time, ip, ADDRESS),
	FIELD(hwprof_row_time, windows, NUMBER),
	{ .name = NULL },
};

static const struct field path_fields[] = {
	FIELD(hwprof_row_path, start, ADDRESS),
	FIELD(hwprof_row_path, end, ADDRESS),
	FIELD(hwprof_row_path, target, ADDRESS),
	FIELD(hwprof_row_path, count, NUMBER),
	FIELD(hwprof_row_path, cycles, NUMBER),
	FIELD(hwprof_row_path, length, NUMBER),
	FIELD(hwprof_row_path, spelled, NUMBER),
	FIELD(hwprof_row_path, flags, NUMBER),
	FIELD(hwprof_row_path, basis, NUMBER),
	{ .name = NULL },
};

static const struct field value_fields[] = {
	FIELD(hwprof_row_value, ip, ADDRESS),
	FIELD(hwprof_row_value, loads, NUMBER),
	FIELD(hwprof_row_value, unseen, NUMBER),
	FIELD(hwprof_row_value, runs, NUMBER),
	FIELD(hwprof_row_value, breaks, NUMBER),
	FIELD(hwprof_row_value, stride, SIGNED),
	FIELD(hwprof_row_value, strides, NUMBER),
	FIELD(hwprof_row_value, width, NUMBER),
	FIELD(hwprof_row_value, count, NUMBER),
	FIELD(hwprof_row_value, basis, NUMBER),
	{ .name = NULL },
};

static const struct field no_fields[] = { { .name = NULL } };

/* The elements of lists. */
static const struct field branch_fields[] = {
	FIELD(hwprof_branch, from, ADDRESS),
	FIELD(hwprof_branch, to, ADDRESS),
	FIELD(hwprof_branch, kind, NUMBER),
	{ .name = "flags", .form = NUMBER, .part = OF_FLAGS },
	{ .name = "cycles", .form = NUMBER, .part = OF_CYCLES },
	{ .name = "stack", .form = ADDRESS, .part = OF_STACK },
	{ .name = NULL },
};

static const struct field jump_fields[] = {
	FIELD(hwprof_path_jump, from, ADDRESS),
	FIELD(hwprof_path_jump, to, ADDRESS),
	{ .name = NULL },
};

static const struct field single_value_fields[] = {
	FIELD(hwprof_value, value, ADDRESS),
	FIELD(hwprof_value, hits, NUMBER),
	FIELD(hwprof_value, missed, NUMBER),
	{ .name = NULL },
};

/* The list at the end of a row. One of the row's fields has its length. */
struct list {
	const char *name;
	const struct field *fields;
	size_t offset, size;		/* of the first element; of each
					 * element */
	size_t count;			/* offset of the field with the length,
					 * a u32 */
};

#define LIST(type, list, elements, length)				\
	{ #list, elements, offsetof(struct type, list),			\
	  sizeof(((struct type *)0)->list[0]), offsetof(struct type, length) }

static const struct field metric_fields[] = {
	{ .name = "increase", .size = sizeof(uint64_t), .form = NUMBER },
	{ .name = NULL },
};

static const struct list
	branch_list = LIST(hwprof_row_branches, branches, branch_fields, count),
	jump_list = LIST(hwprof_row_path, jumps, jump_fields, spelled),
	value_list = LIST(hwprof_row_value, values, single_value_fields, count),
	metric_list = LIST(hwprof_row_context, metrics, metric_fields,
			   metric_count);

static const struct type {
	const char *name;
	const struct field *fields;
	const struct list *list;	/* NULL: none */
} types[] = {
	[HWPROF_ROW_TOTALS] = { "totals", totals_fields },
	[HWPROF_ROW_BRANCHES] = { "branches", branches_fields, &branch_list },
	[HWPROF_ROW_LOOP] = { "loop", loop_fields },
	[HWPROF_ROW_RANGE] = { "range", range_fields },
	[HWPROF_ROW_CALL] = { "call", call_fields },
	[HWPROF_ROW_EDGE] = { "edge", edge_fields },
	[HWPROF_ROW_CONTEXT] = { "context", context_fields, &metric_list },
	[HWPROF_ROW_TIME] = { "time", time_fields },
	[HWPROF_ROW_PATH] = { "path", path_fields, &jump_list },
	[HWPROF_ROW_VALUE] = { "value", value_fields, &value_list },
	[HWPROF_ROW_BOX] = { "box", box_fields },
};

/*
 * Returns the type of a row. Of unknown types only the header is known; @row is
 * NULL without raw data.
 */
static struct type type_of(const struct hwprof_row *row)
{
	static const struct type bare = { .name = "bare", .fields = no_fields };
	static const struct type unknown = {.name = "unknown",
					    .fields = no_fields};

	if (!row)
		return bare;
	return row->type < sizeof(types) / sizeof(types[0]) &&
	       types[row->type].name ? types[row->type] : unknown;
}

static uint64_t branch_part(const char *at, enum part part)
{
	struct hwprof_branch branch;
	bool has_stack;

	memcpy(&branch, at, sizeof(branch));
	has_stack = branch.flags & HWPROF_BRANCH_STACK;
	if (part == OF_FLAGS)
		return branch.flags & HWPROF_BRANCH_FLAGS;
	if (part == OF_STACK)
		return has_stack ? HWPROF_BRANCH_STACK_POINTER(&branch) : 0;
	return has_stack ? 0 : branch.cycles;
}

/*
 * Returns the value of a field of the struct at @base in the row. Fields that
 * an older row lacks are 0.
 */
static uint64_t value_of(const struct hwprof_row *row, size_t base,
			 const struct field *field)
{
	size_t offset = base + field->offset;
	uint64_t value = 0;

	if (field->part)
		return branch_part((const char *)row + base, field->part);
	if (offset + field->size <= row->size)
		memcpy(&value, (const char *)row + offset, field->size);
	return value;
}

/* Returns the length of a list, limited by the size of the row. */
static size_t length_of(const struct hwprof_row *row, const struct list *list)
{
	const struct field count = { .offset = list->count, .size = 4 };
	size_t room = row->size < list->offset ? 0 :
		      (row->size - list->offset) / list->size;
	size_t said = value_of(row, 0, &count);

	return said < room ? said : room;
}

/*
 * Finds the context's id behind a path's jumps. Returns false if the row has
 * none.
 */
static bool get_context(const struct hwprof_row *row, uint64_t *id)
{
	const struct hwprof_row_path *path = (const void *)row;
	const struct field context = { .size = sizeof(*id) };

	if (!row || row->type != HWPROF_ROW_PATH ||
	    !(path->flags & HWPROF_PATH_IN_CONTEXT))
		return false;
	*id = value_of(row, sizeof(*path) +
			    length_of(row, &jump_list) * jump_list.size,
		       &context);
	return true;
}

/* --- lines ---------------------------------------------------------------- */

static void print_field(const struct field *field, uint64_t value)
{
	if (field->form == ADDRESS)
		printf(" %s=0x%" PRIx64, field->name, value);
	else if (field->form == SIGNED)
		printf(" %s=%" PRId64, field->name, (int64_t)value);
	else
		printf(" %s=%" PRIu64, field->name, value);
}

/* Prints a list such as " values=0x5,120,0;0x6,80,0". */
static void print_list(const struct hwprof_row *row, const struct list *list)
{
	size_t length = length_of(row, list), i;
	const struct field *field;

	if (length)
		printf(" %s=", list->name);
	for (i = 0; i < length; i++) {
		size_t base = list->offset + i * list->size;

		for (field = list->fields; field->name; field++)
			printf(field->form == ADDRESS ? "%s0x%" PRIx64 :
							"%s%" PRIu64,
			       field != list->fields ? "," : i ? ";" : "",
			       value_of(row, base, field));
	}
}

static void print_line(const struct hwprof_sample *sample)
{
	const struct hwprof_row *row = sample->row;
	const struct type type = type_of(row);
	const struct field *field;
	uint64_t context;

	if (sample->time != UINT64_MAX)
		printf("%" PRIu64 ".%09" PRIu64 " ", sample->time / 1000000000,
		       sample->time % 1000000000);
	printf("%s%s pid=%u", type.name, sample->rows ? "" : " sample",
	       row ? row->pid : sample->pid);
	if (row)
		printf(" session=%u space=%u", row->session, row->space);
	if (!sample->rows || !row)
		printf(" ip=0x%" PRIx64 " addr=0x%" PRIx64, sample->ip,
		       sample->addr);
	printf(" period=%" PRIu64, sample->period);
	for (field = type.fields; field->name; field++)
		print_field(field, value_of(row, 0, field));
	if (type.list)
		print_list(row, type.list);
	if (get_context(row, &context))
		printf(" context=0x%" PRIx64, context);
	putchar('\n');
}

/* --- JSON ----------------------------------------------------------------- */

static void put_field(struct json *json, const struct field *field,
		      uint64_t value)
{
	if (field->form == ADDRESS)
		json_hex(json, field->name, value);
	else if (field->form == SIGNED)
		json_signed(json, field->name, value);
	else
		json_unsigned(json, field->name, value);
}

static void put_list(struct json *json, const struct hwprof_row *row,
		     const struct list *list)
{
	size_t length = length_of(row, list), i;
	const struct field *field;

	json_open(json, list->name, '[');
	for (i = 0; i < length; i++) {
		json_open(json, NULL, '{');
		for (field = list->fields; field->name; field++)
			put_field(json, field,
				  value_of(row, list->offset + i * list->size,
					   field));
		json_close(json, '}');
	}
	json_close(json, ']');
}

static void put_object(const struct hwprof_sample *sample)
{
	const struct hwprof_row *row = sample->row;
	const struct type type = type_of(row);
	struct json json = { .out = stdout, .line = true };
	const struct field *field;
	uint64_t context;

	json_open(&json, NULL, '{');
	if (sample->time != UINT64_MAX)
		json_unsigned(&json, "time", sample->time);
	json_string(&json, "type", type.name);
	json_bool(&json, "sample", !sample->rows);
	json_unsigned(&json, "pid", row ? row->pid : sample->pid);
	if (row) {
		json_unsigned(&json, "session", row->session);
		json_unsigned(&json, "space", row->space);
	}
	if (!sample->rows || !row) {
		json_hex(&json, "ip", sample->ip);
		json_hex(&json, "addr", sample->addr);
	}
	json_unsigned(&json, "period", sample->period);
	for (field = type.fields; field->name; field++)
		put_field(&json, field, value_of(row, 0, field));
	if (type.list)
		put_list(&json, row, type.list);
	if (get_context(row, &context))
		json_hex(&json, "context", context);
	json_close(&json, '}');
}

/* --- the command ---------------------------------------------------------- */

static int print_sample(void *context, const struct hwprof_sample *sample)
{
	const bool *json = context;

	if (*json)
		put_object(sample);
	else
		print_line(sample);
	/* Stop when the reader has exited. */
	return ferror(stdout) ? 1 : 0;
}

static void warn_of_damage(const struct hwprof_file *file)
{
	const char *sentence;
	size_t i;

	for (i = 0; (sentence = hwprof_file_warning(file, i)); i++)
		warning("%s", sentence);
}

static int print_file(const char *path, bool json)
{
	struct hwprof_file *file;
	int status, error = hwprof_file_open(&file, path);

	if (!error)
		error = hwprof_file_samples(file, print_sample, &json);
	status = check_output(STATUS_OK);
	if (error < 0) {
		const char *sentence = hwprof_file_error(file);

		status = failed("%s", sentence ? sentence : "out of memory");
	} else {
		warn_of_damage(file);
	}
	hwprof_file_close(file);
	return status;
}

int command_script(int argc, char **argv)
{
	const char *path = NULL;
	bool json = false;
	int option;

	while ((option = getopt_long(argc, argv, "i:jh", options, NULL)) >= 0) {
		if (option == 'i')
			path = optarg;
		else if (option == 'j')
			json = true;
		else
			return option_error(option, script_usage, argv);
	}
	if (optind < argc && path)
		return usage_error("'%s' and -i '%s': one file is printed",
				   argv[optind], path);
	if (optind + 1 < argc)
		return usage_error("unexpected '%s'; one file is printed",
				   argv[optind + 1]);
	if (optind < argc)
		path = argv[optind];
	return print_file(path ? path : DEFAULT_FILE, json);
}
