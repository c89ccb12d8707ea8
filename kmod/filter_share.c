// SPDX-License-Identifier: GPL-2.0-only
/* Counts records and looks of filters for each user. See filter_share.h. */
#include "filter_share.h"

static struct filter_share shares[FILTER_SHARES];
static unsigned int count;		/* users that have something */

static struct filter_share *filter_share_find(kuid_t user)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (uid_eq(shares[i].user, user))
			return &shares[i];
	return NULL;
}

struct filter_share filter_share_of(kuid_t user)
{
	const struct filter_share *share = filter_share_find(user);

	return share ? *share : (struct filter_share) { .user = user };
}

void filter_share_add(kuid_t user, int spaces, int looks)
{
	struct filter_share *share = filter_share_find(user);

	if (!share) {
		share = &shares[count++];
		*share = (struct filter_share) { .user = user };
	}
	share->spaces += spaces;
	share->looks += looks;
	if (!share->spaces && !share->looks)
		*share = shares[--count];
}
