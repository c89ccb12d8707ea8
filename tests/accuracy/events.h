/* SPDX-License-Identifier: GPL-2.0-only */
/* What a traced program does, as events.c writes it and overlap.c reads it. */
#ifndef TESTS_ACCURACY_EVENTS_H
#define TESTS_ACCURACY_EVENTS_H

#include <stdint.h>

enum event_kind {
	EVENT_CALL = 1,
	EVENT_BACK_EDGE,
	EVENT_REFERENCE,	/* to data; `from` is not set */
};

struct event {
	uint64_t from;		/* address of the instruction */
	uint64_t to;
	uint64_t kind;		/* enum event_kind */
};

#endif /* TESTS_ACCURACY_EVENTS_H */
