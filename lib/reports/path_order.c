// SPDX-License-Identifier: LGPL-2.1-or-later
#include "paths.h"

int path_compare_points(const struct path_point *x, const struct path_point *y,
			size_t count)
{
	size_t i;
	int order;

	for (i = 0; i < count; i++) {
		order = object_compare(x[i].object, y[i].object);
		if (!order)
			order = compare_u64(x[i].address, y[i].address);
		if (order)
			return order;
	}
	return 0;
}

int path_compare_owners(const struct path_entry *x, const struct path_entry *y)
{
	int order = compare_u64(x->pid, y->pid);

	return order ? order : compare_u64(x->file, y->file);
}
