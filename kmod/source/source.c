// SPDX-License-Identifier: GPL-2.0-only
#include <linux/mutex.h>

#include "../field.h"
#include "../session.h"
#include "source.h"

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

/*
 * Return the source that sees most of those that can work here. Stepping sees
 * everything, but only in user space. No other source sees loads and stores.
 */
static const struct source_ops *best_source(const struct perf_event_attr *attr)
{
	const struct engine_ops *engine = field_engine(attr);

	if (field_get(attr, FIELD_burst) || field_wants_accesses(attr) ||
	    (!step_source.missing() && !attr->exclude_user))
		return &step_source;
	if (engine->samples && !field_get(attr, FIELD_range_of))
		return &sample_source;
	if (engine->feed_window && !lbr_source.missing())
		return &lbr_source;
	return &step_source;	/* its missing() says why not */
}

const struct source_ops *source_of(const struct perf_event_attr *attr)
{
	if (field_get(attr, FIELD_step))
		return &step_source;
	if (field_get(attr, FIELD_lbr))
		return &lbr_source;
	if (field_get(attr, FIELD_sample))
		return &sample_source;
	return best_source(attr);
}

bool source_steps_unasked(const struct perf_event_attr *attr)
{
	return source_of(attr) == &step_source &&
	       !field_get(attr, FIELD_step) && !field_get(attr, FIELD_burst);
}

void slot_open(struct slot *slot)
{
	barrier();
	WRITE_ONCE(slot->open, true);
}

void slot_close(struct slot *slot)
{
	WRITE_ONCE(slot->open, false);
	barrier();
}
