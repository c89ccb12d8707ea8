// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
#include "mask.h"

_Static_assert(HWPROF_KIND_LOAD == STREAM_LOAD, "kinds of the ABI");
_Static_assert(HWPROF_KIND_STORE == STREAM_STORE, "kinds of the ABI");

struct mask mask_of(const struct hwprof_mask *asked)
{
	return (struct mask) {
		.asked = *asked,
		.kinds = asked->kinds ? asked->kinds : ~0U,
		.classes = asked->classes ? asked->classes : ~0U,
		.widths = asked->widths ? asked->widths : ~0U,
		.leaves_out = asked->kinds || asked->classes ||
			      asked->widths || asked->value_mask ||
			      asked->address_mask || asked->ip_mask,
	};
}
