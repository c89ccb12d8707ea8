/* SPDX-License-Identifier: GPL-2.0-only */
/* Code that is made to be profiled. */
#ifndef IRQSOFF_SITES_H
#define IRQSOFF_SITES_H

enum {
	SITES		= 8000,		/* for a profile of 1 MiB */
	SITES_MOST	= 40000,
};

/* Make code with @count sites, see sites.c, and run it. */
void run_sites(unsigned int count);

/* Return how many sites fill a profile. */
unsigned int sites_for(unsigned int mib);

#endif /* IRQSOFF_SITES_H */
