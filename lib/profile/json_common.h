/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* JSON that the kinds of profiles have in common. */
#ifndef HWPROF_JSON_COMMON_H
#define HWPROF_JSON_COMMON_H

#include "hwprof.h"
#include "base/json.h"
#include "profile.h"

const char *json_basis_name(enum hwprof_basis basis);
/* Writes the number, or null if it is @unknown. */
void json_unsigned_unless(struct json *json, const char *name, uint64_t value,
			  bool unknown);
/* Writes an instruction: object, function, address, source. */
void json_code(struct json *json, const char *name,
	       const struct hwprof_code *code);
/* Writes the profile's warnings as an array of strings. */
void json_warnings(struct json *json, const char *name,
		   const struct hwprof_profile *profile);
/* Writes the end: totals, masks and warnings. Returns 0 or -EIO. */
int json_end(struct json *json, const struct hwprof_profile *profile);

#endif /* HWPROF_JSON_COMMON_H */
