// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts records and looks of filters for each user. See filter_share.h. Users
 * choose user numbers, but not the key of the hash: a search stays short.
 */
#include <linux/list.h>
#include <linux/random.h>
#include <linux/siphash.h>

#include "filter_share.h"

enum { BUCKETS = 256 };

/* A user that has something, or an unused entry. */
struct filter_user {
	struct hlist_node node;
	kuid_t user;
	struct filter_share has;
};

static struct filter_user users[FILTER_SHARES];
static struct hlist_head buckets[BUCKETS];
static HLIST_HEAD(unused);
static siphash_key_t key;

void filter_shares_init(void)
{
	int i;

	get_random_bytes(&key, sizeof(key));
	for (i = 0; i < FILTER_SHARES; i++)
		hlist_add_head(&users[i].node, &unused);
}

static struct hlist_head *filter_user_bucket(kuid_t user)
{
	return &buckets[siphash_1u32(__kuid_val(user), &key) % BUCKETS];
}

static struct filter_user *filter_user_in(const struct hlist_head *bucket,
					  kuid_t user)
{
	struct filter_user *entry;

	hlist_for_each_entry(entry, bucket, node)
		if (uid_eq(entry->user, user))
			return entry;
	return NULL;
}

struct filter_share filter_share_of(kuid_t user)
{
	const struct filter_user *entry =
		filter_user_in(filter_user_bucket(user), user);

	return entry ? entry->has : (struct filter_share) { 0 };
}

static struct filter_user *filter_user_add(struct hlist_head *bucket,
					   kuid_t user)
{
	struct filter_user *entry = hlist_entry(unused.first,
						struct filter_user, node);

	hlist_del(&entry->node);
	entry->user = user;
	entry->has = (struct filter_share) { 0 };
	hlist_add_head(&entry->node, bucket);
	return entry;
}

void filter_share_add(kuid_t user, struct filter_share more)
{
	struct hlist_head *bucket = filter_user_bucket(user);
	struct filter_user *entry = filter_user_in(bucket, user) ?:
				    filter_user_add(bucket, user);

	entry->has.spaces += more.spaces;
	entry->has.ending += more.ending;
	entry->has.looks += more.looks;
	if (entry->has.spaces || entry->has.ending || entry->has.looks)
		return;
	hlist_del(&entry->node);
	hlist_add_head(&entry->node, &unused);
}
