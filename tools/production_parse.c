// SPDX-License-Identifier: GPL-2.0-only
/*
 * The language of productions:
 *
 *	pattern:   KIND | KIND '(' condition {',' condition} ')'
 *	condition: NAME operator value
 *	operator:  = == != < <= > >= &
 *	value:     NUMBER | NAME | FUNCTION ['+' NUMBER] ['@' FILE]
 *	actions:   action {',' action}
 *	action:    count | count(NAME,...) | hist(NAME,...) | burst=NUMBER |
 *	           burst=on | burst=off | snapshot | stop | sooner | later |
 *	           NAME=NUMBER | NAME+=NUMBER | NAME-=NUMBER
 *
 * A NAME is an argument of the event, or a counter: a name to which an action
 * assigns.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "production.h"

const char *const production_kinds[HWPROF_PROGRAM_KINDS] = {
	[HWPROF_PROGRAM_BRANCH]		= "branch",
	[HWPROF_PROGRAM_LOAD]		= "load",
	[HWPROF_PROGRAM_STORE]		= "store",
	[HWPROF_PROGRAM_CALL]		= "call",
	[HWPROF_PROGRAM_RETURN]		= "return",
	[HWPROF_PROGRAM_LOOP_EXIT]	= "loop_exit",
	[HWPROF_PROGRAM_PATH_END]	= "path_end",
	[HWPROF_PROGRAM_WINDOW_BEGIN]	= "window_begin",
	[HWPROF_PROGRAM_WINDOW_END]	= "window_end",
	[HWPROF_PROGRAM_SAMPLE]		= "sample",
};

/* --- names ---------------------------------------------------------------- */

/* Groups of kinds that have the same arguments. */
#define BIT(kind)	(1U << HWPROF_PROGRAM_##kind)
#define ACCESSES	(BIT(LOAD) | BIT(STORE))
#define CALLS		(BIT(CALL) | BIT(RETURN))
#define WINDOWS		(BIT(WINDOW_BEGIN) | BIT(WINDOW_END))
#define ALL_KINDS	((1U << HWPROF_PROGRAM_KINDS) - 1)

/* Positions of words: D(0) is the first that differs from kind to kind. */
#define D(position)	(HWPROF_PROGRAM_WORD_FIRST + (position))
#define W(name)		HWPROF_PROGRAM_WORD_##name

static const struct argument {
	const char *name;
	unsigned int kinds;
	enum production_operand_kind operand;
	unsigned int word;
	bool address;
} arguments[] = {
	{ "from", BIT(BRANCH) | CALLS, OPERAND_WORD, D(0), true },
	{ "to", BIT(BRANCH) | CALLS, OPERAND_WORD, D(1), true },
	{ "kind", BIT(BRANCH), OPERAND_WORD, D(2), false },
	{ "flags", BIT(BRANCH) | ACCESSES, OPERAND_WORD, D(3), false },
	{ "cycles", BIT(BRANCH), OPERAND_WORD, D(4), false },
	{ "stack", CALLS, OPERAND_WORD, D(2), true },
	{ "ip", ACCESSES | WINDOWS | BIT(SAMPLE), OPERAND_WORD, D(0), true },
	{ "address", ACCESSES, OPERAND_WORD, D(1), true },
	{ "width", ACCESSES, OPERAND_WORD, D(2), false },
	{ "value", ACCESSES, OPERAND_WORD, D(4), false },
	{ "head", BIT(LOOP_EXIT), OPERAND_WORD, D(0), true },
	{ "tail", BIT(LOOP_EXIT), OPERAND_WORD, D(1), true },
	{ "trips", BIT(LOOP_EXIT), OPERAND_WORD, D(2), false },
	{ "trip", BIT(LOOP_EXIT), OPERAND_WORD, D(2), false },
	{ "start", BIT(PATH_END), OPERAND_WORD, D(0), true },
	{ "end", BIT(PATH_END), OPERAND_WORD, D(1), true },
	{ "target", BIT(PATH_END), OPERAND_WORD, D(2), true },
	{ "length", BIT(PATH_END), OPERAND_WORD, D(3), false },
	{ "signature", BIT(PATH_END), OPERAND_WORD, D(4), true },
	{ "branches", WINDOWS, OPERAND_WORD, D(1), false },
	{ "depth", BIT(SAMPLE), OPERAND_WORD, D(1), false },
	{ "chain", BIT(SAMPLE), OPERAND_WORD, D(2), true },
	{ "pid", ALL_KINDS, OPERAND_UPPER, W(TASK), false },
	{ "tid", ALL_KINDS, OPERAND_LOWER, W(TASK), false },
	{ "space", ALL_KINDS, OPERAND_WORD, W(SPACE), false },
	{ "weight", ALL_KINDS, OPERAND_WORD, W(WEIGHT), false },
};

enum { ARGUMENTS = sizeof(arguments) / sizeof(arguments[0]) };

/* Numbers with names. */
static const struct constant {
	const char *name;
	uint64_t number;
} constants[] = {
	{ "cond", HWPROF_BRANCH_COND },
	{ "jump", HWPROF_BRANCH_JUMP },
	{ "indirect", HWPROF_BRANCH_INDIRECT },
	{ "call", HWPROF_BRANCH_CALL },
	{ "ret", HWPROF_BRANCH_RET },
	{ "syscall", HWPROF_BRANCH_SYSCALL },
	{ "signal", HWPROF_BRANCH_SIGNAL },
	{ "sigreturn", HWPROF_BRANCH_SIGRETURN },
};

enum { CONSTANTS = sizeof(constants) / sizeof(constants[0]) };

/* Words of actions, which cannot be counters. */
static const char *const reserved[] = {
	"count", "hist", "burst", "snapshot", "stop", "sooner", "later", "on",
	"off",
};

enum { RESERVED = sizeof(reserved) / sizeof(reserved[0]) };

static const char allowed_actions[] =
	"count, count(NAME,...), hist(NAME,...), burst=NUMBER, burst=on, burst=off, snapshot, stop, sooner, later, and COUNTER=NUMBER, COUNTER+=NUMBER, COUNTER-=NUMBER";

/* --- reading a text ------------------------------------------------------- */

struct parser {
	struct productions *productions;
	struct production *production;	/* that is parsed */
	struct production_error *error;
	const char *text, *at;
};

/* A name in the text. */
struct name {
	const char *text;
	size_t length;
};

static bool fail_at(struct parser *parser, const char *at, const char *format,
		    ...) __attribute__((format(printf, 3, 4)));

static bool fail_at(struct parser *parser, const char *at, const char *format,
		    ...)
{
	struct production_error *error = parser->error;
	va_list args;

	error->text = parser->text;
	error->option = parser->text == parser->production->when ? "--when" :
								   "--then";
	error->column = at - parser->text;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return false;
}

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t");
}

/* Skips blanks and @token. Returns false if something else comes. */
static bool take(struct parser *parser, const char *token)
{
	skip_blanks(parser);
	if (strncmp(parser->at, token, strlen(token)))
		return false;
	parser->at += strlen(token);
	return true;
}

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Takes a name. It is empty if none comes. */
static struct name take_name(struct parser *parser)
{
	struct name name;

	skip_blanks(parser);
	name.text = parser->at;
	if (!isdigit((unsigned char)*parser->at))
		while (is_letter(*parser->at))
			parser->at++;
	name.length = parser->at - name.text;
	return name;
}

static bool is(struct name name, const char *text)
{
	return strlen(text) == name.length &&
	       !strncmp(name.text, text, name.length);
}

static bool take_number(struct parser *parser, uint64_t *number)
{
	const char *begin;
	char *end;

	skip_blanks(parser);
	begin = parser->at;
	if (!isdigit((unsigned char)*begin))
		return fail_at(parser, begin,
			       "a number is expected, such as 1000 or 0x3e8");
	errno = 0;
	*number = strtoull(begin, &end, 0);
	if (errno)
		return fail_at(parser, begin,
			       "the number does not fit into 64 bits");
	if (is_letter(*end))
		return fail_at(parser, end, "this is no digit");
	parser->at = end;
	return true;
}

static bool take_end(struct parser *parser, const char *allowed)
{
	skip_blanks(parser);
	return !*parser->at || fail_at(parser, parser->at, "%s", allowed);
}

/* --- operands ------------------------------------------------------------- */

static const struct argument *argument_of(const struct parser *parser,
					  struct name name)
{
	size_t i;

	for (i = 0; i < ARGUMENTS; i++)
		if (is(name, arguments[i].name) &&
		    arguments[i].kinds >> parser->production->event & 1)
			return &arguments[i];
	return NULL;
}

/* Appends the names of the event's arguments to @list. */
static void list_arguments(const struct parser *parser, char *list, size_t size)
{
	enum hwprof_program_kind event = parser->production->event;
	size_t used = 0, i;

	*list = 0;
	for (i = 0; i < ARGUMENTS && used < size; i++)
		if (arguments[i].kinds >> event & 1)
			used += snprintf(list + used, size - used, "%s%s",
					 used ? ", " : "", arguments[i].name);
}

static int counter_of(const struct productions *productions, struct name name)
{
	size_t i;

	for (i = 0; i < productions->counter_count; i++)
		if (is(name, productions->counters[i]))
			return i;
	return -1;
}

/*
 * Sets @operand to an argument of the event or a counter. Returns false if
 * @name is neither.
 */
static bool find_variable(const struct parser *parser, struct name name,
			  struct production_operand *operand)
{
	const struct argument *argument = argument_of(parser, name);
	int counter = counter_of(parser->productions, name);

	if (argument)
		*operand = (struct production_operand){
			argument->operand, argument->word, 0,
		};
	else if (counter >= 0)
		*operand = (struct production_operand){
			OPERAND_COUNTER, counter, 0,
		};
	return argument || counter >= 0;
}

/* Takes the name of an argument of the event or of a counter. */
static bool take_variable(struct parser *parser,
			  struct production_operand *operand, struct name *name)
{
	char list[512];

	*name = take_name(parser);
	if (name->length && find_variable(parser, *name, operand))
		return true;
	list_arguments(parser, list, sizeof(list));
	if (!name->length)
		return fail_at(parser, name->text,
			       "a name is expected: %s has the arguments %s",
			       production_kinds[parser->production->event],
			       list);
	return fail_at(parser, name->text,
		       "%s has no argument '%.*s', and no action assigns to such a counter; its arguments are %s",
		       production_kinds[parser->production->event],
		       (int)name->length, name->text, list);
}

static const struct constant *constant_of(struct name name)
{
	size_t i;

	for (i = 0; i < CONSTANTS; i++)
		if (is(name, constants[i].name))
			return &constants[i];
	return NULL;
}

static char *copy_of(struct name name)
{
	return strndup(name.text, name.length);
}

/* Takes what stands behind the name of a function. */
static bool take_symbol(struct parser *parser, struct name function,
			struct production_operand *operand)
{
	struct productions *productions = parser->productions;
	struct production_symbol *symbol =
		&productions->symbols[productions->symbol_count];
	struct name file = { NULL, 0 };
	uint64_t offset = 0;

	if (productions->symbol_count == PRODUCTION_SYMBOLS)
		return fail_at(parser, function.text,
			       "more than %d functions", PRODUCTION_SYMBOLS);
	if (take(parser, "+") && !take_number(parser, &offset))
		return false;
	if (take(parser, "@")) {
		file = (struct name){ parser->at, strcspn(parser->at, ",) ") };
		parser->at += file.length;
		if (!file.length)
			return fail_at(parser, file.text,
				       "the name of a file is expected");
	}
	*symbol = (struct production_symbol){
		.function = copy_of(function),
		.file = file.length ? copy_of(file) : NULL,
		.production = parser->production,
		.column = function.text - parser->text,
	};
	*operand = (struct production_operand){
		OPERAND_SYMBOL, productions->symbol_count++, offset,
	};
	return (symbol->function && (symbol->file || !file.length)) ||
	       fail_at(parser, function.text, "out of memory");
}

/* Takes what is compared with: a number, a variable, or a function. */
static bool take_value(struct parser *parser,
		       struct production_operand *operand)
{
	const struct constant *constant;
	struct name name = take_name(parser);

	if (!name.length && isdigit((unsigned char)*parser->at)) {
		*operand = (struct production_operand){ OPERAND_NUMBER, 0, 0 };
		return take_number(parser, &operand->number);
	}
	if (!name.length)
		return fail_at(parser, name.text,
			       "a number, an argument, a counter or FUNCTION[+OFFSET][@FILE] is expected");
	if (find_variable(parser, name, operand))
		return true;
	constant = constant_of(name);
	if (!constant)
		return take_symbol(parser, name, operand);
	*operand = (struct production_operand){
		OPERAND_NUMBER, 0, constant->number,
	};
	return true;
}

/* --- patterns ------------------------------------------------------------- */

/* Longer ones come before those that they begin with. */
static const struct {
	const char *text;
	enum production_comparison comparison;
} operators[] = {
	{ "==", COMPARE_EQUAL }, { "!=", COMPARE_UNEQUAL },
	{ "<=", COMPARE_LESS_EQUAL }, { ">=", COMPARE_GREATER_EQUAL },
	{ "=", COMPARE_EQUAL }, { "<", COMPARE_LESS },
	{ ">", COMPARE_GREATER }, { "&", COMPARE_BITS },
};

static bool take_operator(struct parser *parser,
			  enum production_comparison *comparison)
{
	size_t i;

	for (i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (take(parser, operators[i].text)) {
			*comparison = operators[i].comparison;
			return true;
		}
	return fail_at(parser, parser->at,
		       "a comparison is expected: = != < <= > >= or & (bits in common)");
}

static bool take_condition(struct parser *parser)
{
	struct production *production = parser->production;
	struct production_condition *condition =
		&production->conditions[production->condition_count];
	struct name name;

	skip_blanks(parser);
	if (production->condition_count == PRODUCTION_CONDITIONS)
		return fail_at(parser, parser->at, "more than %d conditions",
			       PRODUCTION_CONDITIONS);
	production->condition_count++;
	return take_variable(parser, &condition->left, &name) &&
	       take_operator(parser, &condition->comparison) &&
	       take_value(parser, &condition->right);
}

static bool take_event(struct parser *parser)
{
	struct name name = take_name(parser);
	int i;

	for (i = 0; i < HWPROF_PROGRAM_KINDS; i++)
		if (is(name, production_kinds[i])) {
			parser->production->event = i;
			parser->productions->kinds |= 1U << i;
			return true;
		}
	return fail_at(parser, name.text,
		       "an event is expected: branch, load, store, call, return, loop_exit, path_end, window_begin, window_end or sample");
}

static bool parse_when(struct parser *parser)
{
	if (!take_event(parser))
		return false;
	if (!take(parser, "("))
		return take_end(parser,
				"allowed are conditions in parentheses, or the end");
	do {
		if (!take_condition(parser))
			return false;
	} while (take(parser, ","));
	if (!take(parser, ")"))
		return fail_at(parser, parser->at,
			       "a comma or a closing parenthesis is expected");
	return take_end(parser, "nothing is allowed behind the parenthesis");
}

/* --- actions -------------------------------------------------------------- */

static bool take_key(struct parser *parser, struct production_table *table)
{
	const struct argument *argument;
	struct name name;

	skip_blanks(parser);
	if (table->key_count == PRODUCTION_KEYS)
		return fail_at(parser, parser->at, "more than %d names",
			       PRODUCTION_KEYS);
	if (!take_variable(parser, &table->keys[table->key_count], &name))
		return false;
	argument = argument_of(parser, name);
	table->names[table->key_count] = argument ? argument->name :
		parser->productions->counters[counter_of(parser->productions,
							 name)];
	table->addresses[table->key_count++] = argument && argument->address;
	return true;
}

static bool take_keys(struct parser *parser, struct production_table *table)
{
	do {
		if (!take_key(parser, table))
			return false;
	} while (take(parser, ","));
	return take(parser, ")") ||
	       fail_at(parser, parser->at,
		       "a comma or a closing parenthesis is expected");
}

static bool parse_table(struct parser *parser, struct name name,
			struct production_action *action)
{
	struct productions *productions = parser->productions;
	struct production_table *table =
		&productions->tables[productions->table_count];

	if (productions->table_count == PRODUCTION_TABLES)
		return fail_at(parser, name.text,
			       "more than %d counts and histograms",
			       PRODUCTION_TABLES);
	action->index = productions->table_count++;
	table->production = parser->production;
	table->histogram = action->kind == ACTION_HISTOGRAM;
	if (take(parser, "("))
		return take_keys(parser, table);
	return !table->histogram ||
	       fail_at(parser, parser->at,
		       "hist needs the name of what it is of, as in hist(%s)",
		       production_kinds[parser->production->event][0] == 'l' ?
		       "trips" : "weight");
}

static bool parse_burst(struct parser *parser, struct production_action *action)
{
	struct name name;

	parser->productions->bursts = true;
	if (!take(parser, "="))
		return fail_at(parser, parser->at,
			       "allowed are burst=NUMBER, burst=on and burst=off");
	name = take_name(parser);
	if (is(name, "on"))
		action->number = PRODUCTION_BURST_ON;
	else if (is(name, "off"))
		action->number = 0;
	else if (name.length)
		return fail_at(parser, name.text,
			       "allowed are a number of branches, on and off");
	else if (!take_number(parser, &action->number))
		return false;
	return action->number <= PRODUCTION_BURST_ON ||
	       fail_at(parser, name.text, "the burst is too long");
}

static bool parse_assignment(struct parser *parser, struct name name,
			     struct production_action *action)
{
	bool minus;
	int counter = counter_of(parser->productions, name);

	if (counter < 0)
		return fail_at(parser, name.text, "allowed are %s",
			       allowed_actions);
	action->index = counter;
	minus = take(parser, "-=");
	action->kind = minus || take(parser, "+=") ? ACTION_ADD : ACTION_SET;
	if (action->kind == ACTION_SET && !take(parser, "="))
		return fail_at(parser, parser->at,
			       "allowed are %.*s=NUMBER, %.*s+=NUMBER and %.*s-=NUMBER",
			       (int)name.length, name.text, (int)name.length,
			       name.text, (int)name.length, name.text);
	if (!take_number(parser, &action->number))
		return false;
	if (minus)
		action->number = -action->number;
	return true;
}

static const struct {
	const char *name;
	enum production_action_kind kind;
} actions[] = {
	{ "count", ACTION_COUNT }, { "hist", ACTION_HISTOGRAM },
	{ "burst", ACTION_BURST }, { "snapshot", ACTION_SNAPSHOT },
	{ "stop", ACTION_STOP }, { "sooner", ACTION_SOONER },
	{ "later", ACTION_LATER },
};

static enum production_action_kind action_kind_of(struct name name)
{
	size_t i;

	for (i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (is(name, actions[i].name))
			return actions[i].kind;
	return ACTION_SET;
}

static bool parse_action(struct parser *parser)
{
	struct production *production = parser->production;
	struct production_action *action =
		&production->actions[production->action_count];
	struct name name = take_name(parser);

	if (production->action_count == PRODUCTION_ACTIONS)
		return fail_at(parser, name.text, "more than %d actions",
			       PRODUCTION_ACTIONS);
	production->action_count++;
	action->kind = action_kind_of(name);
	switch (action->kind) {
	case ACTION_COUNT:
	case ACTION_HISTOGRAM:
		return parse_table(parser, name, action);
	case ACTION_BURST:
		return parse_burst(parser, action);
	case ACTION_SNAPSHOT:
		parser->productions->snapshots = true;
		return true;
	case ACTION_STOP:
		parser->productions->stops = true;
		return true;
	case ACTION_SOONER:
	case ACTION_LATER:
		parser->productions->paces = true;
		return true;
	default:
		return parse_assignment(parser, name, action);
	}
}

static bool parse_then(struct parser *parser)
{
	do {
		if (!parse_action(parser))
			return false;
	} while (take(parser, ","));
	return take_end(parser, "a comma is expected, or the end");
}

/* --- counters ------------------------------------------------------------- */

static bool is_taken(struct name name)
{
	size_t i;

	for (i = 0; i < RESERVED; i++)
		if (is(name, reserved[i]))
			return true;
	for (i = 0; i < ARGUMENTS; i++)
		if (is(name, arguments[i].name))
			return true;
	return constant_of(name);
}

static bool add_counter(struct parser *parser, struct name name)
{
	struct productions *productions = parser->productions;

	if (is_taken(name))
		return fail_at(parser, name.text,
			       "'%.*s' is the name of an argument or an action, and cannot be a counter",
			       (int)name.length, name.text);
	if (counter_of(productions, name) >= 0)
		return true;
	if (productions->counter_count == PRODUCTION_COUNTERS)
		return fail_at(parser, name.text, "more than %d counters",
			       PRODUCTION_COUNTERS);
	if (name.length >= PRODUCTION_NAME)
		return fail_at(parser, name.text,
			       "the name is longer than %d letters",
			       PRODUCTION_NAME - 1);
	memcpy(productions->counters[productions->counter_count++], name.text,
	       name.length);
	return true;
}

/*
 * Finds the counters of actions: names with "=", "+=" or "-=" behind them.
 * Names inside parentheses are followed by none of these.
 */
static bool find_counters(struct parser *parser)
{
	while (*parser->at) {
		struct name name = take_name(parser);
		bool assigned = take(parser, "+=") || take(parser, "-=") ||
				take(parser, "=");

		if (name.length && assigned && !is(name, "burst") &&
		    !add_counter(parser, name))
			return false;
		if (!name.length && !assigned && *parser->at)
			parser->at++;
	}
	return true;
}

/* --- all ------------------------------------------------------------------ */

bool productions_add(struct productions *productions, const char *when,
		     const char *then)
{
	if (productions->count == PRODUCTIONS_MAX)
		return false;
	productions->all[productions->count++] = (struct production){
		.when = when, .then = then,
	};
	return true;
}

static bool for_each(struct productions *productions,
		     struct production_error *error, bool whens,
		     bool (*parse)(struct parser *parser))
{
	size_t i;

	for (i = 0; i < productions->count; i++) {
		struct production *production = &productions->all[i];
		const char *text = whens ? production->when : production->then;
		struct parser parser = {
			.productions = productions, .production = production,
			.error = error, .text = text, .at = text,
		};

		if (!parse(&parser))
			return false;
	}
	return true;
}

bool productions_parse(struct productions *productions,
		       struct production_error *error)
{
	return for_each(productions, error, false, find_counters) &&
	       for_each(productions, error, true, parse_when) &&
	       for_each(productions, error, false, parse_then);
}

void productions_free(struct productions *productions)
{
	size_t i;

	for (i = 0; i < productions->symbol_count; i++) {
		free(productions->symbols[i].function);
		free(productions->symbols[i].file);
	}
}
