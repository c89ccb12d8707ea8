// SPDX-License-Identifier: GPL-2.0-only
/* Memory that is held for users. See holding.h. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include "holding.h"
#include "limit.h"

static LIST_HEAD(holdings);
static struct usage used;		/* by all holdings */
static DEFINE_MUTEX(holdings_lock);	/* protects both */

/* Count @pages as locked memory. Return 0 or -ENOMEM. */
static int holding_lock_pages(struct user_struct *user, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;

	if (!pages || atomic_long_add_return(pages, &user->locked_vm) <=
	    limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic_long_sub(pages, &user->locked_vm);
	return -ENOMEM;
}

static struct usage holding_usage_of(const struct user_struct *user)
{
	struct usage usage = { 0 };
	struct holding *holding;

	list_for_each_entry(holding, &holdings, link) {
		if (holding->user != user)
			continue;
		usage.sessions += holding->is_session;
		usage.unwinds += !holding->is_session;
		usage.memory += holding->memory;
	}
	return usage;
}

static void holding_add(struct holding *holding, bool is_session)
{
	holding->user = get_uid(current_user());
	holding->memory = 0;
	holding->is_session = is_session;
	WRITE_ONCE(used.sessions, used.sessions + is_session);
	used.unwinds += !is_session;
	list_add(&holding->link, &holdings);
}

static void holding_remove(struct holding *holding)
{
	WRITE_ONCE(used.sessions, used.sessions - holding->is_session);
	used.unwinds -= !holding->is_session;
	list_del(&holding->link);
	free_uid(holding->user);
}

/* Hold @bytes more, in whole pages. Return 0 or -ENOMEM. */
static int holding_grow(struct holding *holding, size_t bytes)
{
	struct usage usage = holding_usage_of(holding->user);
	int err = limits_check_memory(&usage, &used, bytes) ?:
		  holding_lock_pages(holding->user, bytes >> PAGE_SHIFT);

	if (err)
		return err;
	holding->memory += bytes;
	used.memory += bytes;
	return 0;
}

static void holding_shrink(struct holding *holding, size_t bytes)
{
	atomic_long_sub(bytes >> PAGE_SHIFT, &holding->user->locked_vm);
	holding->memory -= bytes;
	used.memory -= bytes;
}

int holding_begin_unwind(struct holding *holding)
{
	struct usage usage;
	int err;

	mutex_lock(&holdings_lock);
	usage = holding_usage_of(current_user());
	err = limits_check_unwind(&usage, &used);
	if (!err)
		holding_add(holding, false);
	mutex_unlock(&holdings_lock);
	return err;
}

int holding_begin_session(struct holding *holding, size_t bytes)
{
	struct usage usage;
	int err;

	mutex_lock(&holdings_lock);
	usage = holding_usage_of(current_user());
	err = limits_check_session(&usage, &used);
	if (!err) {
		holding_add(holding, true);
		err = holding_grow(holding, bytes);
		if (err)
			holding_remove(holding);
	}
	mutex_unlock(&holdings_lock);
	return err;
}

int holding_charge(struct holding *holding, size_t bytes)
{
	int err;

	mutex_lock(&holdings_lock);
	err = holding_grow(holding, PAGE_ALIGN(bytes));
	mutex_unlock(&holdings_lock);
	return err;
}

void holding_uncharge(struct holding *holding, size_t bytes)
{
	mutex_lock(&holdings_lock);
	holding_shrink(holding, PAGE_ALIGN(bytes));
	mutex_unlock(&holdings_lock);
}

void holding_end(struct holding *holding)
{
	mutex_lock(&holdings_lock);
	holding_shrink(holding, holding->memory);
	holding_remove(holding);
	mutex_unlock(&holdings_lock);
}

unsigned int holding_sessions(void)
{
	return READ_ONCE(used.sessions);
}
