/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * Everything that an engine needs from outside: integer types and a few macros.
 * The same engine files are compiled into the module, the library, tests,
 * fuzzers and benchmarks, so an engine includes no other header of the kernel
 * or libc.
 */
#ifndef HWPROF_ENGINE_TYPES_H
#define HWPROF_ENGINE_TYPES_H

#ifdef __KERNEL__

#include <linux/types.h>
#include <linux/limits.h>
#include <linux/string.h>
#include <linux/compiler.h>
#include <linux/minmax.h>
#include <linux/stddef.h>
#include <linux/container_of.h>

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;
typedef int64_t s64;

#define S16_MAX	INT16_MAX
#define U16_MAX	UINT16_MAX
#define U32_MAX	UINT32_MAX

#ifndef likely
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#endif
#ifndef __always_inline
#define __always_inline	inline __attribute__((always_inline))
#endif
#ifndef noinline
#define noinline	__attribute__((noinline))
#endif
#ifndef min
#define min(a, b)	((a) < (b) ? (a) : (b))
#define max(a, b)	((a) > (b) ? (a) : (b))
#endif
#ifndef container_of
#define container_of(member_pointer, type, member) \
	((type *)((char *)(member_pointer) - offsetof(type, member)))
#endif

#endif /* __KERNEL__ */

/*
 * Multiplier for hashes: 2^64 divided by the golden ratio, as in
 * <linux/hash.h>.
 */
#define HASH_PRIME	0x9e3779b97f4a7c15ULL

/*
 * Multiply, and fold the upper half of the product into the lower one. Every
 * bit of either factor can change every bit of the result.
 */
static __always_inline u64 hash_product(u64 a, u64 b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (u64)product ^ (u64)(product >> 64);
}

#define swap_values(a, b)						       \
	do {								       \
		typeof(a) swapped_ = (a);				       \
		(a) = (b);						       \
		(b) = swapped_;						       \
	} while (0)

#endif /* HWPROF_ENGINE_TYPES_H */
