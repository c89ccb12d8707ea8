// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mutex.h>

#include "source.h"

static DEFINE_MUTEX(users_lock);

int source_get(const struct source_ops *source)
{
	int err = 0;

	mutex_lock(&users_lock);
	if (!*source->users)
		err = source->on();
	if (!err)
		++*source->users;
	mutex_unlock(&users_lock);
	return err;
}

void source_put(const struct source_ops *source)
{
	mutex_lock(&users_lock);
	if (!--*source->users)
		source->off();
	mutex_unlock(&users_lock);
}
