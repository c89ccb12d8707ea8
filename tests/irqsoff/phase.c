// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "must.h"
#include "phase.h"

#define PROBE			"/sys/kernel/debug/irqsoff"
#define ABOVE			"/tmp/irqsoff-above"	/* phases, one a line */

enum {
	PERIOD_NS	= 20000,	/* of the probe's timer */
	LONG_NS		= 100000,	/* as the probe has it */
	MOST_INSTRUCTIONS = 100000,
};

/* A line of the probe's file: see probe/irqsoff.c. */
struct part {
	unsigned long ns, times, ago;
	char place[128], function[128], stack[2048];
};

static char current[80];		/* the phase; "": none */
static unsigned int parts_seen, parts_above;
static unsigned long most = MOST_INSTRUCTIONS;
static bool again;

static bool next_part(FILE *file, struct part *part)
{
	return fscanf(file, "%lu %lu %lu %127[^|]|%127[^|]|%2047[^\n]", &part->ns,
		      &part->times, &part->ago, part->place, part->function,
		      part->stack) == 6;
}

/* Interrupts may have been off since just after the timer's last one. */
static unsigned long instructions_most(const struct part *part)
{
	return (part->ns + PERIOD_NS) / NS_INSTRUCTION;
}

static void print_part(const struct part *part)
{
	printf("#	%lu instructions at the most, until %s",
	       instructions_most(part), part->place);
	if (strcmp(part->function, "0x0"))
		printf(", %s called %lu before", part->function,
		       part->ago / NS_INSTRUCTION);
	printf("\n");
}

/*
 * Return true if a part of this phase and place was too long without tracing.
 */
static bool was_above(const struct part *part)
{
	char line[sizeof(current) + sizeof(part->place) + 2];
	char expected[sizeof(line)];
	FILE *file = fopen(ABOVE, "r");
	bool found = false;

	if (!file)
		die("reading " ABOVE);
	snprintf(expected, sizeof(expected), "%s|%s", current, part->place);
	while (!found && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		found = !strcmp(line, expected);
	}
	fclose(file);
	return found;
}

static void note_above(const struct part *part)
{
	FILE *file = fopen(ABOVE, "a");

	if (!file || fprintf(file, "%s|%s\n", current, part->place) < 0 ||
	    fclose(file))
		die("writing " ABOVE);
}

/*
 * Return true if perf may have gone through all events in the part. It ends
 * where a task has been switched, or where an interrupt to this CPU has done
 * its work. The probe tells only long parts apart by where they end.
 */
static bool is_perfs_loop(const struct part *part)
{
	return part->ns <= LONG_NS ||
	       strstr(part->place, "finish_task_switch") ||
	       strstr(part->place, "generic_exec_single");
}

static void take_part(const struct part *part, struct part *longest)
{
	parts_seen += part->times;
	if (part->ns > longest->ns)
		*longest = *part;
	if (instructions_most(part) <= most ||
	    (again && !was_above(part)))
		return;
	if (!again)
		note_above(part);
	parts_above++;
	printf("# above %lu:\n", most);
	print_part(part);
	printf("#	%s\n", part->stack);
}

unsigned long end_phase(void)
{
	struct part part, longest = { }, loop = { };
	FILE *file;

	if (!current[0])
		return 0;
	file = fopen(PROBE, "r");
	if (!file)
		die("reading " PROBE);
	printf("# %s\n", current);
	while (next_part(file, &part)) {
		take_part(&part, &longest);
		if (is_perfs_loop(&part) && part.ns > loop.ns)
			loop = part;
	}
	if (ferror(file))
		die("reading " PROBE);
	fclose(file);
	if (longest.ns)
		print_part(&longest);
	fflush(stdout);
	current[0] = '\0';
	return instructions_most(&loop);
}

void restart_phase(void)
{
	put(PROBE, "0");
}

void phase(const char *format, ...)
{
	va_list arguments;

	end_phase();
	va_start(arguments, format);
	vsnprintf(current, sizeof(current), format, arguments);
	va_end(arguments);
	restart_phase();
}

void allow(unsigned long instructions)
{
	most = MOST_INSTRUCTIONS + instructions;
}

void count_parts_seen_before(void)
{
	again = true;
}

bool parts_too_long(void)
{
	errno = ENODATA;
	if (!parts_seen)
		die("no interrupt was looked at");
	return parts_above != 0;
}
