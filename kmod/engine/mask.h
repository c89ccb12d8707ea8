/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Masks: which events of the stream pass. They compare what an event has with
 * numbers; see struct hwprof_mask.
 */
#ifndef HWPROF_ENGINE_MASK_H
#define HWPROF_ENGINE_MASK_H

#include "stream.h"
#include "../../uapi/linux/hwprof.h"

/**
 * struct mask - A mask, ready for comparisons
 * @asked: As it was asked for. Its masks and matches are compared.
 * @kinds: Kinds that pass, 1 << enum stream_kind each.
 * @classes: Opcode classes that pass, 1 << enum hwprof_opcode_class each.
 * @widths: Widths that pass, as in @asked.
 * @leaves_out: Something does not pass.
 */
struct mask {
	struct hwprof_mask asked;
	u32 kinds;
	u32 classes;
	u32 widths;
	bool leaves_out;
};

struct mask mask_of(const struct hwprof_mask *asked);

/* Return true if the instruction at @ip passes. */
static __always_inline bool mask_passes_ip(const struct mask *mask, u64 ip)
{
	u64 name = mask->asked.flags & HWPROF_MASK_HASH ?
		   HWPROF_MASK_HASH_OF(ip) : ip;

	return (name & mask->asked.ip_mask) == mask->asked.ip_match;
}

/* Return true if loads or stores of that width and class pass. */
static __always_inline bool mask_passes_operand(const struct mask *mask,
						u32 kinds, u32 class, u32 width)
{
	/* The only width that is no power of two is x87's 10. */
	u32 whole = width & (width - 1) ? 16 : width;

	return mask->kinds & kinds && mask->classes >> class & 1 &&
	       mask->widths & whole;
}

/* Return true if the event, a branch, load, store or gap, passes. */
static __always_inline bool mask_passes(const struct mask *mask,
					const struct stream_event *event)
{
	const struct hwprof_mask *asked = &mask->asked;

	if (unlikely(event->kind == STREAM_GAP))
		return true;
	if (!mask_passes_ip(mask, event->from))
		return false;
	if (!stream_is_access(event->kind))
		return mask->kinds >> event->kind & 1;
	if (!mask_passes_operand(mask, 1U << event->kind, event->class,
				 event->width) ||
	    (event->to & asked->address_mask) != asked->address_match)
		return false;
	if (event->flags & STREAM_NO_VALUE)
		return !asked->value_mask;
	return (event->value & asked->value_mask) == asked->value_match;
}

#endif /* HWPROF_ENGINE_MASK_H */
