// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mutex.h>

#include "../session.h"
#include "source.h"

/* Every version of hwprof has them; of the others, source_infos alone. */
const struct source_ops *const sources[SOURCE_COUNT] = {
	[SOURCE_step]	= &step_source,
	[SOURCE_lbr]	= &lbr_source,
	[SOURCE_sample]	= &sample_source,
};

static DEFINE_MUTEX(users_lock);

int source_get(const struct session *session)
{
	const struct source_ops *source = session->source;
	int err = 0;

	mutex_lock(&users_lock);
	if (!*source->users)
		err = source->on();
	if (!err && source->join) {
		err = source->join(session);
		if (err && !*source->users)
			source->off();
	}
	if (!err)
		++*source->users;
	mutex_unlock(&users_lock);
	return err;
}

void source_put(const struct session *session)
{
	const struct source_ops *source = session->source;

	mutex_lock(&users_lock);
	if (source->leave)
		source->leave(session);
	if (!--*source->users)
		source->off();
	mutex_unlock(&users_lock);
}
