/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts of what a worker's inputs did and saw; in shared memory. */
#ifndef KFUZZ_FINDINGS_H
#define KFUZZ_FINDINGS_H

struct findings {
	unsigned long churned;	/* siblings closed while there was a leader */
	unsigned long rows;	/* looked at, of events of a target */
	unsigned long foreign;	/* of these: about another process */
	unsigned long images;	/* groups of images that all should fit */
	unsigned long met;	/* of these: they did not */
	unsigned long chosen;	/* images whose fields were chosen */
	unsigned long dropped;	/* credentials */
};

#endif /* KFUZZ_FINDINGS_H */
