// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "live/map_line.h"
#include "production_symbols.h"

void production_tell(const struct production_error *error)
{
	fprintf(stderr, "hwprof: %s '%s'\n", error->option,
		clean(error->text));
	/* "hwprof: ", the option, a blank and a quote come before the text. */
	fprintf(stderr, "%*s\n", (int)(strlen(error->option) + 10 +
				       error->column + 1), "^");
	fprintf(stderr, "hwprof: %s\n", clean(error->message));
}

static int find(const struct production_symbol *symbol, const char *program,
		struct filter_function *function)
{
	struct production_error error = {
		.option = "--when", .text = symbol->production->when,
		.column = symbol->column,
	};

	if (!symbol->file && !program)
		snprintf(error.message, sizeof(error.message),
			 "'%s' is no argument or counter; of a function, give the file, too: %s@FILE",
			 symbol->function, symbol->function);
	else if (!filter_find_function(function, symbol->function,
				       symbol->file ? symbol->file : program,
				       error.message, sizeof(error.message)))
		return -1;
	production_tell(&error);
	return STATUS_FAILED;
}

int production_symbols_find(const struct productions *productions,
			    const char *program,
			    struct filter_function *functions)
{
	int status = -1;
	size_t i;

	for (i = 0; i < productions->symbol_count && status < 0; i++)
		status = find(&productions->symbols[i], program,
			      &functions[i]);
	return status;
}

uint64_t production_symbol_address(const struct filter_function *function,
				   pid_t pid)
{
	char path[64], *text = NULL;
	struct map_line line;
	uint64_t address = 0;
	size_t room = 0;
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return 0;
	while (!address && getline(&text, &room, maps) > 0)
		if (map_line_parse(&line, text) &&
		    !strcmp(line.name, function->path) &&
		    function->offset >= line.offset &&
		    function->offset - line.offset < line.end - line.start)
			address = function->offset - line.offset + line.start;
	free(text);
	fclose(maps);
	return address;
}
