/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How many records and looks each user's sessions have: see filter_space.c,
 * whose lock protects this.
 */
#ifndef HWPROF_FILTER_SHARE_H
#define HWPROF_FILTER_SHARE_H

#include <linux/uidgid.h>

/* Most users that have something at a time. */
enum { FILTER_SHARES = 1024 };

/**
 * struct filter_share - What a user has
 * @spaces: records
 * @ending: records that are dropped, and wait for RCU
 * @looks: looks at maps
 */
struct filter_share {
	int spaces;
	int ending;
	int looks;
};

void filter_shares_init(void);

/* Return what the user has. */
struct filter_share filter_share_of(kuid_t user);

/* Count what the user gets; below 0: gives back. */
void filter_share_add(kuid_t user, struct filter_share more);

#endif /* HWPROF_FILTER_SHARE_H */
