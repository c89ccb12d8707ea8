/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counting in maps, for programs of this folder. A CPU runs one program at a
 * time, and values of a map for each CPU are its own.
 */
#ifndef COUNT_BPF_H
#define COUNT_BPF_H

#include <linux/bpf.h>
#include <stdbool.h>
#include <stddef.h>
#include <linux/hwprof.h>
#include <bpf/bpf_helpers.h>

/* Things for which a map had no room. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} lost SEC(".maps");

static inline void lose(void)
{
	const __u32 first = 0;
	__u64 *count = bpf_map_lookup_elem(&lost, &first);

	if (count)
		++*count;
}

/*
 * Return the value at @key in @map, which begins as @zero. Return NULL, and
 * count that, if there is no room.
 */
static inline void *find_or_add(void *map, const void *key, const void *zero)
{
	void *value = bpf_map_lookup_elem(map, key);

	if (value)
		return value;
	bpf_map_update_elem(map, key, zero, BPF_NOEXIST);
	value = bpf_map_lookup_elem(map, key);
	if (!value)
		lose();
	return value;
}

#endif /* COUNT_BPF_H */
