/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON in less space, for pages. The packed form is itself JSON:
 *
 *	{"tree": TREE, "shapes": [["key", ...], ...], "strings": ["text", ...]}
 *
 * In TREE each string is a string with its number in "strings", in base 36.
 * Each object is the array of its values and the number of its "shape", which
 * has their keys. Each array has -1 behind its elements. Other values are as
 * they were. The text has no '<', so that it can stand in a script element.
 */
#ifndef HWPROF_HTML_PACK_H
#define HWPROF_HTML_PACK_H

#include <stdio.h>

/*
 * Writes @json, which must be well-formed, in the packed form. Returns 0 or
 * -ENOMEM.
 */
int html_pack(const char *json, FILE *out);

#endif /* HWPROF_HTML_PACK_H */
