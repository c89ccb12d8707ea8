/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Disassembly and lines of source of a profile's code, as JSON. A listing
 * collects spans of code first, and decodes each instruction once.
 */
#ifndef HWPROF_LISTING_H
#define HWPROF_LISTING_H

#include "base/json.h"
#include "code/objects.h"
#include "profile/profile.h"

struct listing;

struct listing *listing_new(void);	/* returns NULL if out of memory */
void listing_free(struct listing *listing);

/*
 * Adds the instructions from @first to the one at @last. Returns 0 or -ENOMEM.
 */
int listing_add(struct listing *listing, struct object *object, uint64_t first,
		uint64_t last);

/*
 * Adds the blocks of the first @limit paths of a profile of paths. Returns 0 or
 * -ENOMEM.
 */
int listing_add_paths(struct listing *listing,
		      const struct hwprof_profile *profile, size_t limit);

/*
 * Writes two members: "code", the instructions, and "source", the text of their
 * lines. Without @source the text is left out. Only files with the name of a
 * program's source are read: a recording can name any file. Returns 0 or
 * -ENOMEM.
 */
int listing_put(struct listing *listing, struct json *json, bool source);

#endif /* HWPROF_LISTING_H */
