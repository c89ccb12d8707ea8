/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* The rules for masks, which the module and the library share. */
#ifndef HWPROF_MASK_RULES_H
#define HWPROF_MASK_RULES_H

#include "config_rules.h"

/*
 * Check a mask of such a session. The refusal's sentence begins with "the
 * mask", and its field is -1.
 */
struct config_refusal mask_check(const struct session_config *config,
				 const struct hwprof_mask *mask);

#endif /* HWPROF_MASK_RULES_H */
