// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "map_line.h"

bool map_line_parse(struct map_line *line, char *text)
{
	int used = 0;

	text[strcspn(text, "\n")] = 0;
	if (sscanf(text,
		   "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %x:%x %" SCNu64
		   " %n",
		   &line->start, &line->end, line->bits, &line->offset,
		   &line->major, &line->minor, &line->inode, &used) < 7 ||
	    !used)
		return false;
	line->name = text + used;
	return strlen(line->bits) == 4 && line->start <= line->end;
}
